"""What can be played, as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from botarena.v1.game_pb2 import GameTurn
from google.protobuf.descriptor import Descriptor

import arena.games
from arena.bots.reference import house_names, resolve
from arena.games.game import AnyGame


def game_row(game: AnyGame) -> dict[str, Any]:
    """A game: its seats, options, and the house bots that play it."""
    return {
        "game": game.name,
        "title": game.title,
        "version": game.version,
        "seats": f"{game.seats.start}-{game.seats.stop - 1}",
        "options": dict(sorted(game.option_help.items())),
        "house_bots": _house_bots(game.name),
    }


def _house_bots(game: str) -> list[str]:
    bots = {name: resolve(f"house:{name}").games for name in house_names()}
    return [f"house:{name}" for name, games in bots.items() if not games or game in games]


def turn_fields(game: AnyGame) -> dict[str, list[str]]:
    """Names of the fields of a view and of an action, from the protocol itself."""
    turn = _message(GameTurn.DESCRIPTOR, game.name)
    parts = {"what a turn shows": "view", "an action": "actions"}
    return {title: list(_message(turn, part).fields_by_name) for title, part in parts.items()}


def _message(descriptor: Descriptor, field: str) -> Descriptor:
    """The type of a field that holds messages."""
    inner = descriptor.fields_by_name[field].message_type
    assert inner is not None
    return inner


def rules_text(game: AnyGame) -> str:
    """Its rules, as Markdown."""
    return (Path(arena.games.__file__).parent / game.name / "RULES.md").read_text(encoding="utf-8")
