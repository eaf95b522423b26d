"""The rules of Kamozza. Numbers such as Z7 are those of RULES.md beside this file.

Cargo cards are sets of bits: bit i stands for the card of value `VALUES[i]`. A ship is its capacity;
`TYPHOON` and `CAT_SHIP` are ships as well. Port A is 0, port B is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias, get_args

from arena.games.chance import Chance
from arena.games.game import GameError, IllegalActionError, OptionError, Outcome, PlayersError, Seat

Cards: TypeAlias = int
"""A set of cargo cards, one bit each."""
Ship: TypeAlias = int
Port: TypeAlias = int
Stamp: TypeAlias = tuple[int, int, int]
"""When a seat boarded: round, position of the port in the round, place among the loaded cards (Z17)."""

SEATS = range(3, 6)
VALUES = (1, 3, 5, 7, 10, 15, 20)
RATS: Cards = 1
GOLD: Cards = 64
ALL_CARDS: Cards = 127
FED_RATS = 21
"""What rats weigh and are worth in the variant once they have eaten the gold (Z14)."""

PORT_A: Port = 0
PORT_B: Port = 1
NO_PORT: Port = -1
PORTS = ("A", "B")

SMALL_SHIPS: tuple[Ship, ...] = (8, 11, 14, 17, 20, 21, 23)
LARGE_SHIPS: tuple[Ship, ...] = (30, 32, 35, 37, 40, 42, 45)
TYPHOON: Ship = 0
CAT_SHIP: Ship = -1
CAT_SHIP_CAPACITY = 30

BASE_ROUNDS = {3: 6, 4: 4, 5: 5}
VARIANT_ROUNDS = 5
NEVER: Stamp = (0, 0, 0)
"""The stamp of a seat that has never boarded."""

Fate: TypeAlias = Literal[
    "loaded", "sunk", "eaten", "confiscated", "turned away", "left behind", "blown away"
]
FATES: tuple[Fate, ...] = get_args(Fate)

_ALL_SETS = range(ALL_CARDS + 1)
BITS: tuple[tuple[Cards, ...], ...] = tuple(
    tuple(1 << i for i in range(7) if cards >> i & 1) for cards in _ALL_SETS
)
"""By set of cards: its cards one by one, ascending."""
CARD_VALUES: tuple[tuple[int, ...], ...] = tuple(
    tuple(VALUES[i] for i in range(7) if cards >> i & 1) for cards in _ALL_SETS
)
"""By set of cards: their values, ascending."""
COUNT: tuple[int, ...] = tuple(map(len, CARD_VALUES))
"""By set of cards: how many they are."""
WEIGHT: tuple[int, ...] = tuple(map(sum, CARD_VALUES))
"""By set of cards: what they weigh and are worth together."""
CARD_OF: dict[int, Cards] = {value: 1 << i for i, value in enumerate(VALUES)}
"""By value: the card."""


# options


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match (Z18).

    Attributes:
        mode: "base" or "variant".
        typhoon: one typhoon in each deck of ships; variant only.
        cat_ship: the cat ship in port B's deck; variant only.
        table_talk: whether a choice of cargo may go with a claim.

    Raises:
        OptionError: what was given and what is allowed.
    """

    mode: Literal["base", "variant"] = "base"
    typhoon: bool = False
    cat_ship: bool = False
    table_talk: bool = False

    def __post_init__(self) -> None:
        if self.mode not in ("base", "variant"):
            raise OptionError(f"mode is {self.mode!r}: base or variant is allowed (Z18)")
        for name in ("typhoon", "cat_ship", "table_talk"):
            if type(getattr(self, name)) is not bool:
                raise OptionError(f"{name} is {getattr(self, name)!r}: true or false is allowed (Z18)")
        if self.mode == "base" and (
            bonus := [name for name in ("typhoon", "cat_ship") if getattr(self, name)]
        ):
            raise OptionError(
                f"{' and '.join(bonus)} with mode base: bonus ships belong to the variant, "
                "they are allowed with mode variant only (Z18)"
            )


def check_seats(seats: int) -> None:
    """Z2.

    Raises:
        PlayersError: this many cannot play.
    """
    if seats not in SEATS:
        raise PlayersError(f"Kamozza is for {SEATS[0]} to {SEATS[-1]} players, not {seats} (Z2)")


def rounds_of(seats: int, options: Options) -> int:
    """Rounds of a match (Z5)."""
    return BASE_ROUNDS[seats] if options.mode == "base" else VARIANT_ROUNDS


def ports_of(seats: int, options: Options) -> int:
    """Ports at which ships arrive (Z3)."""
    return 1 if options.mode == "variant" and seats == 3 else 2


def decision_bound(seats: int, options: Options) -> int:
    """Most decisions that a match can take: cargo and port, in every round, of every seat (Z16)."""
    return seats * rounds_of(seats, options) * ports_of(seats, options)


# the deal


@dataclass(frozen=True, slots=True)
class Deal:
    """The randomness of a match.

    Attributes:
        start_seat: seat that begins the first round.
        decks: by port the ships, the first to arrive first; none for a port that is not used.
    """

    start_seat: Seat
    decks: tuple[tuple[Ship, ...], tuple[Ship, ...]]


def unshuffled_decks(seats: int, options: Options) -> tuple[list[Ship], list[Ship]]:
    """The ships of both ports in ascending order, bonus ships last (Z3)."""
    a, b = list(SMALL_SHIPS), list(LARGE_SHIPS)
    if seats == 3:
        if options.mode == "base":
            a, b = a[:-1], a[-1:] + b[:-2]
        else:
            a, b = a + b, []
    if options.typhoon:
        a.append(TYPHOON)
        if b:
            b.append(TYPHOON)
    if options.cat_ship:
        (b or a).append(CAT_SHIP)
    return a, b


def deal(seats: int, options: Options, chance: Chance) -> Deal:
    """Draw a match's deal (Z4): port A's deck, port B's deck, the seat that begins.

    Raises:
        PlayersError: this many cannot play.
    """
    check_seats(seats)
    a, b = unshuffled_decks(seats, options)
    chance.shuffle(a)
    chance.shuffle(b)
    return Deal(chance.below(seats), (tuple(a), tuple(b)))


# actions and events


class Claim(NamedTuple):
    """What a seat says that it does (Z19). One that names neither cards nor a port says nothing."""

    cards: Cards
    port: Port


class Load(NamedTuple):
    """Commit one or two cards of the hand, face down, and say something about it or nothing."""

    cards: Cards
    claim: Claim


class Dock(NamedTuple):
    """Take the committed cards to a port."""

    port: Port


Action: TypeAlias = Load | Dock

NOTHING_SAID = Claim(0, NO_PORT)
_PAIRS = tuple(a | b for a, b in combinations(BITS[ALL_CARDS], 2))
SETS_TO_LOAD: tuple[Cards, ...] = (*BITS[ALL_CARDS], *_PAIRS)
"""Single cards ascending, then pairs in lexicographic order: the canonical order of loads."""
ALL_LOADS = tuple(Load(cards, NOTHING_SAID) for cards in SETS_TO_LOAD)
ALL_DOCKS = (Dock(PORT_A), Dock(PORT_B))
ALL_ACTIONS: tuple[Action, ...] = (*ALL_LOADS, *ALL_DOCKS)
"""All actions there are, without claims."""
ALL_CLAIMS = tuple(Claim(cards, port) for cards in (0, *SETS_TO_LOAD) for port in (NO_PORT, PORT_A, PORT_B))
"""Everything that can be said, NOTHING_SAID first."""
_CLAIMS = frozenset(ALL_CLAIMS)


def _loads(hand: Cards, most: int) -> tuple[Load, ...]:
    return tuple(load for load in ALL_LOADS if not load.cards & ~hand and COUNT[load.cards] <= most)


LOADS: tuple[tuple[Load, ...], ...] = tuple(_loads(hand, 2) for hand in _ALL_SETS)
"""By hand: the legal loads of the base game."""
SINGLE_LOADS: tuple[tuple[Load, ...], ...] = tuple(_loads(hand, 1) for hand in _ALL_SETS)
"""By hand: the legal loads of the variant."""
_LOADABLE = tuple(frozenset(load.cards for load in loads) for loads in LOADS)
_LOADABLE_ALONE = tuple(frozenset(load.cards for load in loads) for loads in SINGLE_LOADS)
"""By hand: the cards of these loads."""


class Began(NamedTuple):
    """A round began with the arrival of a ship at each port."""

    round: int
    start_seat: Seat
    ships: tuple[Ship, ...]


class Eliminated(NamedTuple):
    """A seat had no card left at the beginning of a round."""

    seat: Seat
    round: int


class Committed(NamedTuple):
    """A seat committed so many cards, and said something or nothing."""

    seat: Seat
    number: int
    claim: Claim


class Docked(NamedTuple):
    """The ports were revealed: by seat, NO_PORT for those that are eliminated."""

    ports: tuple[Port, ...]


class Cargo(NamedTuple):
    """What became of a card: its value, its fate and what it scored."""

    seat: Seat
    card: int
    fate: Fate
    points: int


class Resolved(NamedTuple):
    """The cards at a port were revealed.

    Attributes:
        port: the port.
        position: which port of the round it was, 1 or 2.
        ship: the ship.
        cargo: all cards there by seat, then value.
        weight: base game: of all cards but eaten gold, whether it was too much or not; variant: of
            what was loaded.
    """

    port: Port
    position: int
    ship: Ship
    cargo: tuple[Cargo, ...]
    weight: int


class Scored(NamedTuple):
    """A round ended with these points by seat."""

    points: tuple[int, ...]


class Ended(NamedTuple):
    """The match ended with these points and ranks by seat."""

    points: tuple[int, ...]
    ranks: tuple[int, ...]


Event: TypeAlias = Began | Eliminated | Committed | Docked | Resolved | Scored | Ended


class Past(NamedTuple):
    """A finished round: all of it is public."""

    round: int
    start_seat: Seat
    ships: tuple[Ship, ...]
    claims: tuple[Claim, ...]
    resolved: tuple[Resolved, ...]


# Events and parts of events that there are few of: looking one up is cheaper than making it.
COMMITTED = tuple(
    tuple(Committed(seat, number, NOTHING_SAID) for number in range(3)) for seat in range(SEATS[-1])
)
"""By seat and number of cards: the events of those that say nothing."""
_ALONE = tuple((seat,) for seat in range(SEATS[-1]))
_EVERYBODY = tuple(tuple(range(seats)) for seats in range(SEATS[-1] + 1))


def _cargo(seat: Seat, card: Cards, fate: Fate) -> Cargo:
    value = WEIGHT[card]
    return Cargo(seat, value, fate, value if fate == "loaded" else 0)


_CARGO: dict[Fate, tuple[dict[Cards, Cargo], ...]] = {
    fate: tuple({card: _cargo(seat, card, fate) for card in BITS[ALL_CARDS]} for seat in range(SEATS[-1]))
    for fate in FATES
}
"""By fate, seat and card."""
_FED = tuple(Cargo(seat, VALUES[0], "loaded", FED_RATS) for seat in range(SEATS[-1]))


def _cargo_of(seat: Seat, cards: Cards, fate: Fate, gold_is_eaten: bool) -> tuple[Cargo, ...]:
    return tuple(
        _CARGO["eaten" if gold_is_eaten and card == GOLD else fate][seat][card] for card in BITS[cards]
    )


_BASE_CARGO: dict[tuple[bool, bool], tuple[dict[Cards, tuple[Cargo, ...]], ...]] = {
    (departs, eaten): tuple(
        {cards: _cargo_of(seat, cards, "loaded" if departs else "sunk", eaten) for cards in SETS_TO_LOAD}
        for seat in range(SEATS[-1])
    )
    for departs in (False, True)
    for eaten in (False, True)
}
"""By whether the ship departs, whether gold is eaten there, seat and cards: what becomes of them."""


# state


@dataclass(slots=True)
class State:
    """A match in play.

    Attributes:
        seats: number of seats.
        options: options of the match.
        deal: its randomness; ships that have not arrived are hidden from all.
        round: number of the round, from 1.
        order: seats that play this round, in the order in which they commit cargo in the base game.
        movers: seats that are to move; none once the match is over.
        loading: whether cargo is committed now, and not a port.
        hands: by seat the cards that were not played in earlier rounds, as everybody knows them.
        committed: by seat the cards of those that it has committed in this round.
        claims: by seat what it said in this round.
        points: by seat.
        loaded: by seat the cards that scored.
        lost: by seat the played cards that did not.
        stamps: by seat when it boarded last (Z17).
        eliminated: by seat the round at whose beginning it was eliminated, or 0.
        past: the finished rounds.
    """

    seats: int
    options: Options
    deal: Deal
    round: int = 0
    order: tuple[Seat, ...] = ()
    movers: tuple[Seat, ...] = ()
    loading: bool = True
    hands: list[Cards] = field(default_factory=list)
    committed: list[Cards] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    points: list[int] = field(default_factory=list)
    loaded: list[Cards] = field(default_factory=list)
    lost: list[Cards] = field(default_factory=list)
    stamps: list[Stamp] = field(default_factory=list)
    eliminated: list[int] = field(default_factory=list)
    past: tuple[Past, ...] = ()

    def copy(self) -> State:
        """An independent state."""
        return State(
            self.seats,
            self.options,
            self.deal,
            self.round,
            self.order,
            self.movers,
            self.loading,
            self.hands[:],
            self.committed[:],
            self.claims[:],
            self.points[:],
            self.loaded[:],
            self.lost[:],
            self.stamps[:],
            self.eliminated[:],
            self.past,
        )

    @property
    def rounds(self) -> int:
        """Number of rounds of the match."""
        return rounds_of(self.seats, self.options)

    @property
    def start_seat(self) -> Seat:
        """Seat that begins this round, or would if it were not eliminated (Z5)."""
        return (self.deal.start_seat + self.round - 1) % self.seats

    @property
    def arrived(self) -> int:
        """Ships that have arrived so far at each port."""
        return len(self.past) + bool(self.movers)

    @property
    def ships(self) -> tuple[Ship, ...]:
        """Ships that lie in port now: port A's, then port B's if it is used."""
        if not self.movers:
            return ()
        (a, b), gone = self.deal.decks, len(self.past)
        return (a[gone], b[gone]) if b else (a[gone],)


# setup


def start(seats: int, options: Options, deal: Deal) -> tuple[State, list[Event]]:
    """Set up a deal, drawn or given, and begin the first round.

    Raises:
        PlayersError: this many cannot play.
        GameError: the deal is not one of such a match.
    """
    check_seats(seats)
    _check_deal(seats, options, deal)
    state = State(
        seats,
        options,
        deal,
        hands=[ALL_CARDS] * seats,
        committed=[0] * seats,
        claims=[NOTHING_SAID] * seats,
        points=[0] * seats,
        loaded=[0] * seats,
        lost=[0] * seats,
        stamps=[NEVER] * seats,
        eliminated=[0] * seats,
    )
    events: list[Event] = []
    _begin_round(state, events)
    return state, events


def _check_deal(seats: int, options: Options, deal: Deal) -> None:
    if deal.start_seat not in range(seats):
        raise GameError(
            f"a deal begun by seat {deal.start_seat} was given: a seat from 0 to {seats - 1} begins (Z4)"
        )
    rounds, ports = rounds_of(seats, options), ports_of(seats, options)
    lengths = [len(deck) for deck in deal.decks]
    if len(lengths) != 2 or min(lengths[:ports]) < rounds or any(lengths[ports:]):
        raise GameError(
            f"decks of {' and '.join(map(str, lengths))} ships were given: {rounds} or more are needed "
            f"at port {' and at port '.join(PORTS[:ports])}, none elsewhere (Z4)"
        )
    lowest = CAT_SHIP if options.mode == "variant" else 1
    ships = [ship for deck in deal.decks for ship in deck]
    if set(map(type, ships)) != {int} or min(ships) < lowest:
        wrong = [ship for ship in ships if type(ship) is not int or ship < lowest]
        raise GameError(
            f"ship {wrong[0]!r} was given: a capacity of at least 1 is allowed; "
            "a typhoon or the cat ship in the variant only (Z4)"
        )


def _begin_round(state: State, events: list[Event]) -> None:
    """Eliminate who has no card, then let the ships arrive (Z6)."""
    state.round += 1
    active = _EVERYBODY[state.seats]
    if not all(state.hands):
        active = tuple([seat for seat, hand in enumerate(state.hands) if hand])
        for seat in sorted(state.order):
            if not state.hands[seat]:
                state.eliminated[seat] = state.round
                events.append(Eliminated(seat, state.round))
    start_seat = state.start_seat
    state.order = _clockwise(active, start_seat)
    if not active:
        _end(state, events)
        return
    state.loading = True
    state.movers = _ALONE[state.order[0]] if state.options.mode == "base" else active
    events.append(Began(state.round, start_seat, state.ships))


@cache
def _clockwise(active: tuple[Seat, ...], start_seat: Seat) -> tuple[Seat, ...]:
    """Seats in the order in which they commit cargo: from the nominal start seat on (Z7)."""
    return tuple(sorted(active, key=lambda seat: (seat < start_seat, seat)))


# legal actions


def to_move(state: State) -> tuple[Seat, ...]:
    """Seats that owe a decision: one with its cargo in the base game, else all that still play."""
    return state.movers


def actions(state: State, seat: Seat) -> tuple[Action, ...]:
    """Legal actions of a seat that is to move: loads without a claim (Z7, Z12), or ports (Z8)."""
    if not state.loading:
        return ALL_DOCKS
    return (LOADS if state.options.mode == "base" else SINGLE_LOADS)[state.hands[seat]]


def is_legal(state: State, seat: Seat, action: object) -> bool:
    """Whether a seat that is to move may do this: what `actions` lists, with any claim that may be made."""
    if not state.loading:
        return action in ALL_DOCKS and type(action) is Dock and type(action.port) is int
    if type(action) is not Load:
        return False
    cards, claim = action
    return (
        type(cards) is int
        and cards in (_LOADABLE if state.options.mode == "base" else _LOADABLE_ALONE)[state.hands[seat]]
        and (claim is NOTHING_SAID or _may_be_said(state, claim))
    )


def _may_be_said(state: State, claim: object) -> bool:
    """Z19."""
    if type(claim) is not Claim or type(claim.cards) is not int or type(claim.port) is not int:
        return False
    return claim == NOTHING_SAID or (state.options.table_talk and claim in _CLAIMS)


def with_claim(state: State, seat: Seat, action: Action, cards: Sequence[int], port: Port) -> Action:
    """A legal load with a claim that names these values and this port; NO_PORT names none (Z19).

    Raises:
        IllegalActionError: the claim is malformed, or no claim may go with this action.
    """
    if not state.options.table_talk:
        raise IllegalActionError(f"seat {seat} made a claim, and this match has no table talk (Z19)")
    if not isinstance(action, Load) or seat not in state.movers or not is_legal(state, seat, action):
        raise IllegalActionError(
            f"seat {seat} made a claim with {action!r}: it may go with a legal load only (Z19)"
        )
    unknown = [value for value in cards if value not in CARD_OF]
    if unknown or len(cards) > 2 or len(set(cards)) < len(cards):
        raise IllegalActionError(
            f"seat {seat} claimed cards {', '.join(map(str, cards))}: one or two different values out of "
            f"{', '.join(map(str, VALUES))} may be named, or none (Z19)"
        )
    if port not in (NO_PORT, PORT_A, PORT_B):
        raise IllegalActionError(f"seat {seat} claimed port {port}: A, B or none may be named (Z19)")
    return Load(action.cards, Claim(sum(CARD_OF[value] for value in cards), port))


# a decision


def apply(state: State, moves: Mapping[Seat, Action]) -> list[Event]:
    """Let exactly the seats that are to move act.

    Raises:
        IllegalActionError: the state is unchanged.
    """
    _check_moves(state, moves)
    events: list[Event] = []
    if state.loading:
        _commit(state, moves, events)
    else:
        _dock(state, moves, events)
    return events


def _check_moves(state: State, moves: Mapping[Seat, Action]) -> None:
    movers = state.movers
    if not movers or (tuple(moves) != movers and moves.keys() != set(movers)):
        to_act = f"exactly seats {list(movers)}" if movers else "nobody: the match is over"
        raise IllegalActionError(f"moves were given for seats {sorted(moves)}; to move is {to_act} (Z7, Z8)")
    for seat in movers:
        if not is_legal(state, seat, moves[seat]):
            legal = ", ".join(map(action_text, actions(state, seat)))
            raise IllegalActionError(
                f"{moves[seat]!r} is not legal for seat {seat}; legal are: {legal} (Z7, Z8, Z12, Z19)"
            )


def _commit(state: State, moves: Mapping[Seat, Action], events: list[Event]) -> None:
    """Cargo is put down (Z7, Z12); once all is there, the ports follow."""
    for seat in state.movers:
        cards, claim = moves[seat]  # type: ignore[misc]  # a legal move of this stage is a Load
        state.committed[seat] = cards
        if claim is NOTHING_SAID or claim == NOTHING_SAID:
            events.append(COMMITTED[seat][COUNT[cards]])
        else:
            state.claims[seat] = claim
            events.append(Committed(seat, COUNT[cards], claim))
    last = state.order[-1]
    if state.options.mode == "base" and state.movers[0] != last:
        state.movers = _ALONE[state.order[state.order.index(state.movers[0]) + 1]]
    elif state.deal.decks[PORT_B]:
        state.loading = False
        state.movers = tuple(sorted(state.order))
    else:
        _resolve_round(state, [(PORT_A, state.movers)], events)


def _dock(state: State, moves: Mapping[Seat, Action], events: list[Event]) -> None:
    """The ports are revealed and resolved, the one with fewer players first (Z8, Z9)."""
    ports = [NO_PORT] * state.seats
    at: tuple[list[Seat], list[Seat]] = ([], [])
    for seat in state.movers:
        port = moves[seat][0]
        ports[seat] = port
        at[port].append(seat)
    events.append(Docked(tuple(ports)))
    in_order = (PORT_B, PORT_A) if len(at[PORT_B]) < len(at[PORT_A]) else (PORT_A, PORT_B)
    first, second = in_order
    _resolve_round(state, ((first, at[first]), (second, at[second])), events)


def _resolve_round(state: State, ports: Iterable[tuple[Port, Sequence[Seat]]], events: list[Event]) -> None:
    """Resolve the ports one after the other; then the next round begins, or the match ends."""
    resolve = _sail if state.options.mode == "base" else _load
    ships = state.ships
    resolved: tuple[Resolved, ...] = ()
    for position, (port, there) in enumerate(ports, 1):
        if there:
            resolved += (resolve(state, port, position, ships[port], there),)
    events += resolved
    events.append(Scored(tuple(state.points)))
    state.past += (Past(state.round, state.start_seat, ships, tuple(state.claims), resolved),)
    for seat in state.order:
        state.hands[seat] &= ~state.committed[seat]
    state.committed = [0] * state.seats
    state.claims = [NOTHING_SAID] * state.seats
    if state.round < state.rounds:
        _begin_round(state, events)
    else:
        _end(state, events)


def _sail(state: State, port: Port, position: int, ship: Ship, there: Sequence[Seat]) -> Resolved:
    """A ship of the base game departs with all its cargo or sinks with it (Z10, Z11)."""
    committed = state.committed
    cards_there = 0
    for seat in there:
        cards_there |= committed[seat]
    gold_is_eaten = bool(cards_there & RATS and cards_there & GOLD)
    kept = ALL_CARDS & ~GOLD if gold_is_eaten else ALL_CARDS
    weight = 0
    for seat in there:
        weight += WEIGHT[committed[seat] & kept]
    departs = weight <= ship
    fates = _BASE_CARGO[departs, gold_is_eaten]
    cargo: tuple[Cargo, ...] = ()
    for seat in there:
        cards = committed[seat]
        cargo += fates[seat][cards]
        scoring = cards & kept if departs else 0
        state.lost[seat] |= cards & ~scoring
        if scoring:
            state.points[seat] += WEIGHT[scoring]
            state.loaded[seat] |= scoring
            state.stamps[seat] = (state.round, position, 0)
    return Resolved(port, position, ship, cargo, weight)


def _load(state: State, port: Port, position: int, ship: Ship, there: Sequence[Seat]) -> Resolved:
    """A ship of the variant takes what fits, heaviest first (Z13 to Z15)."""
    cards = [state.committed[seat] for seat in there]
    fates: dict[Seat, Cargo] = {}
    waiting: list[tuple[int, Seat, Cards]] = []
    fed = ship != CAT_SHIP and cards.count(RATS) == 1 and cards.count(GOLD) == 1
    for seat, card in zip(there, cards, strict=True):
        if ship == TYPHOON:
            fates[seat] = _CARGO["blown away"][seat][card]
        elif cards.count(card) > 1:
            fates[seat] = _CARGO["confiscated"][seat][card]
        elif card == RATS and ship == CAT_SHIP:
            fates[seat] = _CARGO["turned away"][seat][card]
        elif card == GOLD and fed:
            fates[seat] = _CARGO["eaten"][seat][card]
        else:
            waiting.append((FED_RATS if card == RATS and fed else WEIGHT[card], seat, card))
    waiting.sort(reverse=True)
    capacity = CAT_SHIP_CAPACITY if ship == CAT_SHIP else ship
    weight = loaded = 0
    for heaviness, seat, card in waiting:
        if weight + heaviness > capacity:
            fates[seat] = _CARGO["left behind"][seat][card]
            continue
        weight += heaviness
        loaded += 1
        fates[seat] = _FED[seat] if heaviness == FED_RATS else _CARGO["loaded"][seat][card]
        state.points[seat] += heaviness
        state.loaded[seat] |= card
        state.stamps[seat] = (state.round, position, loaded)
    for seat, card in zip(there, cards, strict=True):
        if fates[seat].fate != "loaded":
            state.lost[seat] |= card
    return Resolved(port, position, ship, tuple([fates[seat] for seat in there]), weight)


# the end


def _end(state: State, events: list[Event]) -> None:
    """Z16."""
    state.movers = ()
    events.append(Ended(tuple(state.points), ranks(state)))


def ranks(state: State) -> tuple[int, ...]:
    """Competition ranks by seat: later eliminated or never, points, later boarded (Z17)."""
    never = state.rounds + 1
    standings = [
        (eliminated or never, points, stamp)
        for eliminated, points, stamp in zip(state.eliminated, state.points, state.stamps, strict=True)
    ]
    return tuple([1 + sum([other > standing for other in standings]) for standing in standings])


def outcome(state: State) -> Outcome:
    """The result of a match that is over (Z17).

    Raises:
        GameError: it is not over.
    """
    if state.movers:
        raise GameError("the match is not over: it has no outcome yet")
    details = tuple(_details(state, seat) for seat in range(state.seats))
    return Outcome(tuple(state.points), ranks(state), details)


def _details(state: State, seat: Seat) -> str:
    parts = [
        f"{what} {values_text(cards)}"
        for what, cards in (
            ("loaded", state.loaded[seat]),
            ("lost", state.lost[seat]),
            ("kept", state.hands[seat]),
        )
        if cards
    ]
    if state.stamps[seat] != NEVER:
        parts.append(f"boarded last in round {state.stamps[seat][0]}")
    if state.eliminated[seat]:
        parts.append(f"eliminated in round {state.eliminated[seat]}")
    return "; ".join(parts)


# words


def values_text(cards: Cards) -> str:
    """A set of cards in words: `3, 15`."""
    return ", ".join(map(str, CARD_VALUES[cards]))


def claim_text(claim: Claim) -> str:
    """A claim in words: `3, 15 to port A`."""
    cards = values_text(claim.cards)
    if claim.port == NO_PORT:
        return cards or "nothing"
    return f"{cards} to port {PORTS[claim.port]}" if cards else f"to port {PORTS[claim.port]}"


def action_text(action: Action) -> str:
    """An action in a few words."""
    if isinstance(action, Dock):
        return f"port {PORTS[action.port]}"
    said = "" if action.claim == NOTHING_SAID else f', saying "{claim_text(action.claim)}"'
    return f"load {values_text(action.cards).replace(', ', ' and ')}{said}"
