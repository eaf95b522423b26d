"""Fills its frames to what they may hold with fields that nobody knows."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    for _ in range(50):
        raw.send_bytes(b"\xfa\x3e\xff\xff\x3b" + bytes(0xEFFFF))
    raw.read_until_the_end()
