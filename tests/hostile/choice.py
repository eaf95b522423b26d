"""How an honest bot of the corpus chooses: by all that it was shown, so that a change of a bit shows."""

from __future__ import annotations

import hashlib
from typing import Any


def choose(turn: Any) -> int:
    """An index into the actions of a game's turn, or of an SDK's."""
    shown = hashlib.sha256(turn.view.SerializeToString(deterministic=True))
    for event in turn.events:
        shown.update(event.SerializeToString(deterministic=True))
    return int.from_bytes(shown.digest()[:4], "big") % len(turn.actions)
