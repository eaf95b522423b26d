"""What matches in flight cost in memory. As a program it measures itself and prints JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from botarena import lazy
from botarena.v1.bot_pb2 import FromBot

import arena.bots.tables  # noqa: F401 - a worker has it, and gRPC with it
from arena.games.chance import deal_seed
from arena.match.host import Lane, TableHost
from arena.match.match import Match
from tests.match.fakes import spec

FEW, MANY = 100, 1000
"""Matches in flight."""
_HALFWAY = 5
"""Decisions that each bot has answered in each match when it is measured."""
_NAMES = ("a", "b", "c", "d")


class _Stops:
    """A bot that answers some decisions of each match and then no more."""

    def __init__(self, host: TableHost, name: str) -> None:
        self.lane = Lane(name, self, lambda: None)
        self._host = host
        self._answered: dict[int, int] = {}

    def send(self, frame: bytes) -> None:
        asyncio.get_running_loop().call_soon(self._answer, frame)

    def _answer(self, frame: bytes) -> None:
        answers = FromBot()
        for decision in lazy.FromArena.FromString(frame).decisions:
            done = self._answered.get(decision.match, 0)
            self._answered[decision.match] = done + 1
            if done < _HALFWAY:
                answers.replies.add(decision=decision.id, action=0)
        self._host.receive(self.lane, answers)


def _resident_kib() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


async def _measure() -> dict[str, int]:
    host = TableHost()
    bots = [_Stops(host, name) for name in _NAMES]
    games: list[asyncio.Task[bytes]] = []

    async def play_on_to(count: int) -> int:
        for number in range(len(games), count):
            seed = deal_seed(bytes(32), "koffer", number)
            match = Match(spec(_NAMES, seed=seed, move_us=600_000_000, bank_us=600_000_000))
            games.append(asyncio.create_task(host.play(match, [bot.lane for bot in bots])))
        await asyncio.sleep(3)
        return _resident_kib()

    few = await play_on_to(FEW)
    many = await play_on_to(MANY)
    for game in games:
        game.cancel()
    return {"few_kib": few, "many_kib": many}


def measure() -> tuple[float, float]:
    """KiB for each further match in flight, and MiB of a worker with a thousand of them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.memory"], stdout=subprocess.PIPE, check=True, text=True
    )
    found = json.loads(done.stdout)
    return (found["many_kib"] - found["few_kib"]) / (MANY - FEW), found["many_kib"] / 1024


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure())))
