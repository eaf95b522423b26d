"""`arena games`: what can be played."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli.output import OUT
from arena.cli.remote import server_address
from arena.cli.source import local_game, local_games, open_source
from arena.cli.tables import plain_table

app = typer.Typer(help="Rules, seats and options of the games.", invoke_without_command=True)


@app.callback()
def default(context: typer.Context) -> None:
    """List the games if no other command is given."""
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """The games that can be played."""
    rows = _games()
    heads = ("game", "title", "seats", "options", "house bots")
    cells = [
        (row["game"], row["title"], row["seats"], ", ".join(row["options"]), ", ".join(row["house_bots"]))
        for row in rows
    ]
    OUT.table("game", rows, lambda: plain_table(heads, cells))


def _games() -> list[dict[str, Any]]:
    if server_address() is None:
        return local_games()  # they need no database
    with open_source("") as source:
        return source.games()


def _game(name: str) -> tuple[dict[str, Any], str]:
    if server_address() is None:
        return local_game(name)
    with open_source("") as source:
        return source.game(name)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="GAME", help="Name of the game.")],
    rules: Annotated[bool, typer.Option("--rules", help="Print the rules.")] = False,
) -> None:
    """One game: seats, options, what a turn shows, action fields; --rules for its rules."""
    row, text = _game(name)
    if rules:
        OUT.text(text)
        return
    if OUT.json:
        OUT.lines("game", [row])
        return
    lines = [f"{row['title']} ({name}), rules version {row['version']}", f"seats: {row['seats']}", "options:"]
    lines += [f"  --option {key}=…  {help_}" for key, help_ in row["options"].items()]
    for part, fields in row["turn"].items():
        lines += [f"{part}:", *(f"  {field}" for field in fields)]
    lines += [f"house bots: {', '.join(row['house_bots'])}", f"rules: arena games show {name} --rules"]
    OUT.text("\n".join(lines))
