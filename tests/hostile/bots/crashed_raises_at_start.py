"""Its code raises an exception when a match begins."""

from botarena import Bot, Match, run


class Raises(Bot):
    def start(self, match: Match) -> None:
        raise RuntimeError("no book for " + match.game)


if __name__ == "__main__":
    run(Raises)
