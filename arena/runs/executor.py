"""The workers that play a tournament on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from arena.bots.reference import BotSpec
from arena.runs import WORKER_COMMAND
from arena.runs.custody import check_hidden
from arena.runs.definition import bots_of
from arena.runs.names import logs_folder, seatings_of
from arena.runs.worker_setup import WorkerSetup
from arena.store.stored import StoredTournament
from arena.tournament.local import IN_FLIGHT, LocalExecutor, WorkerCommand, worker_cpus
from arena.tournament.process import WorkerProcess


@dataclass(frozen=True, slots=True)
class Workers:
    """How much of the machine a run uses.

    Attributes:
        jobs: worker processes; None: as many as are of use.
        in_flight: matches that each of them has in play at once.
        pin: whether each of them is kept on cores of its own, with its bots.
        cores: those of each; None: a share of all that there are.
    """

    jobs: int | None = None
    in_flight: int = IN_FLIGHT
    pin: bool = True
    cores: Sequence[list[int]] | None = None


def make_executor(
    tournament: StoredTournament, db: str, workers: Workers, ahead: WorkerProcess | None = None
) -> LocalExecutor:
    """The workers that play a tournament.

    Args:
        db: its database, beside which the bots' logs go.
        workers: how many they are, and what they may use.
        ahead: one that runs already.

    Raises:
        ArenaError: a bot would be shown what it must not see.
    """
    check_hidden(tournament, db)
    logs = logs_folder(db, tournament.name).resolve()
    logs.mkdir(parents=True, exist_ok=True)
    bots = bots_of(tournament)
    commands = []
    shares = workers.cores or worker_cpus(workers.jobs or _default_jobs(tournament, bots))
    for number, share in enumerate(shares):
        cores = share if workers.pin else []
        setup = WorkerSetup(
            worker=number,
            cores=cores,
            game=tournament.game,
            bots=bots,
            logs=str(logs),
            start_us=tournament.start_us,
            in_flight=workers.in_flight,
            all_at_once=sum(not bot.retired for bot in tournament.bots) == tournament.seats,
        )
        commands.append(WorkerCommand(WORKER_COMMAND, setup.pack()))
    return LocalExecutor(commands, workers.in_flight, ahead)


def _default_jobs(tournament: StoredTournament, bots: Sequence[BotSpec]) -> int:
    """One worker per core, or per as many cores as a bot keeps busy, but no more than there are blocks."""
    blocks = -(-tournament.matches // seatings_of(tournament))
    cores = len(os.sched_getaffinity(0)) // max(bot.threads for bot in bots)
    return max(1, min(cores, blocks))
