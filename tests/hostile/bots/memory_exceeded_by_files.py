"""Makes empty files without end: where no number is set for them, they are its memory."""

import itertools
import os

from botarena import Turn, run


def choose(turn: Turn) -> int:
    for number in itertools.count():
        os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
    return 0


if __name__ == "__main__":
    run(choose)
