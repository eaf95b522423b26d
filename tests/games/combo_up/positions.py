"""Combo Up positions written the way people write them: `12 J 7 S` is a hand, leftmost card first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from arena.games.chance import Chance
from arena.games.combo_up import rules
from arena.games.combo_up.rules import (
    KIND_NAMES,
    PLAY,
    Action,
    Cards,
    Deal,
    Event,
    HandEnded,
    HandStarted,
    Options,
    State,
    kind_and_high,
    strength_of,
)

LETTERS = {
    "J": rules.JOKER,
    "S": rules.STOP,
    "D": rules.THREE_DRAW,
    "T": rules.TAKE_UP,
    "P": rules.PASS_ON,
}
SEED = bytes(range(32))


def cards(text: str) -> Cards:
    """`12 J` is (12, 13)."""
    return tuple(LETTERS.get(card) or int(card) for card in text.split())


def hand_text(hand: Cards) -> str:
    """What `cards` reads."""
    letters = {card: letter for letter, card in LETTERS.items()}
    return " ".join(letters.get(card) or str(card) for card in hand)


def position(
    *hands: str,
    reserves: Mapping[int, str] | None = None,
    pile: str = "",
    leader: int = 0,
    out: Sequence[int] = (),
    tokens: Sequence[int] = (),
    options: Options = Options(),  # noqa: B008 - immutable
) -> State:
    """The beginning of a round in the middle of a hand; all cards that are not named were set aside.

    Args:
        hands: by seat.
        reserves: by seat, none for seats that are not named.
        pile: top card first.
        out: seats that take no part any more.
    """
    seats, deck = len(hands), rules.DECKS[options.edition]
    state, _ = rules.start(seats, options, Deal(0, deck), Chance(SEED))
    state.held = [cards(hand) for hand in hands]
    state.reserves = [cards((reserves or {}).get(seat, "")) for seat in range(seats)]
    in_play = [card for part in (*state.held, *state.reserves, cards(pile)) for card in part]
    assert not Counter(in_play) - Counter(deck), "more cards than there are"
    state.aside = tuple((Counter(deck) - Counter(in_play)).elements())
    gone = (*state.aside, *in_play[: len(in_play) - len(cards(pile))])
    state.deck, state.drawn = (*gone, *cards(pile)), len(gone)
    state.participants = tuple(seat for i in range(seats) if (seat := (leader + i) % seats) not in out)
    state.acting = (leader,)
    state.tokens = tuple(tokens) or state.tokens
    return state


def action(start: int, length: int, kind: str, high: int) -> Action:
    """A combination as the vectors write it."""
    return Action(PLAY, length, start, strength_of(KIND_NAMES.index(kind), high))


def play(state: State, start: int, length: int, kind: str, high: int) -> list[Event]:
    return act(state, action(start, length, kind, high))


def special(state: State, index: int) -> list[Event]:
    return act(state, Action(rules.SPECIAL, at=index))


def take(state: State, reserve: int, place: int) -> list[Event]:
    return act(state, Action(rules.TAKE, reserve=reserve, position=place))


def insert(state: State, *places: int) -> list[Event]:
    """Insertions by those who owe one, in ascending order of seats."""
    inserts = [Action(rules.INSERT, position=place) for place in places]
    return rules.apply(state, dict(zip(state.acting, inserts, strict=True)))


def give(state: State, *indexes: int) -> list[Event]:
    """Cards chosen by those who owe one, in ascending order of seats."""
    gifts = [Action(rules.GIVE, at=index) for index in indexes]
    return rules.apply(state, dict(zip(state.acting, gifts, strict=True)))


def act(state: State, chosen: Action) -> list[Event]:
    """The one seat to move acts."""
    (seat,) = rules.to_move(state)
    return rules.apply(state, {seat: chosen})


def solo(state: State, high: int) -> list[Event]:
    """The seat to move plays its first card of this value alone."""
    (seat,) = rules.to_move(state)
    return play(state, state.held[seat].index(high), 1, "solo", high)


def legal(state: State) -> tuple[Action, ...]:
    """Of the one seat to move."""
    (seat,) = rules.to_move(state)
    return rules.actions(state, seat)


def legal_plays(state: State) -> list[tuple[int, int, str, int]]:
    """Combinations that may be played: start, length, kind, high."""
    return [
        (chosen.at, chosen.length, KIND_NAMES[kind], high)
        for chosen in legal(state)
        if chosen.verb == PLAY
        for kind, high in [kind_and_high(chosen.strength)]
    ]


def verbs(state: State) -> Counter[int]:
    """How many actions of each kind are legal."""
    return Counter(chosen.verb for chosen in legal(state))


def readings(text: str) -> list[str]:
    """All that neighbours in hand can count as, weakest first: `run2/4`."""
    return [
        f"{KIND_NAMES[kind]}/{high}" for kind, high in map(kind_and_high, rules.READINGS.get(cards(text), ()))
    ]


def ended(events: Sequence[Event]) -> HandEnded:
    """How the hand ended."""
    (found,) = [event for event in events if isinstance(event, HandEnded)]
    return found


def started(events: Sequence[Event]) -> HandStarted:
    """The hand that began."""
    (found,) = [event for event in events if isinstance(event, HandStarted)]
    return found


def hands_of(state: State) -> list[str]:
    return [hand_text(hand) for hand in state.held]
