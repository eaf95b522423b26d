"""Users and their tokens. Of a token only its hash is kept, so that nobody who reads the database has one."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from arena.errors import NotFoundError, StateError, TakenError, UnknownCallerError, UsageError
from arena.rights import ADMIN, SCOPES, Caller
from arena.store.quotas import QUOTAS, Quotas, checked_quotas
from arena.store.schema import token, user
from arena.store.store import Store
from arena.text import checked_name, folded, printable

FIRST_ADMIN = "admin"
"""Name of the user that a new server makes by itself."""

LABEL_LONGEST = 80
_SECRET = re.compile(r"arena_[A-Za-z0-9_-]{43}", re.ASCII)
_USED_EVERY_US = 60_000_000
_LATEST_US = 1 << 62


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who has tokens and bots.

    Attributes:
        id: row number.
        created_us: microseconds since 1970 UTC.
        disabled_us: likewise; None while it may be used.
        quotas: what holds for this user.
    """

    id: int
    name: str
    created_us: int
    disabled_us: int | None
    quotas: Quotas


@dataclass(frozen=True, slots=True)
class Token:
    """A token, but for what is secret about it.

    Attributes:
        id: row number.
        user: name of whose it is.
        user_id: row number of whose it is.
        label: what it is for, in its owner's words.
        scopes: what it allows.
        created_us: microseconds since 1970 UTC.
        expires_us: likewise; None: never.
        revoked_us: likewise; None: it was not.
        used_us: about when it was used last, to a minute; None: never.
    """

    id: int
    user: str
    user_id: int
    label: str
    scopes: frozenset[str]
    created_us: int
    expires_us: int | None
    revoked_us: int | None
    used_us: int | None


class Accounts:
    """The users of a server and their tokens.

    Args:
        store: where they are kept.
        quotas: of a user who has none of its own.
        now_us: tells the time, in microseconds since 1970 UTC.
    """

    def __init__(
        self,
        store: Store,
        quotas: Quotas | None = None,
        now_us: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        self.store = store
        self._quotas = quotas or Quotas()
        self._now_us = now_us

    # users

    def add_user(self, name: str) -> User:
        """A new user.

        Raises:
            UsageError: nobody may be called so.
            TakenError: somebody is called so, or so that people may take one for the other.
        """
        checked_name(name, "a user")
        try:
            with self.store.writing() as connection:
                _insert_user(connection, name, self._now_us())
        except sa.exc.IntegrityError:
            raise TakenError(
                f"the user {name} cannot be added",
                "there is one of this name, or of one that looks like it",
                "choose another name",
            ) from None
        return self.user(name)

    def user(self, name: str) -> User:
        """The user of this name.

        Raises:
            NotFoundError: there is none.
        """
        return self._one(user.c.name == name, f"there is no user {printable(name[:80])!r}")

    def user_by_id(self, number: int) -> User:
        """The user with this row number.

        Raises:
            NotFoundError: there is none.
        """
        return self._one(user.c.id == number, f"there is no user with the number {number}")

    def users(self, after: int = 0, most: int | None = None) -> list[User]:
        """Users, oldest first.

        Args:
            after: row number; only later ones.
            most: no more than so many.
        """
        query = sa.select(user).where(user.c.id > after).order_by(user.c.id).limit(most)
        with self.store.reading() as connection:
            return [self._user(row) for row in connection.execute(query)]

    def disable(self, number: int) -> None:
        """Refuse a user's tokens from now on.

        Raises:
            NotFoundError: there is no such user.
        """
        self._change(number, disabled_us=sa.func.coalesce(user.c.disabled_us, self._now_us()))

    def enable(self, number: int) -> None:
        """Accept a disabled user's tokens again.

        Raises:
            NotFoundError: there is no such user.
        """
        self._change(number, disabled_us=None)

    def set_quotas(self, number: int, own: Mapping[str, int]) -> None:
        """Give a user quotas of its own; those that are not named stay as they were.

        Raises:
            UsageError: there is no such quota, or it cannot be so much.
            NotFoundError: there is no such user.
        """
        changed = checked_quotas(own)
        with self.store.writing() as connection:
            stored = connection.execute(sa.select(user.c.quotas).where(user.c.id == number)).scalar()
            had = json.loads(stored) if stored is not None else {}
            text = json.dumps({**had, **changed}, sort_keys=True)
            _update_user(connection, number, quotas=text)

    def _one(self, which: sa.ColumnElement[bool], missing: str) -> User:
        with self.store.reading() as connection:
            row = connection.execute(sa.select(user).where(which)).first()
        if row is None:
            raise _no_user(missing)
        return self._user(row)

    def _user(self, row: Any) -> User:
        # A quota of another release is no reason to fail.
        own = {name: most for name, most in json.loads(row.quotas).items() if name in QUOTAS}
        return User(row.id, row.name, row.created_us, row.disabled_us, self._quotas.changed(own))

    def _change(self, number: int, **values: Any) -> None:
        with self.store.writing() as connection:
            _update_user(connection, number, **values)

    # tokens

    def create_token(
        self, user_id: int, label: str, scopes: Collection[str], expires_us: int | None = None
    ) -> tuple[str, Token]:
        """A new token of a user, and what is known of it from now on.

        Args:
            user_id: row number of the user.
            label: what it is for; at most 80 characters.
            scopes: what it allows.
            expires_us: microseconds since 1970 UTC; None: never.

        Returns:
            The token, which is kept nowhere, and its description.

        Raises:
            UsageError: no token can be like this.
            NotFoundError: there is no such user.
            StateError: the user is disabled, or has as many as it may.
        """
        _check_token(label, scopes, expires_us, self._now_us())
        secret, hashed = _new_secret()
        owner = self.user_by_id(user_id)
        with self.store.writing() as connection:
            self._check_room(connection, owner)
            number = _insert_token(
                connection, owner.id, label, hashed, scopes, created_us=self._now_us(), expires_us=expires_us
            )
        return secret, self.token(number)

    def ensure_admin(self) -> str | None:
        """A token that allows everything, on a database where nobody has any; None: somebody has."""
        secret, hashed = _new_secret()
        now = self._now_us()
        with self.store.writing() as connection:
            if connection.execute(sa.select(token.c.id).limit(1)).first() is not None:
                return None
            found = connection.execute(sa.select(user.c.id).where(user.c.name == FIRST_ADMIN)).scalar()
            number = found if found is not None else _insert_user(connection, FIRST_ADMIN, now)
            _insert_token(connection, number, "first start", hashed, [ADMIN], created_us=now, expires_us=None)
        return secret

    def check(self, secret: str) -> Caller:
        """Who shows a token.

        Raises:
            UnknownCallerError: nobody knows it, or it is not good any more.
        """
        if not _SECRET.fullmatch(secret):
            raise _unknown("it does not look like one: arena_ and 43 letters, digits, hyphens, underscores")
        hashed = _hashed(secret)
        now = self._now_us()
        query = sa.select(token, user.c.name, user.c.disabled_us).join(user, user.c.id == token.c.user)
        with self.store.reading() as connection:
            row = connection.execute(query.where(token.c.hash == hashed)).first()
        if row is None or not hmac.compare_digest(row.hash, hashed):
            raise _unknown("nobody has it")
        if (reason := _spent(row, now)) is not None:
            raise _unknown(reason)
        self._note_use(row, now)
        return Caller(row.user, row.name, frozenset(json.loads(row.scopes)), row.id)

    def token(self, number: int) -> Token:
        """The token with this row number.

        Raises:
            NotFoundError: there is none.
        """
        found = self._tokens(token.c.id == number)
        if not found:
            raise NotFoundError(
                f"there is no token {number}", "the number is none of a token", "see: arena token list"
            )
        return found[0]

    def tokens(self, user_id: int | None = None, after: int = 0, most: int | None = None) -> list[Token]:
        """Tokens, oldest first, also those that are good no more.

        Args:
            user_id: row number of whose; None: everybody's.
            after: row number; only later ones.
            most: no more than so many.
        """
        mine = sa.true() if user_id is None else token.c.user == user_id
        return self._tokens(mine, token.c.id > after, most=most)

    def revoke(self, token_id: int) -> None:
        """Refuse a token from now on.

        Raises:
            NotFoundError: there is no such token.
        """
        self.token(token_id)
        unrevoked = (token.c.id == token_id) & token.c.revoked_us.is_(None)
        with self.store.writing() as connection:
            connection.execute(sa.update(token).where(unrevoked).values(revoked_us=self._now_us()))

    def _tokens(self, *which: sa.ColumnElement[bool], most: int | None = None) -> list[Token]:
        query = sa.select(token, user.c.name).join(user, user.c.id == token.c.user).where(*which)
        with self.store.reading() as connection:
            return [_token(row) for row in connection.execute(query.order_by(token.c.id).limit(most))]

    def _check_room(self, connection: sa.Connection, owner: User) -> None:
        if owner.disabled_us is not None:
            raise StateError(
                f"{owner.name} gets no token", "the user is disabled", "enable it: arena user enable NAME"
            )
        good = (token.c.user == owner.id) & token.c.revoked_us.is_(None)
        unexpired = token.c.expires_us.is_(None) | (token.c.expires_us > self._now_us())
        count = connection.execute(sa.select(sa.func.count()).where(good, unexpired)).scalar_one()
        if count >= owner.quotas.tokens:
            raise StateError(
                f"{owner.name} gets no token",
                f"it has {count} that can be used, and may have {owner.quotas.tokens}",
                "revoke one: arena token revoke NUMBER",
            )

    def _note_use(self, row: Any, now: int) -> None:
        """Remember that a token was used, and write no more than once a minute for it."""
        long_ago = now - _USED_EVERY_US
        if row.used_us is None or row.used_us <= long_ago:
            unnoted = token.c.used_us.is_(None) | (token.c.used_us <= long_ago)
            with self.store.writing() as connection:
                connection.execute(sa.update(token).where(token.c.id == row.id, unnoted).values(used_us=now))


def _insert_user(connection: sa.Connection, name: str, now: int) -> int:
    values = {"name": name, "folded": folded(name), "created_us": now}
    key = connection.execute(sa.insert(user).values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _update_user(connection: sa.Connection, number: int, **values: Any) -> None:
    if connection.execute(sa.update(user).where(user.c.id == number).values(**values)).rowcount == 0:
        raise _no_user(f"there is no user with the number {number}")


def _no_user(what: str) -> NotFoundError:
    return NotFoundError(what, "nobody was added by this name or number", "see: arena user list")


def _check_token(label: str, scopes: Collection[str], expires_us: int | None, now: int) -> None:
    """Refuse what no token can be."""
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise UsageError(
            "the token allows nothing that there is",
            f"there is no scope {printable(unknown[0][:40])!r}" if unknown else "no scope was named",
            f"choose among {', '.join(SCOPES)}",
        )
    if len(label) > LABEL_LONGEST or not label.isprintable():
        raise UsageError(
            "the label cannot be kept",
            f"a label has at most {LABEL_LONGEST} characters, all of them printable",
            "choose another one",
        )
    if expires_us is not None and not now < expires_us <= _LATEST_US:
        raise UsageError(
            "the token would be good for nothing", "it expires in the past", "let it live longer"
        )


def _new_secret() -> tuple[str, bytes]:
    """A token and its hash."""
    secret = f"arena_{secrets.token_urlsafe(32)}"
    return secret, _hashed(secret)


def _hashed(secret: str) -> bytes:
    # It is 256 random bits: nothing slower than this would make it harder to guess.
    return hashlib.sha256(secret.encode()).digest()


def _insert_token(
    connection: sa.Connection,
    user_id: int,
    label: str,
    hashed: bytes,
    scopes: Collection[str],
    *,
    created_us: int,
    expires_us: int | None,
) -> int:
    values = {
        "user": user_id,
        "label": label,
        "hash": hashed,
        "scopes": json.dumps(sorted(set(scopes))),
        "created_us": created_us,
        "expires_us": expires_us,
    }
    key = connection.execute(sa.insert(token).values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _spent(row: Any, now: int) -> str | None:
    """Why a token that there is is good no more; None: it is good."""
    if row.revoked_us is not None:
        return "it was revoked"
    if row.expires_us is not None and row.expires_us <= now:
        return "it has expired"
    return "its user is disabled" if row.disabled_us is not None else None


def _unknown(why: str) -> UnknownCallerError:
    return UnknownCallerError(
        "the token is not accepted", why, "log in with another one: arena login --server HOST:PORT"
    )


def _token(row: Any) -> Token:
    return Token(
        row.id,
        row.name,
        row.user,
        row.label,
        frozenset(json.loads(row.scopes)),
        row.created_us,
        row.expires_us,
        row.revoked_us,
        row.used_us,
    )
