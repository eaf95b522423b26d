"""What no position of Hochstapler ever breaks."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from arena.games.hochstapler import rules
from arena.games.hochstapler.rules import ALL_ACTIONS, CALL, CARDS, COLOURS, DOUBT, EXCHANGE, Action, State


def check_hochstapler(state: State) -> None:
    """Cards are conserved, what is public adds up, and the actions are just those that are legal."""
    _check_cards(state)
    _check_penalties(state)
    _check_auctions(state)
    for seat in rules.to_move(state):
        actions = rules.actions(state, seat)
        assert list(actions) == sorted(set(actions))
        assert set(actions) == {action for action in ALL_ACTIONS if _may(state, action)}
        assert set(actions) == {action for action in ALL_ACTIONS if rules.is_legal(state, action)}
        assert len(actions) <= 7 * rules.HIGHEST_CALL[state.seats] + (1 if state.calls else 7)


def _check_cards(state: State) -> None:
    """Every card of a pile is in a hand, on the discards or in the rest, and where exchanges brought it."""
    assert state.piles == state.deal.games[state.game]
    for colour, pile in enumerate(state.piles):
        assert tuple(sorted(pile)) == rules.VALUES
        held, drawn = list(pile[: state.seats]), state.seats
        for seat, value in state.discards[colour]:
            assert held[seat] == value
            held[seat] = pile[drawn]
            drawn += 1
        assert state.drawn[colour] == drawn <= CARDS
        assert state.cards(colour) == tuple(held)
        discarded = [card.value for card in state.discards[colour]]
        assert Counter([*held, *discarded, *pile[drawn:]]) == Counter(rules.VALUES)
        taken_by = state.taken_by[colour]
        revealed = () if taken_by == rules.NOBODY else tuple(held)
        discards = state.discards[colour]
        assert state.looks[colour] == rules.look_of(state.seats, colour, discards, taken_by, revealed)


def _check_penalties(state: State) -> None:
    """A colour out of play is one point of the seat that took it, and the loser of one auction."""
    taken = [by for by in state.taken_by if by != rules.NOBODY]
    assert [by == rules.NOBODY for by in state.taken_by] == [_in_play(state, c) for c in range(len(COLOURS))]
    assert state.points == tuple(map(taken.count, range(state.seats)))
    assert len(state.auctions) == len(taken)
    assert [(a.calls[-1].colour, a.loser) for a in state.auctions] == [
        (a.calls[-1].colour, state.taken_by[a.calls[-1].colour]) for a in state.auctions
    ]
    assert len(state.finished) == state.game + state.over
    assert all(sum(game.points) == len(COLOURS) for game in state.finished)
    points = [game.points for game in state.finished]
    assert state.totals == tuple(sum(game[seat] for game in points) for seat in range(state.seats))
    before = [sum(game[seat] for game in points[: state.game]) for seat in range(state.seats)]
    assert max(before) < 10


def _check_auctions(state: State) -> None:
    """Turns go round, totals rise, whoever doubts begins the next auction, and exchanges are in the calls."""
    starter = state.start_seat
    for auction in state.auctions:
        assert auction.starter == starter
        _check_calls(state, starter, auction.calls, auction.doubter)
        values = state.cards(auction.calls[-1].colour)
        right = sum(values) >= auction.calls[-1].total
        assert auction.loser == (auction.doubter if right else auction.calls[-1].seat)
        starter = auction.doubter
    if not state.over:
        assert state.starter == starter
        _check_calls(state, starter, state.calls, state.turn)
        current = (state.calls[-1].total, state.calls[-1].colour) if state.calls else (0, rules.NO_COLOUR)
        assert (state.total, state.colour) == current
    calls = [call for auction in state.auctions for call in auction.calls] + list(state.calls)
    exchanges = Counter((call.seat, call.exchanged) for call in calls if call.exchanged != rules.NO_COLOUR)
    if state.exchanged != rules.NO_COLOUR:
        exchanges[state.turn, state.exchanged] += 1
    assert exchanges == Counter(
        (card.seat, colour) for colour, cards in enumerate(state.discards) for card in cards
    )


def _check_calls(state: State, starter: int, calls: tuple[rules.Call, ...], following: int) -> None:
    turns = [(starter + at) % state.seats for at in range(len(calls) + 1)]
    assert [call.seat for call in calls] + [following] == turns
    totals = [0, *(call.total for call in calls)]
    assert all(lower < higher for lower, higher in pairwise(totals))


def _in_play(state: State, colour: int) -> bool:
    return all(auction.calls[-1].colour != colour for auction in state.auctions)


def _may(state: State, action: Action) -> bool:
    """Whether an action is legal, told from the cards and the log alone."""
    standing = state.calls[-1].total if state.calls else 0
    highest = sum(sorted(rules.VALUES)[-state.seats :])
    must_call = state.exchanged != rules.NO_COLOUR
    if action.kind == CALL:
        return _in_play(state, action.colour) and standing < action.total <= highest
    if action.kind == EXCHANGE:
        left = CARDS - state.seats - len(state.discards[action.colour])
        return not must_call and _in_play(state, action.colour) and left > 0 and standing < highest
    return action.kind == DOUBT and bool(state.calls) and not must_call
