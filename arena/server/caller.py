"""Who calls a method: set for the time of a call by the interceptor, read by the services."""

from __future__ import annotations

from contextvars import ContextVar

from arena.errors import UnknownCallerError
from arena.rights import ADMIN, BOT_PLAY, BOT_SUBMIT, SCOPES, TOURNAMENT_RUN, Caller

__all__ = ["ADMIN", "BOT_PLAY", "BOT_SUBMIT", "CALLER", "SCOPES", "TOURNAMENT_RUN", "Caller", "caller"]

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
