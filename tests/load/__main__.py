"""Put a load on a server, kill it in the middle, and tell how it did; exit code 1 if anything was lost."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import grpc
import sqlalchemy as sa
from botarena.v1.api_accounts_pb2 import CreateTokenRequest, CreateUserRequest
from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub
from botarena.v1.api_bots_pb2 import RegisterRemoteBotRequest
from botarena.v1.api_bots_pb2_grpc import BotCatalogServiceStub

from arena.store.schema import token as token_table
from arena.store.store import Store, sqlite_url
from tests.e2e.arena import Arena
from tests.e2e.server import ServerProcess
from tests.load.bots import Played, play_on
from tests.load.calls import AWAY, CANONICAL, Calls, percentile
from tests.load.clients import call_on

_CONFIG = """
[quotas]
bots = 1000
remote_bots = 1000
tokens = 1000000
versions_per_day = 1000

[rates]
token = 100000
peer = 100000
failures = 100000
openings = 100000
"""
_EACH = 5
"""Remote bots of a user."""
_BACK_S = 60.0
"""Within so many seconds of a restart everybody must be there again."""


async def _load(server: ServerProcess, seconds: float, bots: int, clients: int) -> list[str]:
    """Put the load on it; what went wrong."""
    calls, played, over = Calls(), Played(), asyncio.Event()
    tokens = await _register(server, bots, calls)
    tasks = [
        *(play_on(f"bot-{n}", server.address, tokens[n // _EACH], played, over) for n in range(bots)),
        *(call_on(n, server.address, tokens[n % len(tokens)], calls, over) for n in range(clients)),
    ]
    running = [asyncio.create_task(task) for task in tasks]
    flaws = await _wait_for_bots(server, bots)
    await asyncio.sleep(seconds / 2)
    calls.is_away = True
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    flaws += await _wait_for_bots(server, bots)
    calls.is_away = False
    await asyncio.sleep(seconds / 2)
    calls.is_away = True
    over.set()
    for task in running[:bots]:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    code = await asyncio.to_thread(server.end)
    if code:
        flaws.append(f"the server ended with {code}")
    _report(calls, played, bots)
    strange = set(played.refusals) - CANONICAL - AWAY
    flaws += [f"bots were refused with {code}" for code in sorted(strange)]
    return [*flaws, *calls.bad[:10], *_lost(server.arena, calls)]


async def _register(server: ServerProcess, bots: int, calls: Calls) -> list[str]:
    """Make users and their remote bots; the users' tokens."""
    admin, tokens = server.token, []
    async with grpc.aio.insecure_channel(server.address) as channel:
        accounts, catalog = AccountServiceStub(channel), BotCatalogServiceStub(channel)
        for owner in range(-(-bots // _EACH)):
            name = f"user-{owner}"
            await calls.call("CreateUser", accounts.CreateUser, CreateUserRequest(name=name), admin)
            asked = CreateTokenRequest(user=name, scopes=["bot:play", "bot:submit"])
            made = await calls.call("CreateToken", accounts.CreateToken, asked, admin)
            tokens.append(made.secret)
        for number in range(bots):
            request = RegisterRemoteBotRequest(bot=f"bot-{number}")
            register = catalog.RegisterRemoteBot
            await calls.call("RegisterRemoteBot", register, request, tokens[number // _EACH])
    return tokens


async def _wait_for_bots(server: ServerProcess, bots: int) -> list[str]:
    """Wait until all bots are connected; what is wrong if they are not in time."""
    admin, began = server.user(server.token), time.monotonic()
    while True:
        ((status),) = await asyncio.to_thread(admin.lines, "status")
        if status["remote_bots"] == bots:
            print(f"{bots} remote bots are there after {time.monotonic() - began:.1f} s", flush=True)
            return []
        if time.monotonic() - began > _BACK_S:
            return [f"only {status['remote_bots']} of {bots} bots are there after {_BACK_S:.0f} s"]


def _lost(arena: Arena, calls: Calls) -> list[str]:
    """What was acknowledged and is not in the database."""
    with closing(Store(sqlite_url(arena.folder / "arena.db"))) as store, store.reading() as connection:
        stored = set(connection.execute(sa.select(token_table.c.label)).scalars())
    lost = calls.made - stored
    arena.run("db", "check")
    return [f"{len(lost)} of {len(calls.made)} acknowledged tokens are lost"] if lost else []


def _report(calls: Calls, played: Played, bots: int) -> None:
    print(f"{'method':20} {'answered':>9} {'p50 ms':>8} {'p99 ms':>8}  codes")
    for name, seconds in sorted(calls.seconds.items()):
        p50, p99 = (1000 * percentile(seconds, share) for share in (0.5, 0.99))
        codes = ", ".join(f"{code} {count}" for code, count in sorted(calls.codes[name].items()))
        print(f"{name:20} {len(seconds):9} {p50:8.1f} {p99:8.1f}  {codes}")
    print(
        f"{bots} remote bots: let in {played.welcomes} times, {played.decisions} decisions, "
        f"told of {played.ends} ends; turned away: {dict(played.refusals)}"
    )
    print(f"{len(calls.made)} tokens were acknowledged", flush=True)


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--clients", type=int, default=50)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-load-") as folder:
        (Path(folder) / "serve.toml").write_text(_CONFIG)
        server = ServerProcess(Arena(Path(folder)), "--config", "serve.toml", "--log-level", "warning")
        server.start()
        try:
            flaws = asyncio.run(_load(server, chosen.seconds, chosen.bots, chosen.clients))
        finally:
            server.kill()
    for flaw in flaws:
        print(f"flaw: {flaw}", file=sys.stderr)
    print("nothing was lost" if not flaws else f"{len(flaws)} flaws")
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
