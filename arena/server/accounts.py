"""The service of users and tokens."""

from __future__ import annotations

from typing import Any

import grpc
from botarena.v1 import api_accounts_pb2 as api
from botarena.v1.api_accounts_pb2_grpc import AccountServiceServicer, add_AccountServiceServicer_to_server

from arena.errors import NotAllowedError, StateError
from arena.server.background import apart
from arena.server.caller import Caller, caller
from arena.server.pages import page_of
from arena.store.accounts import Accounts, Token, User
from arena.store.quotas import QUOTAS

_Context = grpc.aio.ServicerContext[Any, Any]


class AccountPart:
    """Offers the users and tokens of a server."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_AccountServiceServicer_to_server(AccountService(self._accounts), server)

    async def start(self) -> None:
        """Nothing goes on by itself here."""

    async def stop(self) -> None:
        """Nothing goes on by itself here."""


class AccountService(AccountServiceServicer):
    """Users and tokens, for whoever may know of them."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    async def WhoAmI(self, request: api.WhoAmIRequest, context: _Context) -> api.WhoAmIResponse:
        """Who calls."""
        return await apart(self._who, caller())

    async def CreateUser(self, request: api.CreateUserRequest, context: _Context) -> api.CreateUserResponse:
        """A new user."""
        return api.CreateUserResponse(user=user_message(await apart(self._accounts.add_user, request.name)))

    async def ListUsers(self, request: api.ListUsersRequest, context: _Context) -> api.ListUsersResponse:
        """All users, in pages."""
        users, page = await apart(page_of, request.page, self._accounts.users, lambda user: user.id)
        return api.ListUsersResponse(users=map(user_message, users), page=page)

    async def UpdateUser(self, request: api.UpdateUserRequest, context: _Context) -> api.UpdateUserResponse:
        """A user, disabled or enabled, or with other quotas."""
        return api.UpdateUserResponse(user=user_message(await apart(self._update, caller(), request)))

    async def CreateToken(
        self, request: api.CreateTokenRequest, context: _Context
    ) -> api.CreateTokenResponse:
        """A new token."""
        secret, token = await apart(self._create, caller(), request)
        return api.CreateTokenResponse(secret=secret, token=token_message(token))

    async def ListTokens(self, request: api.ListTokensRequest, context: _Context) -> api.ListTokensResponse:
        """Somebody's tokens, in pages."""
        owner = await apart(self._owner, caller(), request.user)
        tokens, page = await apart(
            page_of, request.page, lambda after, most: self._accounts.tokens(owner, after, most), _number
        )
        return api.ListTokensResponse(tokens=map(token_message, tokens), page=page)

    async def RevokeToken(
        self, request: api.RevokeTokenRequest, context: _Context
    ) -> api.RevokeTokenResponse:
        """A token that is good no more."""
        return api.RevokeTokenResponse(token=token_message(await apart(self._revoke, caller(), request.id)))

    def _who(self, who: Caller) -> api.WhoAmIResponse:
        return api.WhoAmIResponse(
            user=user_message(self._accounts.user_by_id(who.user)),
            token=token_message(self._accounts.token(who.token)),
        )

    def _update(self, who: Caller, request: api.UpdateUserRequest) -> User:
        found = self._accounts.user(request.name)
        if request.disabled and found.id == who.user:
            raise StateError(
                f"{found.name} stays enabled",
                "whoever disables itself cannot undo it",
                "let another admin do it, or the operator: arena user disable NAME --db DATABASE",
            )
        self._accounts.set_quotas(found.id, request.quotas)
        if request.HasField("disabled"):
            (self._accounts.disable if request.disabled else self._accounts.enable)(found.id)
        return self._accounts.user_by_id(found.id)

    def _create(self, who: Caller, request: api.CreateTokenRequest) -> tuple[str, Token]:
        owner = self._owner(who, request.user)
        expires_us = request.expires_us if request.HasField("expires_us") else None
        if not who.is_admin:
            expires_us = self._no_more_than(who, frozenset(request.scopes), expires_us)
        return self._accounts.create_token(owner, request.label, list(request.scopes), expires_us)

    def _no_more_than(self, who: Caller, scopes: frozenset[str], expires_us: int | None) -> int | None:
        """When a token expires that is made with another; nobody gives more than it has."""
        if not scopes <= who.scopes:
            raise NotAllowedError(
                "the token cannot allow so much",
                f"yours has {', '.join(sorted(who.scopes))} alone",
                "ask for no more than that, or an admin for the token",
            )
        own = self._accounts.token(who.token).expires_us
        return min((time for time in (own, expires_us) if time is not None), default=None)

    def _owner(self, who: Caller, name: str) -> int:
        """Row number of the user with whose tokens somebody wants to do something."""
        if name in ("", who.name):
            return who.user
        if not who.is_admin:
            raise NotAllowedError(
                "these are not your tokens",
                "an admin alone may deal with those of others",
                "leave --user out",
            )
        return self._accounts.user(name).id

    def _revoke(self, who: Caller, number: int) -> Token:
        if not who.is_admin:
            mine = [token for token in self._accounts.tokens(who.user) if token.id == number]
            if not mine or not mine[0].scopes <= who.scopes:
                raise NotAllowedError(
                    f"the token {number} cannot be revoked",
                    "it is none of yours, or it allows more than the one that you show",
                    "see yours: arena token list",
                )
        self._accounts.revoke(number)
        return self._accounts.token(number)


def _number(token: Token) -> int:
    return token.id


def user_message(user: User) -> api.User:
    """A user as callers see it."""
    quotas = {name: getattr(user.quotas, name) for name in QUOTAS}
    return api.User(name=user.name, created_us=user.created_us, disabled_us=user.disabled_us, quotas=quotas)


def token_message(token: Token) -> api.Token:
    """A token as callers see it."""
    return api.Token(
        id=token.id,
        user=token.user,
        label=token.label,
        scopes=sorted(token.scopes),
        created_us=token.created_us,
        expires_us=token.expires_us,
        revoked_us=token.revoked_us,
        used_us=token.used_us,
    )
