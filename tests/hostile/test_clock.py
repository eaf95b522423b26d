"""The clock of the day may jump as it likes: no deadline and no verdict depends on it."""

from __future__ import annotations

import itertools
import time

import pytest
from botarena.v1.record_pb2 import MatchRecord, Verdict

from arena.match.host import TableHost
from arena.match.match import Match
from arena.match.record import unseal
from tests.match.fakes import FakeBot, spec


async def played(silent: bool) -> MatchRecord:
    host = TableHost()
    bots = [FakeBot(host, "a"), FakeBot(host, "b", (lambda _: None) if silent else (lambda _: 0))]
    record = await host.play(Match(spec(move_us=200_000)), [bot.lane for bot in bots])
    return unseal(record)


def without_circumstances(record: MatchRecord) -> MatchRecord:
    record.ClearField("circumstances")
    record.ClearField("digest")
    return record


@pytest.mark.parametrize(
    ("silent", "verdict"), [(False, Verdict.VERDICT_PLAYED), (True, Verdict.VERDICT_BOT_FAULT)]
)
async def test_a_match_is_what_it_is_whatever_time_it_is_said_to_be(
    silent: bool, verdict: Verdict.ValueType, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = without_circumstances(await played(silent))
    days = itertools.cycle([0, 10**9, 5, 2 * 10**9])  # forth and back by decades
    monkeypatch.setattr(time, "time", lambda: float(next(days)))
    monkeypatch.setattr(time, "time_ns", lambda: next(days) * 10**9)
    jumping = without_circumstances(await played(silent))
    assert jumping == steady
    assert jumping.verdict == verdict
