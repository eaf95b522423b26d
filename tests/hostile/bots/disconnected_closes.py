"""Closes its stream in the middle of a match and lives on."""

import time

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.close()
    time.sleep(60)
