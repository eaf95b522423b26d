"""`python -m tests.fuzz`: send mutated frames to the gateway beside honest bots, and see what breaks.

Most frames go through a stand-in for gRPC's streams, a share of them through real sockets. It prints
what became of the fuzzer's lives and matches and how much memory was used before and after; its exit
code is 1 if an exception escaped, an honest bot was disturbed or anything was left.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arena.bots import conversation
from arena.bots.conversation import Conversations
from arena.bots.gateway import Gateway
from tests.fuzz.beside import Findings, Fuzz, Table
from tests.fuzz.lives import InProcess, OverSocket

SOCKET_SHARE = 0.02
WARM_UP = 0.1
"""Share of the frames after which memory is compared: what is loaded and kept once is there by then."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a run.

    Attributes:
        frames: how many were sent.
        summary: counts by outcome, as a line for people.
        wrong: all that must not happen.
        begin_kib: memory in use when all was loaded, in KiB.
        end_kib: memory in use at the end, in KiB.
    """

    frames: int
    summary: str
    wrong: tuple[str, ...]
    begin_kib: int
    end_kib: int


async def fuzz(count: int, seed: int, tell: Callable[[int], None] = lambda sent: None) -> Report:
    """Send so many frames.

    Args:
        seed: of all that is drawn; what the machine's pace decides differs between runs.
        tell: is told now and then how many were sent.
    """
    findings = Findings()
    logging.getLogger().addHandler(findings)
    asyncio.get_running_loop().set_exception_handler(findings.of_the_loop)
    conversation._REFUSAL_S, refusal_s = 0.0, conversation._REFUSAL_S
    try:
        table = Table(findings, seed)
        over_sockets = Fuzz(table, round(count * SOCKET_SHARE), tell)
        await _over_sockets(over_sockets)
        begin_kib = 0
        done = over_sockets.sent
        in_process = Fuzz(table, count - done, lambda sent: tell(done + sent))
        conversations = Conversations(table.host)
        while in_process.sent < in_process.most:
            bot = InProcess(conversations)
            await in_process.live(bot)
            await bot.end()
            if not begin_kib and in_process.sent > WARM_UP * in_process.most:
                begin_kib = resident_kib()
        await asyncio.sleep(0)
        table.check_that_nothing_is_left()
        table.check(len(asyncio.all_tasks()) == 1, "tasks are left")
    finally:
        conversation._REFUSAL_S = refusal_s
        logging.getLogger().removeHandler(findings)
    lives = ", ".join(f"{name} {n}" for name, n in (over_sockets.lives + in_process.lives).most_common())
    matches = ", ".join(f"{name} {n}" for name, n in table.outcomes.most_common())
    sent = over_sockets.sent + in_process.sent
    summary = f"lives: {lives} | matches: {matches}"
    return Report(sent, summary, tuple(findings.wrong), begin_kib, resident_kib())


async def _over_sockets(run: Fuzz) -> None:
    gateway = Gateway(run.table.host)
    while run.sent < run.most:
        bot = await OverSocket.begin(gateway)
        await run.live(bot)
        await bot.end()
    await gateway.stop()


def resident_kib() -> int:
    """Memory in use, in KiB."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


class Progress:
    """Tells on stderr how far it is, twice a second at most."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._begin = self._told = time.monotonic()

    def __call__(self, sent: int) -> None:
        now = time.monotonic()
        if now - self._told < (0.5 if sys.stderr.isatty() else 10):
            return
        self._told = now
        rate = sent / (now - self._begin)
        left = int((self._count - sent) / rate)
        text = f"{sent:,}/{self._count:,} frames  {rate:,.0f}/s  ETA {left // 60}:{left % 60:02}"
        print(text, file=sys.stderr, end="\r" if sys.stderr.isatty() else "\n")


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frames", type=int, default=1_000_000, help="how many to send")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn")
    options = parser.parse_args()
    begin = time.monotonic()
    report = asyncio.run(fuzz(options.frames, options.seed, Progress(options.frames)))
    for wrong in report.wrong[:20]:
        print(f"wrong: {wrong}", file=sys.stderr)
    print(
        f"{report.frames:,} frames in {time.monotonic() - begin:.0f} s, {len(report.wrong)} findings | "
        f"{report.summary} | memory {report.begin_kib >> 10} MiB -> {report.end_kib >> 10} MiB"
    )
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
