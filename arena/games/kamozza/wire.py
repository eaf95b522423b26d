"""Kamozza as messages: what a seat may know, and how actions and events look to it.

Every message is built from nothing. Hidden are the order of the ships that have not arrived and the
cards that the others have committed in this round (Z20): for a view the former are sorted, the latter
counted. `imagine` and `redeal` invent them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import getitem
from random import Random
from typing import Any

from botarena.v1.game_pb2 import GameClaim, GameOptions, GameTurn
from botarena.v1.kamozza_pb2 import (
    KamozzaAction,
    KamozzaBoarding,
    KamozzaCargo,
    KamozzaClaim,
    KamozzaCommitted,
    KamozzaDocked,
    KamozzaEliminated,
    KamozzaEnded,
    KamozzaEvent,
    KamozzaFate,
    KamozzaLoad,
    KamozzaMode,
    KamozzaOptions,
    KamozzaPastRound,
    KamozzaPlayer,
    KamozzaPort,
    KamozzaResolved,
    KamozzaRoundBegan,
    KamozzaScored,
    KamozzaShip,
    KamozzaShipKind,
    KamozzaStage,
    KamozzaTurn,
    KamozzaView,
)

from arena.games.game import IllegalActionError, OptionError, Seat
from arena.games.kamozza import rules
from arena.games.kamozza.rules import (
    ALL_ACTIONS,
    ALL_CARDS,
    ALL_DOCKS,
    CARD_OF,
    CARD_VALUES,
    CAT_SHIP,
    CAT_SHIP_CAPACITY,
    COMMITTED,
    COUNT,
    FATES,
    LOADS,
    NEVER,
    NO_PORT,
    NOTHING_SAID,
    PORT_A,
    PORT_B,
    SINGLE_LOADS,
    TYPHOON,
    Action,
    Began,
    Cards,
    Cargo,
    Claim,
    Committed,
    Deal,
    Docked,
    Eliminated,
    Ended,
    Event,
    Load,
    Options,
    Past,
    Port,
    Resolved,
    Scored,
    Ship,
    Stamp,
    State,
)
from arena.games.pieces import submessage, varint

_WIRE_PORT = {PORT_A: KamozzaPort.KAMOZZA_PORT_A, PORT_B: KamozzaPort.KAMOZZA_PORT_B}
_PORT = {on_wire: port for port, on_wire in _WIRE_PORT.items()}
_WIRE_FATE = dict(
    zip(
        FATES,
        (
            KamozzaFate.KAMOZZA_FATE_LOADED,
            KamozzaFate.KAMOZZA_FATE_SUNK,
            KamozzaFate.KAMOZZA_FATE_EATEN,
            KamozzaFate.KAMOZZA_FATE_CONFISCATED,
            KamozzaFate.KAMOZZA_FATE_TURNED_AWAY,
            KamozzaFate.KAMOZZA_FATE_LEFT_BEHIND,
            KamozzaFate.KAMOZZA_FATE_BLOWN_AWAY,
        ),
        strict=True,
    )
)
_FATE = {on_wire: fate for fate, on_wire in _WIRE_FATE.items()}
_PLAYER_KEY = varint(KamozzaView.PLAYERS_FIELD_NUMBER << 3 | 2)
_TURN_KEY = varint(GameTurn.KAMOZZA_FIELD_NUMBER << 3 | 2)
_VIEW_KEY = varint(KamozzaTurn.VIEW_FIELD_NUMBER << 3 | 2)
_WIRE_MODE = {"base": KamozzaMode.KAMOZZA_MODE_BASE, "variant": KamozzaMode.KAMOZZA_MODE_VARIANT}


# views and turns
#
# The parts of a view change at different times. Most of it stays as it is during a round; then numbers of
# committed cards are added, and a seat's own cards. So each part is serialised once and kept, and a view is
# put together from them: serialised messages one after the other are one message.


def view(state: State, seat: Seat | None) -> KamozzaView:
    """What a seat or a spectator may know now (Z20)."""
    return KamozzaView.FromString(_view_bytes(state, seat))


def turn_bytes(state: State, seat: Seat | None, actions: Sequence[Action], events: Sequence[bytes]) -> bytes:
    """A turn as the seat is shown it: a GameTurn."""
    view = _view_bytes(state, seat)
    listed = _LISTED.get(id(actions)) or _actions_piece(actions)
    turn = b"".join([_VIEW_KEY, varint(len(view)), view, listed, *events])
    return _TURN_KEY + varint(len(turn)) + turn


def _view_bytes(state: State, seat: Seat | None) -> bytes:
    kept = _KEPT.get(id(state))
    if kept is None or kept.shown != _shown(state):
        kept = _keep(state, kept)
    committed, claims = state.committed, state.claims
    if claims == kept.silence:
        players = list(map(getitem, kept.players, map(_count, committed)))
    else:
        players = [
            _player_piece(player[_REVEALED], _NUMBER_PIECES[COUNT[cards]], claim)
            for player, cards, claim in zip(kept.players, committed, claims, strict=True)
        ]
    if seat is not None and (own := committed[seat]):
        players[seat] = _player_piece(kept.players[seat][_REVEALED], _OWN_PIECES[own], claims[seat])
    return b"".join([kept.table, _stage_piece(state.loading, state.movers), *players])


@lru_cache(maxsize=256)
def _stage_piece(loading: bool, movers: tuple[Seat, ...]) -> bytes:
    if not movers:
        return KamozzaView(stage=KamozzaStage.KAMOZZA_STAGE_OVER).SerializeToString()
    stage = KamozzaStage.KAMOZZA_STAGE_CARGO if loading else KamozzaStage.KAMOZZA_STAGE_PORT
    return KamozzaView(stage=stage, to_move=movers).SerializeToString()


# what stays as it is during a round


@dataclass(slots=True)
class _Kept:
    """Pieces of a view that stay as they are during a round.

    Attributes:
        shown: everything that they are made of.
        past: the finished rounds.
        table: what belongs to no player, the finished rounds included.
        players: by seat and number of committed cards the player if it says nothing; then at `_REVEALED`
            what has been revealed of it, without what it has committed or says.
        silence: the claims if nobody says anything.
    """

    shown: tuple[Any, ...]
    past: bytes
    table: bytes
    players: list[tuple[bytes, ...]]
    silence: list[Claim]


_KEPT: dict[int, _Kept] = {}
"""The latest pieces by the identity of a state. All that they are made of is compared before they are used,
so it does no harm if another state is of that identity by now."""
_KEPT_STATES = 2048


def _shown(state: State) -> tuple[Any, ...]:
    """Everything of which something is shown that does not change during a round; lists come last."""
    return (
        state.round,
        not state.movers,
        state.options,
        state.deal,
        state.past,
        state.points,
        state.loaded,
        state.lost,
        state.hands,
        state.stamps,
        state.eliminated,
    )


def _keep(state: State, before: _Kept | None) -> _Kept:
    """Serialise what is shown during a round; what there was before is likely the round before it."""
    *rest, past, points, loaded, lost, hands, stamps, eliminated = _shown(state)
    if before is not None and past and before.shown[4] == past[:-1]:
        past_pieces = before.past + _past_piece(past[-1])
    else:
        past_pieces = b"".join(map(_past_piece, past))
    if len(_KEPT) >= _KEPT_STATES:
        _KEPT.clear()
    kept = _KEPT[id(state)] = _Kept(
        (*rest, past, points[:], loaded[:], lost[:], hands[:], stamps[:], eliminated[:]),
        past_pieces,
        _table_piece(state) + past_pieces,
        list(map(_player_pieces, points, loaded, lost, hands, stamps, eliminated)),
        [NOTHING_SAID] * state.seats,
    )
    return kept


def _table_piece(state: State) -> bytes:
    """What belongs to no player. Of the ships to come just the cards are told, not their order."""
    gone, arrived = len(state.past), state.arrived
    a, b = state.deal.decks
    return (
        _round_piece(state.seats, state.options, state.round, state.start_seat)
        + _port_piece(KamozzaView.UNDRAWN_A_FIELD_NUMBER, a[gone:arrived], tuple(sorted(a[arrived:])))
        + _port_piece(KamozzaView.UNDRAWN_B_FIELD_NUMBER, b[gone:arrived], tuple(sorted(b[arrived:])))
    )


@lru_cache(maxsize=1024)
def _round_piece(seats: int, options: Options, round_: int, start_seat: Seat) -> bytes:
    return KamozzaView(
        round=round_,
        rounds=rules.rounds_of(seats, options),
        start_seat=start_seat,
        options=options_message(options).kamozza,
    ).SerializeToString()


@lru_cache(maxsize=4096)
def _port_piece(undrawn_field: int, in_port: tuple[Ship, ...], undrawn: tuple[Ship, ...]) -> bytes:
    """The ship in a port, and those still to arrive there, in the port's field for them.

    Args:
        undrawn: in ascending order; typhoons and the cat ship are shown behind the others.
    """
    view = KamozzaView(ships=map(_ship_message, in_port))
    bonus_last = sorted(undrawn, key=lambda ship: (ship < 1, ship == CAT_SHIP))
    to_come = [submessage(undrawn_field, _ship_message(ship).SerializeToString()) for ship in bonus_last]
    return view.SerializeToString() + b"".join(to_come)


@lru_cache(maxsize=256)
def _ship_message(ship: Ship) -> KamozzaShip:
    if ship == TYPHOON:
        return KamozzaShip(kind=KamozzaShipKind.KAMOZZA_SHIP_KIND_TYPHOON)
    if ship == CAT_SHIP:
        return KamozzaShip(kind=KamozzaShipKind.KAMOZZA_SHIP_KIND_CAT, capacity=CAT_SHIP_CAPACITY)
    return KamozzaShip(kind=KamozzaShipKind.KAMOZZA_SHIP_KIND_ORDINARY, capacity=ship)


# players


def _number(field: int, value: int) -> bytes:
    """A field that holds a whole number; if it is absent, that is 0."""
    return varint(field << 3) + varint(value) if value else b""


def _numbers(field: int, values: Sequence[int]) -> bytes:
    """A field that holds any whole numbers."""
    data = bytes(values) if max(values, default=0) < 0x80 else b"".join(map(varint, values))
    return submessage(field, data) if data else b""


def _pieces_of_sets(field: int) -> list[bytes]:
    """By set of cards: its values in a field of this number."""
    return [_numbers(field, values) for values in CARD_VALUES]


_LOADED_PIECES = _pieces_of_sets(KamozzaPlayer.LOADED_FIELD_NUMBER)
_LOST_PIECES = _pieces_of_sets(KamozzaPlayer.LOST_FIELD_NUMBER)
_HAND_PIECES = _pieces_of_sets(KamozzaPlayer.HAND_FIELD_NUMBER)
_count = COUNT.__getitem__
_NUMBER_PIECES = [_number(KamozzaPlayer.COMMITTED_FIELD_NUMBER, number) for number in range(3)]
"""By number of committed cards: what everybody is told of them."""
_REVEALED = len(_NUMBER_PIECES)
_OWN_PIECES = [
    _number(KamozzaPlayer.COMMITTED_FIELD_NUMBER, number) + cards
    for number, cards in zip(COUNT, _pieces_of_sets(KamozzaPlayer.COMMITTED_CARDS_FIELD_NUMBER), strict=True)
]
"""By set of committed cards: what their owner is told of them."""


@lru_cache(maxsize=8192)
def _player_pieces(
    points: int, loaded: Cards, lost: Cards, hand: Cards, stamp: Stamp, eliminated: int
) -> tuple[bytes, ...]:
    """By number of committed cards a player that says nothing; then what has been revealed of it."""
    revealed = b"".join(
        [
            _number(KamozzaPlayer.POINTS_FIELD_NUMBER, points),
            _LOADED_PIECES[loaded],
            _LOST_PIECES[lost],
            _HAND_PIECES[hand],
            _boarded_piece(stamp),
            _number(KamozzaPlayer.ELIMINATED_FIELD_NUMBER, eliminated),
        ]
    )
    return (*[_player_piece(revealed, number, NOTHING_SAID) for number in _NUMBER_PIECES], revealed)


@lru_cache(maxsize=1024)
def _boarded_piece(stamp: Stamp) -> bytes:
    if stamp == NEVER:
        return b""
    round_, position, place = stamp
    boarded = KamozzaBoarding(round=round_, position=position, place=place)
    return KamozzaPlayer(boarded=boarded).SerializeToString()


def _player_piece(revealed: bytes, committed: bytes, claim: Claim) -> bytes:
    """A player as a piece of a view."""
    player = revealed + committed
    if claim != NOTHING_SAID:
        player += _said_piece(claim)
    return _PLAYER_KEY + varint(len(player)) + player


@lru_cache(maxsize=128)
def _said_piece(claim: Claim) -> bytes:
    return KamozzaPlayer(claim=_claim_message(claim)).SerializeToString()


# finished rounds


def _past_piece(past: Past) -> bytes:
    """A finished round. It begins as the event does that began it."""
    piece = _began_bytes(past.round, past.start_seat, past.ships)
    if past.claims.count(NOTHING_SAID) < len(past.claims):
        piece += _said_then_piece(past.claims)
    for resolved in past.resolved:
        piece += _resolved_piece(resolved)
    return submessage(KamozzaView.PAST_FIELD_NUMBER, piece)


def _said_then_piece(claims: Sequence[Claim]) -> bytes:
    past = KamozzaPastRound()
    for seat, claim in enumerate(claims):
        if claim != NOTHING_SAID:
            past.claims.add(seat=seat, claim=_claim_message(claim))
    return past.SerializeToString()


@lru_cache(maxsize=4096)
def _began_bytes(round_: int, start_seat: Seat, ships: tuple[Ship, ...]) -> bytes:
    message = KamozzaRoundBegan(round=round_, start_seat=start_seat, ships=map(_ship_message, ships))
    return message.SerializeToString()


_RESOLVED: dict[int, tuple[Resolved, bytes]] = {}
"""The latest pieces by the identity of what they tell: an event that is soon part of a finished round."""
_RESOLVED_KEPT = 2048


def _resolved_piece(resolved: Resolved) -> bytes:
    """A resolved port, in the field that has the same number in an event and in a finished round."""
    kept = _RESOLVED.get(id(resolved))
    if kept is not None and kept[0] is resolved:
        return kept[1]
    port, position, ship, cargo, weight = resolved
    data = b"".join([_berth_piece(port, position, ship), *map(_cargo_piece, cargo), _weight_piece(weight)])
    piece = submessage(KamozzaPastRound.RESOLVED_FIELD_NUMBER, data)
    if len(_RESOLVED) >= _RESOLVED_KEPT:
        _RESOLVED.clear()
    _RESOLVED[id(resolved)] = resolved, piece
    return piece


@lru_cache(maxsize=1024)
def _berth_piece(port: Port, position: int, ship: Ship) -> bytes:
    message = KamozzaResolved(port=_WIRE_PORT[port], position=position, ship=_ship_message(ship))
    return message.SerializeToString()


@lru_cache(maxsize=512)
def _weight_piece(weight: int) -> bytes:
    return KamozzaResolved(weight=weight).SerializeToString()


@lru_cache(maxsize=1024)
def _cargo_piece(cargo: Cargo) -> bytes:
    seat, card, fate, points = cargo
    message = KamozzaCargo(seat=seat, card=card, fate=_WIRE_FATE[fate], points=points)
    return KamozzaResolved(cargo=[message]).SerializeToString()


# actions


def _action_message(action: Action) -> KamozzaAction:
    if isinstance(action, Load):
        return KamozzaAction(load=KamozzaLoad(cards=CARD_VALUES[action.cards]))
    return KamozzaAction(port=_WIRE_PORT[action.port])


_ACTION_PIECES = {
    action: KamozzaTurn(actions=[_action_message(action)]).SerializeToString() for action in ALL_ACTIONS
}


def _actions_piece(actions: Iterable[Action]) -> bytes:
    return b"".join([_ACTION_PIECES[action] for action in actions])


_LISTS: tuple[tuple[Action, ...], ...] = (*LOADS, *SINGLE_LOADS, ALL_DOCKS)
_LISTED = {id(actions): _actions_piece(actions) for actions in _LISTS}
"""By identity of each list of legal actions that the rules have: none is ever made anew or goes away."""


# table talk


@lru_cache(maxsize=128)
def _claim_message(claim: Claim) -> KamozzaClaim:
    message = KamozzaClaim(cards=CARD_VALUES[claim.cards])
    if claim.port != NO_PORT:
        message.port = _WIRE_PORT[claim.port]
    return message


def with_claim(state: State, seat: Seat, action: Action, claim: GameClaim) -> Action:
    """A legal load with a claim (Z19).

    Raises:
        IllegalActionError: the claim is malformed, or no claim may go with this action.
    """
    if (game := claim.WhichOneof("game")) not in ("kamozza", None):
        raise IllegalActionError(f"seat {seat} made a claim of {game}: one of Kamozza is needed (Z19)")
    said = claim.kamozza
    if said.HasField("port") and said.port not in _PORT:
        raise IllegalActionError(
            f"seat {seat} claimed port number {said.port} of the wire: A, B or none may be named (Z19)"
        )
    port = _PORT[said.port] if said.HasField("port") else NO_PORT
    return rules.with_claim(state, seat, action, tuple(said.cards), port)


def claim_of(action: Action) -> GameClaim | None:
    """The claim that goes with an action; None if none does."""
    if isinstance(action, Load) and action.claim != NOTHING_SAID:
        return GameClaim(kamozza=_claim_message(action.claim))
    return None


# events


def event_message(event: Event) -> KamozzaEvent:
    """An event on the wire."""
    return KamozzaTurn.FromString(event_bytes(event)).events[0]


def event_bytes(event: Event) -> bytes:
    """An event as a piece of a turn."""
    return _SILENT.get(id(event)) or _EVENT_BYTES[type(event)](event)


def _event_bytes(field: int, data: bytes) -> bytes:
    """What happened, in the field of a KamozzaEvent that is meant for it, as a piece of a turn."""
    return submessage(KamozzaTurn.EVENTS_FIELD_NUMBER, submessage(field, data))


@lru_cache(maxsize=4096)
def _began(event: Began) -> bytes:
    return _event_bytes(KamozzaEvent.BEGAN_FIELD_NUMBER, _began_bytes(*event))


@lru_cache(maxsize=256)
def _eliminated(event: Eliminated) -> bytes:
    message = KamozzaEliminated(seat=event.seat, round=event.round)
    return _event_bytes(KamozzaEvent.ELIMINATED_FIELD_NUMBER, message.SerializeToString())


@lru_cache(maxsize=2048)
def _committed(event: Committed) -> bytes:
    message = KamozzaCommitted(seat=event.seat, count=event.number)
    if event.claim != NOTHING_SAID:
        message.claim.CopyFrom(_claim_message(event.claim))
    return _event_bytes(KamozzaEvent.COMMITTED_FIELD_NUMBER, message.SerializeToString())


_SILENT = {id(event): _committed(event) for events in COMMITTED for event in events}
"""By identity of each event that the rules have for a seat which says nothing."""


@lru_cache(maxsize=512)
def _docked(event: Docked) -> bytes:
    message = KamozzaDocked()
    for seat, port in enumerate(event.ports):
        if port != NO_PORT:
            message.berths.add(seat=seat, port=_WIRE_PORT[port])
    return _event_bytes(KamozzaEvent.DOCKED_FIELD_NUMBER, message.SerializeToString())


def _resolved(event: Resolved) -> bytes:
    return submessage(KamozzaTurn.EVENTS_FIELD_NUMBER, _resolved_piece(event))


def _scored(event: Scored) -> bytes:
    points = _numbers(KamozzaScored.POINTS_FIELD_NUMBER, event.points)
    return _event_bytes(KamozzaEvent.SCORED_FIELD_NUMBER, points)


def _ended(event: Ended) -> bytes:
    points = _numbers(KamozzaEnded.POINTS_FIELD_NUMBER, event.points)
    ranks = _numbers(KamozzaEnded.RANKS_FIELD_NUMBER, event.ranks)
    return _event_bytes(KamozzaEvent.ENDED_FIELD_NUMBER, points + ranks)


_EVENT_BYTES: dict[type, Callable[..., bytes]] = {
    Began: _began,
    Eliminated: _eliminated,
    Committed: _committed,
    Docked: _docked,
    Resolved: _resolved,
    Scored: _scored,
    Ended: _ended,
}


# options


@lru_cache(maxsize=16)
def _options_bytes(options: Options) -> bytes:
    return KamozzaOptions(
        mode=_WIRE_MODE[options.mode],
        typhoon=options.typhoon,
        cat_ship=options.cat_ship,
        table_talk=options.table_talk,
    ).SerializeToString()


def options_message(options: Options) -> GameOptions:
    """Options on the wire."""
    return GameOptions(kamozza=KamozzaOptions.FromString(_options_bytes(options)))


def options_from(message: GameOptions) -> Options:
    """The options that `options_message` wrote.

    Raises:
        OptionError: these are options of another game, or not allowed (Z18).
    """
    if message.WhichOneof("game") != "kamozza":
        raise OptionError(f"options of Kamozza are needed, not of {message.WhichOneof('game') or 'no game'}")
    return _options(message.kamozza)


def _options(given: KamozzaOptions) -> Options:
    if given.mode == KamozzaMode.KAMOZZA_MODE_BASE:
        return Options("base", given.typhoon, given.cat_ship, given.table_talk)
    if given.mode == KamozzaMode.KAMOZZA_MODE_VARIANT:
        return Options("variant", given.typhoon, given.cat_ship, given.table_talk)
    raise OptionError(f"mode is number {given.mode} on the wire: base or variant is allowed (Z18)")


# inventing what is hidden


_SETS_OF: tuple[tuple[tuple[Cards, ...], ...], ...] = tuple(
    tuple(
        tuple(load.cards for load in LOADS[hand] if COUNT[load.cards] == count)
        for hand in range(ALL_CARDS + 1)
    )
    for count in range(3)
)
"""By number of cards and hand: what may have been committed."""


def imagine(view: KamozzaView, events: Sequence[KamozzaEvent], rng: Random) -> State:
    """A state that looks like this view: the order of the ships and the others' cards are invented."""
    known, hidden = _table(view.SerializeToString())
    state = known.copy()
    for seat, count in hidden:
        state.committed[seat] = rng.choice(_SETS_OF[count][state.hands[seat]])
    a, b = state.deal.decks
    arrived = state.arrived
    state.deal = Deal(state.deal.start_seat, (_shuffled(a, arrived, rng), _shuffled(b, arrived, rng)))
    return state


def redeal(deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
    """Another deal that would have looked the same so far: ships to come are in another order."""
    arrived = state.arrived
    a, b = deal.decks
    while True:
        other = Deal(deal.start_seat, (_shuffled(a, arrived, rng), _shuffled(b, arrived, rng)))
        if other != deal or max(len(set(a[arrived:])), len(set(b[arrived:]))) < 2:
            return other


def _shuffled(deck: tuple[Ship, ...], arrived: int, rng: Random) -> tuple[Ship, ...]:
    """A deck with those ships in another order that have not arrived."""
    to_come = list(deck[arrived:])
    rng.shuffle(to_come)
    return deck[:arrived] + tuple(to_come)


@lru_cache(maxsize=64)
def _table(view: bytes) -> tuple[State, tuple[tuple[Seat, int], ...]]:
    """The state of a view but for what it does not tell, and who has committed how many unknown cards.

    Searching bots imagine the same view many times, and reading it is what takes long.
    """
    seen = KamozzaView.FromString(view)
    seats = len(seen.players)
    past = tuple(_past(message, seats) for message in seen.past)
    eliminated = [player.eliminated for player in seen.players]
    clockwise = [(seen.start_seat + i) % seats for i in range(seats)]
    state = State(
        seats=seats,
        options=_options(seen.options),
        deal=Deal((seen.start_seat - seen.round + 1) % seats, _decks(seen, past)),
        round=seen.round,
        order=tuple(seat for seat in clockwise if not eliminated[seat]),
        movers=tuple(seen.to_move),
        loading=seen.stage == KamozzaStage.KAMOZZA_STAGE_CARGO,
        hands=[_cards(player.hand) for player in seen.players],
        committed=[_cards(player.committed_cards) for player in seen.players],
        claims=[_claim(player.claim) for player in seen.players],
        points=[player.points for player in seen.players],
        loaded=[_cards(player.loaded) for player in seen.players],
        lost=[_cards(player.lost) for player in seen.players],
        stamps=[
            (player.boarded.round, player.boarded.position, player.boarded.place) for player in seen.players
        ],
        eliminated=eliminated,
        past=past,
    )
    hidden = tuple(
        (seat, player.committed)
        for seat, player in enumerate(seen.players)
        if player.committed and not player.committed_cards
    )
    return state, hidden


def _cards(values: Iterable[int]) -> Cards:
    return sum(CARD_OF[value] for value in values)


def _claim(message: KamozzaClaim) -> Claim:
    """What was said; the empty message is nothing."""
    port = _PORT[message.port] if message.HasField("port") else NO_PORT
    claim = Claim(_cards(message.cards), port)
    return NOTHING_SAID if claim == NOTHING_SAID else claim


def _ship(message: KamozzaShip) -> Ship:
    if message.kind == KamozzaShipKind.KAMOZZA_SHIP_KIND_TYPHOON:
        return TYPHOON
    return CAT_SHIP if message.kind == KamozzaShipKind.KAMOZZA_SHIP_KIND_CAT else message.capacity


def _past(message: KamozzaPastRound, seats: int) -> Past:
    claims = [NOTHING_SAID] * seats
    for said in message.claims:
        claims[said.seat] = _claim(said.claim)
    resolved = tuple(
        Resolved(
            _PORT[port.port],
            port.position,
            _ship(port.ship),
            tuple(Cargo(cargo.seat, cargo.card, _FATE[cargo.fate], cargo.points) for cargo in port.cargo),
            port.weight,
        )
        for port in message.resolved
    )
    return Past(message.round, message.start_seat, tuple(map(_ship, message.ships)), tuple(claims), resolved)


def _decks(seen: KamozzaView, past: Sequence[Past]) -> tuple[tuple[Ship, ...], tuple[Ship, ...]]:
    """Decks whose first ships are those that have arrived."""
    arrived = [ships for _, _, ships, _, _ in past]
    if seen.ships:
        arrived.append(tuple(map(_ship, seen.ships)))
    a, b = (
        (*(ships[port] for ships in arrived if port < len(ships)), *map(_ship, undrawn))
        for port, undrawn in ((PORT_A, seen.undrawn_a), (PORT_B, seen.undrawn_b))
    )
    return a, b
