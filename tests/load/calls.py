"""Calls of many clients: how long they took, how they ended, and what was acknowledged."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc

CANONICAL = frozenset(
    {
        "OK",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "UNAUTHENTICATED",
        "FAILED_PRECONDITION",
        "RESOURCE_EXHAUSTED",
        "ABORTED",
    }
)
"""How a call may end while the server is there."""
AWAY = frozenset({"UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED"})
"""How it may end while the server is killed or not back yet."""


@dataclass
class Calls:
    """What all clients saw together.

    Attributes:
        seconds: how long calls took that were answered, by method.
        codes: how calls ended, by method.
        made: tokens that were acknowledged, by label.
        bad: calls that ended in a way that none may.
        is_away: whether the server may be away now.
    """

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    codes: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    made: set[str] = field(default_factory=set)
    bad: list[str] = field(default_factory=list)
    is_away: bool = False

    async def call(self, name: str, method: Callable[..., Awaitable[Any]], request: Any, token: str) -> Any:
        """Call a method; its answer, or None if there was none."""
        began, could = time.monotonic(), self.is_away
        answer, code, text = None, "OK", ""
        try:
            answer = await method(request, metadata=(("authorization", f"Bearer {token}"),), timeout=30)
        except grpc.aio.AioRpcError as error:
            code, text = error.code().name, error.details() or ""
        self.codes[name][code] += 1
        if code in CANONICAL:
            self.seconds[name].append(time.monotonic() - began)
        elif code not in AWAY or not (could or self.is_away):
            self.bad.append(f"{name}: {code} {text}")
        return answer


def percentile(values: list[float], share: float) -> float:
    """The value that so large a share is not above, in the unit of the values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
