"""Sends bytes that are no message."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.send_bytes(b"\xff\xff\xff\xff")
    raw.read_until_the_end()
