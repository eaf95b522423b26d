"""What a worker is told at its start. Apart from the worker, which needs gRPC and so takes long to load."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from arena.bots.reference import BotSpec


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a worker is told at its start.

    Attributes:
        worker: its number.
        cores: the cores that it and its bots may use; empty: all.
        game: name of the game that is played.
        bots: all bots of the tournament.
        logs: folder for the bots' output.
        start_us: how long a bot may take to greet, in microseconds.
        in_flight: matches that it has in play at once.
        all_at_once: whether every bot sits at every table: then all are started before the first match.
    """

    worker: int
    cores: list[int]
    game: str
    bots: list[BotSpec]
    logs: str
    start_us: int
    in_flight: int
    all_at_once: bool

    def pack(self) -> bytes:
        """As the first frame."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def unpack(cls, data: bytes) -> WorkerSetup:
        """Out of the first frame."""
        values: dict[str, Any] = json.loads(data)
        return cls(**{**values, "bots": [BotSpec.from_json(bot) for bot in values["bots"]]})
