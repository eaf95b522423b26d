"""What a worker process does: reads blocks from standard input, plays them with its own bots, writes results.

Its first frame is its setup in JSON. When its input closes it ends, and its bots with it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from botarena.v1.record_pb2 import Block, BlockResult

from arena.bots.launcher import LaunchError
from arena.bots.sandbox import launcher_for, strictest
from arena.bots.tables import Tables
from arena.games import find_game
from arena.match.host import OverloadError
from arena.runs.worker_setup import WorkerSetup
from arena.tournament.blocks import run_block
from arena.tournament.frames import pack, read_frame


async def work() -> None:
    """Play until the input closes."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_give_up)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    results = _private_stdout()
    first = await read_frame(reader)
    if first is None:
        return
    setup = WorkerSetup.unpack(first)
    if setup.cores:
        os.sched_setaffinity(0, setup.cores)
    logs = Path(setup.logs)
    launcher = launcher_for(strictest(setup.bots))
    async with Tables(setup.bots, logs, setup.start_us, setup.worker, setup.in_flight, launcher) as tables:
        if setup.all_at_once:
            tables.start_all()
        loop.call_soon(find_game, setup.game)  # it loads while the bots do
        running: set[asyncio.Task[None]] = set()
        while (data := await read_frame(reader)) is not None:
            task = asyncio.create_task(_play(Block.FromString(data), tables, results))
            running.add(task)
            task.add_done_callback(running.discard)
        for task in running:
            task.cancel()
    await launcher.close()


async def _play(block: Block, tables: Tables, results: int) -> None:
    try:
        result = await run_block(block, tables.play)
    except (LaunchError, OverloadError) as error:
        result = BlockResult(block=block.index, failure=str(error))
    except Exception as error:  # a bug of ours must not leave the arena waiting for this block
        traceback.print_exc()
        result = BlockResult(block=block.index, failure=f"{type(error).__name__}: {error}")
    with suppress(BrokenPipeError):  # the arena is gone, and so is our input: we are about to end
        _write_all(results, pack(result.SerializeToString()))


def _give_up(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """End at once on a failure of our own: the blocks are played again, and no bot is blamed."""
    loop.default_exception_handler(context)
    # These come from connections that broke, not from us.
    if not isinstance(context.get("exception"), (OSError, type(None))):
        os._exit(70)


def _write_all(end: int, data: bytes) -> None:
    while data:
        data = data[os.write(end, data) :]


def _private_stdout() -> int:
    """The pipe to the arena, out of the reach of anything that prints: that goes to stderr."""
    results = os.dup(1)
    os.dup2(2, 1)
    return results
