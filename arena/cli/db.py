"""`arena db`: the database as a whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.common import DEFAULT_DB, DbOption, leave, open_store
from arena.cli.output import LINE_EVERY_S, OUT

app = typer.Typer(help="Back the database up, restore it, check and upgrade it.", no_args_is_help=True)

_FLAWS = 20
"""So many are told one by one."""


@app.command("upgrade")
def upgrade(db: DbOption = DEFAULT_DB) -> None:
    """Bring the database to the newest schema. All commands do, and so does `arena serve` when it starts."""
    from arena.store.store import HEAD

    with open_store(db):
        _done(
            "upgrade",
            {"db": _shown(db), "schema_version": HEAD},
            f"{_shown(db)} has the newest schema, {HEAD}",
        )


@app.command("backup")
def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The backup, which must not be there yet.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Write the whole database, as of one moment, to a SQLite file. Servers and runs may go on meanwhile."""
    from arena.store.transfer import back_up

    with _progress("backing up") as progress:
        back_up(_url(db), path, progress)
    size = path.stat().st_size
    _done(
        "backup", {"db": _shown(db), "file": str(path), "bytes": size}, f"{_shown(db)} is backed up in {path}"
    )


@app.command("restore")
def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, of whatever kind of database.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Make a database of a backup. There must be nothing in it yet."""
    from arena.store.transfer import restore as restored

    with _progress("restoring") as progress:
        restored(path, _url(db), progress)
    _done("restore", {"db": _shown(db), "file": str(path)}, f"{_shown(db)} is what was in {path}")


@app.command("check")
def check(db: DbOption = DEFAULT_DB) -> None:
    """Check that the database is whole: every record, every archive, all counts. Exit code 3 if not."""
    from arena.runs.soundness import matches_flaws, other_flaws
    from arena.store.selection import Selection

    with open_store(db) as store:
        total = store.count(Selection())
        of_matches = list(OUT.track(matches_flaws(store), total, "checking"))
        flaws = [*filter(None, of_matches), *other_flaws(store)]
    for flaw in flaws[:_FLAWS]:
        OUT.say(flaw)
    row = {"db": _shown(db), "matches": len(of_matches), "flaws": len(flaws)}
    _done("check", row, f"{len(of_matches)} matches, {len(flaws)} flaws")
    leave(3 if flaws else 0)


def _shown(db: str) -> str:
    """The database as anybody may read it."""
    from arena.store.store import shown_url

    return shown_url(db)


def _url(db: str) -> str:
    from arena.store.store import sqlite_url

    return db if "://" in db else sqlite_url(Path(db))


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Tells every few seconds how far it is."""
    told = time.monotonic()

    def tell(done: int, of: int) -> None:
        nonlocal told
        if time.monotonic() - told >= LINE_EVERY_S:
            told = time.monotonic()
            OUT.say(f"{what}: {100 * done // max(1, of)} %")

    yield tell


def _done(kind: str, row: dict[str, object], text: str) -> None:
    if OUT.json:
        OUT.lines(kind, [row])
    elif OUT.csv:
        OUT.csv_rows([row])
    else:
        OUT.text(text)
