"""Proofs by example: what must hold at any position of any match, with positions that Hypothesis draws.

`test_contract.py` walks through one match of every case; here the deal, the choices, the moment and
the seat are drawn, and a failure is shrunk to a small one.
"""

from __future__ import annotations

from random import Random

import pytest
from botarena.v1.game_pb2 import GameTurn
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import GAMES
from arena.games.game import IllegalActionError
from arena.match.match import Match
from arena.match.record import identity, unseal
from arena.match.replay import verify
from arena.match.spec import MatchSpec
from tests.games.claims import index_of
from tests.games.invariants import INVARIANTS
from tests.games.table import CASES, Case, Table, bytes_of, random_moves

every_game = pytest.mark.parametrize("game", GAMES)
seeds = st.binary(min_size=32, max_size=32)
choices = st.integers(0, 2**32)
thorough = settings(max_examples=30)


def cases(game: str) -> st.SearchStrategy[Case]:
    """Any number of seats and any options of a game."""
    return st.sampled_from([case for case in CASES if case.game.name == game])


def position(case: Case, seed: bytes, rng: Random, moment: float) -> Table:
    """A table somewhere in a match of random choices; the moment is 0 at its beginning and 1 at its end."""
    whole = Table(case, seed)
    while whole.to_move:
        whole.play(random_moves(case.game, whole.state, rng))
    table = Table(case, seed)
    for moves in whole.moves[: round(moment * len(whole.moves))]:
        table.ask()
        table.play(moves)
    table.ask()
    return table


@every_game
@thorough
@given(data=st.data(), seed=seeds, chosen=choices, moment=st.floats(0, 1))
def test_no_seat_is_shown_what_is_hidden_from_it(
    game: str, data: st.DataObject, seed: bytes, chosen: int, moment: float
) -> None:
    """Redeal all that a seat has not seen, replay the same actions: the same bytes were sent to it."""
    case, rng = data.draw(cases(game)), Random(chosen)
    table = position(case, seed, rng, moment)
    seat = data.draw(st.integers(0, case.seats - 1))
    deal = case.game.redeal(table.deal, table.state, seat, rng)
    other = Table(case, seed, deal)
    for moves in table.moves:
        other.ask()
        other.play(moves)
    other.ask()
    assert other.shown(seat) == table.shown(seat)
    assert other.to_move == table.to_move
    for who in (seat, None):
        assert bytes_of(case.game.view(other.state, who)) == bytes_of(case.game.view(table.state, who))


@every_game
@thorough
@given(data=st.data(), seed=seeds, chosen=choices, moment=st.floats(0, 1))
def test_what_a_seat_imagines_looks_to_it_like_the_truth(
    game: str, data: st.DataObject, seed: bytes, chosen: int, moment: float
) -> None:
    case, rng = data.draw(cases(game)), Random(chosen)
    table = position(case, seed, rng, moment)
    seat = data.draw(st.integers(0, case.seats - 1))
    view = case.game.view(table.state, seat)
    state = case.game.imagine(view, table.seen(seat), rng)
    assert bytes_of(case.game.view(state, seat)) == bytes_of(view)
    assert case.game.to_move(state) == table.to_move
    if seat in table.to_move:
        assert list(case.game.actions(state, seat)) == list(case.game.actions(table.state, seat))
    decisions = len(table.indexes)
    while movers := case.game.to_move(state):
        INVARIANTS[game](state)
        case.game.apply(state, random_moves(case.game, state, rng))
        decisions += len(movers)
    assert decisions <= case.game.decision_bound(case.seats, case.options)
    assert len(case.game.outcome(state).ranks) == case.seats


@every_game
@thorough
@given(data=st.data(), seed=seeds, chosen=choices, moment=st.floats(0, 0.99))
def test_an_action_of_another_position_is_refused_unless_it_is_listed(
    game: str, data: st.DataObject, seed: bytes, chosen: int, moment: float
) -> None:
    case, rng = data.draw(cases(game)), Random(chosen)
    table = position(case, seed, rng, moment)
    elsewhere = {action for moves in table.moves for action in moves.values()}
    for seat in table.to_move:
        before = [bytes_of(case.game.view(table.state, who)) for who in (None, *range(case.seats))]
        for action in sorted(elsewhere):
            if index_of(case.game, table.state, seat, action) is not None:
                continue
            moves = random_moves(case.game, table.state, rng) | {seat: action}
            with pytest.raises(IllegalActionError):
                case.game.apply(table.state, moves)
        assert before == [bytes_of(case.game.view(table.state, who)) for who in (None, *range(case.seats))]


@every_game
@thorough
@given(data=st.data(), seed=seeds, chosen=choices)
def test_simultaneous_decisions_leak_nothing_before_all_are_in(
    game: str, data: st.DataObject, seed: bytes, chosen: int
) -> None:
    """Whoever answers first, whatever it answers: the others are shown the same, the record is the same."""
    case = data.draw(cases(game))
    forwards = _played(case, seed, Random(chosen), ask_late=False)
    backwards = _played(case, seed, Random(chosen), ask_late=True)
    assert forwards == backwards


def _played(case: Case, seed: bytes, rng: Random, ask_late: bool) -> tuple[list[bytes], bytes]:
    """All turns of a match, and what its record says.

    Args:
        ask_late: whether the seats of a simultaneous decision answer in reverse order, and each is
            shown its turn only after all others have answered.
    """
    match = Match(_spec(case, seed))
    asks, turns = match.start(0), []
    while asks:
        indexes = {ask.seat: rng.randrange(match.legal(ask.seat)) for ask in asks}
        order = sorted(indexes, reverse=ask_late)
        shown = {} if ask_late else {seat: match.turn_bytes(seat) for seat in order}
        for seat in order:
            if ask_late:
                shown[seat] = match.turn_bytes(seat)
            asks = match.reply(seat, indexes[seat], 0)
        turns += [shown[seat] for seat in sorted(shown)]
    turns += [match.turn_bytes(seat) for seat in range(case.seats)]
    assert all(GameTurn.FromString(turn).WhichOneof("game") == case.game.name for turn in turns)
    record = match.record()
    verify(unseal(record))
    return turns, identity(record)


def _spec(case: Case, seed: bytes) -> MatchSpec:
    return MatchSpec(
        game=case.game,
        options=case.options,
        deal=0,
        seed=seed,
        seating=0,
        bots=tuple((f"bot-{seat}", "1") for seat in range(case.seats)),
        move_us=1_000_000,
        bank_us=60_000_000,
        faults_allowed=0,
    )
