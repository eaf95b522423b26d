"""Leaderboard and crosstable, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from random import Random
from statistics import stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.fit import fit
from arena.ratings.fold import RatingError, Result, TieRule, TrueSkillFold
from arena.ratings.results import Results
from arena.ratings.standings import Cell, Played, Standings


def standings(*matches: Played, ties: TieRule = TieRule.DRAW) -> Standings:
    result = Standings(ties)
    for played in matches:
        result.add(played)
    return result


def match(block: int, bots: str, ranks: tuple[int, ...], scores: tuple[float, ...] = ()) -> Played:
    number = f"{block} {bots}".encode()
    return Played(block, tuple(bots), ranks, scores or tuple(-rank for rank in ranks), number)


# Two blocks of two matches by a, b and c, then one match of a and b.
EXAMPLE = [
    match(0, "abc", (1, 2, 3), (9, 5, 1)),
    match(0, "bca", (2, 3, 1), (4, 2, 6)),
    match(1, "abc", (1, 1, 3), (7, 7, 0)),
    match(1, "bca", (1, 2, 3), (8, 3, 2)),
    match(2, "ab", (1, 2), (5, 4)),
]


def test_the_leaderboard_of_a_small_example() -> None:
    lines = {line.skill.bot: line for line in standings(*EXAMPLE).table()}
    a, b, c = (lines[bot] for bot in "abc")
    assert [(line.matches, line.wins, line.draws, line.losses) for line in (a, b, c)] == [
        (5, 3, 1, 1),
        (5, 1, 1, 3),
        (4, 0, 0, 4),
    ]
    assert [line.mean_rank for line in (a, b, c)] == [7 / 5, 8 / 5, 11 / 4]
    assert [line.mean_score for line in (a, b, c)] == [29 / 5, 28 / 5, 6 / 4]
    # a: 2 + 2 + 1.5 + 0 + 1 of 9 opponents; b: 1 + 1 + 1.5 + 2 + 0 of 9; c: 0 + 0 + 0 + 1 of 8
    assert [line.points for line in (a, b, c)] == [6.5 / 9, 5.5 / 9, 1 / 8]


def test_the_ratings_of_record_are_those_of_the_fit_however_the_matches_are_ordered() -> None:
    results = Results()
    for played in EXAMPLE:
        results.add(played.result, played.block)
    whole = fit(results, TieRule.SHARED)
    expected = dict(zip(whole.bots, whole.mu - whole.mu.mean(), strict=True))
    for order in (EXAMPLE, [*EXAMPLE[2:4], EXAMPLE[4], *EXAMPLE[:2]]):
        table = standings(*order, ties=TieRule.SHARED).table()
        assert {line.skill.bot: line.skill.mu for line in table} == pytest.approx(expected, abs=1e-9)
        assert [line.skill.bot for line in table] == ["a", "b", "c"]


def test_live_ratings_are_those_of_the_fold() -> None:
    fold, live = TrueSkillFold(TieRule.SHARED), Standings(TieRule.SHARED, live=True)
    for played in EXAMPLE:
        fold.add(Result(played.bots, played.ranks, played.order))
        live.add(played)
    ratings = fold.ratings()
    mean = sum(rating.mu for rating in ratings.values()) / 3
    assert {line.skill.bot: line.skill.mu for line in live.table()} == pytest.approx(
        {bot: rating.mu - mean for bot, rating in ratings.items()}
    )


def test_the_anchor_is_at_zero() -> None:
    table = {line.skill.bot: line.skill for line in standings(*EXAMPLE).table("c")}
    assert table["c"].mu == 0
    assert table["a"].mu > table["b"].mu > 0
    assert table["c"].sigma > 0  # of its distance from the mean of all, which is not known for sure


def test_the_crosstable_of_a_small_example() -> None:
    cells = standings(*EXAMPLE).crosstable()
    # a against b: blocks of 2, 0.5 and 1 points in 2, 2 and 1 matches; 3.5 of 5 in all.
    error = math.sqrt(3 / 2 * ((2 - 1.4) ** 2 + (0.5 - 1.4) ** 2 + (1 - 0.7) ** 2)) / 5
    assert_cell(cells["a", "b"], 0.7, error, 5)
    assert_cell(cells["b", "a"], 0.3, error, 5)
    # a against c: means of the blocks 1 and 0.5, so the error is their standard deviation over the root of 2.
    assert_cell(cells["a", "c"], 0.75, stdev([1, 0.5]) / math.sqrt(2), 4)
    assert_cell(cells["c", "a"], 0.25, 0.25, 4)
    # b was above c in every match.
    assert cells["b", "c"] == Cell(1, 0, 4)
    assert cells["c", "b"] == Cell(0, 0, 4)
    assert len(cells) == 6


def assert_cell(cell: Cell, share: float, error: float, matches: int) -> None:
    assert cell.share == pytest.approx(share)
    assert cell.error == pytest.approx(error)
    assert cell.matches == matches


def test_a_share_of_one_block_has_no_error() -> None:
    cells = standings(match(4, "ab", (1, 2)), match(4, "ba", (1, 2))).crosstable()
    assert cells["a", "b"] == Cell(0.5, None, 2)
    assert cells["b", "a"] == Cell(0.5, None, 2)


def test_matches_of_a_block_are_not_independent() -> None:
    """Two rotations of each deal that always end alike say no more than one."""
    chance = Random(1)
    won = [chance.random() < 0.6 for _ in range(50)]
    twice = [
        match(block, seats, ranks(first, seats)) for block, first in enumerate(won) for seats in ("ab", "ba")
    ]
    once = [match(block, "ab", ranks(first, "ab")) for block, first in enumerate(won)]
    assert standings(*twice).crosstable()["a", "b"].error == standings(*once).crosstable()["a", "b"].error


def ranks(a_first: bool, seats: str) -> tuple[int, ...]:
    return tuple(1 if (bot == "a") == a_first else 2 for bot in seats)


def test_the_error_is_that_of_the_means_of_the_blocks() -> None:
    chance = Random(2)
    results = [[chance.choice([(1, 2), (2, 1), (1, 1)]) for _ in range(3)] for _ in range(40)]
    matches = [match(block, "ab", each) for block, block_ranks in enumerate(results) for each in block_ranks]
    points = {(1, 2): 1.0, (2, 1): 0.0, (1, 1): 0.5}
    means = [sum(points[each] for each in block) / 3 for block in results]
    cell = standings(*matches).crosstable()["a", "b"]
    assert cell.share == pytest.approx(sum(means) / 40)
    assert cell.error == pytest.approx(stdev(means) / math.sqrt(40))


# places


def test_a_place_is_a_range_where_the_matches_do_not_decide() -> None:
    table = standings(match(0, "ab", (1, 2))).table()
    assert [(line.skill.bot, line.skill.low, line.skill.high) for line in table] == [("a", 1, 2), ("b", 1, 2)]


def turned(block: int, best: str) -> Played:
    """A match that ends in this order, at which everybody sits one further with every block."""
    seats = "abc"[block % 3 :] + "abc"[: block % 3]
    return match(block, seats, tuple(1 + best.index(bot) for bot in seats))


def places(matches: Sequence[Played]) -> dict[str, tuple[int, int]]:
    return {line.skill.bot: (line.skill.low, line.skill.high) for line in standings(*matches).table()}


def test_places_narrow_when_ratings_separate() -> None:
    matches = [turned(block, "abc" if block % 2 else "bac") for block in range(60)]
    assert places(matches) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}


def test_a_bot_that_never_left_its_seat_cannot_be_told_from_it() -> None:
    matches = [match(block, "abc", (1, 2, 3) if block % 2 else (2, 1, 3)) for block in range(60)]
    assert places(matches)["c"] != (3, 3)


@settings(max_examples=25)
@given(st.lists(st.permutations("abcd"), min_size=1, max_size=30))
def test_places_agree_with_the_order(order: list[list[str]]) -> None:
    matches = [
        match(block, "abcd", tuple(1 + best.index(bot) for bot in "abcd")) for block, best in enumerate(order)
    ]
    table = standings(*matches).table()
    assert all(line.skill.low <= place <= line.skill.high for place, line in enumerate(table, 1))
    assert [line.skill.group for line in table] == sorted(line.skill.group for line in table)
    assert all(0 <= line.points <= 1 for line in table)


def test_the_leaderboard_is_sorted_by_mu_however_unsure() -> None:
    """A newcomer with one win over the leader stands above it."""
    matches = [
        match(block, seats, (1, 2) if seats.startswith("a") == bool(block % 3) else (2, 1))
        for block in range(30)
        for seats in ("ab", "ba")
    ]
    table = standings(*matches, match(30, "ac", (2, 1))).table()
    first, second, third = (line.skill for line in table)
    assert [first.bot, second.bot, third.bot] == ["c", "a", "b"]
    assert first.mu - 3 * first.sigma < second.mu - 3 * second.sigma


# order and edges


@settings(max_examples=20)
@given(st.permutations(EXAMPLE))
def test_counts_do_not_depend_on_the_order_of_matches(matches: list[Played]) -> None:
    renumbered = [Played(number, m.bots, m.ranks, m.scores, m.order) for number, m in enumerate(matches)]
    lines = sorted(standings(*renumbered).table(), key=lambda line: line.skill.bot)
    assert [(line.wins, line.draws, line.losses) for line in lines] == [(3, 1, 1), (1, 1, 3), (0, 0, 4)]


def test_blocks_may_come_in_any_order_if_their_matches_stay_together() -> None:
    blocks = [EXAMPLE[:2], EXAMPLE[2:4], EXAMPLE[4:]]
    cells = standings(*EXAMPLE).crosstable()
    for order in permutations(blocks):
        assert standings(*(played for block in order for played in block)).crosstable() == cells


@pytest.mark.parametrize("blocks", [(0, 1, 0), (5, 3, 5), (0, 1, 2, 1), (7, 0, 1, 7), (-1, 0, -1)])
def test_a_block_that_was_left_is_not_entered_again(blocks: tuple[int, ...]) -> None:
    result = standings(*(match(block, "ab", (1, 2)) for block in blocks[:-1]))
    before = result.table(), result.crosstable()
    with pytest.raises(RatingError, match=rf"block {blocks[-1]} was left before.*; add them in succession"):
        result.add(match(blocks[-1], "ab", (1, 2)))
    assert (result.table(), result.crosstable()) == before


def test_blocks_in_order_are_remembered_in_no_memory() -> None:
    result = standings(*(match(block, "ab", (1, 1)) for block in range(50)), ties=TieRule.SHARED)
    assert result._blocks.beyond == set()


def test_nothing_played_is_an_empty_table() -> None:
    assert standings().table() == []
    assert standings().crosstable() == {}


@pytest.mark.parametrize("ties", TieRule)
def test_groups_that_never_met_have_no_cell(ties: TieRule) -> None:
    result = standings(match(0, "ab", (1, 2)), match(1, "cd", (1, 1)), ties=ties)
    assert set(result.crosstable()) == {("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")}
    table = result.table()
    assert {line.skill.bot: line.matches for line in table} == dict.fromkeys("abcd", 1)
    assert [line.skill.pool for line in table] == [1, 1, 2, 2]
    assert all(math.isfinite(line.skill.mu) and line.skill.high <= 2 for line in table)


def test_a_seat_is_counted_with_all_bots_and_with_each() -> None:
    lines = {(line.seats, line.seat, line.bot): line for line in standings(*EXAMPLE).seats()}
    whole = lines[3, 0, None]
    # At three seats: a was first, b second, a first with b, b first.
    shares = [1, 0.5, 0.75, 1]
    assert (whole.matches, whole.points) == (4, sum(shares) / 4)
    assert whole.error == pytest.approx(stdev(shares) / 2)
    assert (lines[3, 0, "a"].matches, lines[3, 0, "a"].points) == (2, 0.875)
    assert lines[2, 1, "b"].points == 0
    assert lines[2, 1, "b"].error is None


@pytest.mark.parametrize("ties", TieRule)
def test_a_table_at_which_all_share_the_first_place_is_drawn(ties: TieRule) -> None:
    (line, *_) = table = standings(match(0, "abc", (1, 1, 1)), ties=ties).table()
    assert len(table) == 3
    assert (line.wins, line.draws, line.losses, line.points, line.mean_rank) == (0, 1, 0, 0.5, 1)


@pytest.mark.parametrize(
    ("played", "message"),
    [
        (match(0, "ab", (1, 2), (3,)), "1 scores for 2 bots"),
        (match(0, "ab", (1, 2), (3, math.nan)), "not all finite"),
        (match(0, "aa", (1, 2)), "two seats"),
        (match(0, "ab", (1, 3)), "not competition ranks"),
    ],
)
def test_a_malformed_match_is_refused_and_not_counted(played: Played, message: str) -> None:
    result = Standings(TieRule.DRAW)
    with pytest.raises(RatingError, match=f"match {played.order.hex()} .*{message}"):
        result.add(played)
    assert result.table() == []
    result.add(match(0, "ab", (1, 2)))
    assert len(result.table()) == 2
