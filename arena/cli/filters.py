"""The options by which commands say which matches they are about, and what they mean."""

from __future__ import annotations

from typing import Annotated

import typer

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
