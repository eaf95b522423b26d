"""Its choose returns None."""

from typing import Any

from botarena import Turn, run


def choose(turn: Turn) -> Any:
    return None


if __name__ == "__main__":
    run(choose)
