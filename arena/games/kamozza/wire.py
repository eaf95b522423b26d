"""Kamozza as messages: what a seat may know, and how actions and events look to it.

Every message is built from nothing. Hidden are the order of the ships that have not arrived and the
cards that the others have committed in this round (Z20); neither is read for a view. `imagine` and
`redeal` invent them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from random import Random

from botarena.v1.game_pb2 import GameClaim, GameOptions, GameTurn
from botarena.v1.kamozza_pb2 import (
    KamozzaAction,
    KamozzaClaim,
    KamozzaEvent,
    KamozzaFate,
    KamozzaLoad,
    KamozzaMode,
    KamozzaOptions,
    KamozzaPastRound,
    KamozzaPort,
    KamozzaResolved,
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
    CARD_OF,
    CARD_VALUES,
    CAT_SHIP,
    CAT_SHIP_CAPACITY,
    COUNT,
    FATES,
    LOADS,
    NEVER,
    NO_PORT,
    NOTHING_SAID,
    PORT_A,
    PORT_B,
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
    Resolved,
    Scored,
    Ship,
    Stamp,
    State,
)
from arena.games.pieces import submessage

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
_WIRE_MODE = {"base": KamozzaMode.KAMOZZA_MODE_BASE, "variant": KamozzaMode.KAMOZZA_MODE_VARIANT}


# views and turns
#
# Finished rounds stay as they are and most of a player as well, so the views are put together from
# serialised pieces that are kept: serialised messages one after the other are one message.


def view(state: State, seat: Seat | None) -> KamozzaView:
    """What a seat or a spectator may know now (Z20)."""
    return KamozzaView.FromString(_view_bytes(state, seat))


def turn_bytes(state: State, seat: Seat | None, actions: Sequence[Action], events: Sequence[bytes]) -> bytes:
    """A turn as the seat is shown it: a GameTurn."""
    view = submessage(KamozzaTurn.VIEW_FIELD_NUMBER, _view_bytes(state, seat))
    turn = b"".join([view, _actions_piece(tuple(actions)), *events])
    return submessage(GameTurn.KAMOZZA_FIELD_NUMBER, turn)


def _view_bytes(state: State, seat: Seat | None) -> bytes:
    pieces = [
        _round_piece(state.seats, state.options, state.deal, state.round, state.arrived, bool(state.movers)),
        _stage_piece(state.loading, state.movers),
    ]
    numbers = [COUNT[cards] for cards in state.committed]
    own = [0] * state.seats
    if seat is not None:
        own[seat] = state.committed[seat]
    pieces += map(
        _player_piece,
        state.points,
        state.loaded,
        state.lost,
        state.hands,
        numbers,
        own,
        state.claims,
        state.stamps,
        state.eliminated,
    )
    pieces += map(_past_piece, state.past)
    return b"".join(pieces)


@lru_cache(maxsize=2048)
def _round_piece(seats: int, options: Options, deal: Deal, round_: int, arrived: int, in_port: bool) -> bytes:
    """What stays as it is during a round. Of the ships to come just the cards are told, not their order."""
    piece = KamozzaView(round=round_, rounds=rules.rounds_of(seats, options))
    piece.start_seat = (deal.start_seat + round_ - 1) % seats
    a, b = deal.decks
    if in_port:
        piece.ships.extend([_ship_message(deck[arrived - 1]) for deck in (a, b) if deck])
    piece.undrawn_a.extend(map(_ship_message, _in_order(a[arrived:])))
    piece.undrawn_b.extend(map(_ship_message, _in_order(b[arrived:])))
    piece.options.CopyFrom(options_message(options).kamozza)
    return piece.SerializeToString()


def _in_order(ships: Iterable[Ship]) -> tuple[Ship, ...]:
    """Ordinary ships by capacity, then typhoons, then the cat ship."""
    return tuple(sorted(ships, key=lambda ship: (ship < 1, -ship if ship < 1 else ship)))


@lru_cache(maxsize=256)
def _stage_piece(loading: bool, movers: tuple[Seat, ...]) -> bytes:
    if not movers:
        return KamozzaView(stage=KamozzaStage.KAMOZZA_STAGE_OVER).SerializeToString()
    stage = KamozzaStage.KAMOZZA_STAGE_CARGO if loading else KamozzaStage.KAMOZZA_STAGE_PORT
    return KamozzaView(stage=stage, to_move=movers).SerializeToString()


@lru_cache(maxsize=16384)
def _player_piece(
    points: int,
    loaded: Cards,
    lost: Cards,
    hand: Cards,
    committed: int,
    own: Cards,
    claim: Claim,
    stamp: Stamp,
    eliminated: int,
) -> bytes:
    piece = KamozzaView()
    player = piece.players.add(points=points, committed=committed, eliminated=eliminated)
    player.loaded.extend(CARD_VALUES[loaded])
    player.lost.extend(CARD_VALUES[lost])
    player.hand.extend(CARD_VALUES[hand])
    player.committed_cards.extend(CARD_VALUES[own])
    if claim != NOTHING_SAID:
        player.claim.CopyFrom(_claim_message(claim))
    if stamp != NEVER:
        player.boarded.round, player.boarded.position, player.boarded.place = stamp
    return piece.SerializeToString()


@lru_cache(maxsize=4096)
def _past_piece(past: Past) -> bytes:
    message = KamozzaPastRound(round=past.round, start_seat=past.start_seat)
    message.ships.extend(map(_ship_message, past.ships))
    for seat, claim in enumerate(past.claims):
        if claim != NOTHING_SAID:
            message.claims.add(seat=seat, claim=_claim_message(claim))
    message.resolved.extend(map(_resolved_message, past.resolved))
    return KamozzaView(past=[message]).SerializeToString()


@lru_cache(maxsize=256)
def _ship_message(ship: Ship) -> KamozzaShip:
    if ship == TYPHOON:
        return KamozzaShip(kind=KamozzaShipKind.KAMOZZA_SHIP_KIND_TYPHOON)
    if ship == CAT_SHIP:
        return KamozzaShip(kind=KamozzaShipKind.KAMOZZA_SHIP_KIND_CAT, capacity=CAT_SHIP_CAPACITY)
    return KamozzaShip(kind=KamozzaShipKind.KAMOZZA_SHIP_KIND_ORDINARY, capacity=ship)


@lru_cache(maxsize=4096)
def _resolved_message(resolved: Resolved) -> KamozzaResolved:
    message = KamozzaResolved(
        port=_WIRE_PORT[resolved.port],
        position=resolved.position,
        ship=_ship_message(resolved.ship),
        weight=resolved.weight,
    )
    for seat, card, fate, points in resolved.cargo:
        message.cargo.add(seat=seat, card=card, fate=_WIRE_FATE[fate], points=points)
    return message


def _action_message(action: Action) -> KamozzaAction:
    if isinstance(action, Load):
        return KamozzaAction(load=KamozzaLoad(cards=CARD_VALUES[action.cards]))
    return KamozzaAction(port=_WIRE_PORT[action.port])


_ACTION_PIECE = {
    action: KamozzaTurn(actions=[_action_message(action)]).SerializeToString() for action in ALL_ACTIONS
}


@lru_cache(maxsize=512)
def _actions_piece(actions: tuple[Action, ...]) -> bytes:
    return b"".join([_ACTION_PIECE[action] for action in actions])


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


@lru_cache(maxsize=8192, typed=True)
def event_message(event: Event) -> KamozzaEvent:
    """An event on the wire. To be read only: equal events are one message."""
    message = KamozzaEvent()
    _FILL[type(event)](message, event)
    return message


@lru_cache(maxsize=8192, typed=True)
def event_bytes(event: Event) -> bytes:
    """An event as a piece of a turn."""
    return KamozzaTurn(events=[event_message(event)]).SerializeToString()


def _fill_began(message: KamozzaEvent, event: Began) -> None:
    message.began.round, message.began.start_seat = event.round, event.start_seat
    message.began.ships.extend(map(_ship_message, event.ships))


def _fill_eliminated(message: KamozzaEvent, event: Eliminated) -> None:
    message.eliminated.seat, message.eliminated.round = event


def _fill_committed(message: KamozzaEvent, event: Committed) -> None:
    committed = message.committed
    committed.seat, committed.count, claim = event
    if claim != NOTHING_SAID:
        committed.claim.CopyFrom(_claim_message(claim))


def _fill_docked(message: KamozzaEvent, event: Docked) -> None:
    for seat, port in enumerate(event.ports):
        if port != NO_PORT:
            message.docked.berths.add(seat=seat, port=_WIRE_PORT[port])


def _fill_resolved(message: KamozzaEvent, event: Resolved) -> None:
    message.resolved.CopyFrom(_resolved_message(event))


def _fill_scored(message: KamozzaEvent, event: Scored) -> None:
    message.scored.points.extend(event.points)


def _fill_ended(message: KamozzaEvent, event: Ended) -> None:
    message.ended.points.extend(event.points)
    message.ended.ranks.extend(event.ranks)


_FILL: dict[type, Callable[..., None]] = {
    Began: _fill_began,
    Eliminated: _fill_eliminated,
    Committed: _fill_committed,
    Docked: _fill_docked,
    Resolved: _fill_resolved,
    Scored: _fill_scored,
    Ended: _fill_ended,
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
