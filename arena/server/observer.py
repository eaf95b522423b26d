"""Every call that ended, logged and counted."""

from __future__ import annotations

import structlog

from arena.server.access import ACCESS
from arena.server.caller import CALLER
from arena.server.metrics import Metrics

_UNKNOWN = "unknown"
"""What methods are called that there are not: strangers would fill the metrics with names."""
_PROBES = ("/grpc.health.",)
"""Methods that are called all the time, and would hide the rest of the log."""
_calls = structlog.get_logger("arena.calls")


class Observer:
    """Is told by the guard of every call that ended. It never sees metadata or messages.

    Args:
        metrics: what counts them.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def ended(self, method: str, code: str, seconds: float) -> None:
        """A call ended; asks itself who called.

        Args:
            method: its full name.
            code: name of its status.
            seconds: how long it took.
        """
        self._metrics.ended(method if method in ACCESS else _UNKNOWN, code, seconds)
        who = CALLER.get()
        tell = _calls.debug if method.startswith(_PROBES) else _calls.info
        tell("call", method=method, code=code, ms=round(1000 * seconds, 3), user=who and who.name)

    def failed(self, reference: str, method: str, error: Exception) -> None:
        """A call met an error of our own, of which the caller was told a reference alone."""
        _calls.error("failed", method=method, reference=reference, exc_info=error)
