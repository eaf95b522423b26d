"""The rules of Combo Up. Numbers such as U7 are those of RULES.md beside this file.

A card is an integer: a number card is its value 1..12, the others follow in canonical order. A hand
is what is played from one shuffle to the next; the cards that a seat has in hand are *held*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
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

Card: TypeAlias = int
Cards: TypeAlias = tuple[Card, ...]
Strength: TypeAlias = int
"""Kind and highest value of a combination in one number, which orders combinations (U8)."""

SEATS = range(3, 6)
TOKENS = 3
RESERVES = 2
CARDS_PER_DRAW = 3

HIGHEST = 12
COPIES = 4
JOKER, STOP, THREE_DRAW, TAKE_UP, PASS_ON = range(HIGHEST + 1, HIGHEST + 6)
SPECIAL_COPIES = 2
CARD_NAMES = ("", *map(str, range(1, HIGHEST + 1)), "Joker", "Stop", "3 Draw", "Take Up", "Pass On")

COMBO_UP, KRASS_KARIERT = EDITIONS = ("combo_up", "krass_kariert")
_NUMBERS = tuple(value for value in range(1, HIGHEST + 1) for _ in range(COPIES))
DECKS: Mapping[str, Cards] = {
    COMBO_UP: _NUMBERS + tuple(c for c in range(JOKER, PASS_ON + 1) for _ in range(SPECIAL_COPIES)),
    KRASS_KARIERT: _NUMBERS + tuple(c for c in range(JOKER, THREE_DRAW + 1) for _ in range(SPECIAL_COPIES)),
}
"""The cards of an edition in canonical order."""
_CARDS_DEALT: Mapping[str, Mapping[int, int]] = {
    COMBO_UP: {3: 10, 4: 10, 5: 8},
    KRASS_KARIERT: {3: 10, 4: 10, 5: 7},
}
MOST_HELD = 17
"""Most cards that a seat can hold when it is asked (U29)."""


# options


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match (U27).

    Attributes:
        edition: "combo_up" or "krass_kariert".
        scoring: whether points are counted and decide.

    Raises:
        OptionError: what was given and what is allowed.
    """

    edition: str = COMBO_UP
    scoring: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.edition, str) or self.edition not in EDITIONS:
            raise OptionError(f"edition is {self.edition!r}: allowed are {' and '.join(EDITIONS)} (U27)")
        if type(self.scoring) is not bool:
            raise OptionError(f"scoring is {self.scoring!r}: allowed are true and false (U27)")


def check_seats(seats: int) -> None:
    """U2.

    Raises:
        PlayersError: this many cannot play.
    """
    if seats not in SEATS:
        raise PlayersError(f"Combo Up is for {SEATS[0]} to {SEATS[-1]} players, not {seats} (U2)")


def cards_dealt(seats: int, options: Options) -> int:
    """Cards that each player is dealt into hand (U3)."""
    return _CARDS_DEALT[options.edition][seats]


def most_hands(seats: int) -> int:
    """Most hands of a match: each costs a token, and the last one somebody's last (U29)."""
    return (TOKENS - 1) * seats + 1


def hand_bound(seats: int, options: Options) -> int:
    """Most decisions of one hand (U29)."""
    most_drawn = CARDS_PER_DRAW * SPECIAL_COPIES
    laid = seats * (cards_dealt(seats, options) + RESERVES) + most_drawn
    taken = RESERVES * seats
    passed = 2 * SPECIAL_COPIES * seats if options.edition == COMBO_UP else 0
    return laid + taken + passed + most_drawn


def decision_bound(seats: int, options: Options) -> int:
    """Most decisions that a match can take (U29)."""
    return most_hands(seats) * hand_bound(seats, options)


# combinations


SOLO, RUN2, PAIR, RUN3, TRIPS = KINDS = range(1, 6)
"""Kinds of combinations in ascending rank (U8)."""
KIND_NAMES = ("", "solo", "run2", "pair", "run3", "trips")
LENGTH = (0, 1, 2, 2, 3, 3)
"""By kind, the number of its cards."""
_STEP = 16


def strength_of(kind: int, high: int) -> Strength:
    """What orders combinations: kinds first, then the highest value; 0 is less than any (U8)."""
    return kind * _STEP + high


def kind_and_high(strength: Strength) -> tuple[int, int]:
    """What `strength_of` was made of."""
    return divmod(strength, _STEP)


def _combination(values: Sequence[int]) -> Strength | None:
    """Number cards as a combination; None if they are none (U7)."""
    length, high, different = len(values), max(values), len(set(values))
    if different == 1:
        return strength_of((SOLO, PAIR, TRIPS)[length - 1], high)
    if different == length and high - min(values) == length - 1:
        return strength_of(RUN2 if length == 2 else RUN3, high)
    return None


def _readings(cards: Cards) -> tuple[Strength, ...]:
    """All that cards side by side can count as, ascending; several only with Jokers (U7)."""
    if len(cards) > 1 and all(card == JOKER for card in cards):
        return ()
    choices = [range(1, HIGHEST + 1) if card == JOKER else (card,) for card in cards]
    found = {_combination(values) for values in product(*choices)}
    return tuple(sorted(strength for strength in found if strength is not None))


READINGS: Mapping[Cards, tuple[Strength, ...]] = {
    cards: readings
    for length in (1, 2, 3)
    for cards in product(range(1, JOKER + 1), repeat=length)
    if (readings := _readings(cards))
}
"""By cards that are neighbours in hand: all that they can count as; the strongest is the last."""


# the deal


@dataclass(frozen=True, slots=True)
class Deal:
    """The randomness of a match.

    Attributes:
        start_seat: seat that starts the first hand.
        deck: of the first hand, top card first.
        later: decks of the hands that follow, as far as they are given; the others are shuffled when
            the hand begins, from the chance that the match was started with.
    """

    start_seat: Seat
    deck: Cards
    later: tuple[Cards, ...] = ()


def deal(seats: int, options: Options, chance: Chance) -> Deal:
    """Draw a match's deal (U3): who starts, then the deck of the first hand.

    Raises:
        PlayersError: this many cannot play.
    """
    check_seats(seats)
    return Deal(chance.below(seats), shuffled(options, chance))


def shuffled(options: Options, chance: Chance) -> Cards:
    """A deck in a new order (U3)."""
    deck = list(DECKS[options.edition])
    chance.shuffle(deck)
    return tuple(deck)


# actions and events


PLAY, SPECIAL, TAKE, GIVE, INSERT = range(5)
"""What an action does, in the order in which actions are listed (U6)."""


class Action(NamedTuple):
    """One decision; fields that its verb does not need are 0. Actions sort in canonical order (U6).

    Attributes:
        verb: play, special, take, give or insert.
        length: cards of a combination.
        at: index in hand of a card, of a combination its leftmost one.
        strength: what a combination counts as.
        reserve: which reserve is taken.
        position: index in hand that an inserted card will have.
    """

    verb: int
    length: int = 0
    at: int = 0
    strength: Strength = 0
    reserve: int = 0
    position: int = 0


# All actions there are: looking one up is cheaper than making it.
_PLAYS = tuple(
    {
        strength_of(kind, high): Action(PLAY, LENGTH[kind], start, strength_of(kind, high))
        for kind in KINDS
        for high in range(1, HIGHEST + 1)
    }
    for start in range(MOST_HELD)
)
_SPECIALS = tuple(Action(SPECIAL, at=index) for index in range(MOST_HELD))
_TAKES = tuple(
    tuple(
        tuple(
            Action(TAKE, reserve=reserve, position=position)
            for reserve in range(reserves)
            for position in range(held + 1)
        )
        for held in range(MOST_HELD + 1)
    )
    for reserves in range(RESERVES + 1)
)
_GIVES = tuple(tuple(Action(GIVE, at=index) for index in range(held)) for held in range(MOST_HELD + 1))
_INSERTS = tuple(
    tuple(Action(INSERT, position=position) for position in range(held + 1)) for held in range(MOST_HELD + 1)
)
ALL_ACTIONS: tuple[Action, ...] = (
    *(play for plays in _PLAYS for play in plays.values()),
    *_SPECIALS,
    *_TAKES[-1][-1],
    *_GIVES[-1],
    *_INSERTS[-1],
)


class HandStarted(NamedTuple):
    """A hand was dealt."""

    hand: int
    starter: Seat
    cards: int
    reserves: tuple[Cards, ...]
    pile: int


class RoundStarted(NamedTuple):
    """A round began; its first participant leads."""

    round: int
    participants: tuple[Seat, ...]


class Played(NamedTuple):
    """A seat played a combination."""

    seat: Seat
    cards: Cards
    strength: Strength


class SpecialPlayed(NamedTuple):
    """A seat played a Stop, 3 Draw, Take Up or Pass On."""

    seat: Seat
    card: Card


class Took(NamedTuple):
    """A seat took a reserve, in its turn or by Take Up."""

    seat: Seat
    card: Card
    by_take_up: bool


class PassedOver(NamedTuple):
    """A participant without cards was passed over."""

    seat: Seat


class Passed(NamedTuple):
    """A card went from one seat to another by Pass On."""

    giver: Seat
    receiver: Seat


class Gave(NamedTuple):
    """Which card it was: only giver and receiver learn it."""

    giver: Seat
    receiver: Seat
    card: Card


class Drawn(NamedTuple):
    """A seat drew a card and has some left to draw."""

    seat: Seat
    left: int


class Drew(NamedTuple):
    """Which card it was: only the drawer learns it."""

    seat: Seat
    card: Card


class RoundEnded(NamedTuple):
    """A round ended; all that was laid is set aside."""

    winner: Seat
    draws: int
    aside: Cards


class Unable(NamedTuple):
    """A seat could neither play nor take."""

    seat: Seat


class HandEnded(NamedTuple):
    """A hand ended: losers in turn order, points won in it and tokens left by seat."""

    losers: tuple[Seat, ...]
    reason: int
    points: tuple[int, ...]
    tokens: tuple[int, ...]


class MatchEnded(NamedTuple):
    """The match ended with these ranks by seat."""

    ranks: tuple[int, ...]


Laid: TypeAlias = Played | SpecialPlayed
Event: TypeAlias = (
    HandStarted
    | RoundStarted
    | Played
    | SpecialPlayed
    | Took
    | PassedOver
    | Passed
    | Gave
    | Drawn
    | Drew
    | RoundEnded
    | Unable
    | HandEnded
    | MatchEnded
)

UNABLE, ALONE, ALL_OUT = range(1, 4)
"""Why a hand ends (U22)."""


def audience(event: Event) -> tuple[Seat, ...] | None:
    """Seats that learn of an event; None: everybody (U28)."""
    if isinstance(event, Gave):
        return (event.giver, event.receiver)
    if isinstance(event, Drew):
        return (event.seat,)
    return None


# state


IN_TURN, TAKING_UP, GIVING, RECEIVING, DRAWING, OVER = range(1, 7)
"""What is being decided."""
Moves: TypeAlias = Mapping[Seat, Action]


class PastHand(NamedTuple):
    """A hand that is over: its deck and all that was done."""

    deck: Cards
    moves: tuple[Moves, ...]


@dataclass(slots=True)
class State:
    """A match in play.

    Attributes:
        seats: number of seats.
        options: options of the match.
        deal: its initial randomness.
        chance: the stream from which later decks are shuffled.
        tokens: by seat.
        points: by seat; all 0 without the scoring variant.
        hand: index of the hand.
        deck: of this hand, top card first.
        drawn: cards of the deck that were dealt or drawn so far; the others are the pile.
        held: by seat the cards in hand, leftmost first.
        reserves: by seat.
        round: index of the round within the hand.
        participants: of the round in turn order; the first one leads.
        turn: index of the participant whose turn it is or was last; their number once the round is over.
        table: what was laid in this round.
        beaten: strength of the round's last combination, 0 if there is none.
        draws: 3 Draw cards in this round.
        aside: cards of earlier rounds of this hand.
        phase: what is being decided.
        acting: seats that owe a decision.
        waiting: seats that will have to take a reserve after the one that is doing so.
        left: cards to be drawn after the one that is being inserted.
        incoming: by seat the card that it must insert, 0 if there is none.
        log: what happened in this hand.
        moves: what was done in this hand.
        past: the hands before this one.
        listed: what was listed last for a turn: cards in hand, strength to be outbid, reserves, and the
            actions. It is asked for when a turn begins, by its seat and when that acts, and costs most.
    """

    seats: int
    options: Options
    deal: Deal
    chance: Chance
    tokens: tuple[int, ...]
    points: tuple[int, ...]
    hand: int
    deck: Cards
    drawn: int
    held: list[Cards]
    reserves: list[Cards]
    round: int
    participants: tuple[Seat, ...]
    turn: int
    table: tuple[Laid, ...]
    beaten: Strength
    draws: int
    aside: Cards
    phase: int
    acting: tuple[Seat, ...]
    waiting: tuple[Seat, ...]
    left: int
    incoming: Cards
    log: list[Event]
    moves: list[Moves]
    past: tuple[PastHand, ...]
    listed: tuple[Cards, Strength, int, tuple[Action, ...]] = field(
        default=((), 0, 0, ()), compare=False, repr=False
    )

    def copy(self) -> State:
        """An independent state."""
        return State(
            self.seats,
            self.options,
            self.deal,
            self.chance.copy(),
            self.tokens,
            self.points,
            self.hand,
            self.deck,
            self.drawn,
            self.held[:],
            self.reserves[:],
            self.round,
            self.participants,
            self.turn,
            self.table,
            self.beaten,
            self.draws,
            self.aside,
            self.phase,
            self.acting,
            self.waiting,
            self.left,
            self.incoming,
            self.log[:],
            self.moves[:],
            self.past,
            self.listed,
        )


# setup


def start(seats: int, options: Options, deal: Deal, chance: Chance) -> tuple[State, list[Event]]:
    """Deal the first hand of a match, from a deck that was drawn or given.

    Raises:
        PlayersError: this many cannot play.
        GameError: the deal is not one of such a match.
    """
    check_seats(seats)
    _check_deal(seats, options, deal)
    state = State(
        seats=seats,
        options=options,
        deal=deal,
        chance=chance.copy(),
        tokens=(TOKENS,) * seats,
        points=(0,) * seats,
        hand=0,
        deck=deal.deck,
        drawn=0,
        held=[],
        reserves=[],
        round=0,
        participants=(),
        turn=0,
        table=(),
        beaten=0,
        draws=0,
        aside=(),
        phase=IN_TURN,
        acting=(),
        waiting=(),
        left=0,
        incoming=(0,) * seats,
        log=[],
        moves=[],
        past=(),
    )
    _begin_hand(state, deal.start_seat, state.log)
    return state, state.log[:]


def _check_deal(seats: int, options: Options, deal: Deal) -> None:
    if deal.start_seat not in range(seats):
        raise GameError(f"a deal begun by seat {deal.start_seat} was given; seats are 0 to {seats - 1} (U3)")
    for deck in (deal.deck, *deal.later):
        if tuple(sorted(deck)) != DECKS[options.edition]:
            raise GameError(f"a deck was given that is not that of the edition {options.edition} (U1)")


def _begin_hand(state: State, starter: Seat, events: list[Event]) -> None:
    """Deal a hand (U3, U4); its first round is led by the starter."""
    lay_out(state, state.deck)
    cards = cards_dealt(state.seats, state.options)
    pile = len(state.deck) - state.drawn
    events.append(HandStarted(state.hand, starter, cards, tuple(state.reserves), pile))
    state.round = -1
    state.aside = ()
    _begin_round(state, (*range(starter, state.seats), *range(starter)), events)


def lay_out(state: State, deck: Cards) -> None:
    """Give everybody hand cards and reserves from the top of a deck (U3)."""
    seats, cards = state.seats, cards_dealt(state.seats, state.options)
    reserves = seats * cards
    state.deck = deck
    state.held = [deck[seat * cards : (seat + 1) * cards] for seat in range(seats)]
    state.reserves = [deck[i : i + RESERVES] for i in range(reserves, reserves + seats * RESERVES, RESERVES)]
    state.drawn = reserves + seats * RESERVES


def _begin_round(state: State, participants: tuple[Seat, ...], events: list[Event]) -> None:
    state.round += 1
    state.participants = participants
    state.table = ()
    state.beaten = state.draws = state.turn = 0
    state.phase = IN_TURN
    state.acting = participants[:1]
    events.append(RoundStarted(state.round, participants))


# legal actions


def to_move(state: State) -> tuple[Seat, ...]:
    """Seats that owe a decision: several when cards are passed on, nobody once the match is over."""
    return state.acting


def actions(state: State, seat: Seat) -> tuple[Action, ...]:
    """Legal actions of a seat that is to move, in canonical order (U6)."""
    held, phase = state.held[seat], state.phase
    if phase == IN_TURN:
        # Whoever leads the round plays: only followers may take a reserve (U10).
        return _turn_actions(state, held, len(state.reserves[seat]) if state.turn else 0)
    if phase == TAKING_UP:
        return _TAKES[len(state.reserves[seat])][len(held)]
    if phase == GIVING:
        return _GIVES[len(held)]
    return _INSERTS[len(held)]


def _turn_actions(state: State, held: Cards, reserves: int) -> tuple[Action, ...]:
    of_held, of_beaten, of_reserves, listed = state.listed
    if of_held is held and of_beaten == state.beaten and of_reserves == reserves:
        return listed
    listed = turn_actions(held, state.beaten, reserves)
    state.listed = (held, state.beaten, reserves, listed)
    return listed


def turn_actions(held: Cards, beaten: Strength, reserves: int) -> tuple[Action, ...]:
    """What can be done in a turn: combinations that outbid, special cards, reserves (U9, U10)."""
    solos, after = _SOLOS[beaten], _AFTER_NOTHING
    legal: list[Action] = []
    twos: list[Action] = []
    threes: list[Action] = []
    specials: list[Action] = []
    for index, card in enumerate(held):
        if plays := solos[card]:
            legal += plays[index]
        elif card > JOKER:
            specials.append(_SPECIALS[index])
        after, plays_beside = after[card]
        if plays_beside:
            two, three = plays_beside
            if two:
                twos += two[index - 1]
            if three:
                threes += three[index - 2]
    if beaten > _STRONGEST_SOLO:
        twos, threes = _outbidding(twos, beaten), _outbidding(threes, beaten)
    legal += twos
    legal += threes
    legal += specials
    legal += _TAKES[reserves][len(held)]
    return tuple(legal)


_STRONGEST_SOLO = strength_of(SOLO, HIGHEST)


def _outbidding(plays: list[Action], beaten: Strength) -> list[Action]:
    """Those of several cards that outbid: all of them do, unless several cards are to be outbid (U8)."""
    return [play for play in plays if play[_STRENGTH] > beaten]


_STRENGTH = Action._fields.index("strength")


_Plays: TypeAlias = tuple[tuple[Action, ...], ...]
"""By index of the leftmost one, all that can be played with certain cards; empty if nothing can."""
_Next: TypeAlias = "list[tuple[_Next, tuple[_Plays, _Plays] | None]]"
"""After two cards, by the card beside them: what comes after it; what is played with one, and with both."""


def _plays_of(*cards: Card, beaten: Strength = 0) -> _Plays:
    readings = [strength for strength in READINGS.get(cards, ()) if strength > beaten]
    return tuple(tuple(plays[strength] for strength in readings) for plays in _PLAYS) if readings else ()


# What can be played with neighbours, by one card after the other: quicker than asking for a tuple of them.
# Card 0 is none, and nothing is played beside it.
_ANY = range(PASS_ON + 1)
_SOLOS = [
    [_plays_of(card, beaten=beaten) for card in _ANY] for beaten in range(strength_of(TRIPS, HIGHEST) + 1)
]
"""By strength to be outbid and card, what can be played with the card alone."""


def _after_any_two() -> list[list[_Next]]:
    twos = [[_plays_of(b, c) for c in _ANY] for b in _ANY]
    after: list[list[_Next]] = [[[] for _ in _ANY] for _ in _ANY]
    for a, b, c in product(_ANY, repeat=3):
        two, three = twos[b][c], _plays_of(a, b, c)
        after[a][b].append((after[b][c], (two, three) if two or three else None))
    return after


_AFTER_NOTHING = _after_any_two()[0][0]


# decisions


def apply(state: State, moves: Moves) -> list[Event]:
    """Let the seats to move act, and go on to the next decision.

    Raises:
        IllegalActionError: the state is unchanged.
    """
    _check_moves(state, moves)
    events: list[Event] = []
    hand, log = state.hand, state.log
    state.moves.append(dict(moves))
    _STEPS[state.phase](state, moves, events)
    if state.hand == hand:
        log += events
    return events


def _check_moves(state: State, moves: Moves) -> None:
    acting = state.acting
    if not acting or (tuple(moves) != acting and moves.keys() != set(acting)):
        to_act = f"seats {list(acting)}" if acting else "nobody: the match is over"
        raise IllegalActionError(f"moves were given for seats {sorted(moves)}; to move is {to_act} (U5)")
    for seat in acting:
        action, legal = moves[seat], actions(state, seat)
        if not isinstance(action, Action) or action not in legal:
            listed = ", ".join(map(repr, legal))
            raise IllegalActionError(f"{action!r} is not legal for seat {seat}; legal are {listed} (U6)")


def _take_turn(state: State, moves: Moves, events: list[Event]) -> None:
    """U9 to U11."""
    seat = state.acting[0]
    verb, length, index, strength, reserve, position = moves[seat]
    held = state.held[seat]
    if verb == TAKE:
        _take_reserve(state, seat, reserve, position, False, events)
    elif verb == PLAY:
        end = index + length
        played = Played(seat, held[index:end], strength)
        state.held[seat] = held[:index] + held[end:]
        state.table += (played,)
        state.beaten = strength
        events.append(played)
    else:
        special = SpecialPlayed(seat, held[index])
        state.held[seat] = held[:index] + held[index + 1 :]
        state.table += (special,)
        events.append(special)
        _EFFECTS[special.card](state, seat, events)
        return
    _next_turn(state, events)


def _take_reserve(
    state: State, seat: Seat, reserve: int, position: int, by_take_up: bool, events: list[Event]
) -> None:
    reserves = state.reserves[seat]
    card = reserves[reserve]
    state.reserves[seat] = reserves[:reserve] + reserves[reserve + 1 :]
    _put(state, seat, card, position)
    events.append(Took(seat, card, by_take_up))


def _put(state: State, seat: Seat, card: Card, position: int) -> None:
    held = state.held[seat]
    state.held[seat] = (*held[:position], card, *held[position:])


def _next_turn(state: State, events: list[Event]) -> None:
    """The next participant's turn, if it has cards and can do anything (U13, U22); else the round ends."""
    participants, held = state.participants, state.held
    for turn in range(state.turn + 1, len(participants)):
        seat = participants[turn]
        state.turn = turn
        if not held[seat]:
            events.append(PassedOver(seat))
            continue
        if can_act(state, seat):
            state.phase, state.acting = IN_TURN, (seat,)
        else:
            events.append(Unable(seat))
            _end_hand(state, (seat,), UNABLE, events)
        return
    state.turn = len(participants)
    _win_round(state, _winner(state), events)


def can_act(state: State, seat: Seat) -> bool:
    """Whether a follower with cards could do anything in its turn (U22)."""
    return bool(not state.beaten or state.reserves[seat] or _turn_actions(state, state.held[seat], 0))


# special cards


def _stop(state: State, seat: Seat, events: list[Event]) -> None:
    """U14."""
    _win_round(state, seat, events)


def _three_draw(state: State, seat: Seat, events: list[Event]) -> None:
    """U15."""
    state.draws += 1
    _next_turn(state, events)


def _take_up(state: State, seat: Seat, events: list[Event]) -> None:
    """All other participants with reserves take one, in turn order from the next one on (U16)."""
    waiting = tuple([other for other in taking_up_order(state) if state.reserves[other]])
    _go_on_taking_up(state, waiting, events)


def taking_up_order(state: State) -> tuple[Seat, ...]:
    """All participants but the one whose turn it is, in turn order from the next one on (U16)."""
    return state.participants[state.turn + 1 :] + state.participants[: state.turn]


def _go_on_taking_up(state: State, waiting: tuple[Seat, ...], events: list[Event]) -> None:
    state.waiting = waiting[1:]
    if waiting:
        state.phase, state.acting = TAKING_UP, waiting[:1]
    else:
        _next_turn(state, events)


def _take_up_one(state: State, moves: Moves, events: list[Event]) -> None:
    seat = state.acting[0]
    _take_reserve(state, seat, moves[seat].reserve, moves[seat].position, True, events)
    _go_on_taking_up(state, state.waiting, events)


def _pass_on(state: State, seat: Seat, events: list[Event]) -> None:
    """All participants with cards give one, the one who played Pass On included (U17)."""
    givers = tuple(sorted([giver for giver in state.participants if state.held[giver]]))
    if givers:
        state.phase, state.acting = GIVING, givers
    else:
        _next_turn(state, events)


def _give(state: State, moves: Moves, events: list[Event]) -> None:
    """All chosen cards leave at once, each to the participant after its giver (U17)."""
    ring, incoming = state.participants, [0] * state.seats
    for place, giver in enumerate(ring):
        if giver not in moves:
            continue
        receiver, index, held = ring[(place + 1) % len(ring)], moves[giver].at, state.held[giver]
        incoming[receiver] = held[index]
        state.held[giver] = held[:index] + held[index + 1 :]
        events.append(Passed(giver, receiver))
        events.append(Gave(giver, receiver, held[index]))
    state.incoming = tuple(incoming)
    state.phase, state.acting = RECEIVING, tuple([seat for seat, card in enumerate(incoming) if card])


def _receive(state: State, moves: Moves, events: list[Event]) -> None:
    """U17."""
    _insert_all(state, moves)
    _next_turn(state, events)


def _insert_all(state: State, moves: Moves) -> None:
    for seat, action in moves.items():
        _put(state, seat, state.incoming[seat], action.position)
    state.incoming = (0,) * state.seats


# the end of a round


def _winner(state: State) -> Seat:
    """Who has won a round that was not stopped: the highest bid, or whoever led only special cards (U18)."""
    for laid in reversed(state.table):
        if isinstance(laid, Played):
            return laid.seat
    return state.participants[0]


def _win_round(state: State, winner: Seat, events: list[Event]) -> None:
    """The winner draws, if it has to, before the round ends (U15, U19)."""
    if state.draws:
        _draw(state, winner, CARDS_PER_DRAW * state.draws, events)
    else:
        _end_round(state, winner, events)


def _draw(state: State, seat: Seat, count: int, events: list[Event]) -> None:
    card = state.deck[state.drawn]
    state.drawn += 1
    state.left = count - 1
    state.incoming = (*(0,) * seat, card, *(0,) * (state.seats - seat - 1))
    state.phase, state.acting = DRAWING, (seat,)
    events.append(Drawn(seat, state.left))
    events.append(Drew(seat, card))


def _insert_drawn(state: State, moves: Moves, events: list[Event]) -> None:
    """Each drawn card is inserted before the next one is drawn (U15)."""
    winner = state.acting[0]
    _insert_all(state, moves)
    if state.left:
        _draw(state, winner, state.left, events)
    else:
        _end_round(state, winner, events)


def _end_round(state: State, winner: Seat, events: list[Event]) -> None:
    """Set aside what was laid; see who still holds cards (U19, U20, U22)."""
    laid = cards_of(state.table)
    events.append(RoundEnded(winner, state.draws, laid))
    state.aside += laid
    participants, held = state.participants, state.held
    alive = tuple([seat for seat in participants if held[seat]])
    if len(alive) > 1:
        # They stay in turn order; only the round begins with another one.
        first = alive.index(winner if held[winner] else _next_leader(state, winner, alive))
        _begin_round(state, alive[first:] + alive[:first], events)
        return
    state.table = ()
    if alive:
        _end_hand(state, alive, ALONE, events)
    else:
        _end_hand(state, tuple([seat for seat in participants if seat != winner]), ALL_OUT, events)


def cards_of(table: Iterable[Laid]) -> Cards:
    """All cards of a round in the order in which they were laid."""
    cards: Cards = ()
    for laid in table:
        cards += laid.cards if isinstance(laid, Played) else (laid.card,)
    return cards


def _next_leader(state: State, winner: Seat, alive: tuple[Seat, ...]) -> Seat:
    """For a winner without cards: the next lower bidder that has some; else whoever sits before (U20)."""
    bidders = [laid.seat for laid in state.table if isinstance(laid, Played)]
    backwards = [(winner - i) % state.seats for i in range(1, state.seats)]
    return next(seat for seat in (*reversed(bidders), *backwards) if seat in alive)


# the end of a hand and of the match


def _end_hand(state: State, losers: tuple[Seat, ...], reason: int, events: list[Event]) -> None:
    """Losers give up a token; whoever has none left ends the match (U22 to U25)."""
    state.tokens = tuple([tokens - (seat in losers) for seat, tokens in enumerate(state.tokens)])
    points = hand_points(state, losers)
    state.points = tuple([had + won for had, won in zip(state.points, points, strict=True)])
    events.append(HandEnded(losers, reason, points, state.tokens))
    if min(state.tokens) == 0:
        state.phase, state.acting = OVER, ()
        events.append(MatchEnded(_ranks(state)))
        return
    state.past += (PastHand(state.deck, tuple(state.moves)),)
    state.moves = []
    state.hand += 1
    given = state.deal.later
    state.deck = given[state.hand - 1] if state.hand <= len(given) else shuffled(state.options, state.chance)
    state.log = []
    _begin_hand(state, losers[0], state.log)
    events += state.log


def hand_points(state: State, losers: Sequence[Seat]) -> tuple[int, ...]:
    """Points by seat for a hand that ends now (U25)."""
    if not state.options.scoring:
        return (0,) * state.seats
    return tuple([0 if seat in losers else 1 if state.held[seat] else 3 for seat in range(state.seats)])


def _ranks(state: State) -> tuple[int, ...]:
    """By points where they are counted; else all who have a token left have won together (U24, U25)."""
    if state.options.scoring:
        return competition_ranks(state.points)
    return competition_ranks([tokens > 0 for tokens in state.tokens])


def outcome(state: State) -> Outcome:
    """The result of a match that is over: tokens left, or points (U24, U25).

    Raises:
        GameError: it is not over.
    """
    if state.phase != OVER:
        raise GameError("the match is not over: it has no outcome yet")
    scores = state.points if state.options.scoring else state.tokens
    return Outcome(scores, _ranks(state), tuple(_details(state, seat) for seat in range(state.seats)))


def _details(state: State, seat: Seat) -> str:
    tokens, points = state.tokens[seat], state.points[seat]
    left = f"{tokens or 'no'} token{'' if tokens == 1 else 's'} left"
    return f"{points} point{'' if points == 1 else 's'}, {left}" if state.options.scoring else left


_STEPS: Mapping[int, Callable[[State, Moves, list[Event]], None]] = {
    IN_TURN: _take_turn,
    TAKING_UP: _take_up_one,
    GIVING: _give,
    RECEIVING: _receive,
    DRAWING: _insert_drawn,
}
_EFFECTS: Mapping[Card, Callable[[State, Seat, list[Event]], None]] = {
    STOP: _stop,
    THREE_DRAW: _three_draw,
    TAKE_UP: _take_up,
    PASS_ON: _pass_on,
}
