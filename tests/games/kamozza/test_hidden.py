"""What the others have committed in this round is hidden until their port is resolved."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from arena.games import find_game
from arena.games.kamozza import rules
from arena.games.kamozza.rules import Deal, Load, Options, State
from tests.games.kamozza.positions import load, play_cargo, play_round, said, started
from tests.games.option_sets import OPTION_SETS, OptionSet
from tests.games.table import Table, case, positions

KAMOZZA = find_game("kamozza")


@pytest.mark.parametrize("options", OPTION_SETS["kamozza"])
@pytest.mark.parametrize("seats", KAMOZZA.seats)
def test_what_a_seat_is_shown_does_not_depend_on_what_the_others_committed(
    seats: int, options: OptionSet
) -> None:
    """Change the others' hidden cards and the ships to come: not a byte of what a seat saw may differ."""
    rng, changed = Random(20), 0
    for seed in range(3):
        table = Table(case("kamozza", seats, options), seed.to_bytes(32, "big"))
        for _ in positions(table, rng):
            for seat in range(seats):
                changed += _change_and_replay(table, seat, rng)
    # With three seats the variant resolves cargo at once: nothing is ever hidden there.
    assert changed or (seats == 3 and options.get("mode") == "variant")


def _change_and_replay(table: Table, seat: int, rng: Random) -> bool:
    moves = [dict(at_once) for at_once in table.moves]
    changed = _change_hidden_cards(table.state, seat, moves, rng)
    other = Table(table.case, table.seed, table.game.redeal(table.deal, table.state, seat, rng))
    for at_once in moves:
        other.ask()
        other.play(at_once)
    # The last turns shown are those of this position.
    other.ask()
    assert other.shown(seat) == table.shown(seat)
    for who in (seat, None):
        assert bytes_of(other, who) == bytes_of(table, who)
    return changed


def _change_hidden_cards(state: State, seat: int, moves: list[dict[int, Any]], rng: Random) -> bool:
    """Replace the others' cards of this round by as many others of their hands, whatever they said."""
    changed = False
    for player, committed in enumerate(state.committed):
        if committed and player != seat:
            number = next(n for n in reversed(range(len(moves))) if isinstance(moves[n].get(player), Load))
            same_number = [
                action.cards
                for action in rules.LOADS[state.hands[player]]
                if rules.COUNT[action.cards] == rules.COUNT[committed]
            ]
            cards = rng.choice(same_number)
            moves[number][player] = Load(cards, moves[number][player].claim)
            changed |= cards != committed
    return changed


def bytes_of(table: Table, seat: int | None) -> bytes:
    return bytes(table.game.view(table.state, seat).SerializeToString(deterministic=True))


def test_hidden_cards_are_shown_once_their_port_is_resolved() -> None:
    states = started(4), started(4)
    for state, plays in zip(states, ("20B 5A 3A 20B", "15B 5A 3A 20B"), strict=True):
        play_cargo(state, plays)
    assert KAMOZZA.view(states[0], 2) == KAMOZZA.view(states[1], 2)
    for state in states:
        rules.apply(state, {seat: rules.ALL_DOCKS[seat in (0, 3)] for seat in range(4)})
    views = [KAMOZZA.view(state, 2) for state in states]
    assert [list(view.players[0].hand) for view in views] == [[1, 3, 5, 7, 10, 15], [1, 3, 5, 7, 10, 20]]
    assert [view.past[0].resolved[1].cargo[0].card for view in views] == [20, 15]


def test_a_seat_imagines_all_that_the_others_may_have_committed() -> None:
    state = started(4)
    play_round(state, "1+3A 20B 20B 20B")
    for seat, cards in ((1, "1"), (2, "3+5"), (3, "7")):
        rules.apply(state, {seat: load(cards)})
    view, rng = KAMOZZA.view(state, 2), Random(1)
    imagined = [KAMOZZA.imagine(view, (), rng) for _ in range(400)]
    assert {other.committed[1] for other in imagined} == set(rules.BITS[state.hands[1]])
    assert {other.committed[2] for other in imagined} == {state.committed[2]}
    assert {other.committed[0] for other in imagined} == {0}
    two = {load.cards for load in rules.LOADS[state.hands[2]] if rules.COUNT[load.cards] == 2}
    assert {KAMOZZA.imagine(KAMOZZA.view(state, None), (), rng).committed[2] for _ in range(400)} == two


def test_a_seat_imagines_every_order_of_the_ships_to_come() -> None:
    state = started(3)
    for value in rules.VALUES[:3]:
        play_round(state, f"{value}A {value}B {value}A")
    view, rng = KAMOZZA.view(state, 1), Random(2)
    decks = {KAMOZZA.imagine(view, (), rng).deal.decks for _ in range(200)}
    assert len(decks) == 4
    assert {deck[0][:4] for deck in decks} == {state.deal.decks[0][:4]}
    assert {frozenset(deck[1][4:]) for deck in decks} == {frozenset(state.deal.decks[1][4:])}


def test_a_redeal_changes_the_ships_to_come_and_nothing_else() -> None:
    state, rng = started(3), Random(3)
    for number, value in enumerate(rules.VALUES[:5], 1):
        decks = {KAMOZZA.redeal(state.deal, state, 0, rng).decks for _ in range(50)}
        # In the fifth round a single ship is still to come to each port.
        assert (state.deal.decks in decks) == (number == 5)
        for a, b in decks:
            assert (a[:number], b[:number]) == (state.deal.decks[0][:number], state.deal.decks[1][:number])
            assert (sorted(a), sorted(b)) == tuple(map(sorted, state.deal.decks))
        play_round(state, f"{value}A {value}B {value}A")


def test_what_is_shown_is_what_is_there_now() -> None:
    """Pieces of a view are kept: they must not outlive anything that they show."""
    state = started(4)
    play_round(state, "1A 3A 5B 7B")
    shown = {bytes_of_view(state)}
    changes: dict[str, Any] = {
        "points": [130, 0, 0, 300],
        "loaded": [rules.RATS] * 4,
        "lost": [rules.GOLD] * 4,
        "hands": [rules.RATS] * 4,
        "stamps": [(1, 2, 3)] * 4,
        "eliminated": [0, 0, 2, 0],
        "claims": [said("20B")] * 4,
        "committed": [rules.RATS] * 4,
        "movers": (2, 3),
        "round": 3,
        "options": Options("variant"),
        "deal": Deal(2, ((20,) * 4, (30,) * 4)),
        "past": (),
    }
    for name, value in changes.items():
        setattr(state, name, value)
        shown.add(bytes_of_view(state))
    assert len(shown) == len(changes) + 1
    assert list(KAMOZZA.view(state, None).players[3].loaded) == [1]
    assert KAMOZZA.view(state, None).players[3].points == 300


def bytes_of_view(state: State) -> bytes:
    return bytes(KAMOZZA.view(state, None).SerializeToString(deterministic=True))
