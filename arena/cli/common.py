"""What several commands share: the database, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from arena.store.store import Store

DbOption = Annotated[
    str,
    typer.Option(
        "--db", envvar="ARENA_DB", metavar="FILE|URL", help="Database: a file, or an URL of SQLAlchemy."
    ),
]
DEFAULT_DB = "arena.db"


@contextmanager
def open_store(db: str) -> Iterator[Store]:
    """The database that `--db` names, until the end of the block."""
    # The database layer takes a fifth of a second to load; what a run needs before it is on its way by now.
    from arena.store.store import Store, sqlite_url

    store = Store(db if "://" in db else sqlite_url(Path(db)))
    try:
        yield store
    finally:
        store.close()


def leave(code: int) -> None:
    """End a command with an exit code."""
    if code:
        raise typer.Exit(code)
