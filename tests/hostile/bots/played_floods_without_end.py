"""A thread of it writes to stdout and stderr without end, and never a whole line, while it plays."""

import os
import threading

from botarena import run


def flood() -> None:
    while True:
        os.write(1, b"o" * 65536)
        os.write(2, b"e" * 65536)


if __name__ == "__main__":
    threading.Thread(target=flood, daemon=True).start()
    run(lambda turn: 0)
