"""The raw limit: gRPC ping-pong on a unix socket with messages of given sizes, in pinned pairs of processes.

Run as a program it is the client: raw_grpc.py ADDRESS UP_BYTES BATCH.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import grpc

_METHOD = "/raw.Raw/Play"


async def serve(core: int, down: bytes, up_bytes: int, batch: int, seconds: float) -> float:
    """Messages per second of one server with one client, both on one core.

    Args:
        core: the core.
        down: what the server sends for each message.
        up_bytes: size of what the client answers.
        batch: messages per frame.
        seconds: how long to measure.
    """
    os.sched_setaffinity(0, [core])
    loop = asyncio.get_running_loop()
    rate: asyncio.Future[float] = loop.create_future()
    frame = down * batch

    async def play(_: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        for _ in range(20):  # warm up
            await context.write(frame)
            await context.read()
        begin, count = loop.time(), 0
        while loop.time() - begin < seconds:
            await context.write(frame)
            await context.read()
            count += batch
        if not rate.done():
            rate.set_result(count / (loop.time() - begin))

    server = grpc.aio.server()
    handler: Any = grpc.stream_stream_rpc_method_handler(play)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("raw.Raw", {"Play": handler}),))
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        address = f"unix:{Path(folder) / 's'}"
        server.add_insecure_port(address)
        await server.start()
        client = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.bench.raw_grpc", address, str(up_bytes), str(batch)
        )
        try:
            return await rate
        finally:
            await server.stop(None)
            await client.wait()


async def client(address: str, up: bytes) -> None:
    """Answer every frame until the server hangs up."""
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any = channel.stream_stream(_METHOD)()
        try:
            while await call.read() is not grpc.aio.EOF:
                await call.write(up)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return


if __name__ == "__main__":
    asyncio.run(client(sys.argv[1], bytes(int(sys.argv[2])) * int(sys.argv[3])))
