"""Hochstapler as messages: what a seat may know, and how actions and events look to it.

Every message is built from nothing. Hidden are the hands of the others, the order of the piles, the
unrevealed rest of a colour out of play and the games still to come (X20); none of them is read here but
by `redeal`, which moves them about. `imagine` is given a view alone, and invents them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import add, itemgetter
from random import Random
from typing import Any, TypeAlias, TypeVar

from botarena.v1.game_pb2 import GameOptions, GameTurn
from botarena.v1.hochstapler_pb2 import (
    HochstaplerAction,
    HochstaplerActionKind,
    HochstaplerAuction,
    HochstaplerCall,
    HochstaplerColour,
    HochstaplerDealt,
    HochstaplerDiscard,
    HochstaplerEvent,
    HochstaplerGame,
    HochstaplerOptions,
    HochstaplerPile,
    HochstaplerRevealed,
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
    OUT_OF_PLAY,
    SEATS,
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
    look_of,
)
from arena.games.pieces import submessage, varint

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


# pieces that are kept

_K = TypeVar("_K")
_V = TypeVar("_V")


class _Kept(dict[_K, _V]):
    """What was made, by what it was made from; all of it is forgotten when there is too much of it."""

    __slots__ = ("make", "most")

    def __init__(self, make: Callable[[_K], _V], most: int) -> None:
        super().__init__()
        self.make, self.most = make, most

    def __missing__(self, key: _K) -> _V:
        if len(self) >= self.most:
            self.clear()
        made = self[key] = self.make(key)
        return made


class _KeptById(dict[int, tuple[_K, bytes]]):
    """Pieces of tuples that take long to hash: such a tuple is known by its identity.

    It is kept with its piece, so that nothing else comes to have that identity.
    """

    __slots__ = ("make", "most")

    def __init__(self, make: Callable[[_K], bytes], most: int) -> None:
        super().__init__()
        self.make, self.most = make, most

    def of(self, key: _K) -> bytes:
        kept = self.get(id(key))
        if kept is None:
            if len(self) >= self.most:
                self.clear()
            kept = self[id(key)] = (key, self.make(key))
        return kept[1]


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
    view = _view_bytes(state, seat)
    turn = b"".join([_VIEW_KEY, varint(len(view)), view, _action_bytes(actions), *events])
    return submessage(GameTurn.HOCHSTAPLER_FIELD_NUMBER, turn)


_VIEW_KEY = submessage(HochstaplerTurn.VIEW_FIELD_NUMBER, b"")[:-1]


def _view_bytes(state: State, seat: Seat | None) -> bytes:
    at, cards = (_SPECTATOR, _NO_CARDS) if seat is None else (seat, state.held[seat :: state.seats])
    pieces = [to[at][card] for to, card in zip(_PILES[state.looks], cards)]  # noqa: B905
    pieces.append(_AUCTIONS.of(state.auctions))
    if not state.over:
        pieces += _current_auction(state.starter, state.calls)
    if state.exchanged != NO_COLOUR:
        pieces.append(_EXCHANGED[state.exchanged])
    pieces.append(_points_piece(state.points, state.totals, state.over))
    if state.game:
        pieces.append(_GAMES.of(state.finished[: state.game]))
    match, over = state.options.match, state.over
    pieces.append(_rest_piece(seat, state.start_seat, state.turn, state.seats, match, over))
    return b"".join(pieces)


# piles

# Tuples of bytes, as such are no burden to the garbage collector.
_ByCard: TypeAlias = tuple[bytes, ...]
"""Pieces by the card of the pile's colour that the viewing seat holds, or NO_CARD."""
_SPECTATOR: Seat = -1
_NO_CARDS = [NO_CARD] * len(COLOURS)


def _pile_to_all(look: bytes) -> tuple[_ByCard, ...]:
    """How a pile looks to each seat, and last to a spectator: the same to all who drew nothing from it."""
    seats = look[0]
    pile_to, first = (_pile_in_play, 2) if look[1] < OUT_OF_PLAY else (_pile_taken, 3 + seats)
    discards = look[first:]
    to_all = [pile_to(look, discards, _SPECTATOR)] * (seats + 1)
    for seat in {card >> 3 for card in discards}:
        to_all[seat] = pile_to(look, discards, seat)
    return tuple(to_all)


def _pile_in_play(look: bytes, discards: bytes, seat: Seat) -> _ByCard:
    seats, colour, *_ = look
    head = _pile_head(colour, CARDS - seats - len(discards))
    if seat == _SPECTATOR:
        shown = head + _discards_to(seat, discards, NO_CARD)
        piles = [shown + held for held in _HELD]
    else:
        own = max([at for at, card in enumerate(discards) if card >> 3 == seat])
        last = discards[own] & 7
        before = head + _discards_to(seat, discards[:own], last)
        after = _discards_to(_SPECTATOR, discards[own + 1 :], NO_CARD)
        cards = range(NO_CARD)
        piles = [before + _discard_piece(seat, last, card) + after + _HELD[card] for card in cards]
    return tuple([submessage(HochstaplerView.PILES_FIELD_NUMBER, pile) for pile in piles])


def _pile_taken(look: bytes, discards: bytes, seat: Seat) -> _ByCard:
    seats, colour, taken_by, *_ = look
    values = look[3 : 3 + seats]
    # Small numbers of a repeated field are packed as they are, a byte each.
    revealed = submessage(HochstaplerPile.REVEALED_FIELD_NUMBER, values)
    head = _pile_head(colour - OUT_OF_PLAY, 0)
    pile = head + _discards_to(seat, discards, values[seat]) + revealed + _TAKEN_BY[taken_by]
    return (submessage(HochstaplerView.PILES_FIELD_NUMBER, pile),) * len(_HELD)


@cache
def _pile_head(colour: Colour, face_down: int) -> bytes:
    return HochstaplerPile(colour=_WIRE_COLOUR[colour], face_down=face_down).SerializeToString()


def _discards_to(seat: Seat, discards: bytes, last_card: Value) -> bytes:
    """The discards; in place of its own, a seat drew the card that it exchanged next, or has at the end."""
    pieces = [_DISCARD[card] for card in discards]
    drawn = last_card
    for at in range(len(discards) - 1, -1, -1):
        by, value = divmod(discards[at], 8)
        if by == seat:
            pieces[at] = _discard_piece(by, value, drawn)
            drawn = value
    return b"".join(pieces)


@cache
def _discard_piece(seat: Seat, value: Value, drawn: Value | None) -> bytes:
    discard = HochstaplerDiscard(seat=seat, value=value, drawn=drawn)
    return HochstaplerPile(discards=[discard]).SerializeToString()


_DISCARD = [_discard_piece(*divmod(card, 8), None) for card in range(8 * SEATS[-1])]
_HELD = [HochstaplerPile(card=card).SerializeToString() for card in range(NO_CARD)] + [b""]
_TAKEN_BY = [HochstaplerPile(taken_by=seat).SerializeToString() for seat in range(SEATS[-1])]
_PILE = _Kept(_pile_to_all, 4096)
_PILES: _Kept[tuple[bytes, ...], tuple[tuple[_ByCard, ...], ...]] = _Kept(
    lambda looks: tuple(map(_PILE.__getitem__, looks)), 512
)
"""By the looks of all piles, how they look to each seat and last to a spectator."""


# auctions


def _call_bytes(call: Call) -> bytes:
    message = HochstaplerCall(seat=call.seat, total=call.total, colour=_WIRE_COLOUR[call.colour])
    if call.exchanged != NO_COLOUR:
        message.exchanged = _WIRE_COLOUR[call.exchanged]
    return message.SerializeToString()


def _call_piece(call: Call) -> bytes:
    return submessage(HochstaplerAuction.CALLS_FIELD_NUMBER, _call_bytes(call))


def _current_auction(starter: Seat, calls: Sequence[Call]) -> tuple[bytes, ...]:
    """The auction that goes on, and the current call."""
    piece = b"".join(map(_CALL.__getitem__, calls))
    head = _AUCTION_HEAD[starter][len(piece)]
    return (head, piece, _CURRENT_CALL[calls[-1]]) if calls else (head,)


def _current_call_piece(call: Call) -> bytes:
    return submessage(HochstaplerView.CALL_FIELD_NUMBER, _call_bytes(call))


def _auction_piece(auction: Auction) -> bytes:
    start, end = _STARTER[auction.starter], _end_piece(auction.doubter, auction.loser)
    calls = map(_CALL.__getitem__, auction.calls)
    return submessage(HochstaplerView.AUCTIONS_FIELD_NUMBER, b"".join([start, *calls, end]))


@cache
def _end_piece(doubter: Seat, loser: Seat) -> bytes:
    return HochstaplerAuction(doubter=doubter, loser=loser).SerializeToString()


def _auctions_piece(auctions: tuple[Auction, ...]) -> bytes:
    return b"".join(map(_AUCTION.of, auctions))


_STARTER = [HochstaplerAuction(starter=seat).SerializeToString() for seat in range(SEATS[-1])]
_AUCTION_HEAD = [
    [
        submessage(HochstaplerView.AUCTIONS_FIELD_NUMBER, start + bytes(length))[: -length or None]
        for length in range(512)
    ]
    for start in _STARTER
]
"""By starter and length of its calls, at most 34 of them, what comes before the calls of an auction."""
_CALL = _Kept(_call_piece, 16384)
_CURRENT_CALL = _Kept(_current_call_piece, 16384)
_AUCTION = _KeptById(_auction_piece, 1024)
_AUCTIONS = _KeptById(_auctions_piece, 256)
_EXCHANGED = [HochstaplerView(exchanged=colour).SerializeToString() for colour in _WIRE_COLOUR]


# points and seats


@lru_cache(maxsize=8192)
def _points_piece(points: tuple[int, ...], totals: tuple[int, ...], over: bool) -> bytes:
    """Points of this game and of all: those of finished games, to which this one belongs once all is over."""
    up_to_now = totals if over else map(add, totals, points)
    return HochstaplerView(penalty_points=points, totals=up_to_now).SerializeToString()


def _games_piece(games: tuple[Finished, ...]) -> bytes:
    points = [HochstaplerGame(penalty_points=game.points) for game in games]
    return HochstaplerView(games=points).SerializeToString()


_GAMES = _KeptById(_games_piece, 1024)


@cache
def _rest_piece(
    seat: Seat | None, start_seat: Seat, turn: Seat, seats: int, match: bool, over: bool
) -> bytes:
    return HochstaplerView(
        seat=seat,
        start_seat=start_seat,
        turn_seat=turn,
        highest_call=HIGHEST_CALL[seats],
        match=match,
        over=over,
    ).SerializeToString()


# actions


def _action_piece(action: Action) -> bytes:
    message = HochstaplerAction(kind=_WIRE_KIND[action.kind], total=action.total)
    if action.colour != NO_COLOUR:
        message.colour = _WIRE_COLOUR[action.colour]
    return HochstaplerTurn(actions=[message]).SerializeToString()


_ACTION_PIECE = {action: _action_piece(action) for action in ALL_ACTIONS}


def _action_bytes(actions: Sequence[Action]) -> bytes:
    return _LISTS.of(actions) if isinstance(actions, tuple) else _list_bytes(actions)


def _list_bytes(actions: Sequence[Action]) -> bytes:
    return b"".join([_ACTION_PIECE[action] for action in actions])


_LISTS: _KeptById[tuple[Action, ...]] = _KeptById(_list_bytes, 8192)


# events


def audience(event: Event) -> tuple[Seat, ...] | None:
    """A hand and a drawn card are for the seat that holds them, all else is for everybody (X20)."""
    return (event.seat,) if isinstance(event, (Dealt, Drew)) else None


@lru_cache(maxsize=4096, typed=True)
def event_message(event: Event) -> HochstaplerEvent:
    """An event on the wire. To be read only: equal events are one message."""
    return HochstaplerTurn.FromString(event_bytes(event)).events[0]


def event_bytes(event: Event) -> bytes:
    """An event as a piece of a turn."""
    return _EVENT_PIECE[type(event)](event)


def _event_piece(fill: Callable[[HochstaplerEvent, Any], None]) -> Callable[[Any], bytes]:
    """Pieces of events of one kind, of which there are not many."""

    def piece(event: Any) -> bytes:
        message = HochstaplerEvent()
        fill(message, event)
        return HochstaplerTurn(events=[message]).SerializeToString()

    return _Kept(piece, 8192).__getitem__


def _dealt_piece(event: Dealt) -> bytes:
    """A hand; like what is revealed, there are too many of them to be worth keeping."""
    hand = submessage(HochstaplerDealt.HAND_FIELD_NUMBER, bytes(event.hand))
    dealt = submessage(HochstaplerEvent.DEALT_FIELD_NUMBER, _DEALT_TO[event.seat] + hand)
    return submessage(HochstaplerTurn.EVENTS_FIELD_NUMBER, dealt)


_DEALT_TO = [HochstaplerDealt(seat=seat).SerializeToString() for seat in range(SEATS[-1])]


def _revealed_piece(event: Revealed) -> bytes:
    values = submessage(HochstaplerRevealed.VALUES_FIELD_NUMBER, bytes(event.values))
    revealed = _revealed_head(event.colour, event.total) + values
    piece = submessage(HochstaplerEvent.REVEALED_FIELD_NUMBER, revealed)
    return submessage(HochstaplerTurn.EVENTS_FIELD_NUMBER, piece)


@cache
def _revealed_head(colour: Colour, total: int) -> bytes:
    return HochstaplerRevealed(colour=_WIRE_COLOUR[colour], sum=total).SerializeToString()


def _fill_started(message: HochstaplerEvent, event: Started) -> None:
    started = message.started
    started.seats, started.game, started.start_seat, started.face_down = event


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


def _fill_penalty(message: HochstaplerEvent, event: Penalty) -> None:
    message.penalty.seat = event.seat
    message.penalty.colour = _WIRE_COLOUR[event.colour]


def _fill_game_ended(message: HochstaplerEvent, event: GameEnded) -> None:
    message.game_ended.penalty_points.extend(event.points)
    message.game_ended.ranks.extend(event.ranks)


def _fill_match_ended(message: HochstaplerEvent, event: MatchEnded) -> None:
    message.match_ended.totals.extend(event.totals)
    message.match_ended.ranks.extend(event.ranks)


_EVENT_PIECE: dict[type, Callable[[Any], bytes]] = {
    Started: _event_piece(_fill_started),
    Dealt: _dealt_piece,
    AuctionStarted: _event_piece(_fill_auction),
    Exchanged: _event_piece(_fill_exchanged),
    Drew: _event_piece(_fill_drew),
    Called: _event_piece(_fill_called),
    Doubted: _event_piece(_fill_doubted),
    Revealed: _revealed_piece,
    Penalty: _event_piece(_fill_penalty),
    GameEnded: _event_piece(_fill_game_ended),
    MatchEnded: _event_piece(_fill_match_ended),
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
    discards = [tuple(Discard(card.seat, card.value) for card in pile.discards) for pile in seen.piles]
    return State(
        seats=len(points),
        options=Options(seen.match),
        deal=Deal(0, ()),
        chance=_NO_CHANCE,
        game=len(seen.games),
        drawn=drawn,
        discards=discards,
        taken_by=taken_by,
        looks=tuple(
            look_of(len(points), colour, discards[colour], taken_by[colour], seen.piles[colour].revealed)
            for colour in range(len(COLOURS))
        ),
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
