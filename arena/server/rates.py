"""Limits of rate: buckets that fill with time, of which each call takes a part."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from arena.errors import UsageError


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something may happen.

    Attributes:
        per_s: in the long run, per second.
        burst: at once, after a rest; once in any case.

    Raises:
        UsageError: that would be never.
    """

    per_s: float
    burst: float

    def __post_init__(self) -> None:
        if not self.per_s > 0:
            raise UsageError(
                f"{self.per_s:g} times a second is no rate", "it would be never", "give one above 0"
            )


class Buckets:
    """A bucket for each of many callers, in bounded memory.

    Args:
        rate: of each of them.
        most: buckets that are kept; whoever has rested longest is forgotten first, and so is not held back.
        now: tells the time in seconds.
    """

    def __init__(self, rate: Rate, most: int = 20_000, now: Callable[[], float] = time.monotonic) -> None:
        self._per_s = rate.per_s
        self._burst = max(1.0, rate.burst)
        self._most = most
        self._now = now
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, key: Hashable) -> float:
        """Let something happen now: 0, or how many seconds are to be waited because it may not."""
        level, now = self._level(key)
        if level >= 1:
            self._keep(key, level - 1, now)
            return 0.0
        return (1 - level) / self._per_s

    def give_back(self, key: Hashable) -> None:
        """It did not happen after all."""
        level, now = self._level(key)
        self._keep(key, min(self._burst, level + 1), now)

    def _level(self, key: Hashable) -> tuple[float, float]:
        now = self._now()
        level, since = self._levels.get(key, (self._burst, now))
        return min(self._burst, level + (now - since) * self._per_s), now

    def _keep(self, key: Hashable, level: float, now: float) -> None:
        self._levels[key] = (level, now)
        self._levels.move_to_end(key)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
