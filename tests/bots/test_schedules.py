"""Any schedule of connects, answers, breaks, resumes, ends and waiting: what holds whatever happens when.

`ARENA_DEEP=1` tries many more schedules, and other ones each time.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
from botarena.v1.bot_pb2 import FromBot, Reply
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from arena.bots import conversation, tables
from arena.bots.conversation import GRACE_S, Guest
from arena.bots.reference import BotSpec
from arena.bots.tables import Tables
from arena.games.chance import deal_seed
from arena.match.host import TableHost
from arena.match.record import unseal
from arena.match.replay import verify
from arena.match.verdicts import fault_name, verdict_name
from tests.bots.simulation import Doors, FakeProcess, Launches, StillLoop
from tests.bots.streams import FakeStream, Life
from tests.match.fakes import spec

DEEP = bool(os.environ.get("ARENA_DEEP"))
MOST_MATCHES = 6
MOVE_S = 5.0
START_S = 8.0


class Schedules(RuleBasedStateMachine):
    """One bot that does anything at any time, at tables with an honest one.

    Attributes:
        seen: what came of all schedules: verdicts, faults, resumes.
    """

    seen: ClassVar[Counter[str]] = Counter()

    @initialize(tolerated=st.integers(0, 2), prompt=st.sampled_from((True, True, True, False)))
    def open(self, tolerated: int, prompt: bool) -> None:
        self.prompt = prompt
        self.loop = StillLoop()
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(lambda _loop, context: self.escaped.append(str(context)))
        self.escaped: list[str] = []
        self.tolerated = tolerated
        self.taken: list[int] = []
        self.streams: list[FakeStream] = []
        self.launches = Launches()
        self.games: list[asyncio.Task[bytes]] = []
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(conversation, "_REFUSAL_S", 0)
        self.patch.setattr(tables, "TableHost", partial(TableHost, clock=lambda: round(self.loop.now * 1e6)))
        self.patch.setattr(tables, "Gateway", Doors)
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        bots = [BotSpec(name, name, "1", ("none",), "/") for name in ("talker", "honest")]
        self.tables = Tables(bots, Path("/nowhere"), round(START_S * 1e6), launcher=self.launches)
        self.host = self.tables._host
        self.launches.doors = self.tables._gateway  # type: ignore[assignment]
        take = self.host._take

        def noting(lane: object, number: int) -> object:
            owed = take(lane, number)  # type: ignore[arg-type]
            self.taken += [number] if owed is not None else []
            return owed

        self.patch.setattr(self.host, "_take", noting)

    @property
    def guest(self) -> Guest | None:
        assert self.launches.doors is not None
        return self.launches.doors.guests.get("talker")

    @property
    def process(self) -> FakeProcess | None:
        return self.launches.process

    # what may happen

    @precondition(lambda self: len(self.games) < MOST_MATCHES)
    @rule(seat=st.integers(0, 1))
    def begin(self, seat: int) -> None:
        names = ["honest", "talker"] if seat else ["talker", "honest"]
        move_us = round(MOVE_S * 1e6)
        base = spec(names, move_us=move_us, bank_us=20 * move_us, faults_allowed=self.tolerated)
        dealt = replace(base, seed=deal_seed(bytes(32), "koffer", len(self.games)))
        self.games.append(self.loop.create_task(self.tables.play(dealt)))
        self.loop.settle()
        self._greet_if_new()

    @precondition(lambda self: self.guest is not None)
    @rule(right=st.sampled_from((True, True, True, False)))
    def connect(self, right: bool) -> None:
        guest = self.guest
        assert guest is not None
        assert self.launches.doors is not None
        life = Life(self.launches.doors.conversations, guest)
        self.loop.run_until_complete(self._connect(life, right))
        self.loop.settle()

    async def _connect(self, life: Life, right: bool) -> None:
        self.streams.append(life.open() if right else life.open("guessed"))

    @precondition(lambda self: self.streams)
    @rule(data=st.data(), session=st.sampled_from(("", "right", "right", "guessed")))
    def greet(self, data: st.DataObject, session: str) -> None:
        stream = data.draw(st.sampled_from(self.streams[-2:]))
        named = self.guest.session if session == "right" and self.guest is not None else session
        stream.hello(named)
        self.loop.settle()

    @precondition(lambda self: self.streams)
    @rule(rounds=st.integers(1, 60))
    def answer(self, rounds: int) -> None:
        """Answer what is open, in good order."""
        stream = self.streams[-1]
        for _ in range(rounds):
            done = set(self.taken)
            fresh = [asked.id for asked in stream.got.decisions if asked.id not in done]
            if fresh:
                stream.send(FromBot(replies=[Reply(decision=number, action=0) for number in fresh]))
            self.loop.settle(10)

    @precondition(lambda self: self.streams)
    @rule(data=st.data(), action=st.sampled_from((None, 0, 1, 99)), times=st.integers(1, 3))
    def answer_anything(self, data: st.DataObject, action: int | None, times: int) -> None:
        """Answer a decision that is open, was, or is another's; perhaps twice, perhaps wrongly."""
        stream = data.draw(st.sampled_from(self.streams[-3:]))
        last = max([asked.id for asked in stream.got.decisions], default=1)
        number = max(0, last + data.draw(st.sampled_from((0, 0, 0, -1, -2, 1, 1000))))
        stream.send(FromBot(replies=[Reply(decision=number, action=action)] * times))
        self.loop.settle()

    @precondition(lambda self: self.streams and self.streams[-1].got.decisions)
    @rule()
    def answer_wrongly(self) -> None:
        stream = self.streams[-1]
        stream.send(FromBot(replies=[Reply(decision=max(asked.id for asked in stream.got.decisions))]))
        self.loop.settle()

    @precondition(lambda self: self.streams)
    @rule()
    def fall_silent(self) -> None:
        self.loop.advance(MOVE_S + 1)

    @precondition(lambda self: self.streams)
    @rule()
    def leave_for_good(self) -> None:
        for stream in self.streams[-2:]:
            stream.context.put(None)
        self.loop.settle()
        self.loop.advance(GRACE_S + 1)

    @precondition(lambda self: self.streams)
    @rule(data=st.data())
    def send_nonsense(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.streams[-3:])).send_bytes(b"\xff")
        self.loop.settle()

    @precondition(lambda self: self.streams)
    @rule(data=st.data())
    def hang_up(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.streams[-2:])).context.put(None)
        self.loop.settle()

    @precondition(lambda self: self.process is not None)
    @rule()
    def end_process(self) -> None:
        assert self.process is not None
        self.process.end("it had enough")
        self.loop.settle()
        guest = self.guest
        assert guest is not None
        if guest.stream is None and guest.lane is not None:  # nobody is waited for
            assert guest.over
            assert guest.lane.closed

    @rule(seconds=st.sampled_from((0.001, 0.1, 1.0, 2.0, 2.5, 3.0, 5.0, 8.0)))
    def wait(self, seconds: float) -> None:
        self.loop.advance(seconds)
        self._greet_if_new()

    def _greet_if_new(self) -> None:
        """A prompt bot greets in each of its lives, whatever it does then."""
        guest = self.guest
        if self.prompt and guest is not None and guest.lane is None and not guest.over:
            self.connect(right=True)
            self.streams[-1].hello()
            self.loop.settle()

    @rule()
    def start_over(self) -> None:
        """What a whole run of an SDK does: connect, greet, play for a while."""
        if self.guest is not None:
            self.connect(right=True)
            stream, lane = self.streams[-1], self.guest.lane
            stream.hello(self.guest.session if lane is not None else "")
            self.loop.settle()
            if lane is not None and stream.got.HasField("welcome"):
                owed = {number for number, decision in lane._open.items() if decision.sent_us}
                assert owed <= {asked.id for asked in stream.got.decisions}
                self.seen["resumed in play"] += bool(owed)
                assert set(lane._games) <= {start.match for start in stream.got.starts}
            self.answer(20)

    # what holds

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        try:
            for _ in range(400):  # nobody answers any more: clocks and budgets alone must end it all
                if all(game.done() for game in self.games):
                    break
                self.wait(MOVE_S)
            self._judge()
        finally:
            self.patch.undo()
            self.loop.close()
            asyncio.set_event_loop(None)

    def _judge(self) -> None:
        assert all(game.done() for game in self.games)
        for game in self.games:
            record = unseal(game.result())
            verify(record)
            self.seen[verdict_name(record.verdict)] += 1
            self.seen.update(fault_name(fault.kind) for fault in record.faults)
            faulty = {record.bots[fault.seat].name for fault in record.faults}
            assert faulty <= {"talker"}
        assert len(self.taken) == len(set(self.taken))
        assert self.escaped == []
        assert self.launches.doors is not None
        assert self.launches.doors.wrong == []
        self.loop.run_until_complete(self.tables.__aexit__())
        for stream in (*self.streams, *self.launches.streams):
            stream.context.put(None)
        self.loop.advance(60)
        assert asyncio.all_tasks(self.loop) == set()
        assert not self.host._waiting
        assert not self.host._busy
        assert self.host._quick == 0


def test_whatever_a_bot_does_when_every_match_ends_once_and_nobody_else_is_blamed() -> None:
    run_state_machine_as_test(
        Schedules,
        settings=settings(
            max_examples=10_000 if DEEP else 100,
            stateful_step_count=60 if DEEP else 40,
            deadline=None,
            derandomize=not DEEP,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    # Schedules that reach none of these would show little.
    rulings = {"TIMEOUT", "ILLEGAL_ACTION", "MALFORMED_MESSAGE", "DISCONNECTED", "CRASHED", "START_FAILED"}
    assert {"PLAYED", "BOT_FAULT", "resumed in play"} | rulings <= set(Schedules.seen)
