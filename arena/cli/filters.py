"""The options by which commands say which matches they are about, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.output import OUT
from arena.runs.selecting import nothing_fits
from arena.store.selection import Selection
from arena.store.stored import StoredMatch, StoredTournament

if TYPE_CHECKING:
    from arena.store.store import Store

GameOption = Annotated[str | None, typer.Option("--game", metavar="GAME", help="Only of this game.")]
TournamentsOption = Annotated[
    list[str] | None,
    typer.Option("--tournament", metavar="NAME", help="Only of this tournament; may be repeated."),
]
BotsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--bot", metavar="NAME[@VERSION]", help="Only matches in which one of these sat; may be repeated."
    ),
]
OnlyOption = Annotated[bool, typer.Option("--only", help="Only matches in which no other bots sat.")]
OptionsOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="K=V", help="Only played with this option of the game."),
]
SeatsOption = Annotated[int | None, typer.Option("--seats", min=1, help="Only at tables of so many seats.")]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="Only begun then or later, such as 2026-11-01T12:30 (UTC)."),
]
BeforeOption = Annotated[
    str | None, typer.Option("--before", metavar="DATE", help="Only begun earlier than then.")
]


def tracked(store: Store, selection: Selection, what: str) -> Iterator[tuple[StoredTournament, StoredMatch]]:
    """The selected matches, while it is shown how far they are read.

    Raises:
        NotFoundError: there are none.
    """
    matches = OUT.track(store.selected(selection), store.count(selection), what)
    first = next(matches, None)
    if first is None:
        raise nothing_fits()
    yield first
    yield from matches
