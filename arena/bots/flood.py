"""What a bot may send, and open, beyond what the arena asks of it.

All of it is counted, not timed: the same conversation is ruled alike on any machine, however busy.
"""

from __future__ import annotations

import logging
import time

MOST = 4096
"""Units that a bot has at the beginning, and never more than that."""
EACH = 8
"""Units for each decision that it is asked. One reply in a frame of its own takes two, so a bot may answer
each decision several times over before it is more than a nuisance."""
RESUMED = 256
"""Units that it takes to resume on a new stream: for that, much is sent again."""

log = logging.getLogger(__name__)


class Allowance:
    """What a bot may still send: a frame takes a unit, and one more for each answer and each KiB in it."""

    __slots__ = ("_asked", "_left")

    def __init__(self) -> None:
        self._left = MOST
        self._asked = 0

    def take(self, asked: int, units: int) -> bool:
        """Take units off it.

        Args:
            asked: decisions that the bot was asked so far.
            units: how many.

        Returns:
            Whether there were as many.
        """
        left = min(MOST, self._left + EACH * (asked - self._asked)) - units
        self._asked, self._left = asked, left
        return left >= 0


class Refusals:
    """Counts the streams on one bot's socket that were refused, and tells of them once a second at most."""

    __slots__ = ("_told", "_told_s", "count")

    def __init__(self) -> None:
        self.count = 0
        self._told = 0
        self._told_s = float("-inf")

    def note(self, bot: str, why: str) -> None:
        """Count one.

        Args:
            bot: whose socket it was.
            why: the last one was refused; nothing in it comes from whoever was.
        """
        self.count += 1
        now = time.monotonic()
        if now - self._told_s >= 1:
            log.warning(
                "refused streams on the socket of %s: %d, the last: %s", bot, self.count - self._told, why
            )
            self._told, self._told_s = self.count, now
