"""Whether a new version is better than the old one, from deals that both played against the same opponents.

All that counts is the difference of their scores by block: the luck of the deal, the seats and the opponents
are the same for both, so it is in none of them, and blocks are independent.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from arena.ratings.confidence import CONFIDENCE
from arena.ratings.stopping import GoalError, check_confidence

GAIN = 0.01
"""Share of the opponents outranked: a gain that it takes some ten thousand matches to see is worth a test."""

MIN_BLOCKS = 20
"""With fewer blocks nothing is decided: the spread that so few show may be far from the true one."""

_CAUTION = 0.05
"""Added to the sum of squares. Blocks that all came out alike do not prove that no other block ever differs:
this is as if one block more had been off by 0.22."""


class Verdict(enum.Enum):
    """What is known of the new version."""

    BETTER = "better"
    """The gain asked for is there rather than none."""
    NO_GAIN = "no gain"
    """No gain is there rather than the one asked for."""
    WORSE = "worse"
    """No gain is there, and a loss as great as the gain asked for is there rather than none."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """A sequential test of a gain against none.

    Attributes:
        gain: share of the opponents outranked, in 0..1, by which the new version must be better to count.
        confidence: how sure the verdict must be, above 0.5 and below 1: both errors are 1 - confidence.

    Raises:
        GoalError: one of them is out of range.
    """

    gain: float = GAIN
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not 0 < self.gain < 1:
            raise GoalError(
                f"a gain of {100 * self.gain:g} % cannot be tested: between equal versions the search for "
                f"any gain never ends; give the least that matters, from 0 to 100, such as {100 * GAIN:g}"
            )

    @property
    def bound(self) -> float:
        """What the log-likelihood ratio must reach for the gain, and its negative against it.

        A. Wald, "Sequential Tests of Statistical Hypotheses", 1945, with both errors alike.
        """
        return math.log(self.confidence / (1 - self.confidence))


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval.

    Attributes:
        mean: of all blocks; 0 without one.
        low: lower end; minus infinity with fewer than two blocks.
        high: upper end; infinity likewise.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Finding:
    """What the blocks say.

    Attributes:
        verdict: what is known.
        llr: log-likelihood ratio of the gain against none.
        bound: that it must reach, or its negative.
        blocks: that were counted.
        difference: new minus old, in shares of the opponents outranked.
        growth: by what factor the blocks must grow to decide it if the mean stays as it is; 1 if decided.
    """

    verdict: Verdict
    llr: float
    bound: float
    blocks: int
    difference: Interval
    growth: float


def find(differences: Sequence[float], test: SequentialTest) -> Finding:
    """What the differences of blocks, new minus old, say about a gain.

    After each block anew, if one wants: the test is a sequential one.
    """
    llr, difference = log_likelihood_ratio(differences, test.gain), interval(differences)
    verdict = Verdict.UNDECIDED
    if len(differences) >= MIN_BLOCKS and llr >= test.bound:
        verdict = Verdict.BETTER
    elif len(differences) >= MIN_BLOCKS and llr <= -test.bound:
        # The other way round it is a test of its own: a loss as great as the gain, against none.
        losses = [-value for value in differences]
        loses = log_likelihood_ratio(losses, test.gain) >= test.bound
        verdict = Verdict.WORSE if loses else Verdict.NO_GAIN
    left = test.bound / abs(llr) if llr else math.inf
    growth = max(1.0, left, MIN_BLOCKS / max(1, len(differences)))
    decided = verdict is not Verdict.UNDECIDED
    return Finding(verdict, llr, test.bound, len(differences), difference, 1.0 if decided else growth)


def log_likelihood_ratio(differences: Sequence[float], gain: float) -> float:
    """Of a mean difference of `gain` against one of 0, if differences are normal with the variance they show.

    With the mean m and the variance v of n differences it is n gain (2 m - gain) / (2 v), the normal
    approximation of the generalised likelihood ratio.
    """
    values = np.asarray(differences, float)
    if len(values) < 2:
        return 0.0
    mean = float(values.mean())
    variance = (float((values - mean) @ (values - mean)) + _CAUTION) / (len(values) - 1)
    return len(values) * gain * (2 * mean - gain) / (2 * variance)


def interval(values: Sequence[float]) -> Interval:
    """The mean of independent values, and its interval by Student's t."""
    if len(values) < 2:
        return Interval(float(sum(values)), -math.inf, math.inf)
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * error
    return Interval(mean, mean - half, mean + half)


def outranked(ranks: Sequence[int], seat: int) -> float:
    """Share of its opponents that a seat ranks above, ties half, in 0..1."""
    own = ranks[seat]
    above = sum(own < other for other in ranks) + (sum(own == other for other in ranks) - 1) / 2
    return above / (len(ranks) - 1)
