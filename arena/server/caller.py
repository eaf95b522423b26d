"""Who calls a method: set for the time of a call by the interceptor, read by the services."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from arena.errors import UnknownCallerError

BOT_PLAY = "bot:play"
BOT_SUBMIT = "bot:submit"
TOURNAMENT_RUN = "tournament:run"
ADMIN = "admin"
SCOPES = (BOT_PLAY, BOT_SUBMIT, TOURNAMENT_RUN, ADMIN)
"""What tokens allow. Admin allows everything, with everybody's things."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        user: row number of the user.
        name: name of the user.
        scopes: what the token allows.
        token: row number of the token.
    """

    user: int
    name: str
    scopes: frozenset[str]
    token: int

    @property
    def is_admin(self) -> bool:
        """Whether everything is allowed."""
        return ADMIN in self.scopes

    def may(self, scope: str) -> bool:
        """Whether the token allows what a scope stands for."""
        return scope in self.scopes or self.is_admin


CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Who calls now; None: nobody who showed a token."""


def caller() -> Caller:
    """Who calls.

    Raises:
        UnknownCallerError: nobody who showed a token.
    """
    found = CALLER.get()
    if found is None:
        raise UnknownCallerError(
            "this needs a token", "the call carried none", "log in: arena login --server HOST:PORT"
        )
    return found
