"""The rules of Hochstapler. Numbers such as X7 are those of RULES.md beside this file.

Colours are 0..6 in the order of `COLOURS`. A card is its value 0..7: equal cards of a colour cannot be
told apart. A pile is a colour's 15 cards, index 0 on top: first each seat's card, then what exchanges
draw. Sets of colours are bit masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeVar

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

_T = TypeVar("_T")
Colour: TypeAlias = int
Value: TypeAlias = int
Pile: TypeAlias = tuple[Value, ...]
"""All 15 cards of a colour, top card first, as they lay before the deal."""
GameDeal: TypeAlias = tuple[Pile, ...]
"""The randomness of one game: the seven piles in canonical order."""

SEATS = range(3, 8)
COLOURS = ("clock", "house", "car", "wine", "diamond", "yacht", "ring")
ALL_COLOURS = (1 << len(COLOURS)) - 1
VALUES: Pile = (0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7)
"""The cards of each colour (X1)."""
CARDS = len(VALUES)
MATCH_END = 10
"""A match ends with the game at whose end somebody has this many penalty points (X17)."""
_SORTED = list(VALUES)
HIGHEST_CALL = tuple(sum(sorted(VALUES)[CARDS - seats :]) for seats in range(SEATS[-1] + 1))
"""By number of seats, the highest total that a call may name (X7)."""
NO_COLOUR: Colour = -1
NOBODY: Seat = -1


# options


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match (X19).

    Attributes:
        match: games are played until one ends with somebody at 10 penalty points or more.

    Raises:
        OptionError: what was given and what is allowed.
    """

    match: bool = False

    def __post_init__(self) -> None:
        if type(self.match) is not bool:
            raise OptionError(f"match is {self.match!r}: true or false is allowed (X19)")


def check_seats(seats: int) -> None:
    """X2.

    Raises:
        PlayersError: this many cannot play.
    """
    if seats not in SEATS:
        raise PlayersError(f"Hochstapler is for {SEATS[0]} to {SEATS[-1]} players, not {seats} (X2)")


def game_bound(seats: int, options: Options) -> int:
    """Most games that a match can take: before the last one, no seat has 10 of the 7 points a game (X17)."""
    return (MATCH_END - 1) * seats // len(COLOURS) + 1 if options.match else 1


def decision_bound(seats: int, options: Options) -> int:
    """Most decisions that a match can take: all totals called, all piles drawn empty, seven doubts (X18)."""
    per_colour = HIGHEST_CALL[seats] + 1 + CARDS - seats
    return len(COLOURS) * per_colour * game_bound(seats, options)


# the deal


@dataclass(frozen=True, slots=True)
class Deal:
    """The randomness of a match.

    Attributes:
        start_seat: seat that begins the first game; each later game begins one seat further (X17).
        games: the games whose piles are known. A drawn deal holds the first one; each later one is drawn
            when it begins, unless it is given here.
    """

    start_seat: Seat
    games: tuple[GameDeal, ...]


def deal(seats: int, options: Options, chance: Chance) -> Deal:
    """Draw a match's deal (X3): the piles of the first game, then the start seat.

    Raises:
        PlayersError: this many cannot play.
    """
    check_seats(seats)
    first = _draw_game(chance)
    return Deal(chance.below(seats), (first,))


def _draw_game(chance: Chance) -> GameDeal:
    return tuple([_draw_pile(chance) for _ in COLOURS])


def _draw_pile(chance: Chance) -> Pile:
    pile = list(VALUES)
    chance.shuffle(pile)
    return tuple(pile)


# actions and events

DOUBT, EXCHANGE, CALL = range(3)
"""Kinds of actions, in the order in which they are listed."""


class Action(NamedTuple):
    """What a seat does: doubt, exchange its card of a colour, or call a total of a colour.

    Actions sort in canonical order. The total of what is no call is 0, the colour of a doubt is NO_COLOUR.
    """

    kind: int
    total: int
    colour: Colour


class Discard(NamedTuple):
    """A card that lies face up, and the seat that exchanged it."""

    seat: Seat
    value: Value


class Call(NamedTuple):
    """A call, and the colour in which its seat exchanged a card before, or NO_COLOUR."""

    seat: Seat
    total: int
    colour: Colour
    exchanged: Colour


class Auction(NamedTuple):
    """A finished auction."""

    starter: Seat
    calls: tuple[Call, ...]
    doubter: Seat
    loser: Seat


class Finished(NamedTuple):
    """A finished game: penalty points by seat, and by colour how many cards of the pile were shown."""

    points: tuple[int, ...]
    shown: tuple[int, ...]


class Started(NamedTuple):
    """A game began."""

    seats: int
    game: int
    start_seat: Seat
    face_down: int


class Dealt(NamedTuple):
    """A seat was dealt its hand, by colour; for that seat alone."""

    seat: Seat
    hand: tuple[Value, ...]


class AuctionStarted(NamedTuple):
    """An auction began."""

    starter: Seat


class Exchanged(NamedTuple):
    """A seat laid its card of a colour face up; so many cards are left in the pile."""

    seat: Seat
    colour: Colour
    discarded: Value
    face_down: int


class Drew(NamedTuple):
    """What a seat drew in exchange; for that seat alone."""

    seat: Seat
    colour: Colour
    value: Value


class Called(NamedTuple):
    """A seat called a total of a colour."""

    seat: Seat
    total: int
    colour: Colour


class Doubted(NamedTuple):
    """A seat doubted the current call."""

    seat: Seat


class Revealed(NamedTuple):
    """All seats revealed their card of a colour."""

    colour: Colour
    values: tuple[Value, ...]
    total: int


class Penalty(NamedTuple):
    """A seat took all cards of a colour."""

    seat: Seat
    colour: Colour


class GameEnded(NamedTuple):
    """A game ended with these penalty points and ranks by seat."""

    points: tuple[int, ...]
    ranks: tuple[int, ...]


class MatchEnded(NamedTuple):
    """The match ended with these penalty points and ranks by seat."""

    totals: tuple[int, ...]
    ranks: tuple[int, ...]


Event: TypeAlias = (
    Started
    | Dealt
    | AuctionStarted
    | Exchanged
    | Drew
    | Called
    | Doubted
    | Revealed
    | Penalty
    | GameEnded
    | MatchEnded
)

# All actions there are, lists of them, and the most frequent events: looking one up is cheaper than
# making it.
THE_DOUBT = Action(DOUBT, 0, NO_COLOUR)
EXCHANGES = tuple(Action(EXCHANGE, 0, colour) for colour in range(len(COLOURS)))
CALLS = tuple(
    tuple(Action(CALL, total, colour) for colour in range(len(COLOURS)))
    for total in range(1, max(HIGHEST_CALL) + 1)
)
ALL_ACTIONS = (THE_DOUBT, *EXCHANGES, *(call for calls in CALLS for call in calls))

MEMBERS = tuple(
    tuple(colour for colour in range(len(COLOURS)) if mask >> colour & 1) for mask in range(ALL_COLOURS + 1)
)
"""By set of colours, its members in canonical order."""
_CALLS_IN = tuple(tuple(calls[colour] for calls in CALLS for colour in members) for members in MEMBERS)
_EXCHANGES_IN = tuple(tuple(EXCHANGES[colour] for colour in members) for members in MEMBERS)
_CALLED = tuple(
    tuple(tuple(Called(seat, total, colour) for colour in range(len(COLOURS))) for total in range(35))
    for seat in range(SEATS[-1])
)
_DISCARDS = tuple(tuple(Discard(seat, value) for value in range(8)) for seat in range(SEATS[-1]))
_AUCTION_STARTED = tuple(map(AuctionStarted, range(SEATS[-1])))
_DOUBTED = tuple(map(Doubted, range(SEATS[-1])))
_PENALTY = tuple(tuple(Penalty(seat, colour) for colour in range(len(COLOURS))) for seat in range(SEATS[-1]))


# what is public of a colour, in a few bytes

OUT_OF_PLAY = 64
"""What is added to the colour in the look of one that was taken."""


def look_of(
    seats: int,
    colour: Colour,
    discards: Sequence[Discard],
    taken_by: Seat = NOBODY,
    revealed: Sequence[Value] = (),
) -> bytes:
    """All that is public of a colour (X20), its look: two are the same if the same is public of them.

    Two bytes for seats and colour, once it is taken some for who took it and the revealed cards by seat, and
    then for each discard 8 * seat + value.
    """
    look = bytes((seats, colour)) + b"".join([_LOOK_OF_DISCARD[seat][value] for seat, value in discards])
    return look if taken_by == NOBODY else _look_of_taken(look, taken_by, revealed)


def _look_of_taken(look: bytes, taken_by: Seat, revealed: Sequence[Value]) -> bytes:
    seats, colour = look[:2]
    return bytes((seats, colour + OUT_OF_PLAY, taken_by, *revealed)) + look[2:]


_LOOK_OF_DISCARD = tuple(tuple(bytes((seat * 8 + value,)) for value in range(8)) for seat in range(SEATS[-1]))
_UNTOUCHED = tuple(
    tuple(look_of(seats, colour, ()) for colour in range(len(COLOURS))) for seats in range(SEATS[-1] + 1)
)
"""By number of seats, the looks of the colours when a game begins."""


# state


@dataclass(slots=True)
class State:
    """A match in play.

    Attributes:
        seats: number of seats.
        options: options of the match.
        deal: its randomness, games that were drawn since included.
        chance: what later games are drawn from. States share it: a copy of it is drawn from.
        game: index of the current game in the match.
        piles: this game's piles.
        drawn: by colour, how many cards of the pile were drawn, those of the deal included.
        held: card of colour c of seat s at index seats * c + s; of a colour out of play, what was revealed.
        discards: by colour, the cards exchanged away, oldest first.
        taken_by: by colour, the seat that took it as a penalty, or NOBODY.
        looks: by colour, all that is public of it, as `look_of` tells it.
        in_play: the colours in play.
        exchangeable: those of them whose pile is not empty.
        start_seat: seat that began this game.
        starter: seat that began the current auction, or the last one if the match is over.
        turn: seat whose turn it is, or was when the match ended.
        total: total of the current call, 0 if there is none.
        colour: colour of the current call, NO_COLOUR if there is none.
        exchanged: colour in which a card was exchanged this turn, or NO_COLOUR.
        calls: calls of the current auction.
        auctions: finished auctions of this game.
        points: penalty points of this game by seat.
        finished: finished games.
        totals: penalty points of finished games by seat.
        over: whether the match is over.
    """

    seats: int
    options: Options
    deal: Deal
    chance: Chance
    game: int = 0
    piles: GameDeal = ()
    drawn: list[int] = field(default_factory=list)
    held: list[Value] = field(default_factory=list)
    discards: list[tuple[Discard, ...]] = field(default_factory=list)
    taken_by: tuple[Seat, ...] = ()
    looks: tuple[bytes, ...] = ()
    in_play: int = 0
    exchangeable: int = 0
    start_seat: Seat = 0
    starter: Seat = 0
    turn: Seat = 0
    total: int = 0
    colour: Colour = NO_COLOUR
    exchanged: Colour = NO_COLOUR
    calls: tuple[Call, ...] = ()
    auctions: tuple[Auction, ...] = ()
    points: tuple[int, ...] = ()
    finished: tuple[Finished, ...] = ()
    totals: tuple[int, ...] = ()
    over: bool = False

    def copy(self) -> State:
        """An independent state."""
        return State(
            self.seats,
            self.options,
            self.deal,
            self.chance,
            self.game,
            self.piles,
            self.drawn[:],
            self.held[:],
            self.discards[:],
            self.taken_by,
            self.looks,
            self.in_play,
            self.exchangeable,
            self.start_seat,
            self.starter,
            self.turn,
            self.total,
            self.colour,
            self.exchanged,
            self.calls,
            self.auctions,
            self.points,
            self.finished,
            self.totals,
            self.over,
        )

    def cards(self, colour: Colour) -> tuple[Value, ...]:
        """By seat, the card of a colour that it holds, or revealed when the colour went out of play."""
        return tuple(self.held[self.seats * colour : self.seats * (colour + 1)])


# setup


def start(seats: int, options: Options, deal: Deal, chance: Chance) -> tuple[State, list[Event]]:
    """Set up the first game of a deal, drawn or given.

    Args:
        chance: later games that are not given are drawn from it.

    Raises:
        PlayersError: this many cannot play.
        GameError: the deal is not one of such a match.
    """
    check_seats(seats)
    _check_deal(seats, options, deal)
    state = State(seats, options, deal, chance.copy(), totals=(0,) * seats)
    events: list[Event] = []
    _set_up(state, 0, deal.start_seat, events)
    return state, events


def _check_deal(seats: int, options: Options, deal: Deal) -> None:
    most = game_bound(seats, options)
    if not 1 <= len(deal.games) <= most or deal.start_seat not in range(seats):
        raise GameError(
            f"a deal of {len(deal.games)} game(s) begun by seat {deal.start_seat} was given: 1 to {most} "
            f"game(s) can be played, begun by a seat from 0 to {seats - 1} (X3)"
        )
    for piles in deal.games:
        if len(piles) != len(COLOURS) or [1 for pile in piles if sorted(pile) != _SORTED]:
            raise GameError(f"a game was given that is not {len(COLOURS)} piles of the {CARDS} cards (X1)")


def _set_up(state: State, game: int, start_seat: Seat, events: list[Event]) -> None:
    """X3, X4. Everything that belongs to a game begins anew."""
    if game == len(state.deal.games):
        state.chance = state.chance.copy()
        state.deal = Deal(state.deal.start_seat, (*state.deal.games, _draw_game(state.chance)))
    seats = state.seats
    state.game = game
    state.piles = state.deal.games[game]
    state.drawn = [seats] * len(COLOURS)
    dealt = [pile[:seats] for pile in state.piles]
    state.held = [*chain.from_iterable(dealt)]
    state.discards = [()] * len(COLOURS)
    state.taken_by = (NOBODY,) * len(COLOURS)
    state.looks = _UNTOUCHED[seats]
    state.in_play = state.exchangeable = ALL_COLOURS
    state.start_seat = state.starter = state.turn = start_seat
    state.auctions = ()
    state.points = (0,) * seats
    events.append(Started(seats, game, start_seat, CARDS - seats))
    events += map(Dealt, range(seats), zip(*dealt, strict=True))
    events.append(_AUCTION_STARTED[start_seat])


# legal actions


def to_move(state: State) -> tuple[Seat, ...]:
    """The seat whose turn it is; nobody once the match is over."""
    return () if state.over else (state.turn,)


def actions(state: State, seat: Seat) -> tuple[Action, ...]:
    """Legal actions of the seat to move (X6): doubt, exchanges by colour, calls by total and colour."""
    highest, must_call = HIGHEST_CALL[state.seats], state.exchanged >= 0
    return _list_of_actions(state.in_play, state.exchangeable, state.total, highest, must_call)


@lru_cache(maxsize=8192)
def _list_of_actions(
    in_play: int, exchangeable: int, total: int, highest: int, must_call: bool
) -> tuple[Action, ...]:
    """Legal actions by the colours that may be called and exchanged, current total and highest call.

    Args:
        must_call: whether a card was exchanged this turn.
    """
    count = len(MEMBERS[in_play])
    calls = _CALLS_IN[in_play][total * count : highest * count]
    if must_call:
        return calls
    exchanges = _EXCHANGES_IN[exchangeable] if total < highest else ()
    return (THE_DOUBT, *exchanges, *calls) if total else exchanges + calls


def is_legal(state: State, action: Action) -> bool:
    """Whether the seat to move may do this: what `actions` lists, without listing it (X6)."""
    kind, total, colour = action
    if kind == CALL:
        in_range = state.total < total <= HIGHEST_CALL[state.seats]
        return in_range and colour >= 0 and state.in_play >> colour & 1 == 1
    if total or state.exchanged >= 0:
        return False
    if kind == EXCHANGE:
        may_call = state.total < HIGHEST_CALL[state.seats]
        return may_call and colour >= 0 and state.exchangeable >> colour & 1 == 1
    return kind == DOUBT and colour == NO_COLOUR and state.total > 0


# a turn


def apply(state: State, moves: Mapping[Seat, Action]) -> list[Event]:
    """One decision of the seat to move.

    Raises:
        IllegalActionError: the state is unchanged.
    """
    seat = state.turn
    if state.over or len(moves) != 1 or seat not in moves:
        raise _not_to_move(state, moves)
    action = moves[seat]
    if not isinstance(action, Action) or not is_legal(state, action):
        raise IllegalActionError(
            f"{action!r} is not legal for seat {seat}; legal is {_legal_text(state)} (X6)"
        )
    kind, total, colour = action
    if kind == CALL:
        return _call(state, seat, total, colour)
    return _exchange(state, seat, colour) if kind == EXCHANGE else _doubt(state, seat)


def _not_to_move(state: State, moves: Mapping[Seat, Action]) -> IllegalActionError:
    to_act = "nobody: the match is over" if state.over else f"seat {state.turn} alone"
    return IllegalActionError(f"a move was given for seats {sorted(moves)}; to move is {to_act} (X6)")


def _legal_text(state: State) -> str:
    """What is legal, in a few words in place of hundreds of actions."""
    parts = []
    if state.exchanged < 0 and state.total:
        parts.append("to doubt")
    lowest, highest = state.total + 1, HIGHEST_CALL[state.seats]
    if lowest <= highest:
        if state.exchanged < 0 and state.exchangeable:
            parts.append(f"to exchange {_listed(state.exchangeable)}")
        parts.append(f"to call {lowest} to {highest} of {_listed(state.in_play)}")
    return "; ".join(parts)


def _listed(mask: int) -> str:
    return ", ".join(COLOURS[colour] for colour in MEMBERS[mask])


def _call(state: State, seat: Seat, total: int, colour: Colour) -> list[Event]:
    """The call stands until it is doubted or a higher one follows (X7)."""
    called = _CALLED[seat][total][colour]
    state.calls += (Call(seat, total, colour, state.exchanged),)
    state.total, state.colour, state.exchanged = total, colour, NO_COLOUR
    state.turn = (seat + 1) % state.seats
    return [called]


def _exchange(state: State, seat: Seat, colour: Colour) -> list[Event]:
    """Lay the card face up, draw the top card of the pile; the same seat must call now (X8, X9)."""
    at = state.seats * colour + seat
    discarded, drawn = state.held[at], state.piles[colour][state.drawn[colour]]
    state.discards[colour] += (_DISCARDS[seat][discarded],)
    state.looks = _with(state.looks, colour, state.looks[colour] + _LOOK_OF_DISCARD[seat][discarded])
    state.held[at] = drawn
    state.drawn[colour] += 1
    face_down = CARDS - state.drawn[colour]
    if not face_down:
        state.exchangeable &= ~(1 << colour)
    state.exchanged = colour
    return [Exchanged(seat, colour, discarded, face_down), Drew(seat, colour, drawn)]


def _doubt(state: State, doubter: Seat) -> list[Event]:
    """Reveal the colour, find who was wrong, take the colour out of play (X10 to X12)."""
    colour, caller = state.colour, state.calls[-1].seat
    values = state.cards(colour)
    revealed = sum(values)
    loser = doubter if revealed >= state.total else caller
    state.points = _with(state.points, loser, state.points[loser] + 1)
    state.taken_by = _with(state.taken_by, colour, loser)
    state.looks = _with(state.looks, colour, _look_of_taken(state.looks[colour], loser, values))
    state.in_play &= ~(1 << colour)
    state.exchangeable &= ~(1 << colour)
    state.auctions += (Auction(state.starter, state.calls, doubter, loser),)
    state.calls, state.total, state.colour = (), 0, NO_COLOUR
    events: list[Event] = [_DOUBTED[doubter], Revealed(colour, values, revealed), _PENALTY[loser][colour]]
    if state.in_play:
        state.starter = doubter
        events.append(_AUCTION_STARTED[doubter])
    else:
        _end_game(state, events)
    return events


def _with(values: tuple[_T, ...], index: int, value: _T) -> tuple[_T, ...]:
    return (*values[:index], value, *values[index + 1 :])


# the end


def _end_game(state: State, events: list[Event]) -> None:
    """Note the points; in a match the next game begins unless somebody has 10 (X15 to X17)."""
    state.finished += (Finished(state.points, tuple(state.drawn)),)
    state.totals = tuple(map(sum, zip(state.totals, state.points, strict=True)))
    events.append(GameEnded(state.points, ranks(state.points)))
    if state.options.match and max(state.totals) < MATCH_END:
        _set_up(state, state.game + 1, (state.start_seat + 1) % state.seats, events)
    else:
        state.over = True
        events.append(MatchEnded(state.totals, ranks(state.totals)))


@lru_cache(maxsize=4096)
def ranks(points: tuple[int, ...]) -> tuple[int, ...]:
    """Competition ranks: the fewest penalty points are best (X16)."""
    return competition_ranks([-of_seat for of_seat in points])


def outcome(state: State) -> Outcome:
    """The result of a match that is over: penalty points and ranks (X16, X17).

    Raises:
        GameError: it is not over.
    """
    if not state.over:
        raise GameError("the match is not over: it has no outcome yet")
    details = tuple(_details(state, seat) for seat in range(state.seats))
    return Outcome(state.totals, ranks(state.totals), details)


def _details(state: State, seat: Seat) -> str:
    """What a seat's points are made of: the games of a match, or the colours taken in a single game."""
    if state.options.match:
        return "games " + ", ".join(str(game.points[seat]) for game in state.finished)
    taken = [COLOURS[colour] for colour, by in enumerate(state.taken_by) if by == seat]
    return f"took {', '.join(taken) or 'nothing'}"
