"""Old version against new one: the sequential test, by tables of cases and by simulation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from arena.ratings.compare import (
    MIN_BLOCKS,
    SequentialTest,
    Verdict,
    find,
    interval,
    log_likelihood_ratio,
    outranked,
)
from arena.ratings.stopping import GoalError


@pytest.mark.parametrize(
    ("differences", "gain", "llr"),
    [
        ([], 0.1, 0),
        ([0.5], 0.1, 0),
        # n gain (2 mean - gain) / (2 v) with v = (squares about the mean + 0.05) / (n - 1)
        ([0.0] * 11, 0.1, 11 * 0.1 * -0.1 / (2 * 0.005)),
        ([0.1] * 11, 0.1, 11 * 0.1 * 0.1 / (2 * 0.005)),
        ([0.05] * 11, 0.1, 0),
        ([0.0, 0.2] * 10, 0.1, 20 * 0.1 * 0.1 / (2 * 0.25 / 19)),
        ([0.2, 0.4] * 10, 0.1, 20 * 0.1 * 0.5 / (2 * 0.25 / 19)),
        ([-0.2, 0.0] * 10, 0.1, 20 * 0.1 * -0.3 / (2 * 0.25 / 19)),
    ],
)
def test_log_likelihood_ratios(differences: Sequence[float], gain: float, llr: float) -> None:
    assert log_likelihood_ratio(differences, gain) == pytest.approx(llr, abs=1e-12)


@pytest.mark.parametrize(("confidence", "bound"), [(0.95, 2.944), (0.99, 4.595), (0.9, 2.197)])
def test_bounds(confidence: float, bound: float) -> None:
    assert SequentialTest(confidence=confidence).bound == pytest.approx(bound, abs=0.001)


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([], Verdict.UNDECIDED),
        ([1.0] * (MIN_BLOCKS - 1), Verdict.UNDECIDED),
        ([1.0] * MIN_BLOCKS, Verdict.BETTER),
        ([0.0] * 20, Verdict.UNDECIDED),
        ([0.0] * 56, Verdict.NO_GAIN),
        ([-0.2, 0.1] * 80, Verdict.WORSE),
        ([-0.1, 0.096] * 220, Verdict.NO_GAIN),
        ([-0.2, 0.2] * 40, Verdict.UNDECIDED),
    ],
)
def test_verdicts(differences: Sequence[float], verdict: Verdict) -> None:
    finding = find(differences, SequentialTest(0.01))
    assert finding.verdict is verdict
    assert finding.blocks == len(differences)
    assert (finding.growth > 1) == (verdict is Verdict.UNDECIDED)


@pytest.mark.parametrize("gain", [0, -0.01, 1, 2, math.nan, math.inf])
def test_no_gain_to_test(gain: float) -> None:
    with pytest.raises(GoalError, match="least that matters"):
        SequentialTest(gain)


@pytest.mark.parametrize("confidence", [0.5, 1, 95])
def test_no_confidence(confidence: float) -> None:
    with pytest.raises(GoalError, match=r"0\.95"):
        SequentialTest(confidence=confidence)


@pytest.mark.parametrize(
    ("ranks", "seat", "share"),
    [((1, 2, 3), 0, 1), ((1, 2, 3), 1, 0.5), ((1, 1, 3), 0, 0.75), ((1, 1, 1, 1), 2, 0.5), ((2, 1), 0, 0)],
)
def test_share_of_opponents_outranked(ranks: Sequence[int], seat: int, share: float) -> None:
    assert outranked(ranks, seat) == share


def test_intervals() -> None:
    assert interval([]) == interval([]).__class__(0, -math.inf, math.inf)
    three = interval([1.0, 2.0, 3.0])
    # Student's t with 2 degrees of freedom: 4.303 standard errors of 1/sqrt(3)
    assert (three.low, three.mean, three.high) == pytest.approx((2 - 2.484, 2, 2 + 2.484), abs=0.001)


@pytest.mark.parametrize("identical", [0.0, 0.75])
def test_error_rates(identical: float) -> None:
    """Blocks alike in part, and normal else, looked at after every round: both errors stay at 5 %."""
    runs, gain = 200, 0.05
    for true, wrong in ((0.0, Verdict.BETTER), (gain, Verdict.NO_GAIN), (0.0, Verdict.WORSE)):
        chance = np.random.default_rng(7)
        ends = Counter(_verdict(chance, true, gain, identical) for _ in range(runs))
        assert ends[wrong] <= 0.05 * runs + 2 * math.sqrt(0.05 * 0.95 * runs)
        assert ends[Verdict.UNDECIDED] == 0


def _verdict(chance: np.random.Generator, true: float, gain: float, identical: float) -> Verdict:
    differences: list[float] = []
    finding = find(differences, SequentialTest(gain))
    while finding.verdict is Verdict.UNDECIDED and len(differences) < 5000:
        more = max(16, len(differences) // 10)
        drawn = chance.normal(true / (1 - identical), 0.15, more) * (chance.random(more) >= identical)
        differences += drawn.tolist()
        finding = find(differences, SequentialTest(gain))
    return finding.verdict
