"""Sends a message in a message in a message, ten thousand deep."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.send_bytes(b"\xf3\x01" * 10_000)  # a group begins, and begins, and begins
    raw.read_until_the_end()
