"""The fold agrees with TrueSkill where that is right, and says so where it has run out of digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.fold import BETA, MU, SIGMA, Rating, RatingError, Result, TieRule, TrueSkillFold

BOTS = ("ann", "bob", "cat", "dan", "eve")
PAIR_SPREAD = math.sqrt(2 * BETA**2 + 2 * SIGMA**2)
"""Standard deviation of the difference of two performances under the prior, in rating points."""


def exact_cdf(x: float) -> float:
    """Standard normal distribution function; the package's own is good to 1e-7."""
    return math.erfc(-x / math.sqrt(2)) / 2


def exact_pdf(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


# A draw margin of exactly 0, where the package's approximation gives 1e-7.
NO_MARGIN = trueskill.TrueSkill(
    MU, SIGMA, BETA, 0, draw_probability=0, backend=(exact_cdf, exact_pdf, lambda _: 0.0)
)

sides = st.lists(st.builds(Rating, st.floats(-25, 75), st.floats(0.1, SIGMA)), min_size=2, max_size=len(BOTS))


def rate(ties: TieRule, before: Sequence[Rating], ranks: Sequence[int], **others: Any) -> list[Rating]:
    """Ratings by seat after one match."""
    bots = BOTS[: len(before)]
    fold = TrueSkillFold(ties, start=dict(zip(bots, before, strict=True)), **others)
    fold.add(Result(bots, tuple(ranks), b"match"))
    return [fold.ratings()[bot] for bot in bots]


def plain(draw_probability: float) -> Any:
    """The package as it is, with our parameters."""
    return trueskill.TrueSkill(MU, SIGMA, BETA, 0, draw_probability)


def of_package(
    ratings: Sequence[Rating], ranks: Sequence[int], env: Any, min_delta: float = 1e-4
) -> list[Rating]:
    groups = [(env.create_rating(each.mu, each.sigma),) for each in ratings]
    rated = env.rate(groups, ranks, min_delta=min_delta)
    return [Rating(each.mu, each.sigma) for (each,) in rated]


def assert_close(got: Sequence[Rating], expected: Sequence[Rating], tolerance: float) -> None:
    for one, other in zip(got, expected, strict=True):
        assert one.mu == pytest.approx(other.mu, abs=tolerance)
        assert one.sigma == pytest.approx(other.sigma, abs=tolerance)


def ranked(scores: Sequence[int]) -> list[int]:
    return [1 + sum(other > score for other in scores) for score in scores]


# the same as the package, or an independent computation


@given(before=sides, seed=st.integers(0, 2**32))
def test_without_ties_shared_ranks_are_trueskill_without_a_draw_margin(
    before: list[Rating], seed: int
) -> None:
    ranks = Random(seed).sample(range(1, len(before) + 1), len(before))
    got = rate(TieRule.SHARED, before, ranks)
    assert_close(got, of_package(before, ranks, NO_MARGIN, 1e-12), 1e-9)
    assert_close(got, of_package(before, ranks, plain(0)), 1e-5)


@given(before=sides, seed=st.integers(0, 2**32), draw_probability=st.floats(0.001, 0.99))
def test_without_ties_draws_are_plain_trueskill(
    before: list[Rating], seed: int, draw_probability: float
) -> None:
    ranks = Random(seed).sample(range(1, len(before) + 1), len(before))
    got = rate(TieRule.DRAW, before, ranks, draw_probability=draw_probability)
    assert_close(got, of_package(before, ranks, plain(draw_probability)), 1e-9)


def test_two_bots_that_draw_are_rated_as_by_the_package() -> None:
    before = [Rating(31, 4), Rating(22, 6)]
    got = rate(TieRule.DRAW, before, [1, 1], draw_probability=0.3)
    assert_close(got, of_package(before, [1, 1], plain(0.3)), 1e-12)


def joint_posterior(before: Sequence[Rating], duels: Sequence[tuple[int, int]]) -> list[Rating]:
    """Expectation propagation with one joint normal distribution of all performances: no factor graph.

    Each (better, worse) keeps a precision and a shift on the difference of two performances.
    """
    size = len(before)
    mean = [each.mu for each in before]
    cov = [
        [(each.sigma**2 + BETA**2) * (row == column) for column in range(size)]
        for row, each in enumerate(before)
    ]
    sites = [(0.0, 0.0)] * len(duels)
    for _ in range(200):
        for index, (better, worse) in enumerate(duels):
            gain = [row[better] - row[worse] for row in cov]
            m, v = mean[better] - mean[worse], gain[better] - gain[worse]
            precision, shift = sites[index]
            cavity_v = 1 / (1 / v - precision)
            cavity_m = cavity_v * (m / v - shift)
            t = cavity_m / math.sqrt(cavity_v)
            push = exact_pdf(t) / exact_cdf(t)
            new_m = cavity_m + math.sqrt(cavity_v) * push
            new_v = cavity_v * (1 - push * (push + t))
            sites[index] = (1 / new_v - 1 / cavity_v, new_m / new_v - cavity_m / cavity_v)
            mean = [each + g * (new_m - m) / v for each, g in zip(mean, gain, strict=True)]
            cov = [
                [cell + a * b * (new_v - v) / v**2 for cell, b in zip(row, gain, strict=True)]
                for row, a in zip(cov, gain, strict=True)
            ]
    posterior = []
    for seat, each in enumerate(before):
        share = each.sigma**2 / (each.sigma**2 + BETA**2)
        variance = each.sigma**2 * (1 - share) + share**2 * cov[seat][seat]
        posterior.append(Rating(each.mu + share * (mean[seat] - each.mu), math.sqrt(variance)))
    return posterior


@pytest.mark.parametrize(
    ("ranks", "duels"),
    [((1, 1, 1, 4), [(0, 3), (1, 3), (2, 3)]), ((2, 1, 2, 2), [(1, 0), (1, 2), (1, 3)])],
    ids=["one loser", "one winner"],
)
def test_a_star_is_the_joint_computation(ranks: tuple[int, ...], duels: list[tuple[int, int]]) -> None:
    before = [Rating(25, 8), Rating(31, 2), Rating(19, 5), Rating(27, 3)]
    got = rate(TieRule.SHARED, before, ranks)
    assert_close(got, joint_posterior(before, duels), 1e-9)


def test_ranks_between_which_there_are_loops_are_near_the_joint_computation() -> None:
    before = [Rating()] * 4
    duels = [(better, worse) for better in (0, 1) for worse in (2, 3)]
    assert_close(rate(TieRule.SHARED, before, (1, 1, 3, 3)), joint_posterior(before, duels), 0.25)


GOLDEN = {
    TieRule.SHARED: [
        (20.01636815095, 1.10239256828),
        (22.89310214069, 1.07240595575),
        (24.72346862088, 1.07346621369),
        (29.21834329038, 1.06797428133),
        (29.4800023841, 1.06352145232),
    ],
    TieRule.DRAW: [
        (20.65318619567, 0.97226340549),
        (22.37242176669, 0.94880317849),
        (24.00212258886, 0.96369911409),
        (27.2913346147, 0.94259854359),
        (27.6622669727, 0.95555533688),
    ],
}


@pytest.mark.parametrize("ties", TieRule)
def test_two_hundred_matches_give_the_ratings_they_gave(ties: TieRule) -> None:
    chance = Random(7)
    fold = TrueSkillFold(ties)
    for number in range(200):
        bots = tuple(chance.sample(BOTS, chance.randint(2, 5)))
        scores = [chance.randrange(3 + BOTS.index(bot)) for bot in bots]
        fold.add(Result(bots, tuple(ranked(scores)), number.to_bytes(8, "big")))
    after = fold.ratings()
    assert_close([after[bot] for bot in BOTS], [Rating(*each) for each in GOLDEN[ties]], 1e-9)


# symmetry


@pytest.mark.parametrize("ranks", [(1, 1, 1, 4), (1, 2, 2, 2), (1, 1, 1, 1, 5), (1, 2, 2, 4), (1, 1, 3, 3)])
def test_shared_ranks_do_not_depend_on_the_order_of_the_list(ranks: tuple[int, ...]) -> None:
    before = [Rating(20 + 3 * seat, 8 - seat) for seat in range(len(ranks))]
    straight = rate(TieRule.SHARED, before, ranks)
    for order in permutations(range(len(ranks))):
        got = rate(TieRule.SHARED, [before[seat] for seat in order], [ranks[seat] for seat in order])
        assert_close(got, [straight[seat] for seat in order], 1e-9)


@pytest.mark.parametrize("ranks", [(1, 1, 1, 4), (1, 2, 2, 2), (1, 1, 3, 3)])
def test_equal_bots_that_share_a_rank_stay_equal(ranks: tuple[int, ...]) -> None:
    after = rate(TieRule.SHARED, [Rating()] * len(ranks), ranks)
    for rank in set(ranks):
        tied = [rating for rating, other in zip(after, ranks, strict=True) if other == rank]
        assert_close(tied, tied[:1] * len(tied), 1e-9)


@given(before=sides, scores=st.lists(st.integers(0, 2), min_size=5, max_size=5), order=st.binary(max_size=8))
def test_seats_do_not_matter(before: list[Rating], scores: list[int], order: bytes) -> None:
    start = dict(zip(BOTS, before, strict=False))
    rows = list(zip(start, ranked(scores[: len(start)]), strict=True))
    for ties in TieRule:
        outcomes = []
        for listed in (rows, rows[::-1], sorted(rows, key=lambda row: (row[1], row[0]))):
            fold = TrueSkillFold(ties, start=start)
            fold.add(Result(tuple(bot for bot, _ in listed), tuple(rank for _, rank in listed), order))
            outcomes.append([fold.ratings()[bot] for bot in start])
        assert_close(outcomes[1], outcomes[0], 1e-9)
        assert_close(outcomes[2], outcomes[0], 1e-9)


def drift(play: Callable[[list[str], list[int], int], None], mean: Callable[[str], float]) -> float:
    """How far the first two of eight equal bots, always listed by name, end above the last two."""
    names = [f"bot{number}" for number in range(8)]
    chance = Random(5)
    for number in range(600):
        table = sorted(chance.sample(names, 5))
        play(table, ranked([chance.randrange(2) for _ in table]), number)
    return sum(map(mean, names[:2])) / 2 - sum(map(mean, names[-2:])) / 2


def test_a_place_in_the_list_is_no_advantage_among_tied_bots() -> None:
    fold = TrueSkillFold(TieRule.DRAW, 0.5)

    def play(table: list[str], ranks: list[int], number: int) -> None:
        fold.add(Result(tuple(table), tuple(ranks), number.to_bytes(4, "big")))

    apart = drift(play, lambda bot: fold.ratings()[bot].mu)
    sigma = max(rating.sigma for rating in fold.ratings().values())
    assert abs(apart) < 2 * sigma


def test_in_list_order_the_package_lets_a_place_decide() -> None:
    """The control of the test above: the same matches, with tied bots handed over as they are listed."""
    env = plain(0.5)
    ratings: dict[str, Any] = {}

    def play(table: list[str], ranks: list[int], _number: int) -> None:
        rated = env.rate([(ratings.get(bot, env.create_rating()),) for bot in table], ranks)
        ratings.update({bot: rating for bot, (rating,) in zip(table, rated, strict=True)})

    apart = drift(play, lambda bot: float(ratings[bot].mu))
    assert abs(apart) > 4 * max(rating.sigma for rating in ratings.values())


def test_the_match_decides_the_order_of_tied_bots() -> None:
    outcomes = set()
    for number in range(40):
        fold = TrueSkillFold(TieRule.DRAW, 0.5)
        fold.add(Result(BOTS[:3], (1, 1, 1), bytes([number])))
        first = max(fold.ratings().items(), key=lambda item: abs(item[1].mu - MU))
        outcomes.add(first[0])
    assert outcomes == set(BOTS[:3])


# what carries no information, and bots that have hardly played


def test_a_match_that_all_share_says_nothing() -> None:
    before = [Rating(30, 5), Rating(20, 4), Rating(25, 3)]
    assert rate(TieRule.SHARED, before, (1, 1, 1)) == before


@pytest.mark.parametrize("ties", TieRule)
def test_groups_that_never_met_and_bots_with_one_match_are_rated(ties: TieRule) -> None:
    fold = TrueSkillFold(ties)
    fold.add(Result(("ann", "bob"), (1, 2), b"1"))
    fold.add(Result(("cat", "dan"), (2, 1), b"2"))
    after = fold.ratings()
    assert after["ann"] == after["dan"]
    assert after["bob"] == after["cat"]
    assert after["ann"].mu > MU > after["bob"].mu


@given(
    before=sides,
    scores=st.lists(st.integers(0, 3), min_size=5, max_size=5),
    draw_probability=st.sampled_from([0, 0.001, 0.05, 0.5, 0.99, 1]),
)
def test_any_plausible_match_gives_finite_ratings_that_are_no_wider(
    before: list[Rating], scores: list[int], draw_probability: float
) -> None:
    for ties in TieRule:
        after = rate(ties, before, ranked(scores[: len(before)]), draw_probability=draw_probability)
        for old, new in zip(before, after, strict=True):
            assert math.isfinite(new.mu)
            assert 0 < new.sigma <= old.sigma * (1 + 1e-6)


# failures of the package, each by its row


def apart(spreads: float) -> list[Rating]:
    """Two bots whose means differ by so many spreads of the difference of their performances."""
    return [Rating(MU + spreads * PAIR_SPREAD, SIGMA), Rating(MU, SIGMA)]


@pytest.mark.parametrize("ties", TieRule)
@pytest.mark.parametrize(
    ("spreads", "ranks"), [(39.0, (2, 1)), (39.0, (1, 2)), (100.0, (2, 1)), (100.0, (1, 2))]
)
def test_a_gap_beyond_the_digits_is_reported(ties: TieRule, spreads: float, ranks: tuple[int, int]) -> None:
    with pytest.raises(RatingError, match=r"match 6d61746368 gives no finite ratings .*ann, bob.*corrupt"):
        rate(ties, apart(spreads), ranks)


@pytest.mark.parametrize("spreads", [38.4, 38.5])
def test_a_draw_at_which_the_package_silently_widens_a_rating_is_reported(spreads: float) -> None:
    assert of_package(apart(spreads), [1, 1], plain(0.05))[0].sigma > 2 * SIGMA
    with pytest.raises(RatingError, match=r"match 6d61746368 gives no finite ratings \(mu .*, sigma"):
        rate(TieRule.DRAW, apart(spreads), [1, 1])


@pytest.mark.parametrize(("spreads", "draw_probability"), [(39.0, 0.05), (100.0, 0.05), (38.3, 0.001)])
def test_a_draw_over_a_gap_beyond_the_digits_is_reported(spreads: float, draw_probability: float) -> None:
    with pytest.raises(RatingError, match="match 6d61746368 gives no finite ratings"):
        rate(TieRule.DRAW, apart(spreads), [1, 1], draw_probability=draw_probability)


@pytest.mark.parametrize("spreads", [5.0, 15.0, 30.0])
def test_a_surprise_within_the_digits_is_rated(spreads: float) -> None:
    favourite, outsider = rate(TieRule.SHARED, apart(spreads), (2, 1))
    assert favourite.mu - outsider.mu < spreads * PAIR_SPREAD / 2


@pytest.mark.parametrize("draw_probability", [0, 1e-12, 1e-6, 0.001, -1])
def test_a_draw_that_was_held_impossible_does_not_widen_a_rating(draw_probability: float) -> None:
    # In the limit a draw says that two performances are equal.
    expected = SIGMA * math.sqrt(1 - SIGMA**2 / PAIR_SPREAD**2)
    after = rate(TieRule.DRAW, [Rating(), Rating()], (1, 1), draw_probability=draw_probability)
    assert_close(after, [Rating(MU, expected)] * 2, 1e-3)


@pytest.mark.parametrize("draw_probability", [1, 2, math.inf])
@pytest.mark.parametrize("ranks", [(1, 1), (1, 2)])
def test_a_draw_that_was_held_certain_gives_finite_ratings(
    draw_probability: float, ranks: tuple[int, int]
) -> None:
    after = rate(TieRule.DRAW, [Rating(), Rating()], ranks, draw_probability=draw_probability)
    assert after == rate(TieRule.DRAW, [Rating(), Rating()], ranks, draw_probability=0.99)
    assert all(abs(rating.mu - MU) < 3 * SIGMA and rating.sigma < SIGMA for rating in after)


def test_a_draw_probability_that_is_no_number_is_refused() -> None:
    with pytest.raises(RatingError, match="draw probability of nan"):
        TrueSkillFold(TieRule.DRAW, math.nan)


@pytest.mark.parametrize("ties", TieRule)
@pytest.mark.parametrize(
    ("bots", "ranks", "message"),
    [
        (("a", "b"), (1, math.nan), r"ranks \(1, nan\) are not all integers"),
        (("a", "b"), (None, 1), r"ranks \(None, 1\) are not all integers"),
        (("a", "b"), (1.0, 2), r"ranks \(1\.0, 2\) are not all integers"),
        (("a", "b"), (True, 2), r"ranks \(True, 2\) are not all integers"),
        (("a", "b"), (0, 1), r"\(0, 1\) are not competition ranks"),
        (("a", "b"), (-1, 1), r"\(-1, 1\) are not competition ranks"),
        (("a", "b", "c"), (1, 1, 2), r"\(1, 1, 2\) are not competition ranks"),
        (("a", "b", "c"), (2, 2, 3), r"\(2, 2, 3\) are not competition ranks"),
        (("a", "b"), (1, 2, 3), "3 ranks for 2 bots"),
        (("a", "b"), (), "0 ranks for 2 bots"),
        (("a", "b", "a"), (1, 2, 3), "two seats of a, b, a"),
        (("a",), (1,), "it has 1 bots"),
        ((), (), "it has 0 bots"),
    ],
)
def test_what_is_no_result_is_refused(
    ties: TieRule, bots: tuple[str, ...], ranks: tuple[Any, ...], message: str
) -> None:
    fold = TrueSkillFold(ties)
    with pytest.raises(RatingError, match=rf"^match 00ff cannot be rated: .*{message}"):
        fold.add(Result(bots, ranks, b"\x00\xff"))
    assert fold.ratings() == {}


@pytest.mark.parametrize(
    ("mu", "sigma"), [(25, 0), (25, -1), (25, math.nan), (25, math.inf), (math.nan, 8), (-math.inf, 8)]
)
def test_what_is_no_rating_is_refused(mu: float, sigma: float) -> None:
    with pytest.raises(RatingError, match=r"is no rating: mu must be finite and sigma finite and above 0"):
        Rating(mu, sigma)


@pytest.mark.parametrize("ties", TieRule)
def test_a_refused_match_changes_nothing(ties: TieRule) -> None:
    fold = TrueSkillFold(ties, start=dict(zip(BOTS, apart(100), strict=False)))
    fold.add(Result(("cat", "dan"), (1, 2), b"1"))
    before = fold.ratings()
    with pytest.raises(RatingError):
        fold.add(Result(("ann", "bob"), (2, 1), b"2"))
    assert fold.ratings() == before


def test_the_packages_global_environment_is_left_alone() -> None:
    before = trueskill.global_env()
    rate(TieRule.DRAW, [Rating(), Rating()], (1, 2))
    assert trueskill.global_env() is before
    assert repr(before) == repr(trueskill.TrueSkill())


def test_ratings_are_a_copy() -> None:
    fold = TrueSkillFold(TieRule.DRAW)
    fold.add(Result(("a", "b"), (1, 2), b""))
    fold.ratings().clear()
    assert set(fold.ratings()) == {"a", "b"}
    assert all(type(rating) is Rating for rating in fold.ratings().values())
