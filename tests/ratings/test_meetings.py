"""Head to head, against the crosstable and numbers worked out by hand."""

from __future__ import annotations

import math
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.fold import TieRule
from arena.ratings.meetings import HeadToHead, Meeting, Tally, wilson
from arena.ratings.standings import Played, Standings

MEETINGS = st.lists(
    st.builds(
        Meeting,
        block=st.integers(0, 5),
        seat=st.integers(0, 2),
        rank=st.integers(1, 3),
        against=st.integers(1, 3),
        margin=st.integers(-9, 9),
    ),
    min_size=1,
    max_size=30,
).map(lambda meetings: sorted(meetings, key=lambda meeting: meeting.block))


def tally(meetings: list[Meeting]) -> Tally:
    found = Tally()
    for meeting in meetings:
        found.add(meeting)
    return found


def mirrored(meeting: Meeting) -> Meeting:
    return Meeting(meeting.block, meeting.seat, meeting.against, meeting.rank, -meeting.margin)


def test_a_small_example() -> None:
    found = tally(
        [Meeting(0, 0, 1, 2, 5), Meeting(0, 1, 2, 2, 0), Meeting(1, 0, 3, 1, -8), Meeting(1, 1, 1, 2, 1)]
    )
    assert (found.matches, found.wins, found.draws, found.losses) == (4, 2, 1, 1)
    assert (found.share, found.mean_margin) == (5 / 8, -2 / 4)
    # The blocks' shares are 3/4 and 1/2: their standard error is their difference / 2.
    assert found.error == pytest.approx(1 / 8)
    assert found.interval == pytest.approx(wilson(5 / 8, (5 / 8) * (3 / 8) * 64))


@given(meetings=MEETINGS)
def test_the_share_and_its_error_are_those_of_the_crosstable(meetings: list[Meeting]) -> None:
    standings = Standings(TieRule.DRAW)
    for number, meeting in enumerate(meetings):
        ranks = (1 + (meeting.rank > meeting.against), 1 + (meeting.against > meeting.rank))
        standings.add(Played(meeting.block, ("a", "b"), ranks, (0, 0), bytes([number])))
    cell = standings.crosstable()["a", "b"]
    found = tally(meetings)
    assert (found.share, found.error, found.matches) == (cell.share, cell.error, cell.matches)


@given(meetings=MEETINGS)
def test_the_other_side_sees_the_same(meetings: list[Meeting]) -> None:
    one, other = tally(meetings), tally([mirrored(meeting) for meeting in meetings])
    assert (one.wins, one.draws, one.losses) == (other.losses, other.draws, other.wins)
    assert one.share is not None
    assert other.share == pytest.approx(1 - one.share)
    assert other.interval == pytest.approx(tuple(1 - end for end in reversed(one.interval)))


@given(meetings=MEETINGS)
def test_seats_add_up_to_the_whole(meetings: list[Meeting]) -> None:
    found = HeadToHead()
    for meeting in meetings:
        found.add(meeting)
    for count in ("matches", "wins", "draws", "losses"):
        assert sum(getattr(seat, count) for seat in found.by_seat.values()) == getattr(found.whole, count)
    by_seat = sorted(meetings, key=lambda meeting: meeting.seat)
    for seat, of_seat in groupby(by_seat, key=lambda meeting: meeting.seat):
        assert found.by_seat[seat].share == tally(list(of_seat)).share


@given(share=st.floats(0, 1), trials=st.floats(0.5, 1e6))
def test_an_interval_holds_its_share_and_has_a_width(share: float, trials: float) -> None:
    low, high = wilson(share, trials)
    assert 0 <= low <= share <= high <= 1
    assert high > low


def test_the_interval_of_many_trials_is_two_errors_on_each_side() -> None:
    low, high = wilson(0.4, 1e6)
    assert (low, high) == pytest.approx(
        (0.4 - 2 * math.sqrt(0.24e-6), 0.4 + 2 * math.sqrt(0.24e-6)), abs=1e-5
    )


@pytest.mark.parametrize(("blocks", "low"), [(1, 1 / 5), (2, 1 / 3), (16, 0.8)])
def test_winning_every_match_of_few_blocks_proves_little(blocks: int, low: float) -> None:
    found = tally([Meeting(block, seat, 1, 2, 0) for block in range(blocks) for seat in range(4)])
    assert found.interval == pytest.approx((low, 1.0))


def test_without_matches_nothing_is_known() -> None:
    assert (Tally().share, Tally().error, Tally().mean_margin, Tally().interval) == (None, None, None, (0, 1))
