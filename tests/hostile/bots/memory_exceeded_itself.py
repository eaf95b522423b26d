"""Takes memory until there is no more."""

from botarena import Turn, run

HELD: list[bytearray] = []


def choose(turn: Turn) -> int:
    while True:
        HELD.append(bytearray(b"x" * (8 << 20)))


if __name__ == "__main__":
    run(choose)
