"""What a token allows, and who shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BOT_PLAY: Final = "bot:play"
BOT_SUBMIT: Final = "bot:submit"
TOURNAMENT_RUN: Final = "tournament:run"
ADMIN: Final = "admin"
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
