"""The parts of a server and how they know each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.bots.sandbox import CONTAINERS
from arena.errors import UsageError
from arena.runs.custody import Custody, custody
from arena.runs.names import database_file
from arena.server.access import ACCESS
from arena.server.accounts import AccountPart
from arena.server.boards import BoardPart
from arena.server.catalog import Catalog
from arena.server.checking import Checker
from arena.server.conductor import Conductor, ConductorLimits
from arena.server.games import GamePart
from arena.server.guard import Guard, Limits
from arena.server.images import Images
from arena.server.leagues import Leagues
from arena.server.lobby import Lobby
from arena.server.matches import MatchPart
from arena.server.metrics import Metrics
from arena.server.observer import Observer
from arena.server.part import Part
from arena.server.rates import Rate
from arena.server.settings import ServerSettings
from arena.server.shelf import Shelf
from arena.server.status import Levels, Status, StatusPart
from arena.server.submissions import Submissions
from arena.server.tournaments import Tournaments
from arena.server.uploads import UploadLimits
from arena.store.accounts import Accounts
from arena.store.figures import Figures
from arena.store.hosting import Hosting
from arena.store.quotas import Quotas
from arena.store.roster import Roster
from arena.store.store import Store


@dataclass(frozen=True, slots=True)
class Rooms:
    """All of a server but its port.

    Attributes:
        accounts: its users and tokens.
        guard: what every call goes through.
        parts: in the order in which they begin.
        status: what it knows about itself.
    """

    accounts: Accounts
    guard: Guard
    parts: Sequence[Part]
    status: Status


SERVICES = tuple(
    dict.fromkeys(method[1:].partition("/")[0] for method in ACCESS if method.startswith("/botarena."))
)
"""Full names of the services that a server offers."""


def furnish(settings: ServerSettings, store: Store, metrics: Metrics) -> Rooms:
    """Make the parts of a server; nothing begins.

    Args:
        settings: how it is run.
        store: its database.
        metrics: what counts.

    Raises:
        ArenaError: settings mean nothing to the part that they are for.
    """
    held = _custody(settings)
    data = data_folder(settings)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    observer = Observer(metrics)
    accounts = Accounts(store, Quotas().changed(settings.quotas))
    roster = Roster(store)
    shelf = Shelf(roster, data)
    catalog = Catalog(roster, shelf, held)
    checker = Checker(roster, catalog, shelf, data)
    images = Images() if held.level in CONTAINERS else None
    lobby = Lobby(settings.db, accounts, roster)
    conductor = Conductor(
        store,
        Hosting(store),
        catalog,
        lobby,
        settings.db,
        _conducting(settings),
        stored=lambda _, records: metrics.played(records),
    )
    levels = Levels(workers=lambda: conductor.workers, remote_bots=lambda: len(lobby.present()))
    status = Status(Figures(store), metrics, levels)
    parts: list[Part] = [
        AccountPart(accounts),
        Submissions(roster, accounts, checker, _uploads(settings), images),
        checker,
        GamePart(),
        BoardPart(store),
        MatchPart(store, settings.db),
        StatusPart(status),
        lobby,
        Tournaments(conductor, accounts),
        Leagues(conductor, accounts),
        conductor,
    ]
    guard = Guard(accounts, _limits(settings), observe=observer.ended, failed=observer.failed)
    return Rooms(accounts, guard, parts, status)


def data_folder(settings: ServerSettings) -> Path:
    """Where unpacked submissions are, all of which can be made again out of the database."""
    if settings.data is not None:
        return settings.data
    file = database_file(settings.db)
    return Path("arena-files") if file is None else file.with_name(f"{file.name}.files")


def _custody(settings: ServerSettings) -> Custody:
    """How submitted bots are held.

    Raises:
        UsageError: nobody said it, and strangers may submit some.
    """
    held = custody(settings.sandbox, settings.limits)
    if held.level is None and not settings.is_local:
        raise UsageError(
            "bots of strangers are not run without a sandbox",
            f"{settings.host} is reached from other machines, and no sandbox was named",
            "name --sandbox docker, gvisor or bwrap; or none, if you trust whoever has a token",
        )
    return held


def _conducting(settings: ServerSettings) -> ConductorLimits:
    slots = settings.jobs or len(os.sched_getaffinity(0))
    return ConductorLimits(slots, in_flight=settings.in_flight, drain_s=settings.drain / 1e6)


def _limits(settings: ServerSettings) -> Limits:
    """How often callers may call; as many as in ten seconds may come at once.

    Raises:
        UsageError: there is no such rate.
    """
    known = ("token", "peer", "failures", "openings")
    if unknown := settings.rates.keys() - set(known):
        raise UsageError(
            f"the rate {min(unknown)!r} means nothing", "there is no such rate", f"use {', '.join(known)}"
        )
    rates: dict[str, Any] = {
        name: Rate(per_second, 10 * per_second) for name, per_second in settings.rates.items()
    }
    return replace(Limits(), **rates)


def _uploads(settings: ServerSettings) -> UploadLimits:
    try:
        return replace(UploadLimits(), **settings.uploads)
    except TypeError:
        raise UsageError(
            "a limit of uploads means nothing",
            f"{', '.join(settings.uploads)} are not all limits of uploads",
            f"use {', '.join(UploadLimits.__dataclass_fields__)}",
        ) from None
