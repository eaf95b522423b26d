"""Bots of a server and their versions: whose they are, how far they are on their way, and their code.

A version is immutable but for its state:

    uploaded ──► building ──► checking ──► active ◄──► superseded     archives, images
        ▲            │            │
        └────────────┴────────────┘        handed back: a server ended, or the machine failed
    building, checking ──► failed          by the bot's own doing
    checking ──► superseded                it is checked, and another one plays
    active, superseded ◄──► disabled       by its owner
    any but failed ──► barred              by an organiser, who alone takes that back

A remote version has nothing to build or check: it begins as active. Every change is one transaction that
checks the state it comes from, so two servers, or one that was killed, make none of them twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from arena.errors import NotFoundError, StateError, TakenError
from arena.store.admission import check_bots, check_free, check_kind, check_quotas, check_remote, lock_owner
from arena.store.quotas import Quotas
from arena.store.schema import blob, bot, bot_version, user
from arena.store.store import Store
from arena.text import checked_name, folded

ARCHIVE, IMAGE, REMOTE = KINDS = ("archive", "image", "remote")
"""How a version comes: its code, an image of a container, or from somewhere else by itself."""

UPLOADED, BUILDING, CHECKING, ACTIVE = ("uploaded", "building", "checking", "active")
FAILED, SUPERSEDED, DISABLED, BARRED = ("failed", "superseded", "disabled", "barred")

CHANGES: Mapping[str, frozenset[str]] = {
    UPLOADED: frozenset({BUILDING, BARRED}),
    BUILDING: frozenset({UPLOADED, CHECKING, FAILED, BARRED}),
    CHECKING: frozenset({UPLOADED, ACTIVE, SUPERSEDED, FAILED, BARRED}),
    ACTIVE: frozenset({SUPERSEDED, DISABLED, BARRED}),
    SUPERSEDED: frozenset({ACTIVE, DISABLED, BARRED}),
    DISABLED: frozenset({ACTIVE, SUPERSEDED, BARRED}),
    BARRED: frozenset({SUPERSEDED}),
    FAILED: frozenset(),
}
"""States that can follow each."""

PENDING = frozenset({UPLOADED, BUILDING, CHECKING})
"""States of a version that is on its way."""
PLAYABLE = frozenset({ACTIVE, SUPERSEDED})
"""States of a version that may play, if its bot may."""

RESEND_US = 600_000_000
"""The same content within so many microseconds is the same submission: its answer may have been lost."""

_RESERVED = frozenset(map(folded, ("admin", "arena", "botarena", "house", "root", "server", "system")))


@dataclass(frozen=True, slots=True)
class RosterBot:
    """A bot of a server.

    Attributes:
        id: row number.
        name: unique name.
        owner: name of the user whose it is.
        owner_id: row number of that user.
        created_us: when, in microseconds since 1970 UTC.
        disabled_us: since when it may not play; None: it may.
        mixed: whether it plays beside bots that come otherwise, if it is remote.
        active: number of the version that plays; None: none does.
        barred: whether an organiser disabled it: then its owner cannot enable it.
    """

    id: int
    name: str
    owner: str
    owner_id: int
    created_us: int
    disabled_us: int | None
    mixed: bool
    active: int | None
    barred: bool = False

    @property
    def state(self) -> str:
        """`disabled`, `active`, or `waiting` for a version that can play."""
        if self.disabled_us is not None:
            return DISABLED
        return "waiting" if self.active is None else ACTIVE


@dataclass(frozen=True, slots=True)
class RosterVersion:
    """A version of a bot.

    Attributes:
        id: row number.
        bot: name of its bot.
        owner: name of the user whose it is.
        owner_id: row number of that user.
        number: 1, 2, ... of its bot.
        kind: `archive`, `image` or `remote`.
        state: how far it is.
        reason: of its state, in a line.
        digest: SHA-256 of its archive, or digest of its image, in hex; None: it is remote.
        size: of that, in bytes.
        notes: what its author says of it.
        activate: whether it shall play once it is checked.
        spec: how it is started, as plain data; empty before it is built.
        created_us: when, in microseconds since 1970 UTC.
        changed_us: when it came into its state, likewise.
    """

    id: int
    bot: str
    owner: str
    owner_id: int
    number: int
    kind: str
    state: str
    reason: str
    digest: str | None
    size: int
    notes: str
    activate: bool
    spec: dict[str, Any]
    created_us: int
    changed_us: int

    @property
    def reference(self) -> str:
        """What it is called, such as mybot@3."""
        return f"{self.bot}@{self.number}"

    @property
    def games(self) -> tuple[str, ...]:
        """Names of the games that it plays; empty: any, or not known yet."""
        return tuple(self.spec.get("games", ()))


@dataclass(frozen=True, slots=True)
class NewVersion:
    """What is submitted.

    Attributes:
        kind: `archive`, `image` or `remote`.
        digest: SHA-256 of the archive, or digest of the image, in hex; None: it is remote.
        data: the archive; None: there is none.
        size: in bytes.
        notes: what its author says of it.
        activate: whether it shall play once it is checked.
        spec: how it is started, as far as that is known, as plain data.
    """

    kind: str
    digest: str | None = None
    data: bytes | None = None
    size: int = 0
    notes: str = ""
    activate: bool = True
    spec: Mapping[str, Any] | None = None


def check_name(name: str, reserved: Iterable[str] = ()) -> None:
    """Whether a bot of a server may be called so.

    Args:
        name: the name.
        reserved: names that nobody may have, nor what looks like one of them.

    Raises:
        UsageError: it is no name.
        TakenError: it is reserved.
    """
    checked_name(name, "a bot")
    if folded(name) in _RESERVED | set(map(folded, reserved)):
        raise TakenError(
            f"a bot cannot be called {name}",
            "the name, or one that looks like it, belongs to the arena",
            "choose another name",
        )


class Roster:
    """Bots, versions and archives in a database.

    Args:
        store: the database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    # bots

    def add_bot(
        self,
        owner_id: int,
        name: str,
        *,
        mixed: bool = False,
        quotas: Quotas | None = None,
        reserved: Iterable[str] = (),
    ) -> RosterBot:
        """Make a bot, which has no version yet.

        Args:
            owner_id: row number of its owner.
            name: see `check_name`.
            mixed: whether it plays beside bots that come otherwise.
            quotas: of its owner; None: there are none.
            reserved: names that nobody may have.

        Raises:
            UsageError: it is no name.
            TakenError: the name, or one that looks like it, is taken.
            TooMuchError: the owner has as many bots as he may.
        """
        with self._store.writing() as connection:
            return _add_bot(connection, owner_id, name, mixed, quotas, reserved)

    def bot(self, name: str) -> RosterBot:
        """The bot of this name.

        Raises:
            NotFoundError: there is none.
        """
        with self._store.reading() as connection:
            return _bot(connection, name)

    def bots(
        self,
        *,
        owner: str | None = None,
        game: str | None = None,
        state: str | None = None,
        after: int = 0,
        most: int | None = None,
    ) -> list[RosterBot]:
        """Bots, oldest first.

        Args:
            owner: only those of this user.
            game: only those whose active version plays it.
            state: only those of this state, see `RosterBot.state`.
            after: row number of the bot before the first.
            most: how many at most.
        """
        query = _BOTS.where(bot.c.id > after).order_by(bot.c.id)
        if owner is not None:
            query = query.where(user.c.name == owner)
        if state is not None:
            query = query.where(_STATES.get(state, sa.false()))
        if game is not None:
            playing = (bot_version.c.bot == bot.c.id) & (bot_version.c.number == bot.c.active)
            query = query.join(bot_version, playing).add_columns(bot_version.c.spec)
        found: list[RosterBot] = []
        with self._store.reading() as connection:
            for row in connection.execute(query).mappings():
                if game is None or _plays(json.loads(row["spec"]), game):
                    found.append(_read_bot(row))
                if len(found) == most:
                    break
        return found

    def update_bot(
        self, name: str, *, disabled: bool | None = None, mixed: bool | None = None, organiser: bool = False
    ) -> RosterBot:
        """Change what a bot may; what is None stays.

        Args:
            name: of the bot.
            disabled: whether it may not play.
            mixed: whether it plays beside bots that come otherwise.
            organiser: whether an organiser does it, who may enable whatever was disabled.

        Raises:
            NotFoundError: there is no such bot.
            StateError: an organiser disabled it, and its owner would enable it.
        """
        with self._store.writing() as connection:
            before = _bot(connection, name)
            if disabled is False and before.barred and not organiser:
                raise StateError(
                    f"{name} cannot be enabled",
                    "an organiser of this arena disabled it",
                    "ask the organiser",
                )
            values: dict[str, Any] = {} if mixed is None else {"mixed": mixed}
            if disabled is True:
                since = _now() if before.disabled_us is None else before.disabled_us
                values |= {"disabled_us": since, "barred": before.barred or organiser}
            elif disabled is False:
                values |= {"disabled_us": None, "barred": False}
            if values:
                connection.execute(sa.update(bot).where(bot.c.id == before.id).values(values))
            return _bot(connection, name)

    # versions

    def add_version(
        self, name: str, new: NewVersion, *, quotas: Quotas | None = None
    ) -> tuple[RosterVersion, bool]:
        """Submit a version of a bot.

        Args:
            name: of the bot.
            new: the version.
            quotas: of its owner; None: there are none.

        Returns:
            The version, and whether it is new: the same content once more, while the first is on its way or
            not long after, is the same submission.

        Raises:
            NotFoundError: there is no such bot.
            StateError: the bot dials in and this version does not, or the other way round.
            TakenError: an older version has this content.
            TooMuchError: the owner has submitted as much as he may.
        """
        with self._store.writing() as connection:
            return _add_version(connection, _bot(connection, name), new, quotas)

    def submit(
        self,
        owner_id: int,
        name: str,
        new: NewVersion,
        *,
        quotas: Quotas | None = None,
        reserved: Iterable[str] = (),
    ) -> tuple[RosterVersion, bool]:
        """Submit a version of a bot, which is made if it is not there; all of it or nothing.

        Args:
            owner_id: row number of the owner of a bot that is made.
            name: of the bot.
            new: the version.
            quotas: of the owner; None: there are none.
            reserved: names that nobody may have.

        Returns:
            As `add_version`.

        Raises:
            UsageError, TakenError, TooMuchError, StateError: as `add_bot` and `add_version`.
        """
        with self._store.writing() as connection:
            if connection.execute(sa.select(bot.c.id).where(bot.c.name == name)).first() is None:
                _add_bot(connection, owner_id, name, False, quotas, reserved)
            return _add_version(connection, _bot(connection, name), new, quotas)

    def version(self, name: str, number: int | None = None) -> RosterVersion:
        """A version of a bot; without a number the one that plays.

        Raises:
            NotFoundError: there is no such bot or version, or none that plays.
        """
        with self._store.reading() as connection:
            of = _bot(connection, name)
            number = of.active if number is None else number
            query = _VERSIONS.where(bot_version.c.bot == of.id, bot_version.c.number == number)
            row = connection.execute(query).mappings().first() if number is not None else None
        if row is None:
            raise NotFoundError(
                f"there is no {name}@{number}" if number else f"{name} has no version that plays",
                "the bot has no version of this number" if number else "none was activated yet",
                f"see its versions: arena bot versions {name}",
            )
        return _read_version(row)

    def version_by_id(self, number: int) -> RosterVersion:
        """The version with a row number.

        Raises:
            NotFoundError: there is none.
        """
        with self._store.reading() as connection:
            return _version(connection, number)

    def versions(
        self, name: str, *, before: int | None = None, most: int | None = None
    ) -> list[RosterVersion]:
        """The versions of a bot, newest first.

        Args:
            name: of the bot.
            before: only those with a lower number.
            most: how many at most.

        Raises:
            NotFoundError: there is no such bot.
        """
        with self._store.reading() as connection:
            of = _bot(connection, name)
            query = _VERSIONS.where(bot_version.c.bot == of.id).order_by(bot_version.c.number.desc())
            if before is not None:
                query = query.where(bot_version.c.number < before)
            return [_read_version(row) for row in connection.execute(query.limit(most)).mappings()]

    def in_state(self, states: Collection[str]) -> list[RosterVersion]:
        """The versions in any of these states, in the order in which they were submitted."""
        query = _VERSIONS.where(bot_version.c.state.in_(states)).order_by(bot_version.c.id)
        with self._store.reading() as connection:
            return [_read_version(row) for row in connection.execute(query).mappings()]

    def counts(self) -> dict[str, int]:
        """How many versions are in each state."""
        query = sa.select(bot_version.c.state, sa.func.count()).group_by(bot_version.c.state)
        with self._store.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def set_state(
        self,
        number: int,
        before: str | Collection[str],
        after: str,
        *,
        reason: str = "",
        spec: Mapping[str, Any] | None = None,
        build_log: str | None = None,
        check_log: str | None = None,
    ) -> RosterVersion:
        """Bring a version from one state into another.

        Args:
            number: row number of the version.
            before: the state, or states, that it must be in.
            after: the state that it comes into; for `active` see `activate`.
            reason: of the state, in a line.
            spec: how it is started, if that is known now, as plain data.
            build_log: what its build wrote, if it was built.
            check_log: how its check went, if it was checked.

        Raises:
            NotFoundError: there is no such version.
            StateError: it is in another state.
        """
        values: dict[str, Any] = {"reason": reason, "build_log": build_log, "check_log": check_log}
        values["spec"] = None if spec is None else json.dumps(dict(spec), sort_keys=True)
        with self._store.writing() as connection:
            _change(connection, number, {before} if isinstance(before, str) else set(before), after)
            given = {name: value for name, value in values.items() if value is not None}
            connection.execute(sa.update(bot_version).where(bot_version.c.id == number).values(given))
            return _version(connection, number)

    def finish(self, number: int, check_log: str) -> RosterVersion:
        """A version passed its check: it plays from now on, unless it shall not or a newer one does.

        Raises:
            NotFoundError: there is no such version.
            StateError: it is not being checked.
        """
        with self._store.writing() as connection:
            passed = _version(connection, number)
            playing = _bot(connection, passed.bot).active
            if passed.activate and (playing is None or playing < passed.number):
                _require(passed, {CHECKING})
                _activate(connection, number)
            else:
                _change(connection, number, {CHECKING}, SUPERSEDED)
            log = {"check_log": check_log, "reason": ""}
            connection.execute(sa.update(bot_version).where(bot_version.c.id == number).values(log))
            return _version(connection, number)

    def activate(self, number: int) -> RosterVersion:
        """Let a version play instead of the one that does, as before or after it.

        Args:
            number: row number of the version.

        Raises:
            NotFoundError: there is no such version.
            StateError: it cannot play: it is not checked, failed, or is barred.
        """
        with self._store.writing() as connection:
            _require(_version(connection, number), PLAYABLE | {DISABLED})
            _activate(connection, number)
            return _version(connection, number)

    def disable_version(self, number: int, reason: str = "", *, organiser: bool = False) -> RosterVersion:
        """Let a version play no more; nothing plays for its bot if it was the active one.

        Args:
            number: row number of the version.
            reason: why, in a line.
            organiser: whether an organiser does it: then its owner cannot take it back.

        Raises:
            NotFoundError: there is no such version.
            StateError: it could not play anyway.
        """
        after = BARRED if organiser else DISABLED
        with self._store.writing() as connection:
            before = {state for state, following in CHANGES.items() if after in following}
            _change(connection, number, before, after)
            connection.execute(sa.update(bot_version).where(bot_version.c.id == number).values(reason=reason))
            return _version(connection, number)

    def enable_version(self, number: int, *, organiser: bool = False) -> RosterVersion:
        """Let a version that was disabled be activated again.

        Raises:
            NotFoundError: there is no such version.
            StateError: it is not disabled, or by an organiser.
        """
        return self.set_state(number, {DISABLED, BARRED} if organiser else {DISABLED}, SUPERSEDED)

    def hand_back(self) -> int:
        """What a server that ended was at begins again; how many versions that are."""
        going = bot_version.c.state.in_((BUILDING, CHECKING))
        with self._store.writing() as connection:
            changed = sa.update(bot_version).where(going).values(state=UPLOADED, changed_us=_now())
            return connection.execute(changed).rowcount

    # what belongs to a version

    def data(self, digest: str) -> bytes:
        """An archive.

        Raises:
            NotFoundError: there is none.
        """
        with self._store.reading() as connection:
            found = connection.execute(sa.select(blob.c.data).where(blob.c.digest == digest)).scalar()
        if found is None:
            raise NotFoundError(
                f"there is no archive {digest}", "the database does not hold it", "submit it again"
            )
        return bytes(found)

    def logs(self, number: int) -> tuple[str, str]:
        """What the build of a version wrote, and how its check went: for its owner and organisers alone."""
        query = sa.select(bot_version.c.build_log, bot_version.c.check_log).where(bot_version.c.id == number)
        with self._store.reading() as connection:
            row = connection.execute(query).one()
        return row[0], row[1]


_BOTS = sa.select(bot, user.c.name.label("owner_name")).join(user, user.c.id == bot.c.owner)
_VERSIONS = (
    sa.select(
        bot_version,
        bot.c.name.label("bot_name"),
        bot.c.owner.label("owner_id"),
        user.c.name.label("owner_name"),
    )
    .join(bot, bot.c.id == bot_version.c.bot)
    .join(user, user.c.id == bot.c.owner)
)
_STATES: Mapping[str, sa.ColumnElement[bool]] = {
    DISABLED: bot.c.disabled_us.is_not(None),
    ACTIVE: bot.c.disabled_us.is_(None) & bot.c.active.is_not(None),
    "waiting": bot.c.disabled_us.is_(None) & bot.c.active.is_(None),
}


def _now() -> int:
    return time.time_ns() // 1000


def _bot(connection: sa.Connection, name: str) -> RosterBot:
    row = connection.execute(_BOTS.where(bot.c.name == name)).mappings().first()
    if row is None:
        raise NotFoundError(
            f"there is no bot {name!a}",
            "the server has none of this name",
            "see what there is: arena bot list",
        )
    return _read_bot(row)


def _version(connection: sa.Connection, number: int) -> RosterVersion:
    row = connection.execute(_VERSIONS.where(bot_version.c.id == number)).mappings().first()
    if row is None:
        raise NotFoundError(
            f"there is no version with the number {number}",
            "the server has none",
            "see what there is: arena bot list",
        )
    return _read_version(row)


def _add_bot(
    connection: sa.Connection,
    owner: int,
    name: str,
    mixed: bool,
    quotas: Quotas | None,
    reserved: Iterable[str],
) -> RosterBot:
    check_name(name, reserved)
    lock_owner(connection, owner)
    if quotas is not None:
        check_bots(connection, owner, quotas.bots)
    check_free(connection, name)
    values = {"name": name, "folded": folded(name), "owner": owner, "created_us": _now(), "mixed": mixed}
    try:
        with connection.begin_nested():
            connection.execute(sa.insert(bot).values(values))
    except sa.exc.IntegrityError:  # somebody else took it since
        check_free(connection, name)
        raise
    return _bot(connection, name)


def _add_version(
    connection: sa.Connection, of: RosterBot, new: NewVersion, quotas: Quotas | None
) -> tuple[RosterVersion, bool]:
    lock_owner(connection, of.owner_id)
    is_remote = new.kind == REMOTE
    check_kind(connection, of.id, of.name, is_remote)
    if same := _same(connection, of, new):
        return _again(same), False
    if quotas is not None:
        check_quotas(connection, of.owner_id, of.name, new.size, quotas)
        if is_remote:
            check_remote(connection, of.owner_id, of.id, of.name, quotas.remote_bots)
    if new.data is not None and new.digest is not None:
        _keep(connection, new.digest, new.data)
    values = {
        "bot": of.id,
        "number": _newest(connection, of.id) + 1,
        "kind": new.kind,
        "state": CHECKING if is_remote else UPLOADED,
        "digest": new.digest,
        "size": new.size,
        "notes": new.notes,
        "activate": new.activate,
        "spec": json.dumps(dict(new.spec or {}), sort_keys=True),
        "created_us": _now(),
        "changed_us": _now(),
    }
    made = connection.execute(sa.insert(bot_version).values(values)).inserted_primary_key
    assert made is not None
    if is_remote:
        _activate(connection, made[0])
    return _version(connection, made[0]), True


def _read_bot(row: sa.RowMapping) -> RosterBot:
    names = ("id", "name", "created_us", "disabled_us", "mixed", "active", "barred")
    return RosterBot(owner=row["owner_name"], owner_id=row["owner"], **{name: row[name] for name in names})


def _read_version(row: sa.RowMapping) -> RosterVersion:
    names = ("id", "owner_id", "number", "kind", "state", "reason", "digest", "size", "notes", "activate")
    return RosterVersion(
        bot=row["bot_name"],
        owner=row["owner_name"],
        spec=json.loads(row["spec"]),
        created_us=row["created_us"],
        changed_us=row["changed_us"],
        **{name: row[name] for name in names},
    )


def _plays(spec: Mapping[str, Any], game: str) -> bool:
    return not spec.get("games") or game in spec["games"]


def _same(connection: sa.Connection, of: RosterBot, new: NewVersion) -> RosterVersion | None:
    """The version of a bot that has this content and did not fail."""
    if new.digest is None:
        return None
    query = _VERSIONS.where(
        bot_version.c.bot == of.id, bot_version.c.digest == new.digest, bot_version.c.state != FAILED
    )
    row = connection.execute(query.order_by(bot_version.c.id.desc())).mappings().first()
    return _read_version(row) if row is not None else None


def _again(same: RosterVersion) -> RosterVersion:
    """A version whose content was submitted again."""
    if same.state in PENDING or _now() - same.created_us < RESEND_US:
        return same
    raise TakenError(
        "there is nothing new to submit",
        f"{same.reference} has exactly this content, and is {same.state}",
        f"change something, or let that one play: arena bot rollback {same.reference}",
    )


def _keep(connection: sa.Connection, digest: str, data: bytes) -> None:
    """Store an archive, unless it is there."""
    there = connection.execute(sa.select(blob.c.digest).where(blob.c.digest == digest)).scalar()
    if there is None:
        values = {"digest": digest, "data": data, "created_us": _now()}
        # Somebody else may submit the same at the same time.
        with suppress(sa.exc.IntegrityError), connection.begin_nested():
            connection.execute(sa.insert(blob).values(values))


def _newest(connection: sa.Connection, number: int) -> int:
    """Number of the newest version of a bot; 0 if it has none."""
    query = sa.select(sa.func.max(bot_version.c.number)).where(bot_version.c.bot == number)
    return int(connection.execute(query).scalar() or 0)


def _require(version: RosterVersion, states: Collection[str]) -> None:
    if version.state not in states:
        raise StateError(
            f"{version.reference} cannot be changed so",
            f"it is {version.state}" + (f" ({version.reason})" if version.reason else ""),
            f"see how far it is: arena bot show {version.reference}",
        )


def _change(connection: sa.Connection, number: int, before: Collection[str], after: str) -> None:
    """Bring a version into another state, if it is in one that this can follow."""
    version = _version(connection, number)
    _require(version, {state for state in before if after in CHANGES[state]})
    values = {"state": after, "changed_us": _now()}
    # On PostgreSQL another one may have changed it since it was read.
    is_so = (bot_version.c.id == number) & (bot_version.c.state == version.state)
    if not connection.execute(sa.update(bot_version).where(is_so).values(values)).rowcount:
        _require(_version(connection, number), ())
    if version.state == ACTIVE:
        played = (bot.c.name == version.bot) & (bot.c.active == version.number)
        connection.execute(sa.update(bot).where(played).values(active=None))


def _activate(connection: sa.Connection, number: int) -> None:
    version = _version(connection, number)
    lock_owner(connection, version.owner_id)
    if version.state == ACTIVE:
        return
    playing = (bot_version.c.state == ACTIVE) & bot_version.c.bot.in_(
        sa.select(bot.c.id).where(bot.c.name == version.bot)
    )
    for row in connection.execute(sa.select(bot_version.c.id).where(playing)).scalars().all():
        _change(connection, row, {ACTIVE}, SUPERSEDED)
    _change(connection, number, {state for state in CHANGES if ACTIVE in CHANGES[state]}, ACTIVE)
    connection.execute(sa.update(bot).where(bot.c.name == version.bot).values(active=version.number))
