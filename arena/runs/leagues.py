"""Bots that come to a league, change and go, and who may play it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from arena.bots.reference import BotSpec
from arena.errors import ArenaError, UsageError
from arena.runs.names import logs_folder
from arena.store.stored import StoredBot, StoredTournament

if TYPE_CHECKING:
    from arena.store.store import Store


def active(league: StoredTournament) -> Sequence[int]:
    """Indexes of the bots that play."""
    return [index for index, bot in enumerate(league.bots) if not bot.retired]


def base(name: str) -> str:
    """The name of a bot without that of its version."""
    return name.partition("@")[0]


def entrant(league: StoredTournament, spec: BotSpec) -> StoredBot:
    """A bot as it enters: a version that is not the first of its name has it in its name.

    Raises:
        UsageError: it plays already.
    """
    for bot in league.bots:
        if base(bot.name) == spec.name and bot.version == spec.version:
            if not bot.retired:
                raise UsageError(
                    f"{bot.name} plays in {league.name} already",
                    f"its version is {bot.version}, and so is that of {spec.reference}",
                    "change its code, or its name in bot.toml",
                )
            return bot
    taken = {bot.name for bot in league.bots}
    named = spec
    if spec.name in taken:
        digest = spec.version.rpartition("+")[2]
        named = replace(spec, name=f"{spec.name}@{digest[:8]}")
    return StoredBot(named.name, named.version, named.to_json())


def seat(store: Store, league: StoredTournament, newcomer: StoredBot) -> list[str]:
    """Let a bot play from the next round on; a changed one takes the place of its older version.

    Args:
        newcomer: as `entrant` gives it.

    Returns:
        Names of those that retire.
    """
    older = [index for index in active(league) if base(league.bots[index].name) == base(newcomer.name)]
    for index in older:
        store.retire_bot(league.id, index)
    known = [index for index, had in enumerate(league.bots) if had.name == newcomer.name]
    if known:
        store.retire_bot(league.id, known[0], retired=False)
    else:
        store.add_bot(league.id, newcomer)
    return [league.bots[index].name for index in older]


@contextmanager
def alone(league: StoredTournament, db: str) -> Iterator[None]:
    """Play a league in this process alone.

    Raises:
        ArenaError: another one does.
    """
    with _lock(league, db) as got:
        if not got:
            raise ArenaError(
                f"{league.name} is being played", "another arena has it in hand", "wait for it, or end it"
            )
        yield


@contextmanager
def between_rounds(store: Store, league: StoredTournament, db: str) -> Iterator[None]:
    """Change the bots of a league. A run that goes on sees it when its round is over; of a round that was
    interrupted, the rest is taken back."""
    with _lock(league, db) as stopped:
        if stopped:
            store.drop_undone(league.id)
        yield


@contextmanager
def _lock(league: StoredTournament, db: str) -> Iterator[bool]:
    """Whether nobody else plays the league; if so, nobody can until the end of the block."""
    folder = logs_folder(db, league.name)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "playing.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
