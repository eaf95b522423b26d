"""Greets again in the middle of a match."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.greet(read=False)
    raw.read_until_the_end()
