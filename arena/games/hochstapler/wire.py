"""Hochstapler as messages: what a seat may know, and how actions and events look to it.

Every message is built from nothing. Hidden are the hands of the others, the order of the piles, the
unrevealed rest of a colour out of play and the games still to come (X20); none of them is read here but
by `redeal`, which moves them about. `imagine` is given a view alone, and invents them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from random import Random

from botarena.v1.game_pb2 import GameOptions, GameTurn
from botarena.v1.hochstapler_pb2 import (
    HochstaplerAction,
    HochstaplerActionKind,
    HochstaplerAuction,
    HochstaplerCall,
    HochstaplerColour,
    HochstaplerDiscard,
    HochstaplerEvent,
    HochstaplerOptions,
    HochstaplerPile,
    HochstaplerTurn,
    HochstaplerView,
)

from arena.games.chance import Chance
from arena.games.game import OptionError, Seat
from arena.games.hochstapler import rules
from arena.games.hochstapler.rules import (
    ALL_ACTIONS,
    CARDS,
    COLOURS,
    HIGHEST_CALL,
    MEMBERS,
    NO_COLOUR,
    NOBODY,
    VALUES,
    Action,
    Auction,
    AuctionStarted,
    Call,
    Called,
    Colour,
    Deal,
    Dealt,
    Discard,
    Doubted,
    Drew,
    Event,
    Exchanged,
    Finished,
    GameDeal,
    GameEnded,
    MatchEnded,
    Options,
    Penalty,
    Pile,
    Revealed,
    Started,
    State,
    Value,
)
from arena.games.pieces import submessage

# The wire counts colours from 1: its 0 means that none was given.
_WIRE_COLOUR = (
    HochstaplerColour.HOCHSTAPLER_COLOUR_CLOCK,
    HochstaplerColour.HOCHSTAPLER_COLOUR_HOUSE,
    HochstaplerColour.HOCHSTAPLER_COLOUR_CAR,
    HochstaplerColour.HOCHSTAPLER_COLOUR_WINE,
    HochstaplerColour.HOCHSTAPLER_COLOUR_DIAMOND,
    HochstaplerColour.HOCHSTAPLER_COLOUR_YACHT,
    HochstaplerColour.HOCHSTAPLER_COLOUR_RING,
)
NO_CARD: Value = 8
"""In place of the value of a card that the viewing seat does not hold."""

_WIRE_KIND = (
    HochstaplerActionKind.HOCHSTAPLER_ACTION_KIND_DOUBT,
    HochstaplerActionKind.HOCHSTAPLER_ACTION_KIND_EXCHANGE,
    HochstaplerActionKind.HOCHSTAPLER_ACTION_KIND_CALL,
)


# views and turns
#
# From one view to the next most colours and all finished auctions stay as they are, so the views are
# put together from serialised pieces that are kept: serialised messages one after the other are one
# message.


def view(state: State, seat: Seat | None) -> HochstaplerView:
    """What a seat may know now, or a spectator: what is public."""
    return HochstaplerView.FromString(_view_bytes(state, seat))


def turn_bytes(state: State, seat: Seat | None, actions: Sequence[Action], events: Sequence[bytes]) -> bytes:
    """A turn as a seat is shown it: a GameTurn."""
    view = submessage(HochstaplerTurn.VIEW_FIELD_NUMBER, _view_bytes(state, seat))
    turn = b"".join([view, _action_bytes(state, actions), *events])
    return submessage(GameTurn.HOCHSTAPLER_FIELD_NUMBER, turn)


def _view_bytes(state: State, seat: Seat | None) -> bytes:
    pieces = _pile_pieces(state, seat)
    pieces += map(_auction_piece, state.auctions)
    if not state.over:
        auction = b"".join([_starter_piece(state.starter), *map(_call_piece, state.calls)])
        pieces.append(submessage(HochstaplerView.AUCTIONS_FIELD_NUMBER, auction))
    if state.calls:
        pieces.append(submessage(HochstaplerView.CALL_FIELD_NUMBER, _call_bytes(state.calls[-1])))
    if state.exchanged != NO_COLOUR:
        pieces.append(_exchanged_piece(state.exchanged))
    pieces.append(_points_piece(state.points, state.finished[: state.game]))
    pieces.append(_seats_piece(seat, state.start_seat, state.turn, state.seats))
    pieces.append(_progress_piece(state.options.match, state.over))
    return b"".join(pieces)


def _pile_pieces(state: State, seat: Seat | None) -> list[bytes]:
    untouched = _untouched_piles(state.seats)
    cards = [NO_CARD] * len(COLOURS) if seat is None else state.held[seat :: state.seats]
    return [
        _touched_pile(state, seat, colour)
        if discards or taken_by != NOBODY
        else untouched[colour][cards[colour]]
        for colour, (discards, taken_by) in enumerate(zip(state.discards, state.taken_by, strict=True))
    ]


def _touched_pile(state: State, seat: Seat | None, colour: Colour) -> bytes:
    discards, taken_by = state.discards[colour], state.taken_by[colour]
    drawn: tuple[Value, ...] = ()
    if discards and seat is not None:
        pile, seats = state.piles[colour], state.seats
        drawn = tuple([pile[seats + at] for at, card in enumerate(discards) if card.seat == seat])
    if taken_by != NOBODY:
        return _pile_piece(colour, 0, NO_CARD, discards, seat, drawn, state.cards(colour), taken_by)
    card = NO_CARD if seat is None else state.held[state.seats * colour + seat]
    return _pile_piece(colour, CARDS - state.drawn[colour], card, discards, seat, drawn, (), NOBODY)


@lru_cache(maxsize=8)
def _untouched_piles(seats: int) -> list[list[bytes]]:
    """By colour and card in the viewing seat's hand, a pile from which nobody drew again."""
    return [
        [_pile_piece(colour, CARDS - seats, card, (), None, (), (), NOBODY) for card in range(NO_CARD + 1)]
        for colour in range(len(COLOURS))
    ]


@lru_cache(maxsize=8192)
def _pile_piece(
    colour: Colour,
    face_down: int,
    card: Value,
    discards: tuple[Discard, ...],
    seat: Seat | None,
    drawn: tuple[Value, ...],
    revealed: tuple[Value, ...],
    taken_by: Seat,
) -> bytes:
    """A pile as a seat sees it, which drew these cards in exchange for its discards."""
    draws = iter(drawn)
    pieces = [_pile_head(colour, face_down, card)]
    pieces += [_discard_piece(by, value, next(draws) if by == seat else NO_CARD) for by, value in discards]
    if taken_by != NOBODY:
        # Small numbers of a repeated field are packed as they are, a byte each.
        pieces.append(submessage(HochstaplerPile.REVEALED_FIELD_NUMBER, bytes(revealed)))
        pieces.append(_taken_by_piece(taken_by))
    return submessage(HochstaplerView.PILES_FIELD_NUMBER, b"".join(pieces))


@cache
def _pile_head(colour: Colour, face_down: int, card: Value) -> bytes:
    held = None if card == NO_CARD else card
    return HochstaplerPile(colour=_WIRE_COLOUR[colour], face_down=face_down, card=held).SerializeToString()


@cache
def _discard_piece(seat: Seat, value: Value, drawn: Value) -> bytes:
    discard = HochstaplerDiscard(seat=seat, value=value, drawn=None if drawn == NO_CARD else drawn)
    return HochstaplerPile(discards=[discard]).SerializeToString()


@cache
def _taken_by_piece(seat: Seat) -> bytes:
    return HochstaplerPile(taken_by=seat).SerializeToString()


@lru_cache(maxsize=8192)
def _auction_piece(auction: Auction) -> bytes:
    end = HochstaplerAuction(doubter=auction.doubter, loser=auction.loser).SerializeToString()
    calls = b"".join(map(_call_piece, auction.calls))
    return submessage(HochstaplerView.AUCTIONS_FIELD_NUMBER, _starter_piece(auction.starter) + calls + end)


@cache
def _starter_piece(starter: Seat) -> bytes:
    return HochstaplerAuction(starter=starter).SerializeToString()


@lru_cache(maxsize=16384)
def _call_piece(call: Call) -> bytes:
    return submessage(HochstaplerAuction.CALLS_FIELD_NUMBER, _call_bytes(call))


@lru_cache(maxsize=16384)
def _call_bytes(call: Call) -> bytes:
    message = HochstaplerCall(seat=call.seat, total=call.total, colour=_WIRE_COLOUR[call.colour])
    if call.exchanged != NO_COLOUR:
        message.exchanged = _WIRE_COLOUR[call.exchanged]
    return message.SerializeToString()


@cache
def _exchanged_piece(colour: Colour) -> bytes:
    return HochstaplerView(exchanged=_WIRE_COLOUR[colour]).SerializeToString()


@lru_cache(maxsize=8192)
def _points_piece(points: tuple[int, ...], earlier: tuple[Finished, ...]) -> bytes:
    games = [game.points for game in earlier]
    totals = map(sum, zip(points, *games, strict=True))
    piece = HochstaplerView(penalty_points=points, totals=totals)
    for game in games:
        piece.games.add(penalty_points=game)
    return piece.SerializeToString()


@cache
def _seats_piece(seat: Seat | None, start_seat: Seat, turn: Seat, seats: int) -> bytes:
    highest = HIGHEST_CALL[seats]
    return HochstaplerView(
        seat=seat, start_seat=start_seat, turn_seat=turn, highest_call=highest
    ).SerializeToString()


@cache
def _progress_piece(match: bool, over: bool) -> bytes:
    return HochstaplerView(match=match, over=over).SerializeToString()


# actions


def _action_piece(action: Action) -> bytes:
    message = HochstaplerAction(kind=_WIRE_KIND[action.kind], total=action.total)
    if action.colour != NO_COLOUR:
        message.colour = _WIRE_COLOUR[action.colour]
    return HochstaplerTurn(actions=[message]).SerializeToString()


_ACTION_PIECE = {action: _action_piece(action) for action in ALL_ACTIONS}


def _action_bytes(state: State, actions: Sequence[Action]) -> bytes:
    if actions:
        key = rules.list_key(state)
        if actions is rules.list_of_actions(*key):
            return _list_bytes(*key)
    return b"".join([_ACTION_PIECE[action] for action in actions])


@lru_cache(maxsize=4096)
def _list_bytes(in_play: int, exchangeable: int, total: int, highest: int, must_call: bool) -> bytes:
    actions = rules.list_of_actions(in_play, exchangeable, total, highest, must_call)
    return b"".join([_ACTION_PIECE[action] for action in actions])


# events


def audience(event: Event) -> tuple[Seat, ...] | None:
    """A hand and a drawn card are for the seat that holds them, all else is for everybody (X20)."""
    return (event.seat,) if isinstance(event, (Dealt, Drew)) else None


@lru_cache(maxsize=16384, typed=True)
def event_message(event: Event) -> HochstaplerEvent:
    """An event on the wire. To be read only: equal events are one message."""
    message = HochstaplerEvent()
    _FILL[type(event)](message, event)
    return message


@lru_cache(maxsize=16384, typed=True)
def event_bytes(event: Event) -> bytes:
    """An event as a piece of a turn."""
    return HochstaplerTurn(events=[event_message(event)]).SerializeToString()


def _fill_started(message: HochstaplerEvent, event: Started) -> None:
    started = message.started
    started.seats, started.game, started.start_seat, started.face_down = event


def _fill_dealt(message: HochstaplerEvent, event: Dealt) -> None:
    message.dealt.seat = event.seat
    message.dealt.hand.extend(event.hand)


def _fill_auction(message: HochstaplerEvent, event: AuctionStarted) -> None:
    message.auction.SetInParent()
    message.auction.starter = event.starter


def _fill_exchanged(message: HochstaplerEvent, event: Exchanged) -> None:
    exchanged = message.exchanged
    exchanged.seat, colour, exchanged.discarded, exchanged.face_down = event
    exchanged.colour = _WIRE_COLOUR[colour]


def _fill_drew(message: HochstaplerEvent, event: Drew) -> None:
    message.drew.seat, colour, message.drew.value = event
    message.drew.colour = _WIRE_COLOUR[colour]


def _fill_called(message: HochstaplerEvent, event: Called) -> None:
    message.called.seat, message.called.total, colour = event
    message.called.colour = _WIRE_COLOUR[colour]


def _fill_doubted(message: HochstaplerEvent, event: Doubted) -> None:
    message.doubted.SetInParent()
    message.doubted.seat = event.seat


def _fill_revealed(message: HochstaplerEvent, event: Revealed) -> None:
    message.revealed.colour = _WIRE_COLOUR[event.colour]
    message.revealed.values.extend(event.values)
    message.revealed.sum = event.total


def _fill_penalty(message: HochstaplerEvent, event: Penalty) -> None:
    message.penalty.seat = event.seat
    message.penalty.colour = _WIRE_COLOUR[event.colour]


def _fill_game_ended(message: HochstaplerEvent, event: GameEnded) -> None:
    message.game_ended.penalty_points.extend(event.points)
    message.game_ended.ranks.extend(event.ranks)


def _fill_match_ended(message: HochstaplerEvent, event: MatchEnded) -> None:
    message.match_ended.totals.extend(event.totals)
    message.match_ended.ranks.extend(event.ranks)


_FILL: dict[type, Callable[..., None]] = {
    Started: _fill_started,
    Dealt: _fill_dealt,
    AuctionStarted: _fill_auction,
    Exchanged: _fill_exchanged,
    Drew: _fill_drew,
    Called: _fill_called,
    Doubted: _fill_doubted,
    Revealed: _fill_revealed,
    Penalty: _fill_penalty,
    GameEnded: _fill_game_ended,
    MatchEnded: _fill_match_ended,
}


# options


def options_message(options: Options) -> GameOptions:
    """Options on the wire."""
    return GameOptions(hochstapler=HochstaplerOptions(match=options.match))


def options_from(message: GameOptions) -> Options:
    """The options that `options_message` wrote.

    Raises:
        OptionError: these are options of another game (X19).
    """
    if message.WhichOneof("game") != "hochstapler":
        given = message.WhichOneof("game") or "no game"
        raise OptionError(f"options of Hochstapler are needed, not of {given} (X19)")
    return Options(message.hochstapler.match)


# inventing what is hidden


def redeal(deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
    """Another deal with which the match would have looked the same to a seat so far.

    Whatever the seat has not seen is moved about: cards that others hold, what is left in the piles, the
    unrevealed rests of this game and of earlier ones, games to come.
    """
    earlier = [
        tuple(_moved_about(pile, range(shown), rng) for pile, shown in zip(piles, game.shown, strict=True))
        for piles, game in zip(state.deal.games, state.finished[: state.game], strict=False)
    ]
    current = tuple(
        _moved_about(state.piles[colour], _seen(state, seat, colour), rng) for colour in range(len(COLOURS))
    )
    to_come = 0 if state.over else rules.game_bound(state.seats, state.options) - state.game - 1
    return Deal(deal.start_seat, (*earlier, current, *(_random_game(rng) for _ in range(to_come))))


def _seen(state: State, seat: Seat, colour: Colour) -> set[int]:
    """Positions of a pile whose cards a seat has seen: all that were shown face up, and its own."""
    discarded, held = _positions(state.seats, state.discards[colour])
    return {*discarded, *(held if state.taken_by[colour] != NOBODY else [held[seat]])}


def _positions(seats: int, discards: Sequence[Discard]) -> tuple[list[int], list[int]]:
    """Where in the pile the discarded cards of a colour came from, and the cards that the seats hold."""
    discarded, held = [], list(range(seats))
    for drawn, card in enumerate(discards, seats):
        discarded.append(held[card.seat])
        held[card.seat] = drawn
    return discarded, held


def _moved_about(pile: Pile, fixed: range | set[int], rng: Random) -> Pile:
    """A pile of which all cards but those at some positions are in another order."""
    moved = list(pile)
    free = [position for position in range(CARDS) if position not in fixed]
    values = [pile[position] for position in free]
    rng.shuffle(values)
    for position, value in zip(free, values, strict=True):
        moved[position] = value
    return tuple(moved)


def _random_game(rng: Random) -> GameDeal:
    return tuple(_moved_about(VALUES, range(0), rng) for _ in COLOURS)


_NO_CHANCE = Chance(bytes(32))
"""Where nothing will be drawn any more."""
_FORGOTTEN = (VALUES,) * len(COLOURS)
"""The piles of an earlier game: no view tells them, and they do not matter any more."""


def imagine(view: HochstaplerView, events: Sequence[HochstaplerEvent], rng: Random) -> State:
    """A state that looks like this view: hands of others, piles and later games are invented.

    Args:
        events: not needed, the view tells everything.
    """
    known = _known(view.SerializeToString())
    state = known.state.copy()
    piles, held, seats, random = list(state.piles), state.held, state.seats, rng.random
    for colour, colour_known in known.colours:
        unseen = sorted(colour_known.unseen, key=lambda _: random())
        pile = piles[colour] = colour_known.pile_of(colour_known.seen + unseen)
        held[seats * colour : seats * (colour + 1)] = colour_known.held_in(pile)
    state.piles = tuple(piles)
    state.deal = Deal(state.deal.start_seat, (*state.deal.games[:-1], state.piles))
    if state.options.match:
        state.chance = Chance(rng.randbytes(32))
    return state


@dataclass(frozen=True, slots=True)
class _KnownColour:
    """What is known of a colour.

    Attributes:
        seen: cards whose positions are known.
        unseen: the others.
        pile_of: puts the seen cards and the unseen ones, in some order, where they lie in the pile.
        held_in: out of a pile, the cards that the seats hold.
    """

    seen: list[Value]
    unseen: list[Value]
    pile_of: Callable[[list[Value]], Pile]
    held_in: Callable[[Pile], tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class _Known:
    """What a view tells: a state in which unseen cards lie in order, and the colours that hide some.

    What is hidden of a colour out of play changes nothing any more, so those are not listed.
    """

    state: State
    colours: list[tuple[Colour, _KnownColour]]


@lru_cache(maxsize=64)
def _known(view: bytes) -> _Known:
    """What a view tells. Searching bots imagine the same view many times, and reading it takes long."""
    seen = HochstaplerView.FromString(view)
    state = _table(seen)
    colours = [_known_colour(state, pile, seen) for pile in seen.piles]
    state.piles = tuple(colour.pile_of(colour.seen + colour.unseen) for colour in colours)
    state.held = [card for c, pile in zip(colours, state.piles, strict=True) for card in c.held_in(pile)]
    state.deal = Deal(
        (seen.start_seat - state.game) % state.seats, (*(_FORGOTTEN,) * state.game, state.piles)
    )
    return _Known(state, [(colour, colours[colour]) for colour in MEMBERS[state.in_play]])


def _table(seen: HochstaplerView) -> State:
    """The state of a view but for piles and hands."""
    *finished, current = seen.auctions
    if seen.over:
        finished.append(current)
    calls = () if seen.over else tuple(map(_call, current.calls))
    taken_by = tuple(pile.taken_by if pile.HasField("taken_by") else NOBODY for pile in seen.piles)
    in_play = sum(1 << colour for colour, by in enumerate(taken_by) if by == NOBODY)
    games = [tuple(game.penalty_points) for game in seen.games]
    points = tuple(seen.penalty_points)
    if seen.over:
        games.append(points)
    drawn = [len(points) + len(pile.discards) for pile in seen.piles]
    return State(
        seats=len(points),
        options=Options(seen.match),
        deal=Deal(0, ()),
        chance=_NO_CHANCE,
        game=len(seen.games),
        drawn=drawn,
        discards=[tuple(Discard(card.seat, card.value) for card in pile.discards) for pile in seen.piles],
        taken_by=taken_by,
        in_play=in_play,
        exchangeable=sum(1 << colour for colour in MEMBERS[in_play] if drawn[colour] < CARDS),
        start_seat=seen.start_seat,
        starter=current.starter,
        turn=seen.turn_seat,
        total=seen.call.total,
        colour=seen.call.colour - 1,
        exchanged=seen.exchanged - 1,
        calls=calls,
        auctions=tuple(Auction(a.starter, tuple(map(_call, a.calls)), a.doubter, a.loser) for a in finished),
        points=points,
        finished=tuple(Finished(game, (CARDS,) * len(COLOURS)) for game in games),
        totals=tuple(map(sum, zip((0,) * len(points), *games, strict=True))),
        over=seen.over,
    )


def _call(call: HochstaplerCall) -> Call:
    return Call(call.seat, call.total, call.colour - 1, call.exchanged - 1)


def _known_colour(state: State, pile: HochstaplerPile, seen: HochstaplerView) -> _KnownColour:
    discards = state.discards[pile.colour - 1]
    discarded, held = _positions(state.seats, discards)
    cards = {position: card.value for position, card in zip(discarded, discards, strict=True)}
    if pile.revealed:
        cards.update(zip(held, pile.revealed, strict=True))
    elif pile.HasField("card"):
        cards[held[seen.seat]] = pile.card
    unseen = list(VALUES)
    for value in cards.values():
        unseen.remove(value)
    known_first = [*cards, *(position for position in range(CARDS) if position not in cards)]
    pile_of: Callable[[list[Value]], Pile] = itemgetter(*map(known_first.index, range(CARDS)))
    held_in: Callable[[Pile], tuple[Value, ...]] = itemgetter(*held)
    return _KnownColour(list(cards.values()), unseen, pile_of, held_in)
