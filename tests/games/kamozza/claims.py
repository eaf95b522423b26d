"""What somebody at a table of Kamozza might say, at random."""

from __future__ import annotations

from random import Random

from botarena.v1.game_pb2 import GameClaim
from botarena.v1.kamozza_pb2 import KamozzaClaim, KamozzaPort

from arena.games.kamozza.rules import VALUES, Action, Load, State

PORTS = (None, KamozzaPort.KAMOZZA_PORT_A, KamozzaPort.KAMOZZA_PORT_B)


def kamozza_claim(state: State, action: Action, rng: Random) -> GameClaim | None:
    """Now and then the truth, mostly not; sometimes a claim that says nothing, sometimes none."""
    if not state.options.table_talk or not isinstance(action, Load) or rng.random() < 0.3:
        return None
    cards = rng.sample(VALUES, rng.randrange(3))
    return GameClaim(kamozza=KamozzaClaim(cards=cards, port=rng.choice(PORTS)))
