"""Shows a token that it made up."""

import os

os.environ["ARENA_TOKEN"] = "guessed"

from botarena import run

if __name__ == "__main__":
    run(lambda turn: 0)
