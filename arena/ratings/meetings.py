"""Head to head: how one bot fared against another in the matches in which both sat."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from arena.ratings.standings import Pair

SIDE = 2.0
"""Standard errors on each side of a 95 % interval, as for ratings."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A match from the side of one of two bots that sat in it.

    Attributes:
        block: number of its block. Matches of a block share a deal, so they are not independent.
        seat: where the bot sat.
        rank: its competition rank, 1 is best.
        against: the other's.
        margin: its score minus the other's, in the game's points.
    """

    block: int
    seat: int
    rank: int
    against: int
    margin: int


class Tally:
    """Sums over meetings, in constant memory. Those of a block are added in succession.

    Attributes:
        matches: number added.
        wins: matches in which the bot ranked above the other.
        draws: matches in which they shared a rank.
    """

    def __init__(self) -> None:
        self.matches = self.wins = self.draws = 0
        self._margins = 0
        self._pair = Pair()

    def add(self, meeting: Meeting) -> None:
        """Count one."""
        won, drawn = meeting.rank < meeting.against, meeting.rank == meeting.against
        self.matches += 1
        self.wins += won
        self.draws += drawn
        self._margins += meeting.margin
        self._pair.add(meeting.block, 2 * won + drawn)

    @property
    def losses(self) -> int:
        """Matches in which the bot ranked below the other."""
        return self.matches - self.wins - self.draws

    @property
    def share(self) -> float | None:
        """Share of the matches in which it ranked above the other, ties half; None without matches."""
        return self._pair.cell().share if self.matches else None

    @property
    def error(self) -> float | None:
        """Standard error of the share with blocks as units; None with fewer than two blocks."""
        return self._pair.cell().error if self.matches else None

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the share, see `wilson`."""
        if not self.matches:
            return 0.0, 1.0
        cell = self._pair.cell()
        return wilson(cell.share, _trials(cell.share, cell.error, self._pair.blocks))

    @property
    def mean_margin(self) -> float | None:
        """Mean of the bot's score minus the other's, in the game's points; None without matches."""
        return self._margins / self.matches if self.matches else None


@dataclass(slots=True)
class HeadToHead:
    """Meetings in all, and by the seat of the bot from whose side they are.

    Attributes:
        whole: of all.
        by_seat: of those in each seat in which it sat.
    """

    whole: Tally = field(default_factory=Tally)
    by_seat: dict[int, Tally] = field(default_factory=dict)

    def add(self, meeting: Meeting) -> None:
        """Count one."""
        self.whole.add(meeting)
        self.by_seat.setdefault(meeting.seat, Tally()).add(meeting)


def wilson(share: float, trials: float) -> tuple[float, float]:
    """Interval of a share that was found in so many independent trials.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference" (1927). It
    lies within 0..1, and unlike share ± 2 errors it has a width also where all trials went alike.
    """
    spread = SIDE**2 / trials
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * share * (1 - share) + spread**2 / 4) / (1 + spread)
    # Neither end may pass the share, or 0 or 1, by rounding.
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def _trials(share: float, error: float | None, blocks: int) -> float:
    """Independent trials that would give a share this error; without one, as many as there are blocks."""
    return share * (1 - share) / error**2 if error else blocks
