"""The rules of Koffer. Numbers such as K7 are those of RULES.md beside this file.

A card is an integer 0..39: colour * 10 + value - 1. A card in a layout is the same integer, plus
`FACE_DOWN` if it lies face down; a colour row is a string of such bytes. Colours are 0..3 in the
order of `COLOURS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from arena.games.chance import Chance
from arena.games.game import (
    GameError,
    IllegalActionError,
    OptionError,
    Outcome,
    PlayersError,
    Seat,
    SpecialUnknownError,
    SpecialUnprintedError,
    competition_ranks,
)

Card: TypeAlias = int
Colour: TypeAlias = int
ColourRow: TypeAlias = bytes
"""Cards of a colour row, bottom first, each plus FACE_DOWN if it lies face down."""
Layout: TypeAlias = tuple[ColourRow, ColourRow, ColourRow, ColourRow]
"""The colour rows of one seat, empty ones included."""

SEATS = range(2, 5)
COLOURS = ("black", "red", "blue", "yellow")
CARDS = 40
ROW_LENGTH = 7
CHIPS = 7
FACE_DOWN = 40
MAX_GAMES = 1000

FREE_FOURS = 2
SEVENS_ANYWHERE = 3
EXTRA_TURNS = 4
FIVES_FACE_UP = 6
LOWEST_ROW_DROPPED = 13
CHIPS_COUNT_MINUS = 15

PRINTED_SPECIALS = (2, 3, 4, 6, 13, 15)
"""Special cards whose text the rulebook prints; the box holds 1 to 15."""
BOX_SPECIALS = range(1, 16)
SPECIALS_IN_FORCE = 3
CHIPS_FOR_EXTRA_TURN = 3

COLOUR: tuple[Colour, ...] = tuple(card // 10 for card in range(CARDS)) * 2
"""Printed colour of a card, face up or down."""
VALUE: tuple[int, ...] = tuple(card % 10 + 1 for card in range(CARDS)) * 2
"""Printed value of a card, face up or down."""
POINTS: tuple[int, ...] = VALUE[:CARDS] + (-1,) * CARDS
"""What a card in a layout counts (K15)."""
_TO_BEAT: tuple[int, ...] = VALUE[:CARDS] + (0,) * CARDS
"""By the top card of a colour row, the value that a card must exceed to go face up (K9)."""
_IN_LAYOUT: tuple[bytes, ...] = tuple(bytes((card,)) for card in range(CARDS + FACE_DOWN))


# options


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match (K19).

    Attributes:
        specials: numbers of the special cards in force, in any order, kept ascending; "random":
            three are drawn for each game.
        games: number of games in the series, 1 to 1000.

    Raises:
        OptionError: what was given and what is allowed.
        SpecialUnknownError: a special card that is not in the box.
        SpecialUnprintedError: a special card whose text is not known.
    """

    specials: tuple[int, ...] | Literal["random"] = ()
    games: int = 1

    def __post_init__(self) -> None:
        _check_games(self.games)
        if self.specials != "random":
            object.__setattr__(self, "specials", _checked_specials(self.specials))


def _check_games(games: object) -> None:
    if type(games) is not int or not 1 <= games <= MAX_GAMES:
        raise OptionError(f"games is {games!r}: a whole number from 1 to {MAX_GAMES} is allowed (K19)")


def _checked_specials(specials: object) -> tuple[int, ...]:
    """Special cards in ascending order; the first error in the order of K19."""
    numbers = _listed(PRINTED_SPECIALS)
    allowed = f'allowed are up to {SPECIALS_IN_FORCE} different numbers out of {numbers}, or "random"'
    if not isinstance(specials, (tuple, list)) or any(type(number) is not int for number in specials):
        raise OptionError(f"specials is {specials!r}: {allowed} (K19)")
    if len(set(specials)) < len(specials) or len(specials) > SPECIALS_IN_FORCE:
        raise OptionError(f"specials is {_listed(specials)}: {allowed} (K19)")
    if unknown := [number for number in specials if number not in BOX_SPECIALS]:
        raise SpecialUnknownError(f"there is no special card {_listed(unknown)}: {allowed} (K19)")
    if unprinted := [number for number in specials if number not in PRINTED_SPECIALS]:
        raise SpecialUnprintedError(
            f"the text of special card {_listed(sorted(unprinted))} is in no rulebook: {allowed} (K19)"
        )
    return tuple(sorted(specials))


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def check_seats(seats: int) -> None:
    """K2.

    Raises:
        PlayersError: this many cannot play.
    """
    if seats not in SEATS:
        raise PlayersError(f"Koffer is for {SEATS[0]} to {SEATS[-1]} players, not {seats} (K2)")


def decision_bound(seats: int, options: Options) -> int:
    """Most decisions that a match can take (K12, K14)."""
    if options.specials == "random" or EXTRA_TURNS in options.specials:
        return CARDS * options.games
    takes = CARDS - ROW_LENGTH + 1
    return -(-takes // seats) * seats * options.games


# the deal


class GameDeal(NamedTuple):
    """The randomness of one game of a series: the deck, top card first, and the specials in force."""

    deck: tuple[Card, ...]
    specials: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """The randomness of a match.

    Attributes:
        start_seat: seat that begins the first game; each later game begins one seat further (K18).
        games: the games of the series.
    """

    start_seat: Seat
    games: tuple[GameDeal, ...]


def deal(seats: int, options: Options, chance: Chance) -> Deal:
    """Draw a match's deal (K3): deck, specials and start seat, then decks and specials of later games.

    Raises:
        PlayersError: this many cannot play.
    """
    check_seats(seats)
    first = _deal_game(options, chance)
    start_seat = chance.below(seats)
    return Deal(start_seat, (first, *(_deal_game(options, chance) for _ in range(1, options.games))))


def _deal_game(options: Options, chance: Chance) -> GameDeal:
    deck = list(range(CARDS))
    chance.shuffle(deck)
    if options.specials != "random":
        return GameDeal(tuple(deck), options.specials)
    specials = list(PRINTED_SPECIALS)
    chance.shuffle(specials)
    return GameDeal(tuple(deck), tuple(sorted(specials[:SPECIALS_IN_FORCE])))


# state, actions, events


@dataclass(slots=True)
class State:
    """A match in play.

    Attributes:
        seats: number of seats.
        options: options of the match.
        deal: its randomness; games after the current one are hidden from all.
        game: index of the current game in the series.
        specials: special cards in force in this game, ascending.
        deck: this game's deck, top card first.
        drawn: cards of the deck that have come to the row so far; the others are the pile.
        row: the common row, position 1 first.
        row_chips: chips on each card of the row.
        chips: supply of each seat.
        layouts: the layout of each seat.
        start_seat: seat that began this game.
        turn: seat whose turn it is, or was when the match ended.
        extra_turn: whether this turn is an extra turn.
        final_round: whether a refill has failed.
        finished: totals by seat of each finished game.
        series: by seat, the sum of those.
        over: whether the match is over.
    """

    seats: int
    options: Options
    deal: Deal
    game: int = 0
    specials: tuple[int, ...] = ()
    deck: tuple[Card, ...] = ()
    drawn: int = 0
    row: list[Card] = field(default_factory=list)
    row_chips: list[int] = field(default_factory=list)
    chips: list[int] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)
    start_seat: Seat = 0
    turn: Seat = 0
    extra_turn: bool = False
    final_round: bool = False
    finished: tuple[tuple[int, ...], ...] = ()
    series: tuple[int, ...] = ()
    over: bool = False

    def copy(self) -> State:
        """An independent state."""
        return State(
            self.seats,
            self.options,
            self.deal,
            self.game,
            self.specials,
            self.deck,
            self.drawn,
            self.row[:],
            self.row_chips[:],
            self.chips[:],
            self.layouts[:],
            self.start_seat,
            self.turn,
            self.extra_turn,
            self.final_round,
            self.finished,
            self.series,
            self.over,
        )


class Take(NamedTuple):
    """Take the card at a position (from 1) and place it in a colour row, face up or down."""

    position: int
    row: Colour
    face_up: bool


class Started(NamedTuple):
    """A game of the series began."""

    seats: int
    start_seat: Seat
    specials: tuple[int, ...]
    row: tuple[Card, ...]
    pile: int
    game: int


class Taken(NamedTuple):
    """A seat took a card, paid chips onto the cards before it and gained those on it."""

    seat: Seat
    position: int
    card: Card
    paid: int
    gained: int


class Placed(NamedTuple):
    """A seat placed the card that it took."""

    seat: Seat
    row: Colour
    face_up: bool


class Refilled(NamedTuple):
    """A card came from the pile to the last position."""

    card: Card


class NotRefilled(NamedTuple):
    """A refill was due and the pile was empty."""


class FinalRound(NamedTuple):
    """The final round began with this seat's turn."""

    seat: Seat


class ExtraTurn(NamedTuple):
    """A seat takes an extra turn."""

    seat: Seat


class Ended(NamedTuple):
    """A game of the series ended with these totals and ranks by seat."""

    totals: tuple[int, ...]
    ranks: tuple[int, ...]


Event: TypeAlias = Started | Taken | Placed | Refilled | NotRefilled | FinalRound | ExtraTurn | Ended


class _Faces(NamedTuple):
    """The two actions that take from one position into one colour row."""

    up: Take
    down: Take


def _faces(position: int, row: Colour) -> _Faces:
    return _Faces(Take(position, row, True), Take(position, row, False))


# All actions there are, and all events of two kinds: looking one up is cheaper than making it.
_TAKES = tuple(tuple(_faces(position, row) for row in range(4)) for position in range(ROW_LENGTH + 1))
ALL_TAKES = tuple(take for rows in _TAKES[1:] for faces in rows for take in faces)
_PLACED = tuple(
    tuple(tuple(Placed(seat, row, face_up) for face_up in (False, True)) for row in range(4))
    for seat in range(SEATS[-1])
)
_REFILLED = tuple(Refilled(card) for card in range(CARDS))
_OWN_ROW = tuple((colour,) for colour in COLOUR)
_ROWS_SEVENS_ANYWHERE = tuple((0, 1, 2, 3) if VALUE[card] == 7 else own for card, own in enumerate(_OWN_ROW))


def layout_of(rows: Sequence[ColourRow]) -> Layout:
    """The layout with these four colour rows."""
    black, red, blue, yellow = rows
    return black, red, blue, yellow


# setup


def start(seats: int, options: Options, deal: Deal) -> tuple[State, list[Event]]:
    """Set up the first game of a deal, drawn or given.

    Raises:
        PlayersError: this many cannot play.
        GameError: the deal is not one of such a match.
    """
    check_seats(seats)
    _check_deal(seats, options, deal)
    state = State(seats, options, deal, series=(0,) * seats)
    return state, [_set_up(state, 0, deal.start_seat)]


def _check_deal(seats: int, options: Options, deal: Deal) -> None:
    if len(deal.games) != options.games or deal.start_seat not in range(seats):
        raise GameError(
            f"a deal of {len(deal.games)} game(s) begun by seat {deal.start_seat} was given: "
            f"{options.games} game(s) begun by a seat from 0 to {seats - 1} are to be played (K3)"
        )
    for deck, specials in deal.games:
        if sorted(deck) != list(range(CARDS)):
            raise GameError(f"a deck was given that is not each of the {CARDS} cards once (K1)")
        if options.specials not in ("random", specials):
            raise GameError(
                f"special cards {_listed(specials) or 'none'} were given, not those of the options (K3)"
            )


def _set_up(state: State, game: int, start_seat: Seat) -> Started:
    """K3, K4."""
    state.game = game
    state.deck, state.specials = state.deal.games[game]
    state.drawn = ROW_LENGTH
    state.row = list(state.deck[:ROW_LENGTH])
    state.row_chips = [0] * ROW_LENGTH
    state.chips = [CHIPS] * state.seats
    state.layouts = [(b"", b"", b"", b"")] * state.seats
    state.start_seat = state.turn = start_seat
    state.extra_turn = state.final_round = False
    return Started(state.seats, start_seat, state.specials, tuple(state.row), CARDS - ROW_LENGTH, game)


# legal actions


def to_move(state: State) -> tuple[Seat, ...]:
    """The seat whose turn it is; nobody once the match is over."""
    return () if state.over else (state.turn,)


def actions(state: State, seat: Seat) -> list[Take]:
    """Legal actions of the seat to move (K5): by position, then colour row, then face up before down."""
    legal: list[Take] = []
    specials, supply = state.specials, state.chips[seat]
    beat = [_TO_BEAT[row[-1]] if row else 0 for row in state.layouts[seat]]
    rows_of = rows_of_cards(specials)
    for position, card in enumerate(state.row, 1):
        # What lies on the card cannot help to pay for it: the supply is that before the turn (K6).
        if position - 1 > supply and price(card, position, specials) > supply:
            continue
        takes, value = _TAKES[position], VALUE[card]
        for row in rows_of[card]:
            if value > beat[row]:
                legal.append(takes[row].up)
            elif value == 5 and may_lie_face_up(card, specials):
                legal += takes[row]
            else:
                legal.append(takes[row].down)
    return legal


def price(card: Card, position: int, specials: Sequence[int]) -> int:
    """Chips to pay for the card at a position (K6)."""
    return 0 if VALUE[card] == 4 and FREE_FOURS in specials else position - 1


def rows_of_cards(specials: Sequence[int]) -> tuple[tuple[Colour, ...], ...]:
    """By card, the colour rows in which it may be placed (K8)."""
    return _ROWS_SEVENS_ANYWHERE if SEVENS_ANYWHERE in specials else _OWN_ROW


def goes_face_up(card: Card, row: ColourRow) -> bool:
    """Whether a card is placed face up in a colour row, as far as the basic rules go (K9)."""
    return not row or VALUE[card] > _TO_BEAT[row[-1]]


def may_lie_face_up(card: Card, specials: Sequence[int]) -> bool:
    """Whether a card that would be placed face down may lie face up all the same (K9)."""
    return VALUE[card] == 5 and FIVES_FACE_UP in specials


# a turn


def apply(state: State, moves: Mapping[Seat, Take]) -> list[Event]:
    """One turn of the seat to move: take a card, place it, refill the row, pass the turn.

    Raises:
        IllegalActionError: the state is unchanged.
    """
    seat, (position, row, face_up) = _legal_move(state, moves)
    events: list[Event] = []
    card, gained = _take(state, seat, position, events)
    _place(state, seat, card, row, face_up, events)
    _refill(state, seat, events)
    _pass_turn(state, seat, gained, events)
    return events


def is_legal(state: State, seat: Seat, take: Take) -> bool:
    """Whether the seat to move may do this: what `actions` lists, without listing it (K5)."""
    position, row, face_up = take
    if not 1 <= position <= len(state.row):
        return False
    card, specials, supply = state.row[position - 1], state.specials, state.chips[seat]
    if position - 1 > supply and price(card, position, specials) > supply:
        return False
    if row not in rows_of_cards(specials)[card]:
        return False
    if goes_face_up(card, state.layouts[seat][row]):
        return face_up
    return not face_up or may_lie_face_up(card, specials)


def _legal_move(state: State, moves: Mapping[Seat, Take]) -> tuple[Seat, Take]:
    seat = state.turn
    if state.over or len(moves) != 1 or seat not in moves:
        to_act = "nobody: the match is over" if state.over else f"seat {seat} alone"
        raise IllegalActionError(f"a move was given for seats {sorted(moves)}; to move is {to_act} (K5)")
    take = moves[seat]
    if not isinstance(take, Take) or not is_legal(state, seat, take):
        legal = ", ".join(map(repr, actions(state, seat)))
        raise IllegalActionError(f"{take!r} is not legal for seat {seat}; legal are {legal} (K5)")
    return seat, take


def _take(state: State, seat: Seat, position: int, events: list[Event]) -> tuple[Card, int]:
    """Pay first, then take the card with the chips on it (K6, K7)."""
    row_chips = state.row_chips
    card = state.row[position - 1]
    paid = price(card, position, state.specials)
    for skipped in range(paid):
        row_chips[skipped] += 1
    del state.row[position - 1]
    gained = row_chips.pop(position - 1)
    state.chips[seat] += gained - paid
    events.append(Taken(seat, position, card, paid, gained))
    return card, gained


def _place(state: State, seat: Seat, card: Card, row: Colour, face_up: bool, events: list[Event]) -> None:
    """Lay the card on the top of its colour row (K8, K9)."""
    rows = list(state.layouts[seat])
    rows[row] += _IN_LAYOUT[card if face_up else card + FACE_DOWN]
    state.layouts[seat] = layout_of(rows)
    events.append(_PLACED[seat][row][face_up])


def _refill(state: State, seat: Seat, events: list[Event]) -> None:
    """Draw a card to the last position; a refill that fails begins the final round (K11, K12)."""
    if state.drawn < CARDS:
        card = state.deck[state.drawn]
        state.drawn += 1
        state.row.append(card)
        state.row_chips.append(0)
        events.append(_REFILLED[card])
        return
    events.append(NotRefilled())
    if not state.final_round:
        state.final_round = True
        events.append(FinalRound(seat))


def _pass_turn(state: State, seat: Seat, gained: int, events: list[Event]) -> None:
    """Who is next (K12 to K14)."""
    following = (seat + 1) % state.seats
    if not state.row:
        _end_game(state, events)
    elif gained >= CHIPS_FOR_EXTRA_TURN and EXTRA_TURNS in state.specials:
        state.extra_turn = True
        events.append(ExtraTurn(seat))
    elif state.final_round and following == state.start_seat:
        _end_game(state, events)
    else:
        state.turn = following
        state.extra_turn = False


# the end


def _end_game(state: State, events: list[Event]) -> None:
    """Count up; the next game of the series begins at once (K15 to K18)."""
    totals = tuple(total(state, seat) for seat in range(state.seats))
    events.append(Ended(totals, competition_ranks(totals)))
    state.finished += (totals,)
    state.series = tuple(map(sum, zip(state.series, totals, strict=True)))
    if state.game + 1 < state.options.games:
        events.append(_set_up(state, state.game + 1, (state.start_seat + 1) % state.seats))
    else:
        state.over = True


def row_points(row: ColourRow) -> int:
    """What a colour row counts (K15)."""
    return sum([POINTS[card] for card in row])


def total(state: State, seat: Seat) -> int:
    """What a seat's layout and chips count if the game ends now (K15, K16)."""
    rows = [row_points(row) for row in state.layouts[seat] if row]
    points = sum(rows)
    if rows and LOWEST_ROW_DROPPED in state.specials:
        points -= min(rows)
    return points - state.chips[seat] if CHIPS_COUNT_MINUS in state.specials else points + state.chips[seat]


def outcome(state: State) -> Outcome:
    """The result of a match that is over (K17, K18).

    Raises:
        GameError: it is not over.
    """
    if not state.over:
        raise GameError("the match is not over: it has no outcome yet")
    details = tuple(_details(state, seat) for seat in range(state.seats))
    return Outcome(state.series, competition_ranks(state.series), details)


def _details(state: State, seat: Seat) -> str:
    """What a seat's score is made of: the games of a series, or the colour rows of a single game."""
    if len(state.finished) > 1:
        return "games " + ", ".join(str(totals[seat]) for totals in state.finished)
    rows = [f"{COLOURS[colour]} {row_points(row)}" for colour, row in enumerate(state.layouts[seat]) if row]
    sign = "-" if CHIPS_COUNT_MINUS in state.specials else "+"
    dropped = ", lowest row dropped" if LOWEST_ROW_DROPPED in state.specials else ""
    return f"{', '.join(rows) or 'no cards'}{dropped}, chips {sign}{state.chips[seat]}"
