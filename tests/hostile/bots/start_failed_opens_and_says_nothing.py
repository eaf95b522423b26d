"""Opens its stream and says nothing."""

import time

from tests.hostile.raw import Raw

if __name__ == "__main__":
    Raw().open()
    time.sleep(60)
