"""What is hidden in Hochstapler (X20): what seats cannot know is invented evenly, what they know is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from arena.games import find_game
from arena.games.chance import Chance
from arena.games.hochstapler import rules
from arena.games.hochstapler.rules import CARDS, COLOURS, Deal, Options, State
from tests.games.hochstapler.positions import (
    SEED,
    UNSHUFFLED,
    call,
    doubt,
    exchange,
    game_of,
    lose,
    play,
    table,
    table_of,
)

HOCHSTAPLER = find_game("hochstapler")
PILES = {"ring": (5, 4, 3, 7, 0, 6), "wine": (3, 2, 1, 4), "yacht": (1, 5, 0, 2)}
HOW_OFTEN = 400


def middle_of_a_game(match: bool = False) -> State:
    """Ring was exchanged by seats 0, 1 and 0 again, wine by seat 2 and revealed, yacht by seat 0."""
    state = table(3, PILES, match=match)
    play(state, exchange("ring"), call(1, "ring"), exchange("ring"), call(2, "ring"))
    play(state, exchange("wine"), call(3, "wine"), exchange("ring"), call(4, "wine"), doubt)
    play(state, call(1, "clock"), call(2, "clock"), exchange("yacht"), call(3, "yacht"))
    return state


def redeals(state: State, seat: int) -> Iterator[Deal]:
    rng = Random(1)
    for _ in range(HOW_OFTEN):
        yield HOCHSTAPLER.redeal(state.deal, state, seat, rng)


def imagined(state: State, seat: int) -> Iterator[State]:
    rng, view = Random(1), HOCHSTAPLER.view(state, seat)
    for _ in range(HOW_OFTEN):
        yield HOCHSTAPLER.imagine(view, (), rng)


KNOWN = {
    0: {
        "ring": {0: 5, 1: 4, 3: 7, 5: 6},
        "wine": {0: 3, 1: 2, 2: 1, 3: 4},
        "yacht": {0: 1, 3: 2},
        "clock": {0: 0},
    },
    1: {
        "ring": {0: 5, 1: 4, 3: 7, 4: 0},
        "wine": {0: 3, 1: 2, 2: 1, 3: 4},
        "yacht": {0: 1, 1: 5},
        "clock": {1: 0},
    },
    2: {
        "ring": {0: 5, 1: 4, 2: 3, 3: 7},
        "wine": {0: 3, 1: 2, 2: 1, 3: 4},
        "yacht": {0: 1, 2: 0},
        "clock": {2: 0},
    },
}
"""By seat and colour, the positions of the pile whose card it knows."""


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_redeal_keeps_what_a_seat_knows_and_moves_all_else_evenly(seat: int) -> None:
    state = middle_of_a_game()
    games = [deal.games[0] for deal in redeals(state, seat)]
    for name, known in KNOWN[seat].items():
        piles = [game[COLOURS.index(name)] for game in games]
        _check_even(piles, known)


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_imagine_keeps_what_a_seat_knows_and_moves_all_else_evenly(seat: int) -> None:
    """But for the rest of a colour out of play, which does not matter any more."""
    states = list(imagined(middle_of_a_game(), seat))
    for name, known in KNOWN[seat].items():
        piles = [state.piles[COLOURS.index(name)] for state in states]
        if name == "wine":
            assert {pile[:4] for pile in piles} == {(3, 2, 1, 4)}
        else:
            _check_even(piles, known)


def _check_even(piles: list[tuple[int, ...]], known: dict[int, int]) -> None:
    """Known cards lie where they lie; each unseen card comes to each other position about equally often."""
    unseen = Counter(rules.VALUES) - Counter(known.values())
    for position in range(CARDS):
        seen = Counter(pile[position] for pile in piles)
        if position in known:
            assert set(seen) == {known[position]}
            continue
        for value, copies in unseen.items():
            expected = HOW_OFTEN * copies / unseen.total()
            assert abs(seen[value] - expected) < 5 * expected**0.5 + 1


def test_redeal_gives_games_to_come_and_moves_rests_of_earlier_ones() -> None:
    state = table_of(3, [UNSHUFFLED, game_of(PILES)], match=True)
    play(state, exchange("clock"), call(18, "clock"), doubt)
    while state.game == 0:
        lose(state, 1)
    play(state, exchange("ring"))
    deals = list(redeals(state, 0))
    assert {len(deal.games) for deal in deals} == {4}
    for colour in range(len(COLOURS)):
        shown = 4 if colour == 0 else 3
        assert {deal.games[0][colour][:shown] for deal in deals} == {UNSHUFFLED[colour][:shown]}
        assert len({deal.games[0][colour] for deal in deals}) > HOW_OFTEN / 2
    for later in (2, 3):
        assert len({deal.games[later] for deal in deals}) == HOW_OFTEN
    assert {deal.start_seat for deal in deals} == {0}


def test_redeal_of_a_match_that_is_over_gives_no_more_games() -> None:
    state = table(3, match=True)
    while rules.to_move(state):
        lose(state, 2)
    deal = HOCHSTAPLER.redeal(state.deal, state, 0, Random(1))
    assert len(deal.games) == len(state.finished) == 2


def test_imagined_matches_go_on_with_games_of_their_own() -> None:
    states = list(imagined(middle_of_a_game(match=True), 0))[:20]
    for state in states:
        while state.game == 0:
            lose(state, 1)
    assert len({state.piles for state in states}) == 20


def test_imagine_never_reads_what_is_hidden() -> None:
    """Two tables that look alike to a seat are imagined alike."""
    state, rng = middle_of_a_game(), Random(1)
    for seat in range(3):
        other, _ = rules.start(3, Options(), HOCHSTAPLER.redeal(state.deal, state, seat, rng), Chance(SEED))
        play(other, exchange("ring"), call(1, "ring"), exchange("ring"), call(2, "ring"))
        play(other, exchange("wine"), call(3, "wine"), exchange("ring"), call(4, "wine"), doubt)
        play(other, call(1, "clock"), call(2, "clock"), exchange("yacht"), call(3, "yacht"))
        assert other.piles != state.piles
        views = [HOCHSTAPLER.view(table, seat) for table in (state, other)]
        assert views[0] == views[1]
        first, second = (HOCHSTAPLER.imagine(view, (), Random(2)) for view in views)
        assert first.piles == second.piles
        assert first.held == second.held


def test_a_spectator_can_imagine_too() -> None:
    state = middle_of_a_game()
    view = HOCHSTAPLER.view(state, None)
    twin = HOCHSTAPLER.imagine(view, (), Random(1))
    assert HOCHSTAPLER.view(twin, None) == view
    assert rules.actions(twin, twin.turn) == rules.actions(state, state.turn)
