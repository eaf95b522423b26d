"""Greets and never reads a frame."""

import time

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet(read=False)
    time.sleep(60)
