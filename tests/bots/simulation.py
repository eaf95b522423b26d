"""Tables on a clock of their own: real host, conversations and lives of bots, but no network or process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from botarena.v1.bot_pb2 import FromArena, FromBot, Reply
from botarena.v1.record_pb2 import FaultKind

from arena.bots.conversation import Conversations, Guest
from arena.bots.launcher import Ending, Place
from arena.bots.limits import BotLimits
from arena.bots.reference import BotSpec
from arena.match.host import Absent, TableHost
from tests.bots.streams import FakeContext, FakeStream, Life

T = TypeVar("T")


class StillLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    def settle(self, rounds: int = 60) -> None:
        """Let everything happen that needs no time."""

        async def others() -> None:
            for _ in range(rounds):
                await asyncio.sleep(0)
                if not self._ready:  # type: ignore[attr-defined]
                    return

        self.run_until_complete(others())

    def advance(self, seconds: float) -> None:
        """Let time pass, from one timer to the next."""
        end = self.now + seconds
        self.settle()
        while (due := self._next_timer()) <= end:
            self.now = max(self.now, due)
            self.settle()
        self.now = end
        self.settle()

    def _next_timer(self) -> float:
        timers = [timer.when() for timer in self._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        return min(timers, default=float("inf"))


class Doors:
    """In the gateway's place: guests without sockets."""

    def __init__(self, host: TableHost) -> None:
        self.host = host
        self.conversations = Conversations(host)
        self.guests: dict[str, Guest] = {}
        self.wrong: list[str] = []
        self._ruled: set[Guest] = set()

    async def expect(
        self, name: str, lost: Callable[[Absent | None], None], stuck: Callable[[], None]
    ) -> Guest:
        greeted = asyncio.get_running_loop().create_future()

        def judge(fault: Absent | None) -> None:
            self._judge(guest, fault)
            lost(fault)

        self.guests[name] = guest = Guest(name, Path("/nowhere"), judge, stuck, greeted)
        return guest

    def _judge(self, guest: Guest, fault: Absent | None) -> None:
        """Note what must never be ruled."""
        if guest in self._ruled:
            self.wrong.append(f"{guest.name} was ruled about twice")
        self._ruled.add(guest)
        if fault is None:
            self.wrong.append("the arena failed")
        elif fault.kind == FaultKind.FAULT_KIND_DISCONNECTED and guest.stream is not None:
            self.wrong.append(f"{guest.name} has a stream and is called disconnected")

    def expect_no_return(self, guest: Guest) -> None:
        self.conversations.expect_no_return(guest)

    async def dismiss(self, guest: Guest) -> None:
        self.conversations.part(guest)

    async def stop(self) -> None:
        for guest in self.guests.values():
            self.conversations.part(guest)


class FakeProcess:
    """A bot's process, which ends when it is told to."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()

    def end(self, text: str) -> None:
        if not self.ended.done():
            self.ended.set_result(Ending(text))

    async def stop(self) -> Ending:
        self.end("it was ended")
        return self.ended.result()


class Launches:
    """Starts honest bots that play by themselves, and one that a test plays."""

    def __init__(self) -> None:
        self.doors: Doors | None = None
        self.process: FakeProcess | None = None
        self.streams: list[FakeStream] = []

    async def close(self) -> None:
        """Nothing is left to clear up."""

    async def start(self, bot: BotSpec, limits: BotLimits, place: Place) -> FakeProcess:
        process = FakeProcess()
        if bot.name == "talker":
            self.process = process
        else:
            assert self.doors is not None
            life = Life(self.doors.conversations, self.doors.guests[bot.name])
            self.streams.append(FakeStream(life, Answering(place.token)).hello())
        return process


class Answering(FakeContext):
    """Answers the first action to whatever it is asked."""

    async def write(self, frame: bytes) -> None:
        replies = [Reply(decision=asked.id, action=0) for asked in FromArena.FromString(frame).decisions]
        if replies:
            self.put(FromBot(replies=replies).SerializeToString())


def run(loop: StillLoop, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run something that needs no time."""
    return loop.run_until_complete(coroutine)
