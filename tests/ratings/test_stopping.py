"""When an answer is found, by fits that are written down and not computed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.fit import Fit
from arena.ratings.stopping import (
    ORDER,
    TOLERANCE,
    WINNER,
    Criterion,
    Goal,
    GoalError,
    State,
    find,
    parse_goal,
)


def fitted(mu: Sequence[float], sigma: float, pools: Sequence[int] | None = None) -> Fit:
    """A fit with these means, in which every difference has this standard deviation."""
    covariance = np.eye(len(mu)) * sigma**2 / 2
    names = tuple(f"bot{number}" for number in range(len(mu)))
    apart = np.array(pools if pools is not None else [0] * len(mu))
    return Fit(names, np.array(mu, float), covariance, covariance, {}, {}, {}, apart, 1)


@pytest.mark.parametrize(
    ("text", "bots", "goal"),
    [
        ("winner", 2, WINNER),
        ("order", 5, ORDER),
        ("top 1", 5, WINNER),
        ("top 4", 5, Goal(4)),
        ("  top  2 ", 3, Goal(2)),
    ],
)
def test_goals(text: str, bots: int, goal: Goal) -> None:
    assert parse_goal(text, bots) == goal
    assert parse_goal(str(goal), bots) == goal


@pytest.mark.parametrize(
    ("text", "bots", "why"),
    [
        ("loser", 5, "winner"),
        ("top", 5, "top 3"),
        ("top -1", 5, "top 3"),
        ("top 1.5", 5, "top 3"),
        ("top 9", 5, "1 to 4"),
        ("top 5", 5, "1 to 4"),
        ("top 0", 5, "1 to 4"),
        ("top 1234567", 5, "top 3"),
        ("", 5, "winner"),
        ("winner", 1, "add others"),
    ],
)
def test_no_goals(text: str, bots: int, why: str) -> None:
    with pytest.raises(GoalError, match=why):
        parse_goal(text, bots)


@pytest.mark.parametrize("confidence", [0, 0.5, 1, 1.5, 95, -1, math.nan])
def test_no_confidence(confidence: float) -> None:
    with pytest.raises(GoalError, match=r"0\.95"):
        Criterion(WINNER, confidence=confidence)


@pytest.mark.parametrize("tolerance", [0, -1, math.inf, math.nan])
def test_no_tolerance(tolerance: float) -> None:
    with pytest.raises(GoalError, match="equal bots play for ever"):
        Criterion(WINNER, tolerance=tolerance)


# With a tolerance of 1. Settled needs a gap of 1.645 sigmas, and gap + 1 of 2.807 sigmas; a tie needs
# all but 5 % within 1.
@pytest.mark.parametrize(
    ("gap", "sigma", "state"),
    [
        (1.65, 0.94, State.SETTLED),
        (1.65, 0.95, State.OPEN),  # surely not worse by the tolerance? not with 1/20 of the error
        (0.83, 0.5, State.SETTLED),
        (0.82, 0.5, State.OPEN),  # 1.64 sigmas
        (0.0, 0.51, State.TIED),
        (0.0, 0.511, State.OPEN),
        (0.5, 0.303, State.SETTLED),
        (0.4, 0.35, State.TIED),
        (0.4, 0.37, State.OPEN),
        (20.0, 7.4, State.SETTLED),
        (20.0, 7.5, State.OPEN),
        (0.0, 0.0, State.SETTLED),
        (0.0, 1e-9, State.TIED),
    ],
)
def test_states_of_a_pair(gap: float, sigma: float, state: State) -> None:
    (pair,) = find(fitted([gap, 0], sigma), Criterion(WINNER, tolerance=1)).pairs
    assert pair.state is state
    assert (pair.growth > 1) == (state is State.OPEN)


@pytest.mark.parametrize(
    ("goal", "pairs"),
    [
        (WINNER, {(2, 0), (2, 1), (2, 3)}),
        (Goal(2), {(2, 0), (2, 3), (1, 0), (1, 3)}),
        (Goal(3), {(2, 3), (1, 3), (0, 3)}),
        (ORDER, {(2, 1), (1, 0), (0, 3)}),
    ],
)
def test_pairs_that_a_goal_hangs_on(goal: Goal, pairs: set[tuple[int, int]]) -> None:
    finding = find(fitted([2, 3, 4, 1], 0.1), Criterion(goal, tolerance=0.5))
    assert finding.order == (2, 1, 0, 3)
    assert {(pair.better, pair.worse) for pair in finding.pairs} == pairs
    assert not finding.open
    assert not finding.tied


def test_nothing_is_known_across_pools() -> None:
    finding = find(fitted([50, 0, 0], 0.01, [0, 1, 0]), Criterion(WINNER))
    assert [(pair.worse, pair.growth) for pair in finding.open] == [(1, math.inf)]


@given(
    st.floats(0, 5),
    st.floats(0.01, 5),
    st.sampled_from([0.9, 0.95, 0.99]),
    st.floats(0.1, 2),
)
def test_the_growth_that_is_asked_for_closes_a_pair(
    gap: float, sigma: float, confidence: float, tolerance: float
) -> None:
    criterion = Criterion(WINNER, confidence, tolerance)
    (pair,) = find(fitted([gap, 0], sigma), criterion).pairs
    assert pair.growth >= 1
    enough = sigma / math.sqrt(pair.growth * 1.000001)
    assert not find(fitted([gap, 0], enough), criterion).open


@given(st.floats(0, 5), st.floats(0.01, 5), st.floats(0.5, 0.999))
def test_less_spread_opens_no_pair(gap: float, sigma: float, share: float) -> None:
    """Whatever is closed stays closed if the means stay: so an end is always reached."""
    criterion = Criterion(WINNER, tolerance=1)
    (before,) = find(fitted([gap, 0], sigma), criterion).pairs
    (after,) = find(fitted([gap, 0], sigma * share), criterion).pairs
    assert before.state is State.OPEN or after.state is not State.OPEN


def test_the_usual_tolerance_is_an_edge_of_53_to_47() -> None:
    from arena.ratings.confidence import probability_above

    assert probability_above(fitted([TOLERANCE, 0], 0))[0, 1] == pytest.approx(0.528, abs=0.001)
