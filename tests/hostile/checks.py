"""What must hold after a hostile bot has played, whatever it did."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from botarena.v1.bot_pb2 import Decision
from botarena.v1.record_pb2 import MatchRecord

from arena.bots.process import log_name
from arena.match.host import TableHost
from arena.match.record import identity, seal
from arena.match.replay import VerificationError, verify
from arena.match.spec import MatchSpec
from arena.match.verdicts import fault_name, verdict_name
from tests.hostile.cases import PLAYED, Case
from tests.hostile.choice import choose
from tests.hostile.playing import Played, names
from tests.hostile.probe import PREFIX
from tests.hostile.scripted import play_scripted
from tests.hostile.traces import traces
from tests.match.fakes import Answer, FakeBot

OVER_THE_LOG = 10_000
"""A log may be so much larger than its limit: stamps of lines, the mark, the last words."""


def verdict_of(played: Played, case: Case) -> str:
    """What was ruled: a kind of fault or PLAYED; several where matches differ."""
    found = set()
    for record in played.records:
        kinds = {fault_name(fault.kind) for fault in record.faults if fault.seat in case.bad_seats}
        found |= kinds or {verdict_name(record.verdict)}
    return "/".join(sorted(found))


def identities(played: Played) -> list[bytes]:
    """What its matches were, without when and how fast."""
    return [identity(seal(record)) for record in played.records]


def problems(case: Case, level: str, played: Played) -> Iterator[str]:
    """Everything that is not as it must be, but for the honest bots' play."""
    for record in played.records:
        yield from _problems_of_record(case, level, record)
    yield from _problems_of_probes(case, level, played)
    yield from _problems_of_ends(case, played)
    yield from traces(level, played)
    if played.grown_bytes > case.growth_bytes:
        yield f"the arena grew by {played.grown_bytes >> 20} MiB"
    for bot in {name for name, _ in played.places}:
        log = played.logs / log_name(bot, 0)
        if log.exists() and log.stat().st_size > case.limits.log_bytes + OVER_THE_LOG:
            yield f"the log of {bot} has {log.stat().st_size} bytes"


def _problems_of_record(case: Case, level: str, record: MatchRecord) -> Iterator[str]:
    try:
        verify(record)
    except VerificationError as error:
        yield f"a record does not verify: {error}"
    accepted = [sorted((seat, kind) for seat in case.bad_seats) for kind in case.accepted(level)]
    if case.expected == PLAYED:
        accepted = [[]]
    found = sorted((fault.seat, fault_name(fault.kind)) for fault in record.faults)
    details = list(record.circumstances.fault_details)
    if found not in accepted:
        yield f"faults {found} in place of {accepted[0]}: {details}"
    verdict = verdict_name(record.verdict)
    if verdict != (PLAYED if case.expected == PLAYED else "BOT_FAULT"):
        yield f"the verdict is {verdict}"
    if len(details) != len(found) or not all(details):
        yield "a fault has no detail for the author"
    for word in case.words if details else ():
        told = details[0] + record.circumstances.evidence[0].stderr
        if word not in told:
            yield f"{word!r} is not in {told!r}"
    if case.expected != PLAYED:
        last = len(case.table) - len(case.bad_seats) + 1
        ranks = {record.ranks[seat] for seat in case.bad_seats}
        if ranks != {last}:
            yield f"forfeited seats have ranks {ranks} in place of {last}"


def _problems_of_probes(case: Case, level: str, played: Played) -> Iterator[str]:
    if not case.probes:
        return
    for seat in case.bad_seats:
        bot = names(case)[seat]
        lines = list(_noted(played, bot, PREFIX))
        made = [line for line in lines if "attempt" in line]
        counts = [line["attempts"] for line in lines if "attempts" in line]
        if counts != [len(made)] or not made:
            yield f"{bot} told of {len(made)} attempts and made {counts or 'an unknown number'}"
        for line in made:
            if line["reached"] and line["attempt"] not in case.open.get(level, ()):
                yield f"{bot} reached: {line['attempt']}: {line['detail']}"


def _problems_of_ends(case: Case, played: Played) -> Iterator[str]:
    """Whether an honest bot was told of an end that was none, twice, or as no fault of its own."""
    ends = Counter(json.dumps([list(r.ranks), list(r.scores), ""]) for r in played.records)
    for seat, name in enumerate(names(case)):
        if seat in case.bad_seats:
            continue
        told = Counter(json.dumps(end) for end in _noted(played, name, "END ") if end[0])
        if told - ends:  # the last ones may be lost in the hurry of closing
            yield f"{name} was told of the ends {dict(told)} in place of {dict(ends)}"


def _noted(played: Played, bot: str, prefix: str) -> Iterator[Any]:
    """What a bot wrote after a word, out of its log."""
    log = played.logs / log_name(bot, 0)
    for line in log.read_text(errors="replace").splitlines() if log.exists() else ():
        _, found, text = line.partition(prefix)
        if found:
            yield json.loads(text)


def honest_are_unchanged(case: Case, played: Played) -> bool:
    """Whether all is as it is among scripted bots, with a stand-in for the bad one from its fault on."""
    return all(
        asyncio.run(_is_as_scripted(case, record, spec))
        for record, spec in zip(played.records, played.specs, strict=True)
    )


async def _is_as_scripted(case: Case, record: MatchRecord, spec: MatchSpec) -> bool:
    host = TableHost()
    bots = [
        FakeBot(
            host, name, _as_recorded(record, seat) if seat in case.bad_seats else _honest(case.game), False
        )
        for seat, name in enumerate(names(case))
    ]
    scripted = await play_scripted(host, replace(spec, move_us=10**9, bank_us=10**10), bots)
    return (list(scripted.seats), list(scripted.actions), list(scripted.scores)) == (
        list(record.seats),
        list(record.actions),
        list(record.scores),
    )


def _honest(game: str) -> Answer:
    return lambda decision: choose(getattr(decision.turn, game))


def _as_recorded(record: MatchRecord, seat: int) -> Answer:
    """Answers as a seat did, until it fails where that did."""
    own = iter([position for position, other in enumerate(record.seats) if other == seat])
    fault = min((fault.decision for fault in record.faults if fault.seat == seat), default=len(record.seats))

    def answer(_decision: Decision) -> int | str:
        position = next(own, fault)
        return record.actions[position] if position < fault else "here it failed"

    return answer
