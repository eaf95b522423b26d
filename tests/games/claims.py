"""Table talk of the games that have it: what somebody at the table might say, at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from botarena.v1.game_pb2 import GameClaim

from arena.games.game import AnyGame, IllegalActionError, Seat
from tests.games.kamozza.claims import kamozza_claim

CLAIMS: Mapping[str, Callable[[Any, Any, Random], GameClaim | None]] = {
    "kamozza": kamozza_claim,
}
"""By game, for a state and a listed action: a random claim that may go with it, or None."""


def talk(game: AnyGame, state: Any, seat: Seat, action: Any, rng: Random) -> Any:
    """A listed action, with a random claim or without one."""
    if game.name not in CLAIMS:
        return action
    claim = CLAIMS[game.name](state, action, rng)
    return action if claim is None else game.with_claim(state, seat, action, claim)


def index_of(game: AnyGame, state: Any, seat: Seat, action: Any) -> int | None:
    """Where a seat's list of actions has this one, whatever is said with it; None if it does not."""
    listed, claim = list(game.actions(state, seat)), game.claim_of(action)
    try:
        said = listed if claim is None else [game.with_claim(state, seat, bare, claim) for bare in listed]
    except IllegalActionError:
        return None
    return said.index(action) if action in said else None
