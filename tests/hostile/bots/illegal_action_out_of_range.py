"""Chooses an action that there is not."""

from botarena import Turn, run


def choose(turn: Turn) -> int:
    return len(turn.actions)


if __name__ == "__main__":
    run(choose)
