"""Games whose rules fail, to see what the arena makes of faults of its own.

Each fails by its state alone, as rules do, so that a match played again fails again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import arena.games.koffer
from arena import games
from arena.games.game import IllegalActionError
from arena.games.koffer import Koffer, rules
from arena.games.koffer.rules import State

RULES = Koffer()


def bad(state: State) -> bool:
    """Whether a match has come to where the rules fail: in every second deal, a few decisions on."""
    return state.deck[0] % 2 == 0 and state.drawn > 12


def fail(*_: object) -> Any:
    raise KeyError("a fault of ours")


class _Apply(Koffer):
    def apply(self, state: State, moves: Any) -> Any:
        return fail() if bad(state) else rules.apply(state, moves)


class _Refuse(Koffer):
    def apply(self, state: State, moves: Any) -> Any:
        if bad(state):
            raise IllegalActionError("what is legal is not")
        return rules.apply(state, moves)


class _Actions(Koffer):
    def actions(self, state: State, seat: int) -> Any:
        return fail() if bad(state) else rules.actions(state, seat)


class _ToMove(Koffer):
    def to_move(self, state: State) -> Any:
        return fail() if bad(state) else rules.to_move(state)


class _Turn(Koffer):
    def turn_bytes(self, state: State, *rest: Any) -> Any:
        return fail() if bad(state) else RULES.turn_bytes(state, *rest)


class _LastTurn(Koffer):
    """Fails to show the end, when its result is known already."""

    def turn_bytes(self, state: State, *rest: Any) -> Any:
        return fail() if bad(state) and state.over else RULES.turn_bytes(state, *rest)


class _Event(Koffer):
    def event_bytes(self, event: Any) -> Any:  # type: ignore[override]
        return fail()


class _Outcome(Koffer):
    def outcome(self, state: State) -> Any:
        return fail() if bad(state) else rules.outcome(state)


class _Start(Koffer):
    def start(self, seats: Any, options: Any, deal: Any, chance: Any) -> Any:
        state, events = RULES.start(seats, options, deal, chance)
        return fail() if state.deck[0] % 2 == 0 else (state, events)


class _Endless(Koffer):
    """Says that a match ends sooner than it does."""

    def decision_bound(self, seats: int, options: Any) -> int:
        return 10


FAILING: dict[str, Callable[[], Koffer]] = {
    "start": _Start,
    "to_move": _ToMove,
    "actions": _Actions,
    "apply": _Apply,
    "apply refuses": _Refuse,
    "turn": _Turn,
    "last turn": _LastTurn,
    "event": _Event,
    "outcome": _Outcome,
    "bound": _Endless,
}
"""Koffer with rules that fail, by where they do."""


@contextmanager
def registered(part: str) -> Iterator[None]:
    """Have the registry give this game instead of Koffer."""
    arena.games.koffer.Koffer = FAILING[part]  # type: ignore[assignment,misc]
    games._load.cache_clear()
    try:
        yield
    finally:
        arena.games.koffer.Koffer = Koffer  # type: ignore[misc]
        games._load.cache_clear()


def worker_command(part: str) -> tuple[str, ...]:
    """The program of a worker whose registry gives this game."""
    code = (
        "from tests.match.failing import registered\n"
        f"with registered({part!r}):\n"
        "    from arena.runs.worker import main\n"
        "    main()"
    )
    return (sys.executable, "-c", code)
