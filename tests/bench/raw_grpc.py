"""The raw limit: gRPC ping-pong on a unix socket with messages of given sizes, in pinned pairs of processes.

As a program it is one side: `serve CORE DOWN_BYTES UP_BYTES BATCH SECONDS`, which prints messages per
second and starts the other, `answer ADDRESS UP_BYTES`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import grpc

_METHOD = "/raw.Raw/Play"


def rate(down_bytes: int, up_bytes: int, batch: int, seconds: float, pairs: int) -> float:
    """Messages per second of some pairs of processes at once, each pair on a core of its own.

    Args:
        down_bytes: size of what the server sends for each message.
        up_bytes: size of what the client answers to each.
        batch: messages per frame.
        seconds: how long to measure.
        pairs: how many.
    """
    cores = sorted(os.sched_getaffinity(0))[:pairs]
    servers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.raw_grpc", "serve"]
            + [str(number) for number in (core, down_bytes, up_bytes, batch, seconds)],
            stdout=subprocess.PIPE,
        )
        for core in cores
    ]
    return sum(float(server.communicate()[0]) for server in servers)


async def _serve(core: int, down_bytes: int, up_bytes: int, batch: int, seconds: float) -> float:
    """Messages per second of one server with one client, both on one core."""
    os.sched_setaffinity(0, [core])
    loop = asyncio.get_running_loop()
    result: asyncio.Future[float] = loop.create_future()
    frame = bytes(down_bytes * batch)

    async def play(_: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        for _ in range(20):  # warm up
            await context.write(frame)
            await context.read()
        begin, count = loop.time(), 0
        while loop.time() - begin < seconds:
            await context.write(frame)
            await context.read()
            count += batch
        if not result.done():
            result.set_result(count / (loop.time() - begin))

    server = grpc.aio.server()
    handler: Any = grpc.stream_stream_rpc_method_handler(play)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("raw.Raw", {"Play": handler}),))
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        address = f"unix:{Path(folder) / 's'}"
        server.add_insecure_port(address)
        await server.start()
        client = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.bench.raw_grpc", "answer", address, str(up_bytes * batch)
        )
        try:
            return await result
        finally:
            await server.stop(None)
            await client.wait()


async def _answer(address: str, up: bytes) -> None:
    """Answer every frame until the server hangs up."""
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any = channel.stream_stream(_METHOD)()
        try:
            while await call.read() is not grpc.aio.EOF:
                await call.write(up)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return


def main(side: str, *arguments: str) -> None:
    """Be one side."""
    if side == "answer":
        asyncio.run(_answer(arguments[0], bytes(int(arguments[1]))))
    else:
        core, down, up, batch = map(int, arguments[:4])
        print(asyncio.run(_serve(core, down, up, batch, float(arguments[4]))))


if __name__ == "__main__":
    main(*sys.argv[1:])
