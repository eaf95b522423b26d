"""What the server tells about itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import grpc
from botarena.v1.api_server_pb2 import GetStatusRequest, GetStatusResponse, ServerLoad, StateCount
from botarena.v1.api_server_pb2_grpc import ServerServiceServicer, add_ServerServiceServicer_to_server

from arena import __version__
from arena.games import GAMES
from arena.server.background import apart
from arena.server.caller import CALLER
from arena.server.metrics import Metrics
from arena.store.figures import Figures

_RUNNING = "running"
"""State of what is being played."""


@dataclass(slots=True)
class Levels:
    """What other parts of a server have in hand.

    Attributes:
        workers: gives the number of worker processes that live.
        remote_bots: gives the number of remote bots that are connected.
    """

    workers: Callable[[], int] = lambda: 0
    remote_bots: Callable[[], int] = lambda: 0


@dataclass(frozen=True, slots=True)
class Status:
    """What the server knows about itself.

    Attributes:
        figures: what is in the database.
        metrics: what was counted.
        others: what other parts have in hand.
        started_us: since when it runs, microseconds since 1970 UTC.
    """

    figures: Figures
    metrics: Metrics
    others: Levels = field(default_factory=Levels)
    started_us: int = field(default_factory=lambda: time.time_ns() // 1000)

    def levels(self) -> Mapping[str, Mapping[str, int]]:
        """How much there is now, by kind of thing and state. Reads the database."""
        return {
            "hosted": self.figures.hosted(),
            "versions": self.figures.versions(),
            "workers": {"alive": self.others.workers()},
            "remote_bots": {"connected": self.others.remote_bots()},
        }

    def load(self) -> ServerLoad:
        """How busy it is, for those who run it. Reads the database."""
        levels = self.levels()
        return ServerLoad(
            started_us=self.started_us,
            hosted=_counts(levels["hosted"]),
            versions=_counts(levels["versions"]),
            workers=self.others.workers(),
            remote_bots=self.others.remote_bots(),
            matches=self.metrics.matches_played,
            decisions=self.metrics.decisions_made,
            lag_us=self.metrics.lag_us,
        )


class StatusPart:
    """Offers what the server tells about itself.

    Args:
        status: what that is.
    """

    def __init__(self, status: Status) -> None:
        self._status = status
        self._lag: asyncio.Task[None] | None = None

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_ServerServiceServicer_to_server(StatusService(self._status), server)

    async def start(self) -> None:
        """Measure how late the event loop is, and tell what there is."""
        self._status.metrics.watch(self._status.levels)
        self._lag = asyncio.create_task(self._status.metrics.measure_lag())

    async def stop(self) -> None:
        """End that."""
        if self._lag is not None:
            self._lag.cancel()


class StatusService(ServerServiceServicer):
    """`ServerService`."""

    def __init__(self, status: Status) -> None:
        self._status = status

    async def GetStatus(
        self,
        request: GetStatusRequest,
        context: grpc.aio.ServicerContext[GetStatusRequest, GetStatusResponse],
    ) -> GetStatusResponse:
        """What this server is and does now."""
        hosted = await apart(self._status.figures.hosted)
        answer = GetStatusResponse(version=__version__, games=sorted(GAMES), running=hosted.get(_RUNNING, 0))
        who = CALLER.get()
        if who is not None and who.is_admin:
            answer.load.CopyFrom(await apart(self._status.load))
        return answer


def _counts(states: Mapping[str, int]) -> list[StateCount]:
    return [StateCount(state=state, count=number) for state, number in states.items()]
