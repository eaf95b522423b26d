"""Sends frames with nothing in them, as fast as it can."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    for _ in range(20_000):
        raw.send_bytes(b"")
    raw.read_until_the_end()
