"""What it costs that a bot dials in over TCP, as a share of what it plays over a unix socket.

`python -m tests.bench.remote` prints decisions a second over both, and their ratio.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import grpc

from arena.bots.conversation import Context, first_hello, play_handlers
from arena.bots.flood import Refusals
from arena.bots.visitors import Newcomer, Visitors
from arena.games.chance import deal_seed
from arena.match.host import Absent, TableHost
from arena.match.match import Match
from tests.match.fakes import FakeBot, spec

_BOT = "from botarena import run; run(lambda turn: 0)"
_IN_PLAY = 64


async def rates(seconds: float) -> tuple[float, float]:
    """Decisions a second of an SDK bot in a process of its own: over a unix socket, and over TCP."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        over_socket = await _rate(f"unix:{folder}/socket", seconds)
    return over_socket, await _rate("127.0.0.1:0", seconds)


async def _rate(address: str, seconds: float) -> float:
    visitors = Visitors(TableHost())
    visitor = visitors.visitor(1, "talker")

    async def find(context: Context) -> Newcomer:
        return Newcomer(visitor, first_hello(await context.read()), lambda: None)

    async def play(_requests: object, context: Context) -> None:
        await visitors.attend("the bench", Refusals(), find, context)

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((play_handlers(play),))
    port = server.add_insecure_port(address)
    await server.start()
    bot = _start(address.replace(":0", f":{port}") if address.endswith(":0") else address)
    try:
        await visitors.changes.until(lambda: visitor.present, 30)
        return await _play(visitors, seconds)
    finally:
        bot.kill()
        bot.wait()
        await server.stop(None)


def _start(address: str) -> subprocess.Popen[bytes]:
    where = {"ARENA_ADDR" if address.startswith("unix:") else "ARENA_SERVER": address}
    line = [sys.executable, "-c", _BOT]
    return subprocess.Popen(line, env={**os.environ, **where, "ARENA_TOKEN": "x"}, stderr=subprocess.DEVNULL)


async def _play(visitors: Visitors, seconds: float) -> float:
    player = visitors.player("talker", 1, 10_000_000)
    lane = await player.lane()
    assert not isinstance(lane, Absent)
    other = FakeBot(visitors.host, "other")
    base, end, asked = spec(("talker", "other"), move_us=60_000_000), time.monotonic() + seconds, lane.asked

    async def series(first: int) -> None:
        number = first
        while time.monotonic() < end:
            dealt = replace(base, seed=deal_seed(bytes(32), "koffer", number))
            await visitors.host.play(Match(dealt), [lane, other.lane])
            number += _IN_PLAY

    began = time.monotonic()
    await asyncio.gather(*(series(number) for number in range(_IN_PLAY)))
    return (lane.asked - asked) / (time.monotonic() - began)


if __name__ == "__main__":
    socket_rate, port_rate = asyncio.run(rates(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0))
    print(f"unix {socket_rate:,.0f}/s, TCP {port_rate:,.0f}/s, ratio {port_rate / socket_rate:.2f}")
