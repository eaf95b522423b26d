"""Where users and tokens are dealt with: at a server, or in a database, which is its operator's way in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from arena.cli.common import open_store
from arena.cli.remote import connected, pages, server_address
from arena.errors import UsageError

if TYPE_CHECKING:
    from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub

    from arena.store.accounts import Accounts

Row = dict[str, Any]
"""A user or a token as plain data."""


class Desk(Protocol):
    """Users and tokens, wherever they are."""

    def add_user(self, name: str) -> Row:
        """A new user."""
        ...

    def users(self) -> Iterator[Row]:
        """All of them, oldest first."""
        ...

    def update_user(
        self, name: str, disabled: bool | None = None, quotas: Mapping[str, int] | None = None
    ) -> Row:
        """A user after a change."""
        ...

    def create_token(
        self, user: str | None, label: str, scopes: Sequence[str], expires_us: int | None
    ) -> tuple[str, Row]:
        """A new token and its description."""
        ...

    def tokens(self, user: str | None) -> Iterator[Row]:
        """Somebody's, oldest first; of whoever asks if nobody is named, and in a database everybody's."""
        ...

    def revoke(self, number: int) -> Row:
        """A token that is good no more."""
        ...


@contextmanager
def open_desk(db: str) -> Iterator[Desk]:
    """The server that the command is for, else the database that `--db` names."""
    if server_address() is not None:
        from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub

        with connected() as remote:
            yield _ServerDesk(remote.stub(AccountServiceStub))
        return
    from arena.store.accounts import Accounts

    with open_store(db) as store:
        yield _DatabaseDesk(Accounts(store))


class _DatabaseDesk:
    """Works on the database itself."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def add_user(self, name: str) -> Row:
        return _user_row(self._accounts.add_user(name))

    def users(self) -> Iterator[Row]:
        return map(_user_row, self._accounts.users())

    def update_user(
        self, name: str, disabled: bool | None = None, quotas: Mapping[str, int] | None = None
    ) -> Row:
        number = self._accounts.user(name).id
        self._accounts.set_quotas(number, quotas or {})
        if disabled is not None:
            (self._accounts.disable if disabled else self._accounts.enable)(number)
        return _user_row(self._accounts.user(name))

    def create_token(
        self, user: str | None, label: str, scopes: Sequence[str], expires_us: int | None
    ) -> tuple[str, Row]:
        if user is None:
            raise UsageError(
                "nobody is named whose token it will be",
                "a database does not know who asks",
                "add --user NAME, or --server ADDR",
            )
        secret, token = self._accounts.create_token(self._accounts.user(user).id, label, scopes, expires_us)
        return secret, _token_row(token)

    def tokens(self, user: str | None) -> Iterator[Row]:
        number = None if user is None else self._accounts.user(user).id
        return map(_token_row, self._accounts.tokens(number))

    def revoke(self, number: int) -> Row:
        self._accounts.revoke(number)
        return _token_row(self._accounts.token(number))


class _ServerDesk:
    """Asks a server."""

    def __init__(self, stub: AccountServiceStub) -> None:
        self._stub = stub

    def add_user(self, name: str) -> Row:
        from botarena.v1.api_accounts_pb2 import CreateUserRequest

        return user_row(self._stub.CreateUser(CreateUserRequest(name=name)).user)

    def users(self) -> Iterator[Row]:
        from botarena.v1.api_accounts_pb2 import ListUsersRequest

        for answer in pages(lambda page: self._stub.ListUsers(ListUsersRequest(page=page))):
            yield from map(user_row, answer.users)

    def update_user(
        self, name: str, disabled: bool | None = None, quotas: Mapping[str, int] | None = None
    ) -> Row:
        from botarena.v1.api_accounts_pb2 import UpdateUserRequest

        request = UpdateUserRequest(name=name, disabled=disabled, quotas=quotas or {})
        return user_row(self._stub.UpdateUser(request).user)

    def create_token(
        self, user: str | None, label: str, scopes: Sequence[str], expires_us: int | None
    ) -> tuple[str, Row]:
        from botarena.v1.api_accounts_pb2 import CreateTokenRequest

        request = CreateTokenRequest(user=user or "", label=label, scopes=scopes, expires_us=expires_us)
        answer = self._stub.CreateToken(request)
        return answer.secret, token_row(answer.token)

    def tokens(self, user: str | None) -> Iterator[Row]:
        from botarena.v1.api_accounts_pb2 import ListTokensRequest

        asked = user or ""
        for answer in pages(lambda page: self._stub.ListTokens(ListTokensRequest(user=asked, page=page))):
            yield from map(token_row, answer.tokens)

    def revoke(self, number: int) -> Row:
        from botarena.v1.api_accounts_pb2 import RevokeTokenRequest

        return token_row(self._stub.RevokeToken(RevokeTokenRequest(id=number)).token)


def user_row(user: Any) -> Row:
    """A user's message as plain data."""
    return {
        "user": user.name,
        "created_us": user.created_us,
        "disabled_us": _optional(user, "disabled_us"),
        "quotas": dict(sorted(user.quotas.items())),
    }


def token_row(token: Any) -> Row:
    """A token's message as plain data."""
    times = {name: _optional(token, name) for name in ("expires_us", "revoked_us", "used_us")}
    return {
        "token": token.id,
        "user": token.user,
        "label": token.label,
        "scopes": list(token.scopes),
        "created_us": token.created_us,
        **times,
    }


def _optional(message: Any, field: str) -> int | None:
    return getattr(message, field) if message.HasField(field) else None


def _user_row(user: Any) -> Row:
    from arena.server.accounts import user_message

    return user_row(user_message(user))


def _token_row(token: Any) -> Row:
    from arena.server.accounts import token_message

    return token_row(token_message(token))
