"""Koffer as messages: what a seat may know, and how actions and events look to it.

Every message is built from nothing. Only the order of the pile and the games still to come are
hidden (K20), and neither is read here but by `imagine` and `redeal`, which invent them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from random import Random

from botarena.v1.game_pb2 import GameOptions, GameTurn
from botarena.v1.koffer_pb2 import (
    KofferAction,
    KofferColour,
    KofferColourRow,
    KofferEvent,
    KofferOptions,
    KofferPlayer,
    KofferRowCard,
    KofferTurn,
    KofferView,
)

from arena.games.game import OptionError, Seat
from arena.games.koffer.rules import (
    ALL_TAKES,
    CARDS,
    COLOUR,
    FACE_DOWN,
    PRINTED_SPECIALS,
    SPECIALS_IN_FORCE,
    VALUE,
    Card,
    Colour,
    ColourRow,
    Deal,
    Ended,
    Event,
    ExtraTurn,
    FinalRound,
    GameDeal,
    Layout,
    NotRefilled,
    Options,
    Placed,
    Refilled,
    Started,
    State,
    Take,
    Taken,
    layout_of,
)
from arena.games.pieces import submessage

_WIRE_COLOUR = (
    KofferColour.KOFFER_COLOUR_BLACK,
    KofferColour.KOFFER_COLOUR_RED,
    KofferColour.KOFFER_COLOUR_BLUE,
    KofferColour.KOFFER_COLOUR_YELLOW,
)
_PRINTED_COLOUR = tuple(_WIRE_COLOUR[colour] for colour in COLOUR)
# What is told of the cards of a colour row, by card.
_VALUES = bytes(VALUE).ljust(256)
_FACES = bytes(card < FACE_DOWN for card in range(256))
_COLOURS = bytes(_PRINTED_COLOUR).ljust(256)


# views and turns
#
# From one view to the next almost all cards lie as they lay, so the views are put together from
# serialised pieces that are kept: serialised messages one after the other are one message.


def view(state: State, seat: Seat | None) -> KofferView:
    """What a seat or a spectator may know now: the same for all (K20)."""
    return KofferView.FromString(_view_bytes(state))


def turn_bytes(state: State, seat: Seat | None, actions: Sequence[Take], events: Sequence[bytes]) -> bytes:
    """A turn as a seat is shown it: a GameTurn."""
    view = submessage(KofferTurn.VIEW_FIELD_NUMBER, _view_bytes(state))
    turn = b"".join([view, *map(_ACTION_PIECE.__getitem__, actions), *events])
    return submessage(GameTurn.KOFFER_FIELD_NUMBER, turn)


def _view_bytes(state: State) -> bytes:
    pieces = list(map(_row_piece, state.row, state.row_chips))
    pieces += map(_player_piece, state.chips, state.series, state.layouts)
    pieces.append(
        _rest(
            CARDS - state.drawn,
            state.specials,
            state.start_seat,
            state.turn,
            state.extra_turn,
            state.final_round,
            state.game,
            state.over,
            state.options.games,
            state.options.specials == "random",
        )
    )
    return b"".join(pieces)


@lru_cache(maxsize=4096)
def _rest(
    pile: int,
    specials: tuple[int, ...],
    start_seat: Seat,
    turn_seat: Seat,
    extra_turn: bool,
    final_round: bool,
    game: int,
    over: bool,
    games: int,
    random_specials: bool,
) -> bytes:
    """All but the row and the players."""
    return KofferView(
        pile=pile,
        specials=specials,
        start_seat=start_seat,
        turn_seat=turn_seat,
        extra_turn=extra_turn,
        final_round=final_round,
        game=game,
        over=over,
        games=games,
        random_specials=random_specials,
    ).SerializeToString()


@lru_cache(maxsize=2048)
def _row_piece(card: Card, chips: int) -> bytes:
    row_card = KofferRowCard(colour=_PRINTED_COLOUR[card], value=VALUE[card], chips=chips)
    return KofferView(row=[row_card]).SerializeToString()


@lru_cache(maxsize=8192)
def _player_piece(chips: int, series: int, layout: Layout) -> bytes:
    player = b"".join((_supplies(chips, series), *map(_colour_row, range(4), layout)))
    return submessage(KofferView.PLAYERS_FIELD_NUMBER, player)


@lru_cache(maxsize=2048)
def _supplies(chips: int, series: int) -> bytes:
    return KofferPlayer(chips=chips, series_total=series).SerializeToString()


@lru_cache(maxsize=32768)
def _colour_row(colour: Colour, row: ColourRow) -> bytes:
    """A colour row as a piece of its player; an empty one is not told."""
    if not row:
        return b""
    return submessage(
        KofferPlayer.ROWS_FIELD_NUMBER,
        KofferColourRow(colour=_WIRE_COLOUR[colour]).SerializeToString()
        # Lists of small numbers are on the wire as strings of bytes.
        + submessage(KofferColourRow.VALUES_FIELD_NUMBER, row.translate(_VALUES))
        + submessage(KofferColourRow.FACE_UP_FIELD_NUMBER, row.translate(_FACES))
        + submessage(KofferColourRow.PRINTED_FIELD_NUMBER, row.translate(_COLOURS)),
    )


def _action_piece(take: Take) -> bytes:
    action = KofferAction(position=take.position, row=_WIRE_COLOUR[take.row], face_up=take.face_up)
    return KofferTurn(actions=[action]).SerializeToString()


_ACTION_PIECE = {take: _action_piece(take) for take in ALL_TAKES}


# events


@lru_cache(maxsize=8192, typed=True)
def event_message(event: Event) -> KofferEvent:
    """An event on the wire. To be read only: equal events are one message."""
    message = KofferEvent()
    _FILL[type(event)](message, event)
    return message


@lru_cache(maxsize=16384, typed=True)
def event_bytes(event: Event) -> bytes:
    """An event as a piece of a turn."""
    return KofferTurn(events=[event_message(event)]).SerializeToString()


def _fill_started(message: KofferEvent, event: Started) -> None:
    started = message.started
    started.seats = event.seats
    started.start_seat = event.start_seat
    started.specials.extend(event.specials)
    for card in event.row:
        started.row.add(colour=_PRINTED_COLOUR[card], value=VALUE[card])
    started.pile = event.pile
    started.game = event.game


def _fill_taken(message: KofferEvent, event: Taken) -> None:
    taken = message.taken
    taken.seat, taken.position, card, taken.paid, taken.gained = event
    taken.card.colour, taken.card.value = _PRINTED_COLOUR[card], VALUE[card]


def _fill_placed(message: KofferEvent, event: Placed) -> None:
    placed = message.placed
    placed.seat, row, placed.face_up = event
    placed.row = _WIRE_COLOUR[row]


def _fill_refilled(message: KofferEvent, event: Refilled) -> None:
    card = message.refilled.card
    card.colour, card.value = _PRINTED_COLOUR[event.card], VALUE[event.card]


def _fill_not_refilled(message: KofferEvent, event: NotRefilled) -> None:
    message.not_refilled.SetInParent()


def _fill_final_round(message: KofferEvent, event: FinalRound) -> None:
    message.final_round.SetInParent()
    message.final_round.seat = event.seat


def _fill_extra_turn(message: KofferEvent, event: ExtraTurn) -> None:
    message.extra_turn.SetInParent()
    message.extra_turn.seat = event.seat


def _fill_ended(message: KofferEvent, event: Ended) -> None:
    message.ended.totals.extend(event.totals)
    message.ended.ranks.extend(event.ranks)


_FILL: dict[type, Callable[..., None]] = {
    Started: _fill_started,
    Taken: _fill_taken,
    Placed: _fill_placed,
    Refilled: _fill_refilled,
    NotRefilled: _fill_not_refilled,
    FinalRound: _fill_final_round,
    ExtraTurn: _fill_extra_turn,
    Ended: _fill_ended,
}


# options


@lru_cache(maxsize=64)
def options_message(options: Options) -> GameOptions:
    """Options on the wire."""
    random = options.specials == "random"
    specials: Iterable[int] = () if options.specials == "random" else options.specials
    return GameOptions(koffer=KofferOptions(specials=specials, random_specials=random, games=options.games))


def options_from(message: GameOptions) -> Options:
    """The options that `options_message` wrote.

    Raises:
        OptionError: these are options of another game, or not allowed (K19).
    """
    if message.WhichOneof("game") != "koffer":
        raise OptionError(f"options of Koffer are needed, not of {message.WhichOneof('game') or 'no game'}")
    given = message.koffer
    if given.random_specials and given.specials:
        raise OptionError("special cards are either listed or drawn at random, not both (K19)")
    return Options("random" if given.random_specials else tuple(given.specials), given.games)


# inventing what is hidden


def imagine(view: KofferView, events: Sequence[KofferEvent], rng: Random) -> State:
    """A state that looks like this view: an order of the pile and later games are invented.

    Args:
        events: all that were shown so far; without them the totals of finished games are known
            only as their sum.
    """
    state = _table(view.SerializeToString()).copy()
    state.deal = redeal(state.deal, state, state.turn, rng)
    state.deck = state.deal.games[state.game].deck
    state.finished = _finished(view, events)
    return state


def redeal(deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
    """Another deal with which the match would have looked the same so far: pile and later games differ."""
    now = deal.games[state.game]
    pile = list(now.deck[state.drawn :])
    rng.shuffle(pile)
    current = GameDeal(now.deck[: state.drawn] + tuple(pile), now.specials)
    later = [_random_game(state.options, rng) for _ in deal.games[state.game + 1 :]]
    return Deal(deal.start_seat, (*deal.games[: state.game], current, *later))


@lru_cache(maxsize=64)
def _table(view: bytes) -> State:
    """The state of a view but for what no view tells: the pile is in order, all games are alike.

    Searching bots imagine the same view many times, and reading it is what takes long.
    """
    seen = KofferView.FromString(view)
    layouts = [_layout(player) for player in seen.players]
    row = [_card(card.colour, card.value) for card in seen.row]
    game = GameDeal(_deck(row, layouts), tuple(seen.specials))
    return State(
        seats=len(seen.players),
        options=Options("random" if seen.random_specials else game.specials, seen.games),
        deal=Deal((seen.start_seat - seen.game) % len(seen.players), (game,) * seen.games),
        game=seen.game,
        specials=game.specials,
        deck=game.deck,
        drawn=CARDS - seen.pile,
        row=row,
        row_chips=[card.chips for card in seen.row],
        chips=[player.chips for player in seen.players],
        layouts=layouts,
        start_seat=seen.start_seat,
        turn=seen.turn_seat,
        extra_turn=seen.extra_turn,
        final_round=seen.final_round,
        series=tuple(player.series_total for player in seen.players),
        over=seen.over,
    )


def _card(colour: int, value: int) -> Card:
    # The wire counts colours from 1: its 0 means that none was given.
    return (colour - 1) * 10 + value - 1


def _layout(player: KofferPlayer) -> Layout:
    rows = [b""] * 4
    for row in player.rows:
        rows[row.colour - 1] = bytes(
            _card(colour, value) + (0 if face_up else FACE_DOWN)
            for colour, value, face_up in zip(row.printed, row.values, row.face_up, strict=True)
        )
    return layout_of(rows)


def _deck(row: list[Card], layouts: list[Layout]) -> tuple[Card, ...]:
    """A deck of which the cards in sight were drawn first."""
    seen = row + [card % FACE_DOWN for rows in layouts for cards in rows for card in cards]
    return (*seen, *sorted(set(range(CARDS)).difference(seen)))


def _random_game(options: Options, rng: Random) -> GameDeal:
    deck = list(range(CARDS))
    rng.shuffle(deck)
    if options.specials != "random":
        return GameDeal(tuple(deck), options.specials)
    return GameDeal(tuple(deck), tuple(sorted(rng.sample(PRINTED_SPECIALS, SPECIALS_IN_FORCE))))


def _finished(view: KofferView, events: Sequence[KofferEvent]) -> tuple[tuple[int, ...], ...]:
    """Totals of each finished game, or their sum in place of them if not all were shown."""
    games = view.game + view.over
    if not games:
        return ()
    ended = tuple(tuple(event.ended.totals) for event in events if event.HasField("ended"))
    if len(ended) == games:
        return ended
    return (tuple(player.series_total for player in view.players),)
