"""Combo Up as messages: what a seat may know, and how actions and events look to it.

Every message is built from nothing. Hidden are the cards that others hold, where they hold them, what
others drew and handed on among themselves, the order of the pile and the hands to come (U28). None of
it is read here but by `redeal`, which deals it anew; `imagine` invents it from a view alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple, TypeAlias

from botarena.v1.combo_up_pb2 import (
    ComboUpAction,
    ComboUpCard,
    ComboUpEdition,
    ComboUpEvent,
    ComboUpGive,
    ComboUpInsert,
    ComboUpKind,
    ComboUpOptions,
    ComboUpPhase,
    ComboUpPlay,
    ComboUpPlayer,
    ComboUpPlaySpecial,
    ComboUpReason,
    ComboUpRoundEnded,
    ComboUpTake,
    ComboUpTurn,
    ComboUpView,
)
from botarena.v1.game_pb2 import GameOptions, GameTurn

from arena.games.chance import SEED_BYTES, Chance
from arena.games.combo_up import rules
from arena.games.combo_up.rules import (
    ALL_ACTIONS,
    COMBO_UP,
    DECKS,
    GIVE,
    IN_TURN,
    INSERT,
    KRASS_KARIERT,
    PLAY,
    READINGS,
    RECEIVING,
    SPECIAL,
    TAKE,
    Action,
    Card,
    Cards,
    Deal,
    Drawn,
    Drew,
    Event,
    Gave,
    HandEnded,
    HandStarted,
    Laid,
    MatchEnded,
    Moves,
    Options,
    Passed,
    PassedOver,
    Played,
    RoundEnded,
    RoundStarted,
    SpecialPlayed,
    State,
    Took,
    Unable,
    audience,
    kind_and_high,
    strength_of,
)
from arena.games.game import IllegalActionError, OptionError, Seat
from arena.games.pieces import submessage, varint

# The numbers of cards, kinds, phases and reasons are the same here and there; only their types differ.
_CARD = ComboUpCard.ValueType
_EDITION = {
    COMBO_UP: ComboUpEdition.COMBO_UP_EDITION_COMBO_UP,
    KRASS_KARIERT: ComboUpEdition.COMBO_UP_EDITION_KRASS_KARIERT,
}
_EDITION_OF = {number: edition for edition, number in _EDITION.items()}


# views and turns
#
# From one view to the next most things are as they were, so the views are put together from
# serialised pieces that are kept: serialised messages one after the other are one message.


def view(state: State, seat: Seat | None) -> ComboUpView:
    """What a seat or a spectator may know now (U28)."""
    return ComboUpView.FromString(_view_bytes(state, seat))


def turn_bytes(state: State, seat: Seat | None, actions: Sequence[Action], events: Sequence[bytes]) -> bytes:
    """A turn as a seat is shown it: a GameTurn."""
    view = _view_bytes(state, seat)
    turn = b"".join([_VIEW, varint(len(view)), view, *_action_pieces(actions), *events])
    return submessage(GameTurn.COMBO_UP_FIELD_NUMBER, turn)


_VIEW = submessage(ComboUpTurn.VIEW_FIELD_NUMBER, b"")[:-1]
"""What stands before a view and its length."""


def _view_bytes(state: State, seat: Seat | None) -> bytes:
    held, participants, options, aside = state.held, state.participants, state.options, state.aside
    hand, incoming = (held[seat], state.incoming[seat]) if seat is not None else ((), 0)
    outs = _outs(state.seats, participants)
    return b"".join(
        [
            *map(_player_piece, map(len, held), state.reserves, state.tokens, state.points, outs),
            *map(_laid_piece, state.table),
            *(_HAND_OF[len(hand)], bytes(hand)),
            *(_ASIDE_OF[len(aside)], bytes(aside)),
            _log_bytes(state.log, seat),
            _match_piece(seat, options.edition, options.scoring, state.hand),
            _round_piece(state.round, participants, state.turn, state.draws, state.phase, state.acting),
            _PILE[len(state.deck) - state.drawn],
            _INCOMING[incoming],
            _DRAWS_LEFT[state.left],
        ]
    )


@lru_cache(maxsize=1 << 10)
def _outs(seats: int, participants: tuple[Seat, ...]) -> tuple[bool, ...]:
    """By seat, whether it is out until the hand ends."""
    return tuple(seat not in participants for seat in range(seats))


@lru_cache(maxsize=1 << 14)
def _player_piece(cards: int, reserves: Cards, tokens: int, points: int, out: bool) -> bytes:
    player = ComboUpPlayer(cards=cards, reserves=_wire(reserves), tokens=tokens, points=points, out=out)
    return ComboUpView(players=[player]).SerializeToString()


@lru_cache(maxsize=1 << 13)
def _laid_piece(laid: Laid) -> bytes:
    piece = ComboUpView()
    on_table = piece.table.add(seat=laid.seat)
    if isinstance(laid, Played):
        on_table.cards.extend(_wire(laid.cards))
        kind, on_table.high = kind_and_high(laid.strength)
        on_table.kind = ComboUpKind.ValueType(kind)
    else:
        on_table.cards.append(_CARD(laid.card))
    return piece.SerializeToString()


@lru_cache(maxsize=1 << 10)
def _match_piece(seat: Seat | None, edition: str, scoring: bool, hand: int) -> bytes:
    return ComboUpView(
        seat=seat, edition=_EDITION[edition], scoring=scoring, hand_index=hand
    ).SerializeToString()


@lru_cache(maxsize=1 << 13)
def _round_piece(
    number: int, participants: tuple[Seat, ...], turn: int, draws: int, phase: int, acting: tuple[Seat, ...]
) -> bytes:
    return ComboUpView(
        round=number,
        participants=participants,
        turn=turn,
        draws=draws,
        phase=ComboUpPhase.ValueType(phase),
        to_move=acting,
    ).SerializeToString()


def _before_cards(number: int) -> list[bytes]:
    """By their number, what stands before the cards of a field: each of them is a byte of its own."""
    return [b"", *(submessage(number, bytes(cards))[:-cards] for cards in _NUMBERS[1:])]


_NUMBERS = range(len(DECKS[COMBO_UP]) + 1)
_HAND_OF = _before_cards(ComboUpView.HAND_FIELD_NUMBER)
_ASIDE_OF = _before_cards(ComboUpView.ASIDE_FIELD_NUMBER)
_PILE = [ComboUpView(pile=cards).SerializeToString() for cards in _NUMBERS]
_DRAWS_LEFT = [ComboUpView(draws_left=cards).SerializeToString() for cards in _NUMBERS]
_INCOMING = [ComboUpView(incoming=_CARD(card)).SerializeToString() for card in range(rules.PASS_ON + 1)]


class _WrittenLog:
    """The log of a hand as each who was shown it sees it, as far as it is written.

    A log only ever grows, so what is written of it remains; another hand and a copy have another list.
    """

    __slots__ = ("as_seen", "events", "written")

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.written = 0
        self.as_seen: dict[Seat | None, bytearray] = {}


_LOGS_KEPT = 1 << 9
_LOGS: dict[int, _WrittenLog] = {}
"""By identity of the list, the logs that were begun last."""


def _log_bytes(events: list[Event], seat: Seat | None) -> bytearray:
    """The log as a seat or a spectator sees it now."""
    log = _LOGS.get(id(events))
    if log is None:
        log = _begin_log(events)
    if log.written != len(events):
        _write(events[log.written :], log.as_seen)
        log.written = len(events)
    if seat not in log.as_seen:
        log.as_seen[seat] = bytearray()
        _write(events, {seat: log.as_seen[seat]})
    return log.as_seen[seat]


def _begin_log(events: list[Event]) -> _WrittenLog:
    if len(_LOGS) >= _LOGS_KEPT:
        del _LOGS[next(iter(_LOGS))]
    # As the list is kept with what is written of it, no other one can have its identity meanwhile.
    _LOGS[id(events)] = log = _WrittenLog(events)
    return log


def _write(events: Iterable[Event], as_seen: Mapping[Seat | None, bytearray]) -> None:
    """Add events to the logs of those who learn of them (U28)."""
    for event in events:
        piece, seats = _event_pieces(event)[1], audience(event)
        for seat, log in as_seen.items():
            if seats is None or seat in seats:
                log += piece


def _wire(cards: Iterable[Card]) -> list[ComboUpCard.ValueType]:
    return [_CARD(card) for card in cards]


# actions


def _action_message(action: Action) -> ComboUpAction:
    verb, length, index, strength, reserve, position = action
    if verb == PLAY:
        kind, high = kind_and_high(strength)
        play = ComboUpPlay(start=index, length=length, kind=ComboUpKind.ValueType(kind), high=high)
        return ComboUpAction(play=play)
    if verb == SPECIAL:
        return ComboUpAction(special=ComboUpPlaySpecial(index=index))
    if verb == TAKE:
        return ComboUpAction(take=ComboUpTake(reserve=reserve, position=position))
    if verb == GIVE:
        return ComboUpAction(give=ComboUpGive(index=index))
    return ComboUpAction(insert=ComboUpInsert(position=position))


_ACTION_PIECE = {
    action: ComboUpTurn(actions=[_action_message(action)]).SerializeToString() for action in ALL_ACTIONS
}


def _up_to(last: Action) -> tuple[Action, ...]:
    """All takes, gifts or insertions of a seat, by the last one."""
    return tuple(
        action
        for action in ALL_ACTIONS
        if action.verb == last.verb
        and action.at <= last.at
        and action.reserve <= last.reserve
        and action.position <= last.position
    )


_piece_of = _ACTION_PIECE.__getitem__
_ENDS = {
    last: (-len(actions), actions, b"".join(map(_piece_of, actions)))
    for last in ALL_ACTIONS
    if last.verb in (TAKE, GIVE, INSERT)
    for actions in [_up_to(last)]
}
"""By the last one, what many lists of actions end with: where it begins, what it is, and its piece."""


def _action_pieces(actions: Sequence[Action]) -> Iterable[bytes]:
    """Takes, gifts and insertions come many at a time and always the same."""
    if actions and (known := _ENDS.get(actions[-1])):
        begin, end, piece = known
        if actions[begin:] == end:
            return (*map(_piece_of, actions[:begin]), piece)
    return map(_piece_of, actions)


# events


@lru_cache(maxsize=1 << 13, typed=True)
def event_message(event: Event) -> ComboUpEvent:
    """An event on the wire. To be read only: equal events are one message."""
    message = ComboUpEvent()
    _FILL[type(event)](message, event)
    return message


def event_bytes(event: Event) -> bytes:
    """An event as a piece of a turn."""
    return _event_pieces(event)[0]


@lru_cache(maxsize=1 << 13, typed=True)
def _event_pieces(event: Event) -> tuple[bytes, bytes]:
    """An event as a piece of a turn and as a piece of the log of a view."""
    data = _event_data(event)
    return (
        submessage(ComboUpTurn.EVENTS_FIELD_NUMBER, data),
        submessage(ComboUpView.LOG_FIELD_NUMBER, data),
    )


def _event_data(event: Event) -> bytes:
    """An event, serialised; most that are not written yet are ends of rounds, as what was laid differs."""
    if isinstance(event, RoundEnded):
        winner, draws, laid = event
        data = _round_ended_piece(winner, draws) + _LAID_OF[len(laid)] + bytes(laid)
        return submessage(ComboUpEvent.ROUND_ENDED_FIELD_NUMBER, data)
    return event_message(event).SerializeToString()


@lru_cache(maxsize=1 << 6)
def _round_ended_piece(winner: Seat, draws: int) -> bytes:
    return ComboUpRoundEnded(winner=winner, draws=draws).SerializeToString()


_LAID_OF = _before_cards(ComboUpRoundEnded.ASIDE_FIELD_NUMBER)


def _fill_hand_started(message: ComboUpEvent, event: HandStarted) -> None:
    started = message.hand_started
    started.hand_index, started.starter, started.cards, reserves, started.pile = event
    for of_seat in reserves:
        started.reserves.add(cards=_wire(of_seat))


def _fill_round_started(message: ComboUpEvent, event: RoundStarted) -> None:
    message.round_started.round = event.round
    message.round_started.participants.extend(event.participants)


def _fill_played(message: ComboUpEvent, event: Played) -> None:
    played = message.played
    played.seat = event.seat
    played.cards.extend(_wire(event.cards))
    kind, played.high = kind_and_high(event.strength)
    played.kind = ComboUpKind.ValueType(kind)


def _fill_special_played(message: ComboUpEvent, event: SpecialPlayed) -> None:
    message.special_played.seat, message.special_played.card = event.seat, _CARD(event.card)


def _fill_took(message: ComboUpEvent, event: Took) -> None:
    took = message.took
    took.seat, took.card, took.by_take_up = event.seat, _CARD(event.card), event.by_take_up


def _fill_passed_over(message: ComboUpEvent, event: PassedOver) -> None:
    message.passed_over.SetInParent()
    message.passed_over.seat = event.seat


def _fill_passed(message: ComboUpEvent, event: Passed) -> None:
    message.passed.giver, message.passed.receiver = event


def _fill_gave(message: ComboUpEvent, event: Gave) -> None:
    message.gave.giver, message.gave.receiver, message.gave.card = (*event[:2], _CARD(event.card))


def _fill_drawn(message: ComboUpEvent, event: Drawn) -> None:
    message.drawn.SetInParent()
    message.drawn.seat, message.drawn.left = event


def _fill_drew(message: ComboUpEvent, event: Drew) -> None:
    message.drew.seat, message.drew.card = event.seat, _CARD(event.card)


def _fill_round_ended(message: ComboUpEvent, event: RoundEnded) -> None:
    ended = message.round_ended
    ended.winner, ended.draws = event.winner, event.draws
    ended.aside.extend(_wire(event.aside))


def _fill_unable(message: ComboUpEvent, event: Unable) -> None:
    message.unable.SetInParent()
    message.unable.seat = event.seat


def _fill_hand_ended(message: ComboUpEvent, event: HandEnded) -> None:
    ended = message.hand_ended
    ended.losers.extend(event.losers)
    ended.reason = ComboUpReason.ValueType(event.reason)
    ended.points.extend(event.points)
    ended.tokens.extend(event.tokens)


def _fill_match_ended(message: ComboUpEvent, event: MatchEnded) -> None:
    message.match_ended.ranks.extend(event.ranks)


_FILL: dict[type, Callable[..., None]] = {
    HandStarted: _fill_hand_started,
    RoundStarted: _fill_round_started,
    Played: _fill_played,
    SpecialPlayed: _fill_special_played,
    Took: _fill_took,
    PassedOver: _fill_passed_over,
    Passed: _fill_passed,
    Gave: _fill_gave,
    Drawn: _fill_drawn,
    Drew: _fill_drew,
    RoundEnded: _fill_round_ended,
    Unable: _fill_unable,
    HandEnded: _fill_hand_ended,
    MatchEnded: _fill_match_ended,
}


def _event(message: ComboUpEvent) -> Event:
    """The event that `event_message` wrote."""
    which = message.WhichOneof("event")
    if which is None:
        raise ValueError("an event without content was given")
    return _READ[which](getattr(message, which))


_READ: dict[str, Callable[..., Event]] = {
    "hand_started": lambda e: HandStarted(
        e.hand_index, e.starter, e.cards, tuple(tuple(of_seat.cards) for of_seat in e.reserves), e.pile
    ),
    "round_started": lambda e: RoundStarted(e.round, tuple(e.participants)),
    "played": lambda e: Played(e.seat, tuple(e.cards), strength_of(e.kind, e.high)),
    "special_played": lambda e: SpecialPlayed(e.seat, e.card),
    "took": lambda e: Took(e.seat, e.card, e.by_take_up),
    "passed_over": lambda e: PassedOver(e.seat),
    "passed": lambda e: Passed(e.giver, e.receiver),
    "gave": lambda e: Gave(e.giver, e.receiver, e.card),
    "drawn": lambda e: Drawn(e.seat, e.left),
    "drew": lambda e: Drew(e.seat, e.card),
    "round_ended": lambda e: RoundEnded(e.winner, e.draws, tuple(e.aside)),
    "unable": lambda e: Unable(e.seat),
    "hand_ended": lambda e: HandEnded(tuple(e.losers), e.reason, tuple(e.points), tuple(e.tokens)),
    "match_ended": lambda e: MatchEnded(tuple(e.ranks)),
}


# options


def options_message(options: Options) -> GameOptions:
    """Options on the wire."""
    return GameOptions(combo_up=ComboUpOptions(edition=_EDITION[options.edition], scoring=options.scoring))


def options_from(message: GameOptions) -> Options:
    """The options that `options_message` wrote.

    Raises:
        OptionError: these are options of another game, or not allowed (U27).
    """
    if message.WhichOneof("game") != "combo_up":
        raise OptionError(f"options of Combo Up are needed, not of {message.WhichOneof('game') or 'no game'}")
    given = message.combo_up
    if given.edition not in _EDITION_OF:
        raise OptionError(
            f"edition is number {given.edition}: allowed are {', '.join(map(str, _EDITION_OF))} (U27)"
        )
    return Options(_EDITION_OF[given.edition], given.scoring)


# imagining
#
# What a seat knows of another hand: cards taken openly and cards that it handed on itself, as far as they
# cannot have left again. Cards that others handed on among themselves may be known ones or not; that is
# drawn by lot anew for each imagined state. All else comes from the cards that this seat has not seen.

_TRIES = 20
"""How often something is drawn by lot before it is made to fit."""


class _Out(NamedTuple):
    """A seat laid cards."""

    seat: Seat
    cards: Cards


class _In(NamedTuple):
    """A card came into a hand; 0 is an unknown one."""

    seat: Seat
    card: Card


class _On(NamedTuple):
    """Cards were handed on, each by a giver to a receiver; 0 is an unknown one."""

    passes: tuple[tuple[Seat, Seat, Card], ...]
    inserted: bool


_Step: TypeAlias = _Out | _In | _On


class _Known(NamedTuple):
    """By seat, cards that it holds for certain, and the one that it inserts next (0: unknown)."""

    held: Sequence[Sequence[Card]]
    incoming: Sequence[Card]


class _Seen(NamedTuple):
    """A view as it was read.

    Attributes:
        state: all but what is hidden.
        seat: who saw it.
        others: the seats whose cards are hidden.
        counts: by seat, the number of cards in hand.
        awaiting: seats that insert a card which this seat may not have seen.
        started: cards dealt to each player.
        steps: how cards went in and out of the hands.
        known: what is known for certain, if nothing was handed on unseen.
        visible: all cards that this seat sees.
        hidden: all others.
        unable: the seat that could neither play nor take, if the match ended so.
    """

    state: State
    seat: Seat | None
    others: tuple[Seat, ...]
    counts: tuple[int, ...]
    awaiting: tuple[Seat, ...]
    started: int
    steps: tuple[_Step, ...]
    known: _Known | None
    visible: Cards
    hidden: Cards
    unable: Seat | None


def imagine(view: ComboUpView, events: Sequence[ComboUpEvent], rng: Random) -> State:
    """A state that looks like this view: what is hidden is invented, within what the seat knows.

    Which cards others drew or handed on unseen is not written into the log of the invented state.

    Args:
        events: not needed: a view tells all that they told of this hand.
    """
    seen = _read(view.SerializeToString())
    state = seen.state.copy()
    state.chance = Chance(rng.randbytes(SEED_BYTES))
    for _ in range(_TRIES):
        _fill_in(state, seen, seen.known or _lot(seen, rng), rng)
        if _fits(state, seen):
            return state
    for known in (seen.known or _lot(seen, rng), _nothing_known(seen)):
        if _fill_in_able(state, seen, known, rng):
            break
    return state


def _fits(state: State, seen: _Seen) -> bool:
    """Whether the seat whose turn it is can act, and whether the one that could not really cannot."""
    if seen.unable is not None:
        return seen.unable == seen.seat or not rules.can_act(state, seen.unable)
    return state.phase != IN_TURN or not state.turn or rules.can_act(state, state.acting[0])


def _fill_in(state: State, seen: _Seen, known: _Known, rng: Random) -> None:
    """Give the others what they are known to hold, and cards from the pool of unseen ones beside it."""
    pool = list(seen.hidden)
    for card in _known_cards(seen, known):
        pool.remove(card)
    rng.shuffle(pool)
    gone, incoming = list(seen.visible), list(seen.state.incoming)
    for seat in seen.others:
        cards, missing = list(known.held[seat]), seen.counts[seat] - len(known.held[seat])
        cards += pool[:missing]
        del pool[:missing]
        if known.held[seat]:
            rng.shuffle(cards)
        state.held[seat] = tuple(cards)
        gone += cards
    for seat in seen.awaiting:
        incoming[seat] = known.incoming[seat] or pool.pop()
        gone.append(incoming[seat])
    state.incoming = tuple(incoming)
    state.deck = (*gone, *pool)


def _known_cards(seen: _Seen, known: _Known) -> list[Card]:
    """Cards of the others that need not be drawn from the pool."""
    held = [card for seat in seen.others for card in known.held[seat]]
    return held + [known.incoming[seat] for seat in seen.awaiting if known.incoming[seat]]


def _fill_in_able(state: State, seen: _Seen, known: _Known, rng: Random) -> bool:
    """Fill in so that the seat whose turn it is holds cards that it may play; whether that is possible."""
    if state.phase != IN_TURN:
        return True
    seat = state.acting[0]
    mine, missing = Counter(known.held[seat]), seen.counts[seat] - len(known.held[seat])
    pool = Counter(seen.hidden)
    pool.subtract(_known_cards(seen, known))
    outbidding = [cards for cards, readings in READINGS.items() if readings[-1] > state.beaten]
    playable = [cards for cards in (*outbidding, *_SPECIAL_CARDS) if _held_with(cards, mine, pool, missing)]
    if not playable:
        return False
    cards = rng.choice(playable)
    held = [*known.held]
    held[seat] = [*held[seat], *(Counter(cards) - mine).elements()]
    _fill_in(state, seen, _Known(held, known.incoming), rng)
    others = list(state.held[seat])
    for card in cards:
        others.remove(card)
    place = rng.randint(0, len(others))
    state.held[seat] = (*others[:place], *cards, *others[place:])
    return True


_SPECIAL_CARDS = tuple((card,) for card in range(rules.STOP, rules.PASS_ON + 1))


def _held_with(cards: Cards, mine: Counter[Card], pool: Counter[Card], missing: int) -> bool:
    """Whether a hand can hold these cards: some it is known to have, the others come from the pool."""
    needed = Counter(cards) - mine
    return needed.total() <= missing and all(count <= pool[card] for card, count in needed.items())


def _lot(seen: _Seen, rng: Random) -> _Known:
    """What others are taken to hold, once it is drawn by lot what they handed on unseen."""
    for _ in range(_TRIES):
        known = _follow(seen.steps, len(seen.counts), seen.started, rng)
        if known and not Counter(_known_cards(seen, known)) - Counter(seen.hidden):
            return known
    return _nothing_known(seen)


def _nothing_known(seen: _Seen) -> _Known:
    nothing: Sequence[Sequence[Card]] = ((),) * len(seen.counts)
    return _Known(nothing, (0,) * len(seen.counts))


def _follow(steps: Sequence[_Step], seats: int, started: int, rng: Random) -> _Known | None:
    """Follow the known cards from hand to hand; None if the lots drawn contradict what was laid."""
    held: list[list[Card]] = [[] for _ in range(seats)]
    incoming, counts = [0] * seats, [started] * seats
    for step in steps:
        if isinstance(step, _In):
            counts[step.seat] += 1
            if step.card:
                held[step.seat].append(step.card)
        elif isinstance(step, _Out):
            if not _leave(held, counts, step.seat, step.cards):
                return None
        else:
            handed_on = []
            for giver, receiver, seen_card in step.passes:
                known, card = held[giver], seen_card
                if not card and rng.random() * counts[giver] < len(known):
                    card = rng.choice(known)
                if not _leave(held, counts, giver, (card,)):
                    return None
                handed_on.append((receiver, card))
            for receiver, card in handed_on:
                if not step.inserted:
                    incoming[receiver] = card
                    continue
                counts[receiver] += 1
                if card:
                    held[receiver].append(card)
    return _Known(held, incoming)


def _leave(held: Sequence[list[Card]], counts: list[int], seat: Seat, cards: Cards) -> bool:
    """Cards leave a hand, known ones first; whether the hand has room left for those still known."""
    known = held[seat]
    for card in cards:
        if card in known:
            known.remove(card)
    counts[seat] -= len(cards)
    return len(known) <= counts[seat]


@lru_cache(maxsize=64)
def _read(data: bytes) -> _Seen:
    """A view as a state without what is hidden. Searching bots imagine the same view many times."""
    view = ComboUpView.FromString(data)
    seat = view.seat if view.HasField("seat") else None
    state = _visible_state(view, seat)
    others = tuple(other for other in range(state.seats) if other != seat)
    visible = (
        *view.hand,
        *filter(None, state.incoming),
        *(card for reserves in state.reserves for card in reserves),
        *rules.cards_of(state.table),
        *state.aside,
    )
    hidden = tuple((Counter(DECKS[state.options.edition]) - Counter(visible)).elements())
    steps = tuple(_steps(state))
    unsure = any(isinstance(step, _On) and not all(card for *_, card in step.passes) for step in steps)
    started = next(event.cards for event in state.log if isinstance(event, HandStarted))
    return _Seen(
        state=state,
        seat=seat,
        others=others,
        counts=tuple(player.cards for player in view.players),
        awaiting=tuple(other for other in _inserting(state) if other != seat),
        started=started,
        steps=steps,
        known=None if unsure else _follow(steps, state.seats, started, Random(0)),
        visible=visible,
        hidden=hidden,
        unable=next((event.seat for event in state.log if isinstance(event, Unable)), None),
    )


def _visible_state(view: ComboUpView, seat: Seat | None) -> State:
    seats, options = len(view.players), Options(_EDITION_OF[view.edition], view.scoring)
    deck = DECKS[options.edition]
    table = tuple(_laid(laid.seat, tuple(laid.cards), laid.kind, laid.high) for laid in view.table)
    state = State(
        seats=seats,
        options=options,
        deal=Deal(0, deck),
        chance=Chance(bytes(SEED_BYTES)),
        tokens=tuple(player.tokens for player in view.players),
        points=tuple(player.points for player in view.players),
        hand=view.hand_index,
        deck=deck,
        drawn=len(deck) - view.pile,
        held=[()] * seats,
        reserves=[tuple(player.reserves) for player in view.players],
        round=view.round,
        participants=tuple(view.participants),
        turn=view.turn,
        table=table,
        beaten=next((laid.strength for laid in reversed(table) if isinstance(laid, Played)), 0),
        draws=view.draws,
        aside=tuple(view.aside),
        phase=view.phase,
        acting=tuple(view.to_move),
        waiting=(),
        left=view.draws_left,
        incoming=tuple(view.incoming if other == seat else 0 for other in range(seats)),
        log=[_event(message) for message in view.log],
        moves=[],
        past=(),
    )
    state.waiting = _waiting(state)
    if seat is not None:
        state.held[seat] = tuple(view.hand)
    return state


def _laid(seat: Seat, cards: Cards, kind: int, high: int) -> Laid:
    return Played(seat, cards, strength_of(kind, high)) if kind else SpecialPlayed(seat, cards[0])


def _waiting(state: State) -> tuple[Seat, ...]:
    """Who takes a reserve after the one that is doing so: those behind it, with reserves, in turn order."""
    if state.phase != rules.TAKING_UP:
        return ()
    order = rules.taking_up_order(state)
    return tuple(seat for seat in order[order.index(state.acting[0]) + 1 :] if state.reserves[seat])


def _inserting(state: State) -> tuple[Seat, ...]:
    return state.acting if state.phase in (RECEIVING, rules.DRAWING) else ()


def _steps(state: State) -> list[_Step]:
    """How cards went in and out of the hands, as the log tells it; reserves were taken openly."""
    steps: list[_Step] = []
    passes: dict[tuple[Seat, Seat], Card] = {}
    for event in state.log:
        if isinstance(event, Passed):
            passes[event] = 0
            continue
        if isinstance(event, Gave):
            passes[event[:2]] = event.card
            continue
        if passes:
            steps.append(_handed_on(passes, inserted=True))
            passes = {}
        if isinstance(event, Played):
            steps.append(_Out(event.seat, event.cards))
        elif isinstance(event, SpecialPlayed):
            steps.append(_Out(event.seat, (event.card,)))
        elif isinstance(event, Took):
            steps.append(_In(event.seat, event.card))
        elif isinstance(event, Drawn):
            steps.append(_In(event.seat, 0))
    if passes:
        steps.append(_handed_on(passes, inserted=state.phase != RECEIVING))
    return steps


def _handed_on(passes: dict[tuple[Seat, Seat], Card], inserted: bool) -> _On:
    return _On(tuple((*way, card) for way, card in passes.items()), inserted)


# dealing anew what is hidden


class _Spot(int):
    """A card that remembers where in the deck it lay."""

    place: int

    @classmethod
    def deck(cls, cards: Cards) -> Cards:
        """A deck of such cards."""
        spots = []
        for place, card in enumerate(cards):
            spot = cls(card)
            spot.place = place
            spots.append(spot)
        return tuple(spots)


def redeal(deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
    """Another deal with which the same actions would have shown this seat the same so far.

    In each hand the cards that the seat never saw change places. Hands that would go another way with all
    of the decks tried stay as they are. All hands to come are dealt anew.
    """
    hands = [(past.deck, past.moves) for past in state.past] + [(state.deck, tuple(state.moves))]
    first, *later = [_Spot.deck(deck) for deck, _ in hands]
    given = Deal(deal.start_seat, first, tuple(later))
    at, _ = rules.start(state.seats, state.options, given, state.chance.copy())
    decks = []
    for deck, moves in hands:
        begun = at.copy()
        shown = _shown(at, moves, seat)
        unseen = _unseen(begun, shown, seat)
        decks.append(_dealt_anew(begun, deck, moves, seat, unseen, shown, rng))
    for _ in range(rules.most_hands(state.seats) - len(hands)):
        to_come = list(DECKS[state.options.edition])
        rng.shuffle(to_come)
        decks.append(tuple(to_come))
    return Deal(deal.start_seat, decks[0], tuple(decks[1:]))


_Shown: TypeAlias = list[tuple[tuple[Seat, ...], list[Event]]]
"""For each decision of a hand: who was to move after it, and what a seat saw happen."""


def _shown(state: State, moves: Sequence[Moves], seat: Seat) -> _Shown:
    """Play a hand on from its start; what a seat is shown."""
    return [_shown_by(state, move, seat) for move in moves]


def _shown_by(state: State, move: Moves, seat: Seat) -> tuple[tuple[Seat, ...], list[Event]]:
    events = rules.apply(state, move)
    return state.acting, [event for event in events if seat in (audience(event) or (seat,))]


def _unseen(begun: State, shown: _Shown, seat: Seat) -> list[int]:
    """Places of a deck whose cards a seat has not seen."""
    seen = [*begun.held[seat], *(card for reserves in begun.reserves for card in reserves)]
    for _, events in shown:
        for event in events:
            if isinstance(event, Played):
                seen += event.cards
            elif isinstance(event, SpecialPlayed | Gave | Drew):
                seen.append(event.card)
    places = {card.place for card in seen if isinstance(card, _Spot)}
    return [place for place in range(len(begun.deck)) if place not in places]


def _dealt_anew(
    begun: State,
    deck: Cards,
    moves: Sequence[Moves],
    seat: Seat,
    unseen: Sequence[int],
    shown: _Shown,
    rng: Random,
) -> Cards:
    for _ in range(_TRIES):
        cards, new = [deck[place] for place in unseen], list(deck)
        rng.shuffle(cards)
        for place, card in zip(unseen, cards, strict=True):
            new[place] = card
        other = begun.copy()
        rules.lay_out(other, tuple(new))
        try:
            alike = all(_shown_by(other, move, seat) == was for move, was in zip(moves, shown, strict=True))
        except IllegalActionError:
            continue
        if alike:
            return tuple(new)
    return deck
