"""What a server counts and measures, for Prometheus."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric

_CALL_S = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_DECISION_S = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_LAG_S = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_LAG_EVERY_S = 0.5

Levels = Callable[[], Mapping[str, Mapping[str, int]]]
"""Gives what there is now, by kind of thing and by state."""


class Metrics:
    """What a server counts and measures. Nothing here blocks, and all of it may be called on any thread."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter("arena_calls", "Calls that ended", ["method", "code"], registry=self.registry)
        self._call_s = Histogram(
            "arena_call_seconds", "How long calls took", ["method"], buckets=_CALL_S, registry=self.registry
        )
        self._matches = Counter(
            "arena_matches", "Matches played", ["game", "verdict"], registry=self.registry
        )
        self._decisions = Counter("arena_decisions", "Decisions of bots", ["game"], registry=self.registry)
        self._decision_s = Histogram(
            "arena_decision_seconds",
            "How long bots thought",
            ["game"],
            buckets=_DECISION_S,
            registry=self.registry,
        )
        self._faults = Counter("arena_faults", "Faults of bots", ["game", "kind"], registry=self.registry)
        self._lag = Histogram(
            "arena_loop_lag_seconds",
            "How late the event loop was",
            buckets=_LAG_S,
            registry=self.registry,
        )
        self.lag_us = 0
        self.matches_played = 0
        self.decisions_made = 0

    def ended(self, method: str, code: str, seconds: float) -> None:
        """A call ended.

        Args:
            method: full name of a method that there is: strangers must not be able to make up more.
            code: name of its status.
            seconds: how long it took.
        """
        self._calls.labels(method, code).inc()
        self._call_s.labels(method).observe(seconds)

    def played(self, records: Iterable[MatchRecord]) -> None:
        """Matches were played and stored."""
        for record in records:
            self._matches.labels(record.game, Verdict.Name(record.verdict)).inc()
            self.matches_played += 1
            self._think(record)
            for fault in record.faults:
                self._faults.labels(record.game, FaultKind.Name(fault.kind)).inc()

    def _think(self, record: MatchRecord) -> None:
        times = self._decision_s.labels(record.game)
        asked = [microseconds for microseconds in record.circumstances.think_us if microseconds]
        for microseconds in asked:
            times.observe(microseconds / 1e6)
        self._decisions.labels(record.game).inc(len(asked))
        self.decisions_made += len(asked)

    def watch(self, levels: Levels) -> None:
        """Tell also how much there is of everything, as read whenever somebody asks."""
        self.registry.register(_Levels(levels))

    async def measure_lag(self) -> None:
        """Measure how late the event loop is, until cancelled."""
        while True:
            due = time.monotonic() + _LAG_EVERY_S
            await asyncio.sleep(_LAG_EVERY_S)
            late = max(0.0, time.monotonic() - due)
            self.lag_us = int(late * 1e6)
            self._lag.observe(late)


class _Levels:
    """How much there is of everything, read when somebody asks."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels

    def describe(self) -> Iterator[Metric]:
        """Nothing, so that nothing is read before there is anything."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """All of it."""
        for name, states in self._levels().items():
            family = GaugeMetricFamily(f"arena_{name}", f"{name} now".replace("_", " "), labels=["state"])
            for state, number in states.items():
                family.add_metric([state], number)
            yield family
