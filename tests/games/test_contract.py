"""What every registered game promises, with every number of seats and every option set."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import GAMES, find_game
from arena.games.chance import Chance
from arena.games.game import (
    AnyGame,
    IllegalActionError,
    OptionError,
    PlayersError,
    Ties,
    UnknownGameError,
)
from tests.games.claims import index_of
from tests.games.invariants import INVARIANTS
from tests.games.option_sets import OPTION_SETS
from tests.games.table import CASES, Case, Table, bytes_of, play_at_random, positions, random_moves

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())

SEED = bytes(range(32))


def everything_shown(table: Table) -> list[bytes]:
    """All that could be shown of a position to anybody."""
    game, state = table.game, table.state
    return [bytes_of(game.view(state, seat)) for seat in (None, *range(table.seats))]


# the registry


@every_game
def test_a_game_is_tested(game: AnyGame) -> None:
    assert OPTION_SETS.get(game.name), "add option sets to tests/games/option_sets.py"
    assert game.name in INVARIANTS, "add what holds at every position to tests/games/invariants.py"


@every_game
def test_a_game_says_what_it_is(game: AnyGame) -> None:
    assert find_game(game.name) is game
    assert game.name.isascii()
    assert game.title
    assert game.version >= 1
    assert isinstance(game.ties, Ties)
    assert len(game.seats) > 0


def test_an_unknown_game_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UnknownGameError, match=r"no game 'chess'; there are: .*koffer"):
        find_game("chess")


@every_game
def test_other_numbers_of_seats_are_refused(game: AnyGame) -> None:
    for seats in (0, game.seats[0] - 1, game.seats[-1] + 1):
        with pytest.raises(PlayersError, match=f"not {seats}"):
            game.deal(seats, game.options({}), Chance(SEED))


@every_game
def test_an_unknown_option_is_named_with_those_that_there_are(game: AnyGame) -> None:
    with pytest.raises(OptionError) as error:
        game.options({"colour": "1"})
    assert all(name in str(error.value) for name in ("colour", *game.option_help))


@every_case
def test_options_survive_the_wire(case: Case) -> None:
    message = case.game.options_message(case.options)
    assert message.WhichOneof("game") == case.game.name
    assert case.game.options_from(message) == case.options
    assert hash(case.options) == hash(case.game.options_from(message))


# positions


@every_case
def test_every_position_keeps_the_promises(case: Case) -> None:
    game, table = case.game, Table(case, SEED)
    for _ in positions(table, Random(1)):
        INVARIANTS[game.name](table.state)
        assert list(table.to_move) == sorted(set(table.to_move))
        for seat in table.to_move:
            actions = list(game.actions(table.state, seat))
            assert actions
            assert len(set(actions)) == len(actions)
            assert list(game.actions(table.state, seat)) == actions
            assert all(game.action_text(action) for action in actions)
        assert game.table_text(game.view(table.state, None))
        assert not game.private_text(game.view(table.state, None))
    assert len(table.indexes) <= game.decision_bound(case.seats, case.options)


@every_case
def test_a_match_ends_with_a_full_outcome(case: Case) -> None:
    table = play_at_random(case, SEED, 2)
    outcome = table.outcome()
    assert len(outcome.scores) == len(outcome.ranks) == len(outcome.details) == case.seats
    assert outcome.ranks == tuple(1 + sum(other < rank for other in outcome.ranks) for rank in outcome.ranks)
    assert all(outcome.details)


@every_case
def test_there_is_no_outcome_before_the_end(case: Case) -> None:
    with pytest.raises(ValueError, match="not over"):
        Table(case, SEED).outcome()


@settings(max_examples=60)
@given(case=st.sampled_from(CASES), seed=st.binary(min_size=32, max_size=32), choices=st.integers(0, 2**32))
def test_any_seed_and_any_choices_keep_the_promises(case: Case, seed: bytes, choices: int) -> None:
    table = Table(case, seed)
    for _ in positions(table, Random(choices)):
        INVARIANTS[case.game.name](table.state)
    assert len(table.indexes) <= case.game.decision_bound(case.seats, case.options)
    assert len(table.outcome().ranks) == case.seats


# determinism


@every_case
def test_same_seed_and_choices_give_the_same_bytes(case: Case) -> None:
    first, second = play_at_random(case, SEED, 3), play_at_random(case, SEED, 3)
    assert first.turns == second.turns
    assert first.events == second.events
    assert first.outcome() == second.outcome()


@every_case
def test_a_match_from_its_deal_as_data_is_the_same(case: Case) -> None:
    drawn = play_at_random(case, SEED, 4)
    given_deal = Table(case, SEED, drawn.deal)
    for moves in drawn.moves:
        given_deal.ask()
        given_deal.play(moves)
    assert given_deal.turns == drawn.turns
    assert given_deal.outcome() == drawn.outcome()


@every_case
def test_a_copy_is_independent(case: Case) -> None:
    """Copies that are played to the end by other choices leave no trace in the match they come from."""
    undisturbed, table = play_at_random(case, SEED, 5), Table(case, SEED)
    rng, other = Random(5), Random(6)
    for number in positions(table, rng):
        if number % 7 == 0:
            twin = table.state.copy()
            assert bytes_of(case.game.view(twin, 0)) == bytes_of(case.game.view(table.state, 0))
            while case.game.to_move(twin):
                case.game.apply(twin, random_moves(case.game, twin, other))
    assert table.turns == undisturbed.turns


@every_case
def test_a_copy_plays_on_like_the_original(case: Case) -> None:
    table = Table(case, SEED)
    twin = table.state.copy()
    for _ in positions(table, Random(7)):
        pass
    for moves in table.moves:
        case.game.apply(twin, moves)
    assert case.game.outcome(twin) == table.outcome()


# refusals


@every_case
def test_what_is_not_listed_is_refused_and_changes_nothing(case: Case) -> None:
    """Actions that were legal elsewhere, and things that are no actions at all."""
    game = case.game
    elsewhere = {action for moves in play_at_random(case, SEED[::-1], 8).moves for action in moves.values()}
    table, refused = Table(case, SEED), 0
    for _ in positions(table, Random(8)):
        legal = {seat: game.actions(table.state, seat) for seat in table.to_move}
        before = everything_shown(table)
        for seat in table.to_move:
            illegal = [a for a in sorted(elsewhere) if index_of(game, table.state, seat, a) is None]
            for action in [*illegal, None, "take", ()]:
                moves = {other: actions[0] for other, actions in legal.items()} | {seat: action}
                with pytest.raises(IllegalActionError):
                    game.apply(table.state, moves)
                refused += 1
        assert everything_shown(table) == before
        assert legal == {seat: game.actions(table.state, seat) for seat in table.to_move}
    assert refused > 3 * len(table.indexes)


@every_case
def test_exactly_the_seats_to_move_must_act(case: Case) -> None:
    game, table = case.game, Table(case, SEED)
    last: dict[int, Any] = {}
    for _ in positions(table, Random(9)):
        moves = {seat: game.actions(table.state, seat)[0] for seat in table.to_move} or last
        others = [seat for seat in range(-1, case.seats + 1) if seat not in table.to_move]
        wrong = [{}, *({**moves, seat: next(iter(moves.values()))} for seat in others)]
        before = everything_shown(table)
        for given_moves in wrong:
            with pytest.raises(IllegalActionError):
                game.apply(table.state, given_moves)
        assert everything_shown(table) == before
        last = moves


# hidden information


@every_case
def test_what_a_seat_is_shown_does_not_depend_on_what_is_hidden_from_it(case: Case) -> None:
    """Redeal what a seat cannot know, replay the same actions: not a byte of what it saw may differ."""
    rng, table, changed = Random(10), Table(case, SEED), 0
    marks = set(Random(11).sample(range(case.game.decision_bound(case.seats, case.options)), 2)) | {0, 1}
    for number in positions(table, rng):
        if number in marks or not table.to_move:
            changed += sum(_redeal_and_replay(table, seat, rng) for seat in range(case.seats))
    assert changed, "no redeal ever differed from the deal: nothing was tested"


def _redeal_and_replay(table: Table, seat: int, rng: Random) -> bool:
    deal = table.game.redeal(table.deal, table.state, seat, rng)
    other = Table(table.case, table.seed, deal)
    for moves in table.moves:
        other.ask()
        other.play(moves)
    other.ask()
    assert other.shown(seat) == table.shown(seat)
    for who in (seat, None):
        assert bytes_of(other.game.view(other.state, who)) == bytes_of(table.game.view(table.state, who))
    return bool(deal != table.deal)


@every_case
def test_a_seat_can_imagine_the_table_that_it_sees(case: Case) -> None:
    game, rng, table = case.game, Random(12), Table(case, SEED)
    for number in positions(table, Random(12)):
        for seat in range(case.seats):
            view = game.view(table.state, seat)
            state = game.imagine(view, table.seen(seat), rng)
            assert bytes_of(game.view(state, seat)) == bytes_of(view)
            INVARIANTS[game.name](state)
            assert game.to_move(state) == table.to_move
            if seat in table.to_move:
                assert game.actions(state, seat) == game.actions(table.state, seat)
        if number % 9 == 0:
            while game.to_move(state):
                game.apply(state, random_moves(game, state, rng))
            assert len(game.outcome(state).ranks) == case.seats


@every_case
def test_imagining_a_match_that_is_over_gives_its_outcome(case: Case) -> None:
    table = play_at_random(case, SEED, 13)
    for seat in range(case.seats):
        view = case.game.view(table.state, seat)
        assert case.game.outcome(case.game.imagine(view, table.seen(seat), Random(1))) == table.outcome()


@every_case
def test_imagining_leaves_the_view_alone_and_repeats_itself(case: Case) -> None:
    game, table = case.game, Table(case, SEED)
    view = game.view(table.state, 0)
    before = bytes_of(view)
    first, second = (game.imagine(view, table.seen(0), Random(14)) for _ in range(2))
    rng, twin = Random(15), Random(15)
    while game.to_move(first):
        assert game.apply(first, random_moves(game, first, rng)) == game.apply(
            second, random_moves(game, second, twin)
        )
    assert game.outcome(first) == game.outcome(second)
    assert bytes_of(view) == before
