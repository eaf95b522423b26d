"""An executor within this process, for tournaments with bots that dial in: their streams end here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator

from botarena.v1.record_pb2 import Block, BlockResult

from arena.bots.launcher import Launcher, LaunchError
from arena.bots.tables import Tables
from arena.match.host import OverloadError
from arena.match.verdicts import MAX_TRIES
from arena.tournament.blocks import run_block

log = logging.getLogger(__name__)


class InProcess:
    """Plays blocks at tables of this process, on the running event loop.

    Args:
        tables: opens them, when they are needed.
        launcher: starts their bots.
        room: matches that are given to them at once.
    """

    def __init__(self, tables: Callable[[], Tables], launcher: Launcher, room: int) -> None:
        self._tables = tables
        self._launcher = launcher
        self._room = room

    async def run(self, blocks: Iterator[Block | None]) -> AsyncGenerator[list[BlockResult], None]:
        """Play blocks; their results come as they get done.

        Where the next block is None, it depends on results: it is asked for again when some were taken. Bots
        that were started are gone when the iterator is closed, and remote ones are told that it is over.
        """
        playing: dict[asyncio.Task[BlockResult], int] = {}
        async with self._tables() as tables:
            try:
                while True:
                    self._hand_out(blocks, tables, playing)
                    if not playing:
                        break
                    done, _ = await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        del playing[task]
                    yield [task.result() for task in done]
            finally:
                for task in playing:
                    task.cancel()
                await asyncio.gather(*playing, return_exceptions=True)
        await self._launcher.close()

    def _hand_out(
        self,
        blocks: Iterator[Block | None],
        tables: Tables,
        playing: dict[asyncio.Task[BlockResult], int],
    ) -> None:
        while sum(playing.values()) < self._room:
            block = next(blocks, None)
            if block is None:
                return
            playing[asyncio.create_task(_play(block, tables))] = len(block.seatings)


async def _play(block: Block, tables: Tables) -> BlockResult:
    """A block, played again as often as the machine loses it, up to a limit."""
    reason = ""
    for _ in range(MAX_TRIES):
        try:
            return await run_block(block, tables.play)
        except (LaunchError, OverloadError) as error:
            reason = str(error)
        except Exception as error:  # a bug of ours costs this block, and not the server
            log.exception("a block could not be played")
            reason = f"{type(error).__name__}: {error}"
    return BlockResult(block=block.index, failure=f"lost {MAX_TRIES} times; the last time {reason}")
