"""Errors of the rooms below, and of the machine, as people need them."""

from __future__ import annotations

import errno

from arena.errors import ArenaError, CheckFailedError, NotFoundError, UsageError

_MACHINE = frozenset(
    {
        errno.EACCES,
        errno.EAGAIN,
        errno.EDQUOT,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EPERM,
        errno.EROFS,
    }
)
"""What the machine may refuse us at any time, and no fault of ours could be told by."""
_MEND = "mend that and run the command again; a tournament goes on with: arena tournament resume NAME"


def _what_failed(error: OSError) -> str:
    return f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror)


def explained(error: ValueError | OSError) -> ArenaError | None:
    """What the rules, the schedule, a record or the machine refused, as a person needs it; None: none did."""
    from arena.games.game import GameError, UnknownGameError
    from arena.match.record import RecordDamagedError
    from arena.ratings.fold import RatingError
    from arena.tournament.schedule import ScheduleError

    if isinstance(error, (RecordDamagedError, RatingError)):
        do = "see which matches differ: arena verify --tournament NAME"
        known: ArenaError = CheckFailedError("the records cannot be read", str(error), do)
    elif isinstance(error, UnknownGameError):
        known = NotFoundError("there is no such game", str(error), "see: arena games")
    elif isinstance(error, ScheduleError):
        why, _, do = str(error).rpartition("; ")  # it says itself what to do
        known = UsageError("this cannot be played", why, do)
    elif isinstance(error, GameError):
        known = UsageError("this cannot be played", str(error), "see: arena games show GAME")
    elif isinstance(error, OSError) and error.errno in _MACHINE:
        known = ArenaError("the machine failed", _what_failed(error), _MEND)
    else:
        return None
    known.__cause__ = error
    return known
