"""Kotki as messages: what a seat may know, and how actions and events look to it.

Every message is built from nothing. Only the order of the two stacks is hidden (P24), and it is not read here
but by `imagine` and `redeal`, which invent it; of the top cat its points are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any

from botarena.v1.game_pb2 import GameOptions, GameTurn
from botarena.v1.kotki_pb2 import (
    KotkiAbility,
    KotkiAction,
    KotkiActionKind,
    KotkiCapturedCat,
    KotkiCat,
    KotkiEvent,
    KotkiOptions,
    KotkiPhase,
    KotkiPillow,
    KotkiPlayer,
    KotkiSymbol,
    KotkiTurn,
    KotkiView,
)

from arena.games.chance import SEED_BYTES, Chance
from arena.games.game import OptionError, Seat
from arena.games.kotki.components import (
    CAT_IDS,
    CATS,
    DECK,
    DOG,
    FIELDS,
    PILLOWS,
    POINTS,
    SHOWS,
    Bait,
    CatId,
    cat_set,
)
from arena.games.kotki.rules import (
    HOMES,
    KINDS,
    LURE,
    PHASES,
    PLACE,
    PLACE_DRAWN,
    SWAP,
    Action,
    BaitReshuffled,
    Bust,
    CatIds,
    CatsReshuffled,
    Deal,
    DogDiscarded,
    DogIgnored,
    DogPending,
    Drawn,
    DrawnPlaced,
    Ended,
    Event,
    Lured,
    NeutralCard,
    Options,
    Padlocked,
    Pile,
    Placed,
    Revealed,
    Shifted,
    Started,
    State,
    Stopped,
    Surplus,
    Swapped,
    TurnEnded,
    TurnStarted,
    Unlocked,
    YardDiscarded,
    YardFilled,
    members,
)
from arena.games.pieces import submessage, varint

_ABILITY = {
    ability.removeprefix("KOTKI_ABILITY_").lower(): number for ability, number in KotkiAbility.items()
}
_PHASE = tuple(KotkiPhase.Value(f"KOTKI_PHASE_{phase.upper()}") for phase in PHASES)
_KIND = tuple(KotkiActionKind.Value(f"KOTKI_ACTION_KIND_{kind.upper()}") for kind in KINDS)

_ON_WIRE: tuple[int, ...] = (*SHOWS[:DOG], KotkiSymbol.KOTKI_SYMBOL_DOG, 0)
"""By bait card, dog and empty field included, what stands for it on the wire."""
_OFF_WIRE: dict[int, Bait] = {bits: card for card, bits in enumerate(_ON_WIRE)}
_OWNERS: dict[int, tuple[Seat | None, ...]] = {
    seats: tuple(homes.index(number) if number in homes else None for number in range(PILLOWS))
    for seats, homes in HOMES.items()
}
"""By number of players and pillow, the seat of its player."""
_TRANSLATION = bytes(_ON_WIRE).ljust(256, b"\0")
_CARD: tuple[Pile, ...] = tuple(bytes((card,)) for card in range(DOG + 1))


# views and turns
#
# Most of what lies on the table lies as it lay, so turns are put together from serialised pieces that are
# kept: serialised messages one after the other are one message. Each piece of a view is a piece of the turn
# around it, so that all are joined once. A list of small numbers is serialised like a message whose bytes
# are the numbers.


def view(state: State, seat: Seat | None) -> KotkiView:
    """What a seat or a spectator may know now: the same for all (P24)."""
    return KotkiTurn.FromString(b"".join(_view_pieces(state))).view


def turn_bytes(state: State, seat: Seat | None, actions: Sequence[Action], events: Sequence[bytes]) -> bytes:
    """A turn as a seat is shown it: a GameTurn."""
    pieces = _view_pieces(state)
    pieces.append(_actions_piece(tuple(actions)))
    pieces += events
    return submessage(GameTurn.KOTKI_FIELD_NUMBER, b"".join(pieces))


def _view_pieces(state: State) -> list[bytes]:
    options = state.options
    first, second, third, fourth = state.pillows
    before_first, before_second, before_third, before_fourth = _before_fields(state.seats, state.locked)
    return [
        before_first,
        first.translate(_TRANSLATION),
        before_second,
        second.translate(_TRANSLATION),
        before_third,
        third.translate(_TRANSLATION),
        before_fourth,
        fourth.translate(_TRANSLATION),
        _bait_stack_pieces(state.bait)[state.bait_taken],
        _bait_discard_piece(state.bait_discard),
        _hand_piece(state.collected, state.drawn),
        _cats_piece(
            tuple(state.captured),
            tuple(state.unused),
            tuple(state.points),
            tuple(state.yard),
            state.cats,
            state.cats_taken,
            state.cat_discard,
        ),
        _turn_piece(state.phase, state.drawn_from, state.swapped, state.placed),
        _match_piece(
            state.turn, state.start_seat, state.round, state.over, options.target, options.max_rounds
        ),
    ]


def _piece(part: KotkiView) -> bytes:
    return submessage(KotkiTurn.VIEW_FIELD_NUMBER, part.SerializeToString())


# bait


@lru_cache(maxsize=1 << 8)
def _before_fields(seats: int, locked: int) -> tuple[bytes, ...]:
    """By pillow, its piece of a view up to the cards on its fields, which are the last bytes of it."""
    pillows = [
        KotkiPillow(seat=seat, locked=bool(locked >> number & 1), fields=[0] * FIELDS)
        for number, seat in enumerate(_OWNERS[seats])
    ]
    return tuple(_piece(KotkiView(pillows=[pillow]))[:-FIELDS] for pillow in pillows)


@lru_cache(maxsize=1 << 9)
def _bait_stack_pieces(stack: Pile) -> tuple[bytes, ...]:
    """By number of cards that are taken from a stack, what it still holds, in bait order."""
    left = bytes(sorted(stack))
    pieces = [_baits_piece(KotkiView.BAIT_STACK_FIELD_NUMBER, left)]
    for card in stack:
        left = left.replace(_CARD[card], b"", 1)
        pieces.append(_baits_piece(KotkiView.BAIT_STACK_FIELD_NUMBER, left))
    return tuple(pieces)


@lru_cache(maxsize=1 << 11)
def _bait_discard_piece(discard: Pile) -> bytes:
    """What the discard holds, in bait order."""
    return _baits_piece(KotkiView.BAIT_DISCARD_FIELD_NUMBER, bytes(sorted(discard)))


@lru_cache(maxsize=1 << 11)
def _hand_piece(collected: Pile, drawn: Pile) -> bytes:
    return _baits_piece(KotkiView.COLLECTED_FIELD_NUMBER, collected) + _baits_piece(
        KotkiView.DRAWN_FIELD_NUMBER, drawn
    )


def _baits_piece(field: int, cards: Pile) -> bytes:
    if not cards:
        return b""
    return submessage(KotkiTurn.VIEW_FIELD_NUMBER, submessage(field, cards.translate(_TRANSLATION)))


# cats


@lru_cache(maxsize=1 << 11)
def _cats_piece(
    captured: tuple[Pile, ...],
    unused: tuple[int, ...],
    points: tuple[int, ...],
    yard: CatIds,
    stack: Pile,
    taken: int,
    discard: int,
) -> bytes:
    """Where the cats are: with the players, in the yard, in stack and discard. Few decisions change that."""
    pieces = [
        *map(_player_part, HOMES[len(captured)], points, captured, unused),
        *[_YARD[cat] for cat in yard],
        _cat_stack_parts(stack)[taken],
        _numbers_part(KotkiView.CAT_DISCARD_FIELD_NUMBER, bytes(members(discard))),
    ]
    return submessage(KotkiTurn.VIEW_FIELD_NUMBER, b"".join(pieces))


@lru_cache(maxsize=1 << 12)
def _player_part(home: int, points: int, cats: Pile, unused: int) -> bytes:
    parts = [_player_start(home, points), *[_CAPTURED[unused >> cat & 1][cat] for cat in cats]]
    return submessage(KotkiView.PLAYERS_FIELD_NUMBER, b"".join(parts))


@lru_cache(maxsize=1 << 9)
def _player_start(home: int, points: int) -> bytes:
    return KotkiPlayer(pillow=home, points=points).SerializeToString()


@lru_cache(maxsize=1 << 9)
def _cat_stack_parts(stack: Pile) -> tuple[bytes, ...]:
    """By number of tiles taken from a stack, what it still holds, by number, and its top's points."""
    return tuple([_cat_stack_part(stack[taken:]) for taken in range(len(stack) + 1)])


def _cat_stack_part(left: Pile) -> bytes:
    top = POINTS[left[0]] if left else 0
    cats = _numbers_part(KotkiView.CAT_STACK_FIELD_NUMBER, bytes(sorted(left)))
    return cats + _part(KotkiView.TOP_CAT_POINTS_FIELD_NUMBER, top)


def _numbers_part(field: int, numbers: bytes) -> bytes:
    return submessage(field, numbers) if numbers else b""


def _cat(number: CatId) -> KotkiCat:
    if not number:
        return KotkiCat()
    cost, points, ability, shows = CATS[number]
    return KotkiCat(number=number, cost=cost, points=points, ability=_ABILITY[ability], shows=shows)


_YARD = tuple(KotkiView(yard=[_cat(cat)]).SerializeToString() for cat in (0, *CAT_IDS))
"""By cat, its part of a view while it is in the yard."""
_CAPTURED = tuple(
    tuple(
        KotkiPlayer(cats=[KotkiCapturedCat(cat=_cat(cat), used=used)]).SerializeToString()
        for cat in (0, *CAT_IDS)
    )
    for used in (True, False)
)
"""By whether it can still use its ability and cat, its part of a player who has captured it."""


# how far turn and match have come


@lru_cache(maxsize=1 << 12)
def _turn_piece(phase: int, drawn_from: int, swapped: int, placed: int) -> bytes:
    """What has been done in this turn."""
    return _piece(
        KotkiView(
            phase=_PHASE[phase],
            drawn_from=_PHASE[drawn_from],
            swapped=members(swapped),
            placed=members(placed),
        )
    )


@lru_cache(maxsize=1 << 13)
def _match_piece(turn: Seat, start_seat: Seat, round: int, over: bool, target: int, max_rounds: int) -> bytes:
    """How far the match has come."""
    return _piece(
        KotkiView(
            turn_seat=turn,
            start_seat=start_seat,
            round=round,
            over=over,
            target=target,
            max_rounds=max_rounds,
        )
    )


# actions


@lru_cache(maxsize=1 << 12)
def _actions_piece(actions: tuple[Action, ...]) -> bytes:
    return b"".join(map(_action_piece, actions))


@lru_cache(maxsize=1 << 14)
def _action_piece(action: Action) -> bytes:
    return KotkiTurn(actions=[action_message(action)]).SerializeToString()


def action_message(action: Action) -> KotkiAction:
    """An action on the wire."""
    kind, number, where, subs = action
    message = KotkiAction(kind=_KIND[kind])
    if kind == LURE:
        message.slot = number
        message.fields.extend(members(where))
        message.subs.extend(members(subs))
    elif kind == SWAP:
        message.pillow = number
    elif kind in (PLACE, PLACE_DRAWN):
        message.bait, message.field = _ON_WIRE[number], where
    else:
        message.cat = number
        message.slots.extend(members(where))
    return message


# events


_IN_MESSAGE: dict[type, str] = {
    Started: "started",
    TurnStarted: "turn_started",
    Unlocked: "unlocked",
    Revealed: "revealed",
    DogDiscarded: "dog_discarded",
    DogPending: "dog_pending",
    DogIgnored: "dog_ignored",
    Bust: "bust",
    Stopped: "stopped",
    Placed: "placed",
    Surplus: "surplus",
    Lured: "lured",
    YardDiscarded: "yard_discarded",
    YardFilled: "yard_filled",
    Swapped: "swapped",
    Drawn: "drawn",
    DrawnPlaced: "drawn_placed",
    Shifted: "shifted",
    Padlocked: "padlocked",
    NeutralCard: "neutral_card",
    BaitReshuffled: "bait_reshuffled",
    CatsReshuffled: "cats_reshuffled",
    TurnEnded: "turn_ended",
    Ended: "ended",
}
_CARDS = frozenset(("bait", "baits", "arrows", "replaced", "given", "taken"))
"""Fields of events that hold bait cards."""
_SETS = frozenset(("fields", "subs", "slots"))
"""Fields of events that hold sets."""


def _layout(event: Any, name: str) -> tuple[int, tuple[tuple[int, str], ...]]:
    field = KotkiEvent.DESCRIPTOR.fields_by_name[name]
    inner = getattr(KotkiEvent(), name).DESCRIPTOR.fields_by_name
    return field.number, tuple((inner[name].number, name) for name in event._fields)


_LAYOUTS = {event: _layout(event, name) for event, name in _IN_MESSAGE.items()}
"""By type of event, the number of its message, and of the fields in there their numbers and names."""


@lru_cache(maxsize=1 << 13, typed=True)
def event_message(event: Event) -> KotkiEvent:
    """An event on the wire. To be read only: equal events are one message."""
    message = KotkiEvent()
    part = getattr(message, _IN_MESSAGE[type(event)])
    part.SetInParent()
    for name, value in event._asdict().items():
        shown = _shown(name, value)
        if isinstance(shown, int):
            setattr(part, name, shown)
        else:
            getattr(part, name).extend(shown)
    return message


def _shown(name: str, value: Any) -> int | Sequence[int]:
    """A field of an event as its message holds it."""
    if name in _SETS:
        return members(value)
    if name in _CARDS:
        return _ON_WIRE[value] if isinstance(value, int) else [_ON_WIRE[card] for card in value]
    return value  # type: ignore[no-any-return]


@lru_cache(maxsize=1 << 13, typed=True)
def event_bytes(event: Event) -> bytes:
    """An event as a piece of a turn."""
    number, fields = _LAYOUTS[type(event)]
    parts = [_part(field, _shown(name, value)) for (field, name), value in zip(fields, event, strict=True)]
    return submessage(KotkiTurn.EVENTS_FIELD_NUMBER, submessage(number, b"".join(parts)))


def _part(field: int, shown: int | Sequence[int]) -> bytes:
    """A field of a message: one number or several, none of them negative."""
    if isinstance(shown, int):
        return varint(field << 3) + varint(shown) if shown else b""
    return submessage(field, b"".join(map(varint, shown))) if shown else b""


# options


def options_message(options: Options) -> GameOptions:
    """Options on the wire."""
    return GameOptions(kotki=KotkiOptions(target=options.target, max_rounds=options.max_rounds))


def options_from(message: GameOptions) -> Options:
    """The options that `options_message` wrote.

    Raises:
        OptionError: these are options of another game, or not allowed (P22).
    """
    if message.WhichOneof("game") != "kotki":
        raise OptionError(f"options of Kotki are needed, not of {message.WhichOneof('game') or 'no game'}")
    return Options(message.kotki.target, message.kotki.max_rounds)


# inventing what is hidden


def imagine(view: KotkiView, events: Sequence[KotkiEvent], rng: Random) -> State:
    """A state that looks like this view: the order of the stacks and later reshuffles are invented."""
    state = _table(view.SerializeToString()).copy()
    state.bait = bytes(_in_any_order(state.bait, rng))
    state.cats = bytes(_cats_in_any_order(state.cats, view.top_cat_points, rng))
    state.chance = Chance(rng.randbytes(SEED_BYTES))
    return state


def redeal(deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
    """Another deal with which the match would have looked the same so far.

    What is left of the stacks is in another order. All earlier stacks were seen to their end, or there would
    have been no reshuffle; they are given as they were. The next reshuffles are given too, at random.
    """
    bait = (*state.bait[: state.bait_taken], *_in_any_order(state.bait[state.bait_taken :], rng))
    rest = _cats_in_any_order(state.cats[state.cats_taken :], POINTS[state.top_cat], rng)
    cats = (*state.cats[: state.cats_taken], *rest)
    first_bait, *later_bait = (*(deal.bait, *state.bait_shuffled)[:-1], bait)
    first_cats, *later_cats = (*(deal.cats, *state.cats_shuffled)[:-1], cats)
    return replace(
        deal,
        bait=tuple(first_bait),
        cats=tuple(first_cats),
        later_bait=(*(_whole(order, DECK) for order in later_bait), _in_any_order(DECK, rng)),
        later_cats=(*(_whole(order, CAT_IDS) for order in later_cats), _in_any_order(CAT_IDS, rng)),
    )


def _in_any_order(cards: Sequence[int], rng: Random) -> tuple[int, ...]:
    """Shuffled by random keys, which is quicker than `Random.shuffle`."""
    key = rng.random
    return tuple(sorted(cards, key=lambda _: key()))


def _cats_in_any_order(cats: Sequence[CatId], top_points: int, rng: Random) -> CatIds:
    """A cat stack whose top tile has the points that everybody sees."""
    order = list(_in_any_order(cats, rng))
    if order:
        top = next(index for index, cat in enumerate(order) if POINTS[cat] == top_points)
        order.insert(0, order.pop(top))
    return tuple(order)


def _whole(order: Sequence[int], box: Sequence[int]) -> tuple[int, ...]:
    """An order of all there is in the box that begins with this one."""
    rest = list(box)
    for card in order:
        rest.remove(card)
    return (*order, *rest)


@lru_cache(maxsize=64)
def _table(view: bytes) -> State:
    """The state of a view but for what no view tells: the stacks are in canonical order.

    Searching bots imagine the same view many times, and reading it is what takes long.
    """
    seen = KotkiView.FromString(view)
    captured = [bytes(held.cat.number for held in player.cats) for player in seen.players]
    return State(
        seats=len(seen.players),
        options=Options(seen.target, seen.max_rounds),
        start_seat=seen.start_seat,
        turn=seen.turn_seat,
        round=seen.round,
        phase=_PHASE.index(seen.phase),
        drawn_from=_PHASE.index(seen.drawn_from),
        bait=_baits(seen.bait_stack),
        bait_taken=0,
        bait_discard=_baits(seen.bait_discard),
        pillows=[_baits(pillow.fields) for pillow in seen.pillows],
        locked=sum(1 << number for number, pillow in enumerate(seen.pillows) if pillow.locked),
        collected=_baits(seen.collected),
        drawn=_baits(seen.drawn),
        swapped=sum(1 << pillow for pillow in seen.swapped),
        placed=sum(1 << field for field in seen.placed),
        cats=bytes(seen.cat_stack),
        cats_taken=0,
        cat_discard=cat_set(seen.cat_discard),
        yard=[cat.number for cat in seen.yard],
        captured=captured,
        unused=[cat_set(held.cat.number for held in player.cats if not held.used) for player in seen.players],
        points=[player.points for player in seen.players],
        over=seen.over,
        chance=Chance(bytes(SEED_BYTES)),
    )


def _baits(bits: Iterable[int]) -> Pile:
    return bytes([_OFF_WIRE[card] for card in bits])
