"""Wants the match to last for ever: it takes the last action, which passes or draws where that can be."""

from botarena import Turn, run


def choose(turn: Turn) -> int:
    return len(turn.actions) - 1


if __name__ == "__main__":
    run(choose)
