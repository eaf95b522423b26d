"""How bots are held that nobody vouches for: the level of sandbox and the limits that a run has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from arena.bots.limits import BotLimits, limit_text
from arena.bots.organiser import Organiser, read_organiser
from arena.bots.reference import BotSpec
from arena.bots.sandbox import CONTAINERS, LEVELS, check_available, check_startable, strictest
from arena.errors import UsageError
from arena.runs.names import database_file, logs_folder
from arena.store.stored import StoredBot, StoredTournament

Tell: TypeAlias = Callable[[str], object]
"""Takes a line for people."""


def silent(line: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Custody:
    """How bots are to be held, as far as a command says it.

    Attributes:
        sandbox: the level that it names; None: the organiser's, else that of what is resumed, else none.
        organiser: what he allows; None: no file was named.
    """

    sandbox: str | None = None
    organiser: Organiser | None = None

    def over(self, other: Custody) -> Custody:
        """This, and what the other says where this says nothing."""
        return Custody(self.sandbox or other.sandbox, self.organiser or other.organiser)

    @property
    def level(self) -> str | None:
        """The level that is asked for; None: none is."""
        return self.sandbox or (self.organiser.sandbox if self.organiser else None)


def custody(sandbox: str | None, limits: Path | None) -> Custody:
    """What `--sandbox` and `--limits` say.

    Raises:
        ArenaError: there is no such level, or the file means nothing.
    """
    return Custody(_checked(sandbox), read_organiser(limits) if limits else None)


def _checked(sandbox: str | None) -> str | None:
    if sandbox is not None and sandbox not in LEVELS:
        raise UsageError(
            f"a sandbox of level {sandbox!r} means nothing",
            "there is no such level",
            f"use {', '.join(LEVELS)}",
        )
    return sandbox


def confine(bots: Sequence[BotSpec], custody: Custody, tell: Tell = silent) -> list[BotSpec]:
    """Bots that begin, at the level that is asked for and with what they get of the limits they ask for.

    Args:
        tell: takes what a person should know about it.

    Raises:
        ArenaError: this machine does not have that level, or a bot cannot be had at it.
    """
    level, organiser = custody.level or LEVELS[0], custody.organiser or Organiser()
    _check_level(level, tell)
    capped = _capped(bots, organiser, tell)
    return _housed([replace(bot, sandbox=level) for bot in capped], level, organiser, tell)


def confine_again(tournament: StoredTournament, custody: Custody, tell: Tell = silent) -> StoredTournament:
    """A tournament that goes on: never with less of a sandbox, or with higher limits, than it has stored.

    Args:
        tell: takes what a person should know about it.

    Raises:
        ArenaError: a lower level is asked for, or one that this machine or a bot does not have.
    """
    bots = [BotSpec.from_json(bot.spec) for bot in tournament.bots]
    stored = strictest(bots)
    if custody.sandbox is not None and LEVELS.index(custody.sandbox) < LEVELS.index(stored):
        raise UsageError(
            f"{tournament.name} does not go on with --sandbox {custody.sandbox}",
            f"it began with {stored}, which holds bots better",
            f"leave --sandbox out, or name {' or '.join(LEVELS[LEVELS.index(stored) :])}",
        )
    level = max(stored, custody.level or stored, key=LEVELS.index)
    _check_level(level, tell)
    if custody.organiser is not None:  # without one, what was allowed at the beginning still is
        bots = _capped(bots, custody.organiser, tell)
    organiser = custody.organiser or Organiser()
    held = {bot.name: replace(bot, sandbox=level) for bot in bots}
    playing = [held[bot.name] for bot in tournament.bots if not bot.retired]
    held |= {bot.name: bot for bot in _housed(playing, level, organiser, tell)}
    return replace(tournament, bots=tuple(_with_spec(bot, held[bot.name]) for bot in tournament.bots))


def _housed(bots: list[BotSpec], level: str, organiser: Organiser, tell: Tell) -> list[BotSpec]:
    """Bots with what their level has them run in."""
    check_startable(bots, level)
    if level not in CONTAINERS:
        return bots
    from arena.runs.images import with_images  # no other level builds anything

    return with_images(bots, organiser.build, tell)


def _with_spec(bot: StoredBot, spec: BotSpec) -> StoredBot:
    return replace(bot, spec=spec.to_json())


def _check_level(level: str, tell: Tell) -> None:
    """Whether this machine has a level of sandbox; what does not hold of it is told."""
    if lacking := check_available(level):
        tell(lacking)


def check_hidden(tournament: StoredTournament, db: str) -> None:
    """Whether no bot of a tournament will be shown what it must not see: the seed is in the database.

    Args:
        db: the database.

    Raises:
        ArenaError: one would.
    """
    bots = [BotSpec.from_json(bot.spec) for bot in tournament.bots]
    if strictest(bots) != "bwrap":  # with none it sees all there is, and in a container nothing
        return
    from arena.bots import bubblewrap

    file = database_file(db)
    secrets = {} if file is None else {"the database, and the seed in it,": file}
    bubblewrap.check_hidden(
        bots, {**secrets, "the logs of all bots": logs_folder(db, tournament.name).parent}
    )


def _capped(bots: Sequence[BotSpec], organiser: Organiser, tell: Tell) -> list[BotSpec]:
    """Bots with what they get; of those that asked for more it is told."""
    default = BotLimits()
    for bot in bots:
        beyond = organiser.beyond(bot.limits)
        asked = [name for name in beyond if getattr(bot.limits, name) != getattr(default, name)]
        if asked:
            cuts = ", ".join(
                f"{limit_text(name, getattr(organiser.most, name))} "
                f"(it asked for {limit_text(name, getattr(bot.limits, name))})"
                for name in asked
            )
            tell(f"{bot.name} gets no more than the organiser allows: {cuts}")
    return [replace(bot, limits=organiser.capped(bot.limits)) for bot in bots]
