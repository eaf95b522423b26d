"""`arena tournament pause|cancel|watch`: what a server plays, and this side only looks after."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.cli.remote import needed_address

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a tournament or league of the server.")
]


def pause(name: NameArgument) -> None:
    """Let a server play nothing more of it for now: what is in hand is finished and stored."""
    needed_address()
    from arena.cli import hosted

    hosted.pause(name)


def cancel(name: NameArgument) -> None:
    """Let a server end it for good: what is stored stays, and the seed is told."""
    needed_address()
    from arena.cli import hosted

    hosted.cancel(name)


def watch(name: NameArgument) -> None:
    """Follow what a server plays until it is over, and show what came out; with --json line by line."""
    needed_address()
    from arena.cli import hosted

    hosted.watch(name)
