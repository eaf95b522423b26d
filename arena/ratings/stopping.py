"""When enough was played for an answer: which pairs of bots it hangs on, and which of them are still open.

It knows ratings, not schedules: whoever plays asks it after every round.

A pair is settled when one bot is better with the confidence asked for, or tied when their skills differ by
less than the tolerance with this confidence; else it is open. Without a tolerance equal bots would never
settle. An answer is found when none of its pairs is open.

Who looks after every round gives chance many tries to look convincing, most of them while little is known.
So a settled pair must meet a second condition: that the better bot is not worse by more than the tolerance
must be surer by far, to one `LOOKS`-th of the error. The looks at a sum that grows depend on each other, and
all of them together err about as often as so many independent ones. Once the tolerance is larger than the
standard deviation of the difference, this asks for next to nothing beyond the first condition.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtr, ndtri

from arena.ratings.confidence import CONFIDENCE
from arena.ratings.fit import Fit
from arena.ratings.fold import BETA

TOLERANCE = BETA / 10
"""Rating points. The better of two bots that differ by so much comes out above the other in 53 of 100
matches: less is nothing that a spectator would ever notice."""

LOOKS = 20
"""How many independent looks those after all rounds are worth."""

_GOAL = re.compile(r"winner|order|top\s+(?P<best>\d{1,6})")


class GoalError(ValueError):
    """Nothing can be found out like this: what, why and what to do."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be found out.

    Attributes:
        best: how many bots are to be told from the rest; 0 for the order of all.
    """

    best: int

    def __str__(self) -> str:
        return {0: "order", 1: "winner"}.get(self.best, f"top {self.best}")


WINNER, ORDER = Goal(1), Goal(0)


@dataclass(frozen=True, slots=True)
class Criterion:
    """When a goal counts as reached.

    Attributes:
        goal: what is to be found out.
        confidence: how sure each pair must be, above 0.5 and below 1.
        tolerance: rating points; skills that differ by less count as equal.

    Raises:
        GoalError: confidence or tolerance are out of range.
    """

    goal: Goal
    confidence: float = CONFIDENCE
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not 0 < self.tolerance < math.inf:
            raise GoalError(
                f"a tolerance of {self.tolerance:g} rating points would let equal bots play for ever, since "
                f"nothing ever tells them apart; give a number above 0, such as {TOLERANCE:.2f}"
            )


def check_confidence(confidence: float) -> None:
    """Refuse what is no confidence.

    Raises:
        GoalError: it is not above 0.5 and below 1.
    """
    if not 0.5 < confidence < 1:
        raise GoalError(
            f"a confidence of {confidence:g} is none: at 0.5 a coin would do, and 1 is never reached; "
            "give one between, such as 0.95"
        )


class State(enum.Enum):
    """What is known of a pair of bots."""

    OPEN = "open"
    SETTLED = "settled"
    TIED = "tied"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two bots, by index in the fit's list.

    Attributes:
        better: the one with the higher mean.
        worse: the other.
        state: what is known of them.
        growth: by what factor the information on their difference must grow to close the pair, if their
            means stay as they are: 1 if it is closed, infinite if nothing is known of the difference.
    """

    better: int
    worse: int
    state: State
    growth: float


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of the goal.

    Attributes:
        order: all bots, by index in the fit's list, best first.
        pairs: those on which the goal hangs, given this order.
    """

    order: tuple[int, ...]
    pairs: tuple[Pair, ...]

    @property
    def open(self) -> tuple[Pair, ...]:
        """The pairs that are still open; if there are none, the goal is reached."""
        return self._of(State.OPEN)

    @property
    def tied(self) -> tuple[Pair, ...]:
        """The pairs that cannot be told apart within the tolerance."""
        return self._of(State.TIED)

    def _of(self, state: State) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if pair.state is state)


def parse_goal(text: str, bots: int) -> Goal:
    """A goal as a person writes it: "winner", "top 3" or "order".

    Args:
        text: what was written.
        bots: how many there are.

    Raises:
        GoalError: it is none, or cannot be asked of so few bots.
    """
    found = _GOAL.fullmatch(text.strip())
    if found is None:
        raise GoalError(f'{text!r} is nothing to play for; use "winner", "top N" such as "top 3", or "order"')
    if bots < 2:
        raise GoalError(f"{bots} bot is the best of all already; add others to compare it with")
    goal = Goal(int(found["best"])) if found["best"] else {"winner": WINNER, "order": ORDER}[found[0]]
    if found["best"] and not 0 < goal.best < bots:
        raise GoalError(
            f'"top {goal.best}" of {bots} bots leaves nothing to find out; '
            f'use a number from 1 to {bots - 1}, or "order"'
        )
    return goal


def find(fit: Fit, criterion: Criterion) -> Finding:
    """What a fit says of a goal.

    Every bot of the tournament must be in the fit, if need be without a match.
    """
    order = np.argsort(-fit.mu, kind="stable").tolist()
    pairs = (_pair(fit, better, worse, criterion) for better, worse in _relevant(order, criterion.goal))
    return Finding(tuple(order), tuple(pairs))


def _relevant(order: list[int], goal: Goal) -> Iterator[tuple[int, int]]:
    """The pairs that a goal hangs on: neighbours of the order, or all across the border below the best."""
    if goal.best:
        yield from ((one, other) for one in order[: goal.best] for other in order[goal.best :])
    else:
        yield from pairwise(order)


def _pair(fit: Fit, better: int, worse: int, criterion: Criterion) -> Pair:
    if fit.pools[better] != fit.pools[worse]:
        return Pair(better, worse, State.OPEN, math.inf)
    known = fit.corrected
    sigma = math.sqrt(max(known[better, better] + known[worse, worse] - 2 * known[better, worse], 0))
    gap = float(fit.mu[better] - fit.mu[worse])
    if sigma <= _widest_settled(gap, criterion):
        return Pair(better, worse, State.SETTLED, 1.0)
    if _within(gap, sigma, criterion.tolerance) > criterion.confidence:
        return Pair(better, worse, State.TIED, 1.0)
    return Pair(better, worse, State.OPEN, _growth(gap, sigma, criterion))


def _widest_settled(gap: float, criterion: Criterion) -> float:
    """The greatest standard deviation of a difference with which it still counts as settled."""
    error = 1 - criterion.confidence
    now, always = float(-ndtri(error)), float(-ndtri(error / LOOKS))
    return min(gap / now, (gap + criterion.tolerance) / always)


def _within(gap: float, sigma: float, tolerance: float) -> float:
    """Probability that skills differ by less than the tolerance."""
    if sigma == 0:
        return float(gap < tolerance)
    return float(ndtr((tolerance - gap) / sigma) - ndtr((-tolerance - gap) / sigma))


def _growth(gap: float, sigma: float, criterion: Criterion) -> float:
    """See `Pair`: the nearer of both ways to close it, a tie with half of the error at each end."""
    tied = (criterion.tolerance - gap) / float(-ndtri((1 - criterion.confidence) / 2))
    return (sigma / max(_widest_settled(gap, criterion), tied)) ** 2
