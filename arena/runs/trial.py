"""A trial: whether a bot can play at all, found out by letting it play.

It plays scripted matches of each of its games, with every kind of options and from every seat, then a small
tournament against house bots. Nothing of it is kept but what was found, and nothing of it is rated. Faults of
the bot are told with all that is known about them; what the machine does is never one.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from botarena.v1.record_pb2 import Block, BlockResult, FaultKind, MatchRecord

from arena.bots.reference import BotSpec
from arena.errors import ArenaError
from arena.games import GAMES, find_game
from arena.games.chance import SEED_BYTES
from arena.match.evidence import ToldFault, told_faults
from arena.match.record import unseal
from arena.match.verdicts import FAULTS
from arena.runs.custody import Tell, silent
from arena.runs.definition import Limits
from arena.runs.executor import Workers, make_executor
from arena.runs.names import logs_folder
from arena.store.store import Store
from arena.store.stored import StoredBot, StoredTournament
from arena.text import printable
from arena.tournament.formats import DEFAULT_FORMAT, Plan, make_format
from arena.tournament.local import LocalExecutor
from arena.tournament.runner import Run

KINDS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "koffer": ({}, {"specials": "2,3,4"}, {"specials": "6,13,15"}, {"specials": "random", "games": "2"}),
    "hochstapler": ({}, {"match": "true"}),
    "kamozza": ({}, {"table_talk": "true"}, {"mode": "variant", "typhoon": "true", "cat_ship": "true"}),
    "kotki": ({}, {"target": "15"}),
    "combo_up": ({}, {"edition": "krass_kariert", "scoring": "true"}),
}
"""By game the kinds of options that a bot must be able to play."""

OPPONENTS = ("greedy", "random", "first")
"""House bots that a bot is tried against."""

MOST_GAMES = 5
DEALS = 8
"""Of the tournament at the end."""
MOST_FAULTS = 3
"""After so many it is clear enough."""
_IN_FLIGHT = 16
_STDERR_LINES = 30


@dataclass(slots=True)
class Trial:
    """How a trial went.

    Attributes:
        matches: how many were played.
        planned: how many were to be.
        faults: what the bot did wrong, each with what is known about it.
        reason: why it did not pass, in a line; empty if it did.
        log: all of it, line by line.
    """

    matches: int = 0
    planned: int = 0
    faults: list[str] = field(default_factory=list)
    reason: str = ""
    log: list[str] = field(default_factory=list)


def games_of(bot: BotSpec) -> list[str]:
    """The games that a bot is tried at: those that it names, or all.

    Raises:
        GameError: it names one that there is not.
    """
    return [find_game(name).name for name in bot.games][:MOST_GAMES] or list(GAMES)[:MOST_GAMES]


async def play_trial(
    bot: BotSpec, house: Sequence[BotSpec], folder: Path, seconds: float, tell: Tell = silent
) -> Trial:
    """Try a bot.

    Args:
        bot: the bot, ready to start.
        house: bots to play against, likewise: those of OPPONENTS, or at least enough for the smallest tables.
        folder: for what is written meanwhile; it is gone afterwards.
        seconds: how long it may take.
        tell: takes how far it is, line by line.

    Raises:
        ArenaError: the machine does not do its part.
    """
    bots = [StoredBot(each.name, each.version, each.to_json()) for each in (bot, *house)]
    plan = [*_scripted(games_of(bot), bots), _final(games_of(bot)[0], bots)]
    trial = Trial()
    db = str(folder / "trial.db")
    try:
        blocks = await asyncio.to_thread(_blocks, plan)
        trial.planned = sum(len(block.seatings) for block, _ in blocks)
        executor = make_executor(plan[-1], db, Workers(jobs=1, in_flight=_IN_FLIGHT, pin=False))
        async with asyncio.timeout(seconds):
            await _play(executor, blocks, _Judge(bot.name, trial, tell))
    except TimeoutError:
        trial.reason = f"it was too slow: {trial.matches} of {trial.planned} matches in {seconds:g} s"
    finally:
        shutil.rmtree(logs_folder(db, plan[-1].name), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    return trial


async def _play(executor: LocalExecutor, blocks: Sequence[tuple[Block, str]], judge: _Judge) -> None:
    names = {block.index: name for block, name in blocks}
    async with aclosing(executor.run(iter([block for block, _ in blocks]))) as playing:
        async for results in playing:
            for result in results:
                judge.take(names[result.block], result)
            if judge.is_clear:
                break
    judge.conclude()


def _scripted(games: Sequence[str], bots: Sequence[StoredBot]) -> Iterator[StoredTournament]:
    """A table for each kind of options of each game, with as few seats as may be."""
    for game in games:
        seats = find_game(game).seats.start
        for options in KINDS.get(game, ({},)):
            yield _tournament(game, options, bots[:seats], seats, 1)


def _final(game: str, bots: Sequence[StoredBot]) -> StoredTournament:
    """A small tournament, in which all of them sit down as far as the game has seats."""
    return _tournament(game, {}, bots, min(len(bots), find_game(game).seats.stop - 1), DEALS)


def _tournament(
    game: str, options: Mapping[str, str], bots: Sequence[StoredBot], seats: int, deals: int
) -> StoredTournament:
    seed = secrets.token_bytes(SEED_BYTES)
    schedule = make_format(DEFAULT_FORMAT, Plan(len(bots), seats, deals, seed))
    limits = Limits()
    return StoredTournament(
        id=0,
        name=f"trial-{secrets.token_hex(6)}",
        kind="tournament",
        game=game,
        options=dict(options),
        seats=seats,
        deals=schedule.matches // schedule.seatings,
        rotate=True,
        matches=schedule.matches,
        seed=seed,
        move_us=limits.move_us,
        bank_us=limits.bank_us,
        start_us=limits.start_us,
        faults_allowed=limits.faults_allowed,
        bots=tuple(bots),
        created_us=time.time_ns() // 1000,
        finished_us=None,
        settings=dict(schedule.settings),
    )


def _blocks(plan: Sequence[StoredTournament]) -> list[tuple[Block, str]]:
    """What is played of several tournaments as if it were one, each with what it is called."""
    blocks: list[tuple[Block, str]] = []
    for number, tournament in enumerate(plan):
        store = Store("sqlite://")  # in memory: nothing of it is kept
        try:
            for block in Run(store, store.create(tournament)).missing():
                if block is not None:
                    block.index = len(blocks)
                    last = number == len(plan) - 1
                    blocks.append((block, "tournament" if last else _title(tournament)))
        finally:
            store.close()
    return blocks


def _title(tournament: StoredTournament) -> str:
    options = " ".join(f"{name}={value}" for name, value in tournament.options.items())
    return f"{tournament.game} {options}".strip()


class _Judge:
    """Goes through what was played.

    Args:
        bot: name of the bot that is tried.
        trial: takes what is found.
        tell: takes it line by line.
    """

    def __init__(self, bot: str, trial: Trial, tell: Tell) -> None:
        self._bot = bot
        self._trial = trial
        self._tell = tell
        self._ranks: Counter[int] = Counter()

    @property
    def is_clear(self) -> bool:
        """Whether nothing that is still to come matters."""
        return len(self._trial.faults) >= MOST_FAULTS

    def take(self, title: str, result: BlockResult) -> None:
        """The matches of a block were played.

        Raises:
            ArenaError: they were not, which is not the bot's doing.
        """
        if result.failure:
            raise ArenaError(
                "a bot could not be tried", f"matches of {title} were {result.failure}", "mend the machine"
            )
        faults = len(self._trial.faults)
        for data in result.records:
            self._judge(title, unseal(data))
        self._trial.matches += len(result.records)
        went = "fine" if faults == len(self._trial.faults) else "faults"
        self._say(f"{self._trial.matches}/{self._trial.planned} matches · {title}: {went}")

    def conclude(self) -> None:
        """All is played, or enough."""
        trial = self._trial
        if trial.faults:
            trial.reason = trial.faults[0].splitlines()[0]
        elif sum(self._ranks.values()):
            mean = sum(rank * count for rank, count in self._ranks.items()) / sum(self._ranks.values())
            self._say(f"its mean rank against house bots is {mean:.2f}")

    def _judge(self, title: str, record: MatchRecord) -> None:
        seats = [seat for seat, bot in enumerate(record.bots) if bot.name == self._bot]
        for told in told_faults(record):
            if told.fault.seat in seats and not self.is_clear:
                text = _fault_text(title, told)
                self._trial.faults.append(text)
                self._say(text)
        if record.engine_error:
            self._say(f"{title}: the arena's own rules failed, which is not the bot's doing")
        if title == "tournament" and record.ranks:
            self._ranks.update(record.ranks[seat] for seat in seats)

    def _say(self, text: str) -> None:
        for line in text.splitlines():
            self._trial.log.append(line)
            self._tell(line)


def _fault_text(title: str, told: ToldFault) -> str:
    """All that is known of a fault, for the bot's author; its first line says what it was."""
    fault, evidence = told.fault, told.evidence
    kind = FaultKind.Name(fault.kind).removeprefix("FAULT_KIND_")
    detail = told.detail.strip().splitlines() or [""]
    # The last line of a traceback is what went wrong.
    lines = [f"{kind} in a match of {title}, decision {fault.decision}: {detail[-1].strip()[:200]}"]
    lines += [f"    {line}" for line in detail[-_STDERR_LINES:] if len(detail) > 1]
    if evidence.HasField("exit_code") or evidence.signal:
        code = f"signal {evidence.signal}" if evidence.signal else f"exit code {evidence.exit_code}"
        lines.append(f"  {code}")
    if evidence.memory_peak_bytes:
        lines.append(f"  memory peak {evidence.memory_peak_bytes / (1 << 20):.1f} MiB")
    lines += [f"    {line}" for line in evidence.stderr.strip().splitlines()[-_STDERR_LINES:]]
    lines.append(f"  what to do: {FAULTS[fault.kind].advice}")
    return printable("\n".join(lines))
