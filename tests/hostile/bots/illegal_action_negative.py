"""Chooses action -1."""

from botarena import run

if __name__ == "__main__":
    run(lambda turn: -1)
