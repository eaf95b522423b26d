"""The rules of Kotki. Numbers such as P7 are those of RULES.md beside this file.

Players are seats 0..n-1, pillows are 0..3; each player has the pillow that `HOMES` names. Bait cards, cats
and sets of cats are integers as `components` says; a set of pillows, fields or slots has a bit for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import combinations, permutations
from operator import or_
from typing import NamedTuple, TypeAlias

from arena.games.chance import Chance
from arena.games.game import (
    GameError,
    IllegalActionError,
    OptionError,
    Outcome,
    PlayersError,
    Seat,
    competition_ranks,
)
from arena.games.kotki.components import (
    CAT_IDS,
    CAT_SHOWS,
    CATS,
    COST,
    DECK,
    DOG,
    EMPTY,
    FIELDS,
    PILLOWS,
    POINTS,
    SHOWS,
    SYMBOLS,
    WITH_ABILITY,
    YARD,
    Bait,
    CatId,
    Symbols,
    cat_set,
)

Baits: TypeAlias = tuple[Bait, ...]
CatIds: TypeAlias = tuple[CatId, ...]
Pile: TypeAlias = bytes
"""Bait cards or cats, each a byte: quicker to copy, to join and to look up by than tuples."""
Pillow: TypeAlias = Pile
"""What lies on the four fields of a pillow, the arrow field first."""

SEATS = range(2, 5)
TARGETS = (10, 15)
MAX_ROUNDS = 100
NON_DOGS = len(DECK) - DECK.count(DOG)

HOMES: Mapping[int, tuple[int, ...]] = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}
"""By number of players and player, the player's pillow (P5)."""
NEUTRALS: Mapping[int, tuple[tuple[int, ...], ...]] = {
    2: ((1,), (3,)),
    3: ((), (), (3,)),
    4: ((), (), (), ()),
}
"""By number of players and player, the pillows without a player up to the next player's (P20)."""

PHASES = ("start", "revealing", "dog", "placing", "drawn", "luring", "after")
START, REVEALING, FACING_DOG, PLACING, DRAWN, LURING, AFTER = range(7)
KINDS = (
    "reveal",
    "stop",
    "ignore_dog",
    "accept_dog",
    "place",
    "finish",
    "lure",
    "swap",
    "yard",
    "draw",
    "shift",
    "padlock",
    "place_drawn",
    "end_turn",
)
(
    REVEAL,
    STOP,
    IGNORE_DOG,
    ACCEPT_DOG,
    PLACE,
    FINISH,
    LURE,
    SWAP,
    CHANGE_YARD,
    DRAW,
    SHIFT,
    PADLOCK,
    PLACE_DRAWN,
    END_TURN,
) = range(14)

ALL_FIELDS = (1 << FIELDS) - 1
ALL_SLOTS = (1 << YARD) - 1
ALL_PILLOWS = (1 << PILLOWS) - 1
EMPTY_PILLOW: Pillow = bytes((EMPTY,) * FIELDS)

IGNORERS = cat_set(WITH_ABILITY["ignore_dog"])
SUBSTITUTES = cat_set(WITH_ABILITY["substitute"])
DRAWERS = cat_set(WITH_ABILITY["draw_1"] + WITH_ABILITY["draw_2"])
SHIFTERS = cat_set(WITH_ABILITY["shift_right"] + WITH_ABILITY["shift_left"])
PADLOCKS = cat_set(WITH_ABILITY["padlock"])
AT_ANY_MOMENT = cat_set(CAT_IDS) & ~IGNORERS & ~SUBSTITUTES

MOST_IN_A_TURN = 59
"""Decisions of a turn but for those that a match allows only so often: 49 cards revealed, a dog accepted, a
stop, 4 placings, 3 swaps, an end (P23)."""
MOST_BESIDE = 74
"""Those: 32 lures, 32 abilities, 7 drawn cards placed, 3 dogs ignored (P23)."""


# options


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match (P22).

    Attributes:
        target: points that bring on the end, 10 or 15.
        max_rounds: rounds after which the match ends at the latest, 1 to 100.

    Raises:
        OptionError: what was given and what is allowed.
    """

    target: int = TARGETS[0]
    max_rounds: int = MAX_ROUNDS

    def __post_init__(self) -> None:
        if type(self.target) is not int or self.target not in TARGETS:
            raise OptionError(f"target is {self.target!r}: {' or '.join(map(str, TARGETS))} is allowed (P22)")
        if type(self.max_rounds) is not int or not 1 <= self.max_rounds <= MAX_ROUNDS:
            raise OptionError(
                f"max_rounds is {self.max_rounds!r}: a whole number from 1 to {MAX_ROUNDS} is allowed (P22)"
            )


def check_seats(seats: int) -> None:
    """P1.

    Raises:
        PlayersError: this many cannot play.
    """
    if seats not in SEATS:
        raise PlayersError(f"Kotki is for {SEATS[0]} to {SEATS[-1]} players, not {seats} (P1)")


def decision_bound(seats: int, options: Options) -> int:
    """No match takes more decisions (P23)."""
    return seats * options.max_rounds * MOST_IN_A_TURN + MOST_BESIDE


# the deal


@dataclass(frozen=True, slots=True)
class Deal:
    """The randomness of a match.

    Attributes:
        start_seat: player that begins.
        arrows: by pillow, the card that lies on its arrow field at first.
        bait: the bait stack, top card first.
        cats: the cat stack, top tile first, before the yard is filled.
        setup_dogs: by pillow, the dogs that were shuffled back before its arrow card came.
        later_bait: for reshuffles of bait, in place of drawing them: each an order of all 55 cards, of which
            those that are reshuffled are used. Drawn deals have none.
        later_cats: likewise for reshuffles of cats, each an order of all 32.
    """

    start_seat: Seat
    arrows: Baits
    bait: Baits
    cats: CatIds
    setup_dogs: tuple[int, ...] = (0,) * PILLOWS
    later_bait: tuple[Baits, ...] = ()
    later_cats: tuple[CatIds, ...] = ()


def deal(seats: int, options: Options, chance: Chance) -> Deal:
    """Draw a match's deal (P6): who begins, the arrow cards with the bait stack, the cat stack.

    Raises:
        PlayersError: this many cannot play.
    """
    check_seats(seats)
    start_seat = chance.below(seats)
    bait, arrows, dogs = list(DECK), [EMPTY] * PILLOWS, [0] * PILLOWS
    chance.shuffle(bait)
    for pillow in _clockwise_from(HOMES[seats][start_seat]):
        while bait[0] == DOG:
            dogs[pillow] += 1
            chance.shuffle(bait)
        arrows[pillow] = bait.pop(0)
    cats = list(CAT_IDS)
    chance.shuffle(cats)
    return Deal(start_seat, tuple(arrows), tuple(bait), tuple(cats), tuple(dogs))


def _clockwise_from(pillow: int) -> Iterator[int]:
    return (each % PILLOWS for each in range(pillow, pillow + PILLOWS))


def _check_deal(seats: int, deal: Deal) -> None:
    if deal.start_seat not in range(seats):
        raise GameError(f"player {deal.start_seat} was given to begin, of {seats} players (P6)")
    if len(deal.arrows) != PILLOWS or DOG in deal.arrows or len(deal.setup_dogs) != PILLOWS:
        raise GameError("a deal was given that has not one card other than a dog for each pillow (P6)")
    for cards in ((*deal.arrows, *deal.bait), *deal.later_bait):
        if tuple(sorted(cards)) != DECK:
            raise GameError(f"a bait deck was given that is not each of the {len(DECK)} cards once (P2)")
    for cats in (deal.cats, *deal.later_cats):
        if tuple(sorted(cats)) != CAT_IDS:
            raise GameError(f"cats were given that are not each of the {len(CAT_IDS)} tiles once (P3)")


# state, actions, events


@dataclass(slots=True)
class State:
    """A match in play. Both stacks are piles of which the first cards are taken already.

    Attributes:
        seats: number of players.
        options: options of the match.
        start_seat: player that begins each round.
        turn: player whose turn it is, or was when the match ended.
        round: number of the round, from 1.
        phase: what the turn has come to, such as START.
        drawn_from: while drawn cards are placed, the phase to which the turn returns.
        bait: the bait stack since it was last shuffled, top card first.
        bait_taken: cards that have been taken from it.
        bait_discard: bait cards that are discarded, in the order in which they came.
        pillows: what lies on each pillow.
        locked: pillows that are locked.
        collected: cards revealed in this turn and neither placed nor lost yet, in order.
        drawn: cards drawn by an ability and not placed yet, in order.
        swapped: pillows with which the arrow card was swapped in this turn.
        placed: fields on which a card was placed since the stop.
        cats: the cat stack since it was last shuffled, top tile first.
        cats_taken: tiles that have been taken from it.
        cat_discard: set of cats that are discarded.
        yard: cats in the yard by slot; 0 where there is none.
        captured: by player, cats in order of capture.
        unused: by player, set of captured cats that can still use their ability.
        points: by player.
        over: whether the match is over.
        chance: for reshuffles; never changed in place, so that copies can share it.
        later_bait: given orders that are still to be used in place of drawing.
        later_cats: likewise.
        bait_shuffled: bait stacks made by reshuffles so far; the last of them is `bait`.
        cats_shuffled: likewise; only the proof by other deals needs either.
    """

    seats: int
    options: Options
    start_seat: Seat
    turn: Seat
    round: int
    phase: int
    drawn_from: int
    bait: Pile
    bait_taken: int
    bait_discard: Pile
    pillows: list[Pillow]
    locked: int
    collected: Pile
    drawn: Pile
    swapped: int
    placed: int
    cats: Pile
    cats_taken: int
    cat_discard: int
    yard: list[CatId]
    captured: list[Pile]
    unused: list[int]
    points: list[int]
    over: bool
    chance: Chance = field(compare=False)
    later_bait: tuple[Baits, ...] = ()
    later_cats: tuple[CatIds, ...] = ()
    bait_shuffled: tuple[Pile, ...] = ()
    cats_shuffled: tuple[Pile, ...] = ()

    def copy(self) -> State:
        """An independent state."""
        return State(
            self.seats,
            self.options,
            self.start_seat,
            self.turn,
            self.round,
            self.phase,
            self.drawn_from,
            self.bait,
            self.bait_taken,
            self.bait_discard,
            self.pillows[:],
            self.locked,
            self.collected,
            self.drawn,
            self.swapped,
            self.placed,
            self.cats,
            self.cats_taken,
            self.cat_discard,
            self.yard[:],
            self.captured[:],
            self.unused[:],
            self.points[:],
            self.over,
            self.chance,
            self.later_bait,
            self.later_cats,
            self.bait_shuffled,
            self.cats_shuffled,
        )

    @property
    def home(self) -> int:
        """The pillow of the player whose turn it is."""
        return HOMES[self.seats][self.turn]

    @property
    def top_cat(self) -> CatId:
        """The top tile of the cat stack, of which only the points are public; 0 if there is none."""
        return self.cats[self.cats_taken] if self.cats_taken < len(self.cats) else 0


class Action(NamedTuple):
    """One decision.

    Attributes:
        kind: such as LURE, an index of `KINDS`.
        number: the slot of a lure, the other pillow of a swap, the face of a card that is placed, or the cat
            whose ability is used.
        where: the field on which a card is placed, the set of fields that pay for a lure, or the set of slots
            whose cats are discarded.
        subs: set of substitutes that pay for a lure.
    """

    kind: int
    number: int = 0
    where: int = 0
    subs: int = 0


Actions: TypeAlias = tuple[Action, ...]


class Started(NamedTuple):
    """The match began; by pillow the arrow cards and the dogs shuffled back before them; the yard by slot."""

    seats: int
    start_seat: Seat
    arrows: Baits
    setup_dogs: tuple[int, ...]
    yard: CatIds


class TurnStarted(NamedTuple):
    """A player's turn began."""

    seat: Seat
    round: int


class Unlocked(NamedTuple):
    """The padlock of a pillow ended."""

    pillow: int


class Revealed(NamedTuple):
    """A bait card was revealed and collected."""

    bait: Bait


class DogDiscarded(NamedTuple):
    """A dog was discarded without harm: as first card, while cards were drawn, or for a neutral pillow."""


class DogPending(NamedTuple):
    """A dog was revealed that the player can still ignore."""


class DogIgnored(NamedTuple):
    """A cat made its owner ignore the revealed dog."""

    cat: CatId


class Bust(NamedTuple):
    """A dog cost all collected cards, in the order in which they were revealed."""

    baits: Baits


class Stopped(NamedTuple):
    """The player reveals no more cards."""


class Placed(NamedTuple):
    """A collected card was placed; `replaced` was discarded for it unless it is EMPTY."""

    bait: Bait
    field: int
    replaced: Bait


class Surplus(NamedTuple):
    """Cards that were not placed were discarded."""

    baits: Baits


class Lured(NamedTuple):
    """The cat of a slot was lured, paid with the cards of a set of fields and a set of substitutes."""

    slot: int
    cat: CatId
    fields: int
    subs: int


class YardDiscarded(NamedTuple):
    """A cat's ability discarded the cats of a set of slots."""

    by: CatId
    slots: int
    cats: CatIds


class YardFilled(NamedTuple):
    """A cat came from the stack to a slot of the yard."""

    slot: int
    cat: CatId


class Swapped(NamedTuple):
    """The player gave the own arrow card for that of another pillow."""

    pillow: int
    given: Bait
    taken: Bait


class Drawn(NamedTuple):
    """A cat's ability drew cards."""

    by: CatId
    baits: Baits


class DrawnPlaced(NamedTuple):
    """A drawn card was placed."""

    bait: Bait
    field: int


class Shifted(NamedTuple):
    """A cat's ability shifted the pillows: what lay on pillow i lies on pillow to[i]."""

    by: CatId
    to: tuple[int, ...]


class Padlocked(NamedTuple):
    """A cat's ability locked its owner's pillow."""

    by: CatId
    pillow: int


class NeutralCard(NamedTuple):
    """A bait card came from the stack to a pillow that has no player."""

    pillow: int
    field: int
    bait: Bait


class BaitReshuffled(NamedTuple):
    """The bait discard became the new stack of this many cards."""

    size: int


class CatsReshuffled(NamedTuple):
    """The cat discard became the new stack of this many tiles."""

    size: int


class TurnEnded(NamedTuple):
    """A player's turn ended."""

    seat: Seat


class Ended(NamedTuple):
    """The match ended with these points and ranks by player."""

    points: tuple[int, ...]
    ranks: tuple[int, ...]


Event: TypeAlias = (
    Started
    | TurnStarted
    | Unlocked
    | Revealed
    | DogDiscarded
    | DogPending
    | DogIgnored
    | Bust
    | Stopped
    | Placed
    | Surplus
    | Lured
    | YardDiscarded
    | YardFilled
    | Swapped
    | Drawn
    | DrawnPlaced
    | Shifted
    | Padlocked
    | NeutralCard
    | BaitReshuffled
    | CatsReshuffled
    | TurnEnded
    | Ended
)


# All actions and events without variety, and lists of actions that are looked up.
_REVEAL: Actions = (Action(REVEAL),)
_STOP: Actions = (Action(STOP),)
_ACCEPT_DOG: Actions = (Action(ACCEPT_DOG),)
_FINISH: Actions = (Action(FINISH),)
_END_TURN: Actions = (Action(END_TURN),)
_REVEAL_OR_STOP = _REVEAL + _STOP
_REVEALED = tuple(Revealed(card) for card in range(DOG))
_DOG_DISCARDED = DogDiscarded()
_DOG_PENDING = DogPending()
_STOPPED = Stopped()
_placed = lru_cache(maxsize=1 << 12)(Placed)
_swapped = lru_cache(maxsize=1 << 12)(Swapped)
_action = lru_cache(maxsize=1 << 13)(Action)
"""Lists that are kept share their actions: few make up very many lists, and are told apart by identity."""
_TURN_ENDED = tuple(TurnEnded(seat) for seat in range(SEATS[-1]))
_TURN_STARTED = tuple(
    tuple(TurnStarted(seat, number) for number in range(MAX_ROUNDS + 1)) for seat in range(SEATS[-1])
)

_CARD: tuple[Pile, ...] = tuple(bytes((card,)) for card in range(EMPTY + 1))
"""By face, a pile of one such card."""


@lru_cache(maxsize=1 << 14)
def members(of: int) -> tuple[int, ...]:
    """A set of bits as ascending numbers."""
    return tuple(number for number in range(of.bit_length()) if of >> number & 1)


SLOTS = tuple(members(slots) for slots in range(ALL_SLOTS + 1))
"""By set of slots, fields or pillows its members."""
_SWAPS: tuple[tuple[Actions, ...], ...] = tuple(
    tuple(
        ()
        if barred >> home & 1
        else tuple(Action(SWAP, other) for other in SLOTS[ALL_PILLOWS & ~barred & ~(1 << home)])
        for barred in range(ALL_PILLOWS + 1)
    )
    for home in range(PILLOWS)
)
"""By own pillow and set of pillows that cannot be swapped with, the swaps."""
_ON_EACH = sum(1 << field * len(SYMBOLS) for field in range(FIELDS))
"""Times a set of symbols: that set on each field."""


# setup


def start(seats: int, options: Options, deal: Deal, chance: Chance) -> tuple[State, list[Event]]:
    """Set up a deal, drawn or given (P6).

    Raises:
        PlayersError: this many cannot play.
        GameError: the deal is not one of such a match.
    """
    check_seats(seats)
    _check_deal(seats, deal)
    state = State(
        seats=seats,
        options=options,
        start_seat=deal.start_seat,
        turn=deal.start_seat,
        round=1,
        phase=START,
        drawn_from=START,
        bait=bytes(deal.bait),
        bait_taken=0,
        bait_discard=b"",
        pillows=[_CARD[card] + EMPTY_PILLOW[1:] for card in deal.arrows],
        locked=0,
        collected=b"",
        drawn=b"",
        swapped=0,
        placed=0,
        cats=bytes(deal.cats),
        cats_taken=YARD,
        cat_discard=0,
        yard=list(deal.cats[:YARD]),
        captured=[b""] * seats,
        unused=[0] * seats,
        points=[0] * seats,
        over=False,
        chance=chance.copy(),
        later_bait=deal.later_bait,
        later_cats=deal.later_cats,
    )
    started = Started(seats, deal.start_seat, deal.arrows, deal.setup_dogs, deal.cats[:YARD])
    return state, [started, TurnStarted(state.turn, state.round)]


# legal actions


def to_move(state: State) -> tuple[Seat, ...]:
    """The player whose turn it is; nobody once the match is over."""
    return () if state.over else (state.turn,)


def actions(state: State, seat: Seat) -> Actions:
    """Legal actions of the player to move, in canonical order (P8)."""
    return _IN_PHASE[state.phase](state, state.home)


# Each of the following takes the own pillow of the player to move, too: nearly all need it.


def _at_start(state: State, home: int) -> Actions:
    return _REVEAL + _lures(state, home) + _common(state, home)


def _while_revealing(state: State, home: int) -> Actions:
    return _REVEAL_OR_STOP + _common(state, home)


def _facing_dog(state: State, home: int) -> Actions:
    return _ignorings(state, home) + _ACCEPT_DOG


def _while_placing(state: State, home: int) -> Actions:
    return _placings(state, home) + _finish(state, home)


def _while_luring(state: State, home: int) -> Actions:
    return _lures(state, home) + _common(state, home) + _END_TURN


def _after(state: State, home: int) -> Actions:
    return _common(state, home) + _END_TURN


def _common(state: State, home: int) -> Actions:
    """What may be done at any moment of a turn (P13, P14)."""
    if not state.unused[state.turn]:
        return _swaps(state, home)
    return _swaps(state, home) + _abilities(state, home)


def _ignorings(state: State, home: int) -> Actions:
    return tuple([Action(IGNORE_DOG, cat) for cat in members(state.unused[state.turn] & IGNORERS)])


def _placings(state: State, home: int) -> Actions:
    """Ways to place a collected card (P10)."""
    free = 1 if state.pillows[home][0] == EMPTY else ALL_FIELDS & ~state.placed
    return _onto(PLACE, state.collected, free)


def _finish(state: State, home: int) -> Actions:
    return () if state.pillows[home][0] == EMPTY else _FINISH


def _drawn_placings(state: State, home: int) -> Actions:
    """Ways to place a drawn card (P16)."""
    return _onto(PLACE_DRAWN, state.drawn, _empty_fields(state.pillows[home]))


@lru_cache(maxsize=1 << 14)
def _onto(kind: int, cards: Pile, fields: int) -> Actions:
    return tuple([_action(kind, card, field) for card in sorted(set(cards)) for field in SLOTS[fields]])


@lru_cache(maxsize=1 << 14)
def _empty_fields(pillow: Pillow) -> int:
    return sum(1 << field for field, card in enumerate(pillow) if card == EMPTY)


def _lures(state: State, home: int) -> Actions:
    """Ways to pay for a cat of the yard (P12)."""
    locked, subs = state.locked >> home & 1, state.unused[state.turn] & SUBSTITUTES
    fields, shown = _shown_on(state.pillows[home], locked)
    missing = ~(shown | _shown_by(subs)) if subs else ~shown
    lures: Actions = ()
    for slot, cat in enumerate(state.yard):
        cost = COST[cat]
        # Few cats can be paid for, and most that cannot are told by a symbol that nothing shows.
        if cat and not cost & missing:
            lures += _payments(slot, cost, fields & cost * _ON_EACH, subs)
    return lures


@lru_cache(maxsize=1 << 14)
def _shown_on(pillow: Pillow, locked: int) -> tuple[int, Symbols]:
    """What the cards of a pillow show that may pay (P18): by field, a bit for each symbol; all together."""
    fields = [SHOWS[card] for card in pillow]
    if locked:
        fields[0] = 0
    return sum(shown << field * len(SYMBOLS) for field, shown in enumerate(fields)), _any_of(fields)


@lru_cache(maxsize=1 << 8)
def _shown_by(subs: int) -> Symbols:
    return _any_of(CAT_SHOWS[cat] for cat in members(subs))


def _any_of(sets: Iterable[Symbols]) -> Symbols:
    return reduce(or_, sets, 0)


@lru_cache(maxsize=1 << 16)
def _payments(slot: int, cost: Symbols, fields: int, subs: int) -> Actions:
    """Ways to pay a cost with fields and substitutes that show these symbols, as lures of a slot."""
    shown = [fields >> field * len(SYMBOLS) & cost for field in range(FIELDS)]
    sources = [(1 << field, 0, symbols) for field, symbols in enumerate(shown) if symbols]
    sources += [(0, 1 << cat, CAT_SHOWS[cat] & cost) for cat in members(subs) if CAT_SHOWS[cat] & cost]
    return tuple(
        [
            _action(LURE, slot, sum([field for field, _, _ in chosen]), sum([sub for _, sub, _ in chosen]))
            for chosen in combinations(sources, cost.bit_count())
            if _pays(cost, tuple([symbols for _, _, symbols in chosen]))
        ]
    )


def pays(cost: Symbols, sources: Sequence[Symbols]) -> bool:
    """Whether sources, as many as a cost has symbols, pay it: each counts for one symbol that it shows."""
    needed = [1 << symbol for symbol in members(cost)]
    return any(
        all(shown & symbol for shown, symbol in zip(sources, order, strict=True))
        for order in permutations(needed)
    )


_pays = lru_cache(maxsize=1 << 13)(pays)


def _swaps(state: State, home: int) -> Actions:
    """Swaps of arrow cards (P13)."""
    first, second, third, fourth = state.pillows
    barred = state.locked | state.swapped | (first[0] == EMPTY) | (second[0] == EMPTY) << 1
    barred |= (third[0] == EMPTY) << 2 | (fourth[0] == EMPTY) << 3
    return _SWAPS[home][barred]


def _abilities(state: State, home: int) -> Actions:
    """Abilities that may be used at any moment and have an effect now (P14 to P18)."""
    usable = state.unused[state.turn] & AT_ANY_MOMENT
    if not usable:
        return ()
    if usable & DRAWERS and (EMPTY not in state.pillows[home] or not _non_dogs_to_take(state)):
        usable &= ~DRAWERS
    if usable & SHIFTERS and len(_unlocked(state)) < 2:
        usable &= ~SHIFTERS
    if state.locked >> home & 1:
        usable &= ~PADLOCKS
    return _ability_actions(usable, _occupied(state.yard))


@lru_cache(maxsize=1 << 14)
def _ability_actions(usable: int, yard: int) -> Actions:
    legal = [Action(CHANGE_YARD, cat, slots) for cat, slots in _yard_changes(usable, yard)]
    for kind, abilities in (
        (DRAW, ("draw_1", "draw_2")),
        (SHIFT, ("shift_right", "shift_left")),
        (PADLOCK, ("padlock",)),
    ):
        legal += [
            Action(kind, cat) for ability in abilities for cat in WITH_ABILITY[ability] if usable >> cat & 1
        ]
    return tuple(legal)


def _yard_changes(usable: int, yard: int) -> Iterator[tuple[CatId, int]]:
    """Cats that can change the yard, each with each set of slots (P15)."""
    occupied = SLOTS[yard]
    for ability, most in (("yard_1", 1), ("yard_2", 2), ("yard_all", YARD)):
        for cat in WITH_ABILITY[ability]:
            if usable >> cat & 1 and occupied:
                for slots in combinations(occupied, min(most, len(occupied))):
                    yield cat, sum(1 << slot for slot in slots)


def _occupied(yard: Sequence[CatId]) -> int:
    """Slots in which there is a cat."""
    return ALL_SLOTS if 0 not in yard else sum(1 << slot for slot, cat in enumerate(yard) if cat)


def _unlocked(state: State) -> tuple[int, ...]:
    return SLOTS[ALL_PILLOWS & ~state.locked]


def _non_dogs_to_take(state: State) -> int:
    """Bait cards other than dogs in the stack and the discard."""
    lying = sum([FIELDS - pillow.count(EMPTY) for pillow in state.pillows])
    return NON_DOGS - lying - len(state.collected) - len(state.drawn)


_Listing: TypeAlias = Callable[[State, int], Actions]

_IN_PHASE: tuple[_Listing, ...] = (
    _at_start,
    _while_revealing,
    _facing_dog,
    _while_placing,
    _drawn_placings,
    _while_luring,
    _after,
)
"""By phase, all that is legal."""


_ALWAYS: tuple[Actions, ...] = (_REVEAL, _REVEAL_OR_STOP, _ACCEPT_DOG, (), (), _END_TURN, _END_TURN)
"""By phase, what is legal in any position."""
_ANY_MOMENT = (START, REVEALING, LURING, AFTER)
_OF_KIND: tuple[tuple[int, tuple[int, ...], _Listing], ...] = (
    (IGNORE_DOG, (FACING_DOG,), _ignorings),
    (PLACE, (PLACING,), _placings),
    (FINISH, (PLACING,), _finish),
    (LURE, (START, LURING), _lures),
    (SWAP, _ANY_MOMENT, _swaps),
    (CHANGE_YARD, _ANY_MOMENT, _abilities),
    (DRAW, _ANY_MOMENT, _abilities),
    (SHIFT, _ANY_MOMENT, _abilities),
    (PADLOCK, _ANY_MOMENT, _abilities),
    (PLACE_DRAWN, (DRAWN,), _drawn_placings),
)
"""Other kinds of action, the phases in which each may be legal, and what of this kind then is."""
_KINDS_IN: tuple[dict[int, _Listing], ...] = tuple(
    {kind: listed for kind, phases, listed in _OF_KIND if phase in phases} for phase in range(len(PHASES))
)
"""The same by phase and kind."""


def is_legal(state: State, action: Action) -> bool:
    """Whether the player to move may do this: what `actions` lists, without listing all of it."""
    phase = state.phase
    if action in _ALWAYS[phase]:
        return True
    listed = _KINDS_IN[phase].get(action.kind)
    return listed is not None and action in listed(state, state.home)


# a decision


def apply(state: State, moves: Mapping[Seat, Action]) -> list[Event]:
    """One decision of the player to move.

    Raises:
        IllegalActionError: the state is unchanged.
    """
    action = _legal_move(state, moves)
    events: list[Event] = []
    _EFFECT[action.kind](state, action, events)
    return events


def _legal_move(state: State, moves: Mapping[Seat, Action]) -> Action:
    seat = state.turn
    if state.over or len(moves) != 1 or seat not in moves:
        to_act = "nobody: the match is over" if state.over else f"player {seat} alone"
        raise IllegalActionError(f"a move was given for seats {sorted(moves)}; to move is {to_act} (P7)")
    action = moves[seat]
    if not isinstance(action, Action) or not is_legal(state, action):
        legal = ", ".join(map(repr, actions(state, seat)))
        raise IllegalActionError(f"{action!r} is not legal for player {seat}; legal are {legal} (P8)")
    return action


# collecting bait


def _reveal(state: State, action: Action, events: list[Event]) -> None:
    """Take a card; what a dog costs depends on whether it is the first card of the turn (P9)."""
    card = _take_other_than_dog(state, events) if state.phase == START else _take(state, events)
    if card != DOG:
        state.collected += _CARD[card]
        state.phase = REVEALING
        events.append(_REVEALED[card])
    elif state.unused[state.turn] & IGNORERS:
        state.phase = FACING_DOG
        events.append(_DOG_PENDING)
    else:
        _bust(state, action, events)


def _bust(state: State, action: Action, events: list[Event]) -> None:
    """The dog costs all collected cards, but not the turn (P9, P11)."""
    cards, state.collected = state.collected, b""
    state.bait_discard += cards + _CARD[DOG]
    state.phase = AFTER
    events.append(Bust(tuple(cards)))


def _ignore_dog(state: State, action: Action, events: list[Event]) -> None:
    _use(state, action.number)
    state.bait_discard += _CARD[DOG]
    state.phase = REVEALING
    events.append(DogIgnored(action.number))


def _stop(state: State, action: Action, events: list[Event]) -> None:
    state.phase = PLACING
    state.placed = 0
    events.append(_STOPPED)


def _place(state: State, action: Action, events: list[Event]) -> None:
    """P10."""
    _, card, where, _ = action
    replaced = _lay(state, where, card)
    if replaced != EMPTY:
        state.bait_discard += _CARD[replaced]
    state.collected = _without(state.collected, card)
    state.placed |= 1 << where
    events.append(_placed(card, where, replaced))
    if not state.collected or state.placed == ALL_FIELDS:
        _end_placing(state, action, events)


def _end_placing(state: State, action: Action, events: list[Event]) -> None:
    cards, state.collected = state.collected, b""
    _surplus(state, cards, events)
    state.placed = 0
    state.phase = AFTER


def _surplus(state: State, cards: Pile, events: list[Event]) -> None:
    if cards:
        state.bait_discard += cards
        events.append(Surplus(tuple(cards)))


# luring cats


def _lure(state: State, action: Action, events: list[Event]) -> None:
    """Pay, take the cat, refill the yard (P12)."""
    _, slot, fields, subs = action
    cat, player, home = state.yard[slot], state.turn, state.home
    pillow = bytearray(state.pillows[home])
    for where in SLOTS[fields]:
        state.bait_discard += _CARD[pillow[where]]
        pillow[where] = EMPTY
    state.pillows[home] = bytes(pillow)
    state.captured[player] += bytes((cat,))
    state.unused[player] = state.unused[player] & ~subs | 1 << cat
    state.points[player] += POINTS[cat]
    state.yard[slot] = 0
    state.phase = LURING
    events.append(Lured(slot, cat, fields, subs))
    _refill_yard(state, events)


def _refill_yard(state: State, events: list[Event]) -> None:
    """Cats come to the empty slots, as long as there are any (P4)."""
    for slot, cat in enumerate(state.yard):
        if cat:
            continue
        if state.cats_taken == len(state.cats):
            if not state.cat_discard:
                return
            _reshuffle_cats(state, events)
        state.yard[slot] = state.cats[state.cats_taken]
        state.cats_taken += 1
        events.append(YardFilled(slot, state.yard[slot]))


# swaps and abilities


def _swap(state: State, action: Action, events: list[Event]) -> None:
    """P13."""
    pillows, home, other = state.pillows, state.home, action.number
    own, others = pillows[home], pillows[other]
    given, taken = own[0], others[0]
    pillows[home] = _CARD[taken] + own[1:]
    pillows[other] = _CARD[given] + others[1:]
    state.swapped |= 1 << other
    events.append(_swapped(other, given, taken))


def _change_yard(state: State, action: Action, events: list[Event]) -> None:
    """P15."""
    _, by, slots, _ = action
    _use(state, by)
    cats = tuple(state.yard[slot] for slot in SLOTS[slots])
    state.cat_discard |= cat_set(cats)
    for slot in SLOTS[slots]:
        state.yard[slot] = 0
    events.append(YardDiscarded(by, slots, cats))
    _refill_yard(state, events)


def _draw(state: State, action: Action, events: list[Event]) -> None:
    """P16."""
    by = action.number
    _use(state, by)
    for _ in range(2 if CATS[by].ability == "draw_2" else 1):
        if _non_dogs_to_take(state):
            state.drawn += _CARD[_take_other_than_dog(state, events)]
    state.drawn_from = state.phase
    state.phase = DRAWN
    events.append(Drawn(by, tuple(state.drawn)))


def _place_drawn(state: State, action: Action, events: list[Event]) -> None:
    """P16."""
    _, card, where, _ = action
    _lay(state, where, card)
    rest = _without(state.drawn, card)
    events.append(DrawnPlaced(card, where))
    if rest and EMPTY not in state.pillows[state.home]:
        _surplus(state, rest, events)
        rest = b""
    state.drawn = rest
    if not rest:
        state.phase, state.drawn_from = state.drawn_from, START


def _shift(state: State, action: Action, events: list[Event]) -> None:
    """P17."""
    by = action.number
    _use(state, by)
    moving = _unlocked(state)
    step = -1 if CATS[by].ability == "shift_right" else 1
    before, to = tuple(state.pillows), list(range(PILLOWS))
    for index, pillow in enumerate(moving):
        to[pillow] = moving[(index + step) % len(moving)]
        state.pillows[to[pillow]] = before[pillow]
    events.append(Shifted(by, tuple(to)))


def _padlock(state: State, action: Action, events: list[Event]) -> None:
    """P18."""
    _use(state, action.number)
    state.locked |= 1 << state.home
    events.append(Padlocked(action.number, state.home))


def _use(state: State, cat: CatId) -> None:
    state.unused[state.turn] &= ~(1 << cat)


# the end of a turn


def _end_turn(state: State, action: Action, events: list[Event]) -> None:
    """P19 to P21."""
    player, following = state.turn, (state.turn + 1) % state.seats
    events.append(_TURN_ENDED[player])
    if following == state.start_seat:
        if max(state.points) >= state.options.target or state.round == state.options.max_rounds:
            state.over = True
            points = tuple(state.points)
            events.append(Ended(points, competition_ranks(points)))
            return
        state.round += 1
    for pillow in NEUTRALS[state.seats][player]:
        _feed_neutral(state, pillow, events)
    state.turn = following
    state.swapped = 0
    state.phase = START
    events.append(_TURN_STARTED[following][state.round])
    if state.locked and state.locked >> (home := state.home) & 1:
        state.locked &= ~(1 << home)
        events.append(Unlocked(home))


def _feed_neutral(state: State, pillow: int, events: list[Event]) -> None:
    """A card for a pillow that has no player, if it has room (P20)."""
    fields = state.pillows[pillow]
    if EMPTY in fields:
        where = fields.index(EMPTY)
        card = _take_other_than_dog(state, events)
        state.pillows[pillow] = _with(fields, where, card)
        events.append(NeutralCard(pillow, where, card))


# cards and stacks


def _lay(state: State, where: int, card: Bait) -> Bait:
    """Put a card on an own field; what lay there comes off."""
    home = state.home
    pillow = state.pillows[home]
    state.pillows[home] = _with(pillow, where, card)
    return pillow[where]


def _with(pillow: Pillow, where: int, card: Bait) -> Pillow:
    return pillow[:where] + _CARD[card] + pillow[where + 1 :]


def _without(cards: Pile, card: Bait) -> Pile:
    return cards.replace(_CARD[card], b"", 1)


def _take(state: State, events: list[Event]) -> Bait:
    """The top card of the bait stack, which is made anew only when a card is needed (P2)."""
    if state.bait_taken == len(state.bait):
        _reshuffle_bait(state, events)
    card = state.bait[state.bait_taken]
    state.bait_taken += 1
    return card


def _take_other_than_dog(state: State, events: list[Event]) -> Bait:
    """The next card that is no dog; the dogs before it are discarded."""
    while (card := _take(state, events)) == DOG:
        state.bait_discard += _CARD[DOG]
        events.append(_DOG_DISCARDED)
    return card


def _reshuffle_bait(state: State, events: list[Event]) -> None:
    """The discard, in bait order, is shuffled and becomes the stack (P2)."""
    cards = sorted(state.bait_discard)
    if state.later_bait:
        order, *later = state.later_bait
        state.bait, state.later_bait = _those_of(cards, order), tuple(later)
    else:
        state.bait = _shuffled(state, cards)
    state.bait_taken = 0
    state.bait_discard = b""
    state.bait_shuffled += (state.bait,)
    events.append(BaitReshuffled(len(cards)))


def _those_of(cards: Iterable[Bait], order: Baits) -> Pile:
    """These cards in the order that a deck of all cards has."""
    left, chosen = list(cards), bytearray()
    for card in order:
        if card in left:
            left.remove(card)
            chosen.append(card)
    return bytes(chosen)


def _reshuffle_cats(state: State, events: list[Event]) -> None:
    """The discard, by number, is shuffled and becomes the stack (P4)."""
    cats = members(state.cat_discard)
    if state.later_cats:
        order, *later = state.later_cats
        state.cats, state.later_cats = _those_of(cats, order), tuple(later)
    else:
        state.cats = _shuffled(state, cats)
    state.cats_taken = 0
    state.cat_discard = 0
    state.cats_shuffled += (state.cats,)
    events.append(CatsReshuffled(len(cats)))


def _shuffled(state: State, cards: Sequence[int]) -> Pile:
    """Cards in an order that is drawn now."""
    order = list(cards)
    state.chance = state.chance.copy()
    state.chance.shuffle(order)
    return bytes(order)


_EFFECT: tuple[Callable[[State, Action, list[Event]], None], ...] = (
    _reveal,
    _stop,
    _ignore_dog,
    _bust,
    _place,
    _end_placing,
    _lure,
    _swap,
    _change_yard,
    _draw,
    _shift,
    _padlock,
    _place_drawn,
    _end_turn,
)
"""By kind of action, what it does."""


# the end


def outcome(state: State) -> Outcome:
    """The result of a match that is over (P21).

    Raises:
        GameError: it is not over.
    """
    if not state.over:
        raise GameError("the match is not over: it has no outcome yet")
    scores = tuple(state.points)
    details = tuple(_details(cats) for cats in state.captured)
    return Outcome(scores, competition_ranks(scores), details)


def _details(cats: Pile) -> str:
    """What a score is made of."""
    if not cats:
        return "no cats"
    listed = ", ".join(f"{cat} ({POINTS[cat]})" for cat in cats)
    return f"cat{'' if len(cats) == 1 else 's'} {listed}"
