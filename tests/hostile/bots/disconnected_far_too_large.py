"""Sends a frame of 32 MiB."""

import time

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.send_bytes(bytes(32 << 20))
    raw.read_until_the_end()
    time.sleep(60)
