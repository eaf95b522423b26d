"""A thousand bots at once, each with a stream of its own, that think for 50 ms: is one ever ruled late?

As a program it is all these bots: it reads the address, the time to think in seconds and their
tokens from standard input, a line each, and plays until the arena hangs up.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import grpc
from botarena.v1.bot_pb2 import FromArena, FromBot, Hello, Reply
from botarena.v1.record_pb2 import MatchRecord

from arena.bots.conversation import PROTOCOL
from arena.bots.gateway import Gateway
from arena.bots.launcher import SOCKET
from arena.games.chance import deal_seed
from arena.match.host import Absent, Lane, OverloadError, TableHost
from arena.match.match import Match
from arena.match.record import unseal
from arena.match.verdicts import verdict_name
from tests.match.fakes import spec

SEATS = 4


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it.

    Attributes:
        verdicts: matches by verdict; "OVERLOAD" if the arena ruled that it was late itself.
        decisions: in all matches.
        seconds: from the first match's start to the last one's end.
    """

    verdicts: dict[str, int]
    decisions: int
    seconds: float


async def play(bots: int, think_s: float, move_us: int = 5_000_000) -> Played:
    """Let so many bots play one match each, four at a table.

    Args:
        bots: how many, a multiple of four.
        think_s: how long each of them takes for a decision, in seconds.
        move_us: how long it may take, in microseconds.
    """
    host = TableHost()
    gateway = Gateway(host)
    guests = [await gateway.expect(f"slow-{number}", _hung_up, _stuck) for number in range(bots)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.slow_bots", stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    dials = (f"unix:{guest.folder / SOCKET} {guest.token}" for guest in guests)
    lines = [str(think_s), *dials]
    process.stdin.write("\n".join(lines).encode())
    process.stdin.close()
    lanes = [lane for _, lane in await asyncio.gather(*(guest.greeted for guest in guests))]
    begin = time.perf_counter()
    tables = [lanes[first : first + SEATS] for first in range(0, bots, SEATS)]
    games = [_play_one(host, number, seated, move_us) for number, seated in enumerate(tables)]
    records = await asyncio.gather(*games)
    seconds = time.perf_counter() - begin
    await gateway.stop()
    await process.wait()
    played = [record for record in records if record is not None]
    verdicts = Counter(verdict_name(record.verdict) for record in played)
    verdicts["OVERLOAD"] = len(records) - len(played)
    return Played(dict(+verdicts), sum(len(record.seats) for record in played), seconds)


async def _play_one(host: TableHost, number: int, lanes: Sequence[Lane], move_us: int) -> MatchRecord | None:
    names = [lane.name for lane in lanes]
    match = Match(spec(names, seed=deal_seed(bytes(32), "koffer", number), move_us=move_us))
    try:
        return unseal(await host.play(match, lanes))
    except OverloadError:
        return None


def _hung_up(fault: Absent | None) -> None:
    """They all do in the end."""


def _stuck() -> None:
    """Its record tells."""


async def _bot(address: str, token: str, think_s: float) -> None:
    """One slow bot."""
    async with grpc.aio.insecure_channel(address) as channel:
        await _converse(channel, token, think_s)


async def _converse(channel: grpc.aio.Channel, token: str, think_s: float) -> None:
    play: Any = channel.stream_stream(
        "/botarena.v1.BotService/Play",
        request_serializer=FromBot.SerializeToString,
        response_deserializer=FromArena.FromString,
    )
    call = play(metadata=(("authorization", f"Bearer {token}"),))
    try:
        await call.write(FromBot(hello=Hello(protocol=PROTOCOL, sdk="slow", concurrency=1)))
        while isinstance(frame := await call.read(), FromArena):
            for decision in frame.decisions:
                await asyncio.sleep(think_s)
                await call.write(FromBot(replies=[Reply(decision=decision.id, action=0)]))
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        return


async def _be_all(think_s: float, dials: Sequence[str]) -> None:
    pairs = (dial.split() for dial in dials)
    await asyncio.gather(*(_bot(address, token, think_s) for address, token in pairs))


def main() -> None:
    """Be all the bots."""
    think, *dials = sys.stdin.read().split("\n")
    asyncio.run(_be_all(float(think), dials))


if __name__ == "__main__":
    main()
