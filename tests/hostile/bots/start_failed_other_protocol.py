"""Speaks a protocol of the future."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet(protocol=99, read=False)
    raw.read_until_the_end()
