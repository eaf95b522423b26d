"""Whether a command that plays works here or on a server, and the options that mean something there alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from arena.cli.remote import server_address
from arena.errors import UsageError

REMOTES = ("none", "mixed", "only")
"""Which bots take part that dial in: none, those that agree to play beside others, or nobody else."""

DetachOption = Annotated[bool, typer.Option("--detach", help="With --server: do not wait for the end of it.")]
AtOption = Annotated[
    str | None,
    typer.Option("--at", metavar="TIME", help="With --server: begin then, such as 2026-12-01T18:30 (UTC)."),
]
SameOwnerOption = Annotated[
    bool,
    typer.Option("--allow-same-owner", help="With --server: bots of one owner may sit at one table."),
]
UnratedOption = Annotated[
    bool, typer.Option("--unrated", help="With --server: it does not count for the leaderboards.")
]
RemoteOption = Annotated[
    str | None,
    typer.Option(
        "--remote", metavar="WHICH", help=f"With --server: bots that dial in: {', '.join(REMOTES)}."
    ),
]
PerDayOption = Annotated[
    int | None, typer.Option("--per-day", min=1, help="With --server: most matches per UTC day.")
]
OpenOption = Annotated[bool, typer.Option("--open", help="With --server: every user may enter his own bots.")]

_ONLY_HERE = frozenset({"jobs", "in_flight", "pin", "sandbox", "limits", "out", "private", "db"})
_ONLY_THERE = frozenset({"detach", "at", "allow_same_owner", "unrated", "remote", "per_day", "open_to_all"})


@dataclass(frozen=True, slots=True)
class Terms:
    """How a server is asked to host something.

    Attributes:
        at: when it begins, as a date and time; None: at once.
        same_owner: whether bots of one owner may sit at one table.
        unrated: whether it does not count for leaderboards over several tournaments.
        remote: one of REMOTES; None: the server's default.
        per_day: most matches per UTC day of a league; None: any number.
        is_open: whether every user may enter his bots into the league.
    """

    at: str | None = None
    same_owner: bool = False
    unrated: bool = False
    remote: str | None = None
    per_day: int | None = None
    is_open: bool = False


def on_server(context: typer.Context, *only_here: str) -> bool:
    """Whether the command that runs is for a server.

    Args:
        context: of the command, with what the line says.
        only_here: parameters of the command that mean nothing there, besides those that never do.

    Raises:
        UsageError: an option was given that means nothing where the command works.
    """
    there = server_address() is not None
    useless = _ONLY_HERE.union(only_here) if there else _ONLY_THERE
    for parameter in context.command.params:
        # A variable of the environment is for all commands; a word of the line is meant for this one.
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in useless and source is not None and source.name == "COMMANDLINE":
            raise _means_nothing(parameter.opts[0], there)
    return there


def _means_nothing(option: str, there: bool) -> UsageError:
    if there:
        return UsageError(
            f"{option} means nothing on a server",
            "how it plays is its operator's business",
            f"leave {option} out, or --server",
        )
    return UsageError(
        f"{option} means nothing without a server",
        "what is played here begins at once, and is nobody else's",
        f"leave {option} out, or add --server HOST:PORT",
    )
