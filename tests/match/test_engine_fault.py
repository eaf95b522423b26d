"""Rules that fail: the match is void, nobody is blamed, and its record makes them fail again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from botarena.v1.game_pb2 import GameClaim
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.games.kamozza import Kamozza
from arena.match.host import TableHost
from arena.match.match import Match
from arena.match.record import identity, seal, unseal
from arena.match.replay import RulesFailedError, VerificationError, failure_of, replay, verify
from arena.match.spec import MatchSpec
from tests.match.failing import FAILING, bad, registered
from tests.match.fakes import KOFFER, FakeBot, last, spec
from tests.match.test_talk import TALK
from tests.match.test_talk import spec as talk_spec

BOTS = ("a", "b", "c")


def failing_seed() -> bytes:
    """The first seed of a deal in which the rules fail."""
    for number in range(100):
        match = Match(spec(BOTS, seed=bytes([number] * 32)))
        match.start(0)
        if match._state.deck[0] % 2 == 0:
            return match.spec.seed
    raise AssertionError("no such deal")


SEED = failing_seed()


async def played(part: str) -> tuple[bytes, list[FakeBot]]:
    """A match of scripted bots under rules that fail."""
    host = TableHost()
    bots = [FakeBot(host, name, last) for name in BOTS]
    match = Match(replace(spec(BOTS, seed=SEED), game=FAILING[part]()))
    data = await host.play(match, [bot.lane for bot in bots])
    while not all(bot.ends for bot in bots):  # what is said at the end leaves a moment after it
        await asyncio.sleep(0)
    return data, bots


@pytest.mark.parametrize("part", FAILING)
async def test_whatever_fails_the_match_is_void_and_its_record_makes_it_fail_again(part: str) -> None:
    data, bots = await played(part)
    record = unseal(data)
    assert record.verdict == Verdict.VERDICT_ENGINE_FAULT
    assert record.engine_error
    assert not record.faults
    assert not record.ranks
    assert not record.scores
    # Everybody hears that it is over, and of no fault.
    assert [(len(bot.ends), bot.ends[0].fault, list(bot.ends[0].ranks)) for bot in bots] == [(1, "", [])] * 3
    assert identity((await played(part))[0]) == identity(data)

    with registered(part):
        verify(record)
        failure = failure_of(record)
        assert failure is not None
        assert failure.error == record.engine_error
        assert failure.file.endswith("match.py" if part == "bound" else "failing.py")
        assert failure.line > 0
        assert shown(record) in (len(record.seats), len(record.seats) + 1)
    with pytest.raises(VerificationError, match="do not fail any more"):
        verify(record)


def shown(record: MatchRecord) -> int:
    """Steps of a replay up to where the rules fail."""
    count = 0
    with suppress(RulesFailedError):  # some failures are seen only by asking for the turns, too
        for _ in replay(record):
            count += 1
    return count


async def test_rules_that_fail_otherwise_than_they_did_are_noticed() -> None:
    record = unseal((await played("apply"))[0])
    record.engine_error = "KeyError: 'another fault'"
    with (
        registered("apply"),
        pytest.raises(VerificationError, match=r"fail with KeyError.*failing\.py, line"),
    ):
        verify(record)


async def test_a_void_record_with_a_result_is_a_lie() -> None:
    record = unseal((await played("apply"))[0])
    record.ranks.extend([1, 2, 3])
    with registered("apply"), pytest.raises(VerificationError, match="void"):
        verify(record)


async def test_other_deals_are_played_as_ever() -> None:
    other = next(s for s in (bytes([n] * 32) for n in range(100)) if not fails(s))
    host = TableHost()
    bots = [FakeBot(host, name, last) for name in BOTS]
    for game in (KOFFER, FAILING["apply"]()):
        match = replace(spec(BOTS, seed=other), game=game)
        record = unseal(await host.play(Match(match), [bot.lane for bot in bots]))
        assert record.verdict == Verdict.VERDICT_PLAYED


def fails(seed: bytes) -> bool:
    match = Match(spec(BOTS, seed=seed))
    match.start(0)
    match._state.drawn = 40
    return bad(match._state)


# table talk


class _FailingTalk(Kamozza):
    def with_claim(self, state: Any, seat: int, action: Any, claim: GameClaim) -> Any:
        raise KeyError(f"what seat {seat} says")


def talking(order: tuple[int, ...], silent: int | None = None) -> MatchRecord:
    """Three seats decide at once, with claims on which the rules fail; one may commit a fault instead."""
    match_spec: MatchSpec = replace(talk_spec(mode="variant"), game=_FailingTalk())
    match = Match(match_spec)
    match.start(0)
    for seat in order:
        if seat == silent:
            match.fault(seat, FaultKind.FAULT_KIND_TIMEOUT, 0)
        else:
            match.reply(seat, 0, 0, claim=TALK)
    return unseal(match.record())


@pytest.mark.parametrize("silent", [None, 0, 1])
def test_a_failure_on_a_claim_waits_for_the_others_and_leaves_no_order(
    silent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = talking((0, 1, 2), silent)
    assert record.engine_error == f"KeyError: {f'what seat {1 if silent == 0 else 0} says'!r}"
    assert list(record.seats) == [0, 1, 2]
    for order in ((2, 1, 0), (1, 2, 0)):
        assert identity(seal(talking(order, silent))) == identity(seal(record))
    monkeypatch.setattr("arena.games._load", lambda *_: _FailingTalk())
    verify(record)
