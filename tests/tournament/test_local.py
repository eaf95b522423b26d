"""The local executor with scripted workers: what is lost is played again, and nothing twice."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import Block, BlockResult, Seating

from arena.errors import ArenaError
from arena.match.verdicts import MAX_ENDS, MAX_TRIES
from arena.tournament.local import FIRST_ROOM, ROOMS, LocalExecutor, WorkerCommand, worker_cpus
from arena.tournament.process import WorkerProcess

WORKER = """
import os, sys
from botarena.v1.record_pb2 import Block, BlockResult

def read():
    head = sys.stdin.buffer.read(4)
    return sys.stdin.buffer.read(int.from_bytes(head, "big")) if head else None

def write(result):
    data = result.SerializeToString()
    sys.stdout.buffer.write(len(data).to_bytes(4, "big") + data)
    sys.stdout.buffer.flush()

name = read().decode()
waiting = []
while (data := read()) is not None:
    block = Block.FromString(data)
    with open("played", "a") as file:
        file.write(f"{block.index} ")
    tries = open("played").read().split().count(str(block.index))
    {behaviour}
    write(BlockResult(block=block.index, records=[name.encode()]))
"""


def blocks(count: int, seatings: int = 4) -> Iterator[Block | None]:
    for index in range(count):
        yield Block(index=index, seatings=[Seating(index=i) for i in range(seatings)])


def executor(folder: Path, behaviour: str, workers: int = 2) -> LocalExecutor:
    script = folder / "worker.py"
    script.write_text(WORKER.replace("{behaviour}", behaviour))
    command = (sys.executable, "-c", f"import os; os.chdir({str(folder)!r}); exec(open('worker.py').read())")
    return LocalExecutor([WorkerCommand(command, f"worker {n}".encode()) for n in range(workers)])


async def results(found: LocalExecutor, count: int) -> list[BlockResult]:
    return [result async for some in found.run(blocks(count)) for result in some]


async def test_every_block_is_played_once_by_some_worker(tmp_path: Path) -> None:
    found = await results(executor(tmp_path, "pass"), 200)
    assert sorted(result.block for result in found) == list(range(200))
    assert {result.records[0] for result in found} == {b"worker 0", b"worker 1"}
    assert sorted(map(int, (tmp_path / "played").read_text().split())) == list(range(200))


@pytest.mark.parametrize(
    "behaviour",
    [
        "if block.index == 5 and tries == 1: os._exit(1)",
        "if block.index == 5 and tries == 1: os.kill(os.getpid(), 9)",
        "if block.index == 5 and tries == 1: write(BlockResult(block=5, failure='no disk')); continue",
        "if block.index == 5 and tries == 1: os.write(1, b'cut'); os._exit(1)",
    ],
)
async def test_what_a_worker_loses_is_played_again(tmp_path: Path, behaviour: str) -> None:
    found = await results(executor(tmp_path, behaviour), 30)
    assert sorted(result.block for result in found) == list(range(30))
    assert all(not result.failure for result in found)


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ("if block.index == 5: os._exit(70)", "its worker ended (exit code 70)"),
        ("if block.index == 5: write(BlockResult(block=5, failure='no disk')); continue", "no disk"),
    ],
)
async def test_what_is_lost_every_time_is_given_up_and_the_rest_is_played(
    tmp_path: Path, behaviour: str, why: str
) -> None:
    found = await results(executor(tmp_path, behaviour, workers=1), 12)
    (failed,) = [result for result in found if result.failure]
    assert failed.block == 5
    assert why in failed.failure
    assert MAX_TRIES <= (tmp_path / "played").read_text().split().count("5") <= MAX_TRIES + 1
    assert sorted(result.block for result in found) == list(range(12))


async def test_workers_that_only_ever_end_are_not_started_for_ever(tmp_path: Path) -> None:
    behaviour = "open(f'pid-{os.getpid()}', 'w').close(); os._exit(70)"
    with pytest.raises(ArenaError, match=r"no worker can play: 10 of them .*\(exit code 70\)"):
        await results(executor(tmp_path, behaviour, workers=1), 1000)
    assert len(list(tmp_path.glob("pid-*"))) == MAX_ENDS


async def test_blocks_that_depend_on_results_wait_for_them_with_the_same_workers(tmp_path: Path) -> None:
    stored: set[int] = set()

    def rounds() -> Iterator[Block | None]:
        for first in (0, 3, 6):
            for block in blocks(3):
                assert block is not None
                block.index += first
                yield block
            while len(stored) < first + 3:
                yield None

    run = executor(tmp_path, "open(f'pid-{os.getpid()}', 'w').close()")
    async for some in run.run(rounds()):
        stored |= {result.block for result in some}
    assert stored == set(range(9))
    assert len(list(tmp_path.glob("pid-*"))) <= 2


async def test_no_worker_has_more_in_hand_than_it_can_use(tmp_path: Path) -> None:
    behaviour = "waiting.append(block.index); open('hand', 'w').write(str(len(waiting))); continue"
    run = executor(tmp_path, behaviour, workers=1)
    taken: list[int] = []

    def counted() -> Iterator[Block | None]:
        for block in blocks(10_000):
            assert block is not None
            taken.append(block.index)
            yield block

    async with aclosing(run.run(counted())) as playing:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(playing), 1.5)
    assert len(taken) == FIRST_ROOM // 4


@pytest.mark.parametrize(("delay", "room"), [("0", ROOMS[1]), ("0.5", ROOMS[0])])
async def test_quick_workers_are_given_more_at_once_and_slow_ones_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delay: str, room: int
) -> None:
    monkeypatch.setattr("arena.tournament.local.BLOCK_S", (0.4, 0.45))
    run = executor(tmp_path, f"import time; time.sleep({delay})", workers=1)
    taken = given = most = 0

    def counted() -> Iterator[Block | None]:
        nonlocal taken
        for block in blocks(10**6):
            taken += 1
            yield block

    async with aclosing(run.run(counted())) as playing:
        async for some in playing:
            given += len(some)
            most = max(most, taken - given)
            if (taken - given) * 4 <= room + 4 if delay != "0" else most * 4 >= room - 4:
                return
    pytest.fail("the room never became what it should")


async def test_a_worker_that_runs_already_is_the_first(tmp_path: Path) -> None:
    one = executor(tmp_path, "pass", workers=1)
    ahead = WorkerProcess(one.commands[0].command)
    run = LocalExecutor(one.commands, ahead=ahead)
    run.prepare()
    assert {result.records[0] for result in await results(run, 10)} == {b"worker 0"}
    assert await ahead.wait() == 0
    assert not run.close()  # it is gone with the run


@pytest.mark.parametrize("prepared", [False, True])
async def test_a_worker_that_died_before_the_run_is_replaced(tmp_path: Path, prepared: bool) -> None:
    one = executor(tmp_path, "pass", workers=1)
    dead = WorkerProcess((sys.executable, "-c", "raise SystemExit(1)"))
    assert await dead.wait() == 1
    run = LocalExecutor(one.commands, ahead=dead)
    if prepared:
        run.prepare()
    assert len(await results(run, 10)) == 10


@pytest.mark.parametrize("prepared", [False, True])
def test_a_worker_that_nobody_needed_is_ended(tmp_path: Path, prepared: bool) -> None:
    one = executor(tmp_path, "pass", workers=1)
    ahead = WorkerProcess(one.commands[0].command)
    run = LocalExecutor(one.commands, ahead=ahead)
    if prepared:
        run.prepare()
    assert run.close()
    assert not run.close()
    assert ahead._process.returncode is not None


async def test_workers_are_gone_when_the_run_is_closed(tmp_path: Path) -> None:
    behaviour = "open(f'pid-{os.getpid()}', 'w').close()"
    async with aclosing(executor(tmp_path, behaviour).run(blocks(1000))) as playing:
        await anext(playing)
    pids = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
    assert pids
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_cores_are_shared_out_and_none_is_left_out(workers: int) -> None:
    cores = os.sched_getaffinity(0)
    shares = worker_cpus(workers)
    assert len(shares) == workers
    assert all(shares)
    assert set().union(*shares) == (cores if workers <= len(cores) else cores & set().union(*shares))
    if workers <= len(cores):
        assert sum(map(len, shares)) == len(cores)
