"""The local executor: one worker process per core, pinned together with its bots."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field

from botarena.v1.record_pb2 import Block, BlockResult

from arena.errors import ArenaError
from arena.match.verdicts import MAX_ENDS, MAX_TRIES
from arena.tournament.frames import read_frame
from arena.tournament.process import WorkerProcess

IN_FLIGHT = 256
"""Most matches that a worker has in play at once: measured to be quickest for bots that answer at once."""
FIRST_ROOM = 64
"""Matches that a worker is given ahead to begin with, until it shows how quick its bots are."""
ROOMS = (16, 256)
"""Fewest and most matches that a worker is given ahead. What waits keeps it busy while results are stored
and more is handed out; fewer are sooner done, so that progress is seen and little is lost at a kill."""
BLOCK_S = (1.5, 4.0)
"""Seconds. A worker whose blocks take less than the first is given more at once, over the second less."""
GATHER_S = 0.03
"""Results that come within so many seconds are handed on, and stored, together."""


@dataclass(frozen=True, slots=True)
class WorkerCommand:
    """How a worker process is started.

    Attributes:
        command: program and arguments.
        setup: its first frame.
    """

    command: Sequence[str]
    setup: bytes


@dataclass(slots=True, eq=False)
class _Worker:
    """A worker process.

    Attributes:
        blocks: what it has in hand, by index.
        trying: whether that is a suspect, which it has alone.
        room: matches that it is given at once.
        most: the greatest room.
        matches: those of its blocks.
    """

    process: WorkerProcess
    room: int
    most: int
    blocks: dict[int, Block] = field(default_factory=dict)
    trying: bool = False
    matches: int = 0
    _given: dict[int, float] = field(default_factory=dict)
    _changed: float = 0.0

    def give(self, block: Block) -> None:
        """Hand it a block."""
        self.blocks[block.index] = block
        self.matches += len(block.seatings)
        self._given[block.index] = time.monotonic()
        self.process.send(block.SerializeToString())

    def take(self, index: int) -> Block:
        """It is done with a block."""
        given, now = self._given.pop(index), time.monotonic()
        quick, slow = BLOCK_S
        # What it was given before the last change says nothing about the room that it has now.
        if given >= self._changed and not quick < now - given < slow:
            self.room = (
                min(self.most, 2 * self.room) if now - given <= quick else max(ROOMS[0], self.room // 2)
            )
            self._changed = now
        block = self.blocks.pop(index)
        self.matches -= len(block.seatings)
        return block


class LocalExecutor:
    """Plays blocks in worker processes of this machine.

    Args:
        commands: how each worker is started, one entry per worker.
        in_flight: matches that each of them has in play at once.
        ahead: a process that runs the first of these commands already.
    """

    def __init__(
        self,
        commands: Sequence[WorkerCommand],
        in_flight: int = IN_FLIGHT,
        ahead: WorkerProcess | None = None,
    ) -> None:
        self.commands = commands
        self._ahead = ahead
        self._in_flight = in_flight
        self._results: asyncio.Queue[tuple[_Worker, BlockResult | None]] = asyncio.Queue()
        self._suspects: list[Block] = []
        self._exhausted = False
        self._tries: Counter[int] = Counter()
        self._ends = 0

    def prepare(self) -> None:
        """Set up the worker that runs already, so that it starts its bots before there is a block."""
        if self._ahead is not None:
            self._ahead.set_up(self.commands[0].setup)

    def close(self) -> bool:
        """End the worker that runs already if nothing was played; whether that was so."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.end()
        return ahead is not None

    async def run(self, blocks: Iterator[Block | None]) -> AsyncGenerator[list[BlockResult], None]:
        """Play blocks; their results come as they get done, those of a moment together.

        Where the next block is None, it depends on results: it is asked for again when some were taken.

        Worker processes and their bots are gone when the iterator is closed.

        Raises:
            ArenaError: workers end as soon as they start.
        """
        readers: list[asyncio.Task[None]] = []
        workers: list[_Worker] = []
        try:
            for number in range(len(self.commands)):
                await self._hire(number, workers, readers)
            while True:
                self._hand_out(blocks, workers)
                if not any(worker.blocks for worker in workers):
                    return
                results: list[BlockResult] = []
                for worker, result in await self._reports(workers):
                    if result is not None and not result.failure:
                        self._ends = 0
                        worker.take(result.block)
                        worker.trying = False
                        results.append(result)
                    else:
                        results += await self._repair(worker, result, workers, readers)
                if self._exhausted and not self._suspects and not any(worker.blocks for worker in workers):
                    _close_inputs(workers)  # they end while their last results are stored
                if results:
                    yield results
        finally:
            await _dismiss(workers, readers)

    async def _reports(self, workers: Sequence[_Worker]) -> list[tuple[_Worker, BlockResult | None]]:
        """What workers report: one thing at least, and what others add while there is more to come."""
        reports = [await self._results.get()]
        if sum(len(worker.blocks) for worker in workers) > 1:
            await asyncio.sleep(GATHER_S)
        while not self._results.empty():
            reports.append(self._results.get_nowait())
        return reports

    async def _repair(
        self,
        worker: _Worker,
        result: BlockResult | None,
        workers: list[_Worker],
        readers: list[asyncio.Task[None]],
    ) -> list[BlockResult]:
        """A worker lost a block, or ended: what it lost is to be played again, if that is of any use."""
        if result is not None:
            worker.trying = False
            return list(self._suspect([worker.take(result.block)], result.failure))
        reason = f"its worker ended ({await _end(worker)})"
        self._ends += 1
        if self._ends == MAX_ENDS:
            raise ArenaError(
                "no worker can play",
                f"{MAX_ENDS} of them ended one after the other; of the last block {reason}",
                "see what they said, mend it and play on: arena tournament resume NAME",
            )
        number = workers.index(worker)
        workers.remove(worker)
        await self._hire(number, workers, readers)
        return list(self._suspect(list(worker.blocks.values()), reason))

    async def _hire(self, number: int, workers: list[_Worker], readers: list[asyncio.Task[None]]) -> None:
        command = self.commands[number]
        process, self._ahead = self._ahead or WorkerProcess(command.command), None
        worker = _Worker(process, FIRST_ROOM, max(ROOMS[1], 2 * self._in_flight))
        workers.insert(number, worker)
        process.set_up(command.setup)
        readers.append(asyncio.create_task(self._listen(worker, await process.attach())))

    async def _listen(self, worker: _Worker, output: asyncio.StreamReader) -> None:
        while (data := await read_frame(output)) is not None:
            await self._results.put((worker, BlockResult.FromString(data)))
        await self._results.put((worker, None))

    def _hand_out(self, blocks: Iterator[Block | None], workers: Sequence[_Worker]) -> None:
        """Give the least busy workers blocks until all have enough, and suspects to idle ones."""
        while free := [worker for worker in workers if not worker.trying and worker.matches < worker.room]:
            worker = min(free, key=lambda worker: worker.matches)
            worker.trying = bool(self._suspects) and not worker.blocks
            block = self._suspects.pop() if worker.trying else self._next(blocks)
            if block is None:
                return
            worker.give(block)

    def _next(self, blocks: Iterator[Block | None]) -> Block | None:
        """The next block; None if there is none, or none yet."""
        try:
            return next(blocks)
        except StopIteration:
            self._exhausted = True
            return None

    def _suspect(self, lost: Sequence[Block], reason: str) -> Iterator[BlockResult]:
        """Blocks that the machine lost are played again, each alone, unless that is lost every time.

        Of several that were lost together one may be to blame, or none: only what is lost alone counts.
        """
        for block in lost:
            self._tries[block.index] += len(lost) == 1
            if self._tries[block.index] < MAX_TRIES:
                self._suspects.append(block)
            else:
                yield BlockResult(
                    block=block.index, failure=f"lost {MAX_TRIES} times; the last time {reason}"
                )


def worker_cpus(workers: int) -> list[list[int]]:
    """A share of this process's cores for each worker.

    Args:
        workers: how many; beyond the number of cores they share.
    """
    cores = sorted(os.sched_getaffinity(0))
    return [
        cores[number % len(cores) :: workers] or [cores[number % len(cores)]] for number in range(workers)
    ]


async def _end(worker: _Worker) -> str:
    """How a worker ended whose output did."""
    code = await worker.process.wait(2)
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def _close_inputs(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.process.close_input()


async def _dismiss(workers: Sequence[_Worker], readers: Sequence[asyncio.Task[None]]) -> None:
    """Close the workers' input, which ends them and their bots, and wait until they are gone."""
    _close_inputs(workers)
    for worker in workers:
        await worker.process.wait()
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
