"""`arena games`: what can be played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from botarena.v1.game_pb2 import GameTurn
from google.protobuf.descriptor import Descriptor

import arena.games
from arena.bots.reference import house_names, resolve
from arena.cli.output import OUT
from arena.cli.tables import plain_table
from arena.games import GAMES, find_game
from arena.games.game import AnyGame

app = typer.Typer(help="Rules, seats and options of the games.", invoke_without_command=True)


@app.callback()
def default(context: typer.Context) -> None:
    """List the games if no other command is given."""
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """The games that can be played."""
    rows = [_row(game) for game in GAMES.values()]
    heads = ("game", "title", "seats", "options", "house bots")
    cells = [
        (row["game"], row["title"], row["seats"], ", ".join(row["options"]), ", ".join(row["house_bots"]))
        for row in rows
    ]
    OUT.table("game", rows, lambda: plain_table(heads, cells))


def _row(game: AnyGame) -> dict[str, Any]:
    return {
        "game": game.name,
        "title": game.title,
        "version": game.version,
        "seats": f"{game.seats.start}-{game.seats.stop - 1}",
        "options": dict(game.option_help),
        "house_bots": _house_bots(game.name),
    }


def _house_bots(game: str) -> list[str]:
    bots = {name: resolve(f"house:{name}").games for name in house_names()}
    return [f"house:{name}" for name, games in bots.items() if not games or game in games]


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="GAME", help="Name of the game.")],
    rules: Annotated[bool, typer.Option("--rules", help="Print the rules.")] = False,
) -> None:
    """One game: seats, options, what a turn shows, action fields; --rules for its rules."""
    game = find_game(name)
    if rules:
        OUT.text((Path(arena.games.__file__).parent / name / "RULES.md").read_text(encoding="utf-8"))
        return
    row = _row(game) | {"turn": _fields(game)}
    if OUT.json:
        OUT.lines("game", [row])
        return
    lines = [
        f"{game.title} ({game.name}), rules version {game.version}",
        f"seats: {row['seats']}",
        "options:",
    ]
    lines += [f"  --option {key}=…  {text}" for key, text in game.option_help.items()]
    for part, fields in _fields(game).items():
        lines += [f"{part}:", *(f"  {field}" for field in fields)]
    lines += [f"house bots: {', '.join(_house_bots(name))}", f"rules: arena games show {name} --rules"]
    OUT.text("\n".join(lines))


def _fields(game: AnyGame) -> dict[str, list[str]]:
    """Names of the fields of a view and of an action, from the protocol itself."""
    turn = _message(GameTurn.DESCRIPTOR, game.name)
    parts = {"what a turn shows": "view", "an action": "actions"}
    return {title: list(_message(turn, part).fields_by_name) for title, part in parts.items()}


def _message(descriptor: Descriptor, field: str) -> Descriptor:
    """The type of a field that holds messages."""
    inner = descriptor.fields_by_name[field].message_type
    assert inner is not None
    return inner
