"""Sends a frame larger than the arena takes."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.send_bytes(b"\x1a" + b"\xff\xff\x7f" + bytes(2_097_151))
    raw.read_until_the_end()
