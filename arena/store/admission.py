"""Whether a bot or a version of one may be added to the roster: names, quotas, and what was there before.

All of it within the transaction that adds it, and of one user one at a time.
"""

from __future__ import annotations

import time

import sqlalchemy as sa

from arena.errors import StateError, TakenError, TooMuchError
from arena.store.quotas import Quotas
from arena.store.schema import bot, bot_version, user
from arena.text import folded

_DAY_US = 86_400_000_000


def lock_owner(connection: sa.Connection, owner: int) -> None:
    """Have others wait who would add something of this user, where a database lets several write at once."""
    connection.execute(sa.select(user.c.id).where(user.c.id == owner).with_for_update())


def check_free(connection: sa.Connection, name: str) -> None:
    """Whether no bot has this name, or one that looks like it.

    Raises:
        TakenError: one has.
    """
    alike = connection.execute(sa.select(bot.c.name).where(bot.c.folded == folded(name))).scalar()
    if alike is not None:
        raise TakenError(
            f"a bot cannot be called {name}",
            f"there is {alike} already" + ("" if alike == name else ", which looks like it"),
            "choose another name",
        )


def check_bots(connection: sa.Connection, owner: int, most: int) -> None:
    """Whether a user may have one more bot.

    Raises:
        TooMuchError: there are as many as may be.
    """
    count = sa.select(sa.func.count()).select_from(bot).where(bot.c.owner == owner)
    if connection.execute(count).scalar_one() >= most:
        raise TooMuchError(
            "no further bot can be made",
            f"each user may have {most}",
            "submit a new version of one that you have, or ask the organiser for more",
        )


def check_kind(connection: sa.Connection, number: int, name: str, is_remote: bool) -> None:
    """Whether a bot comes as it did before: one that dials in is another kind of thing.

    Args:
        connection: in which a version is added.
        number: row number of the bot.
        name: of the bot.
        is_remote: whether the version dials in.

    Raises:
        StateError: it does not.
    """
    query = sa.select(bot_version.c.kind).where(bot_version.c.bot == number).limit(1)
    before = connection.execute(query).scalar()
    if before is not None and (before == "remote") != is_remote:
        raise StateError(
            f"{name} cannot have such a version",
            "its code is on the server" if is_remote else "it dials in by itself",
            "give it another name",
        )


def check_quotas(connection: sa.Connection, owner: int, name: str, size: int, quotas: Quotas) -> None:
    """Whether a user may submit one more version now.

    Args:
        connection: in which it is added.
        owner: row number of the user.
        name: of the bot.
        size: of the version, in bytes.
        quotas: of the user.

    Raises:
        TooMuchError: he has submitted as much as he may.
    """
    now = sa.select(sa.func.count()).where(
        _of(owner), bot_version.c.created_us > time.time_ns() // 1000 - _DAY_US
    )
    if connection.execute(now).scalar_one() >= quotas.versions_per_day:
        raise TooMuchError(
            f"{name} cannot have another version now",
            f"each user may submit {quotas.versions_per_day} within 24 hours",
            "wait, or ask the organiser for more",
        )
    stored = sa.select(sa.func.coalesce(sa.func.sum(bot_version.c.size), 0)).where(_of(owner))
    if int(connection.execute(stored).scalar_one()) + size > quotas.stored_bytes:
        raise TooMuchError(
            f"{name} cannot have another version",
            f"all versions of a user may have {quotas.stored_bytes:,} bytes together",
            "make it smaller, or ask the organiser for more",
        )


def check_remote(connection: sa.Connection, owner: int, number: int, name: str, most: int) -> None:
    """Whether a bot of a user may dial in.

    Args:
        connection: in which it is added.
        owner: row number of the user.
        number: row number of the bot.
        name: of the bot.
        most: how many of the user's may.

    Raises:
        TooMuchError: as many do.
    """
    query = sa.select(bot_version.c.bot).where(_of(owner), bot_version.c.kind == "remote").distinct()
    if len(set(connection.execute(query).scalars()) | {number}) > most:
        raise TooMuchError(
            f"{name} cannot be remote",
            f"each user may have {most} bots that dial in",
            "submit its code, or ask the organiser for more",
        )


def _of(owner: int) -> sa.ColumnElement[bool]:
    """Versions of a user's bots."""
    return bot_version.c.bot.in_(sa.select(bot.c.id).where(bot.c.owner == owner))
