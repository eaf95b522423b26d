"""The root of errors that a person is shown: what went wrong, why, and what to do about it.

    ArenaError                 1  something failed
    ├── UsageError             2  the command cannot mean anything
    ├── CheckFailedError       3  a check, a verification or a bot failed
    ├── NotFoundError          4  there is no such thing
    ├── NotAllowedError        5  whoever asks may not
    │   └── UnknownCallerError 5  nobody knows who asks
    ├── TakenError             1  there is one already
    ├── StateError             1  not as things stand
    └── TooMuchError           1  more than a quota or a limit of rate allows

The number is the exit code of the command. Errors of the games' rules have a tree of their own
(`arena.games.game.GameError`), since rules know nothing of commands.
"""

from __future__ import annotations


class ArenaError(Exception):
    """Something failed.

    Args:
        what: one line.
        why: one line.
        do: one line that begins with a verb.
    """

    code = 1

    def __init__(self, what: str, why: str, do: str) -> None:
        super().__init__(what, why, do)
        self.what = what
        self.why = why
        self.do = do

    def __str__(self) -> str:
        return f"{self.what}: {self.why}; {self.do}"


class UsageError(ArenaError):
    """The command cannot mean anything."""

    code = 2


class CheckFailedError(ArenaError):
    """A check, a verification or a bot failed."""

    code = 3


class NotFoundError(ArenaError):
    """There is no such thing."""

    code = 4


class NotAllowedError(ArenaError):
    """Whoever asks may not."""

    code = 5


class UnknownCallerError(NotAllowedError):
    """Nobody knows who asks: no token, or one that is wrong, expired or revoked."""


class TakenError(ArenaError):
    """There is one already, of this name or for this purpose."""


class StateError(ArenaError):
    """Not as things stand, but perhaps later or after something else."""


class TooMuchError(ArenaError):
    """More than a quota, or a limit of rate, allows."""
