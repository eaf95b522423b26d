"""The games that the arena knows: the registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from arena.games.game import AnyGame, UnknownGameError

# Each is a package of this one with a class of this name.
_CLASSES = {
    "koffer": "Koffer",
    "hochstapler": "Hochstapler",
    "kamozza": "Kamozza",
    "kotki": "Kotki",
    "combo_up": "ComboUp",
}


class _Registry(Mapping[str, AnyGame]):
    """The games by name. Each is loaded when it is asked for: its tables take time, and a match needs one."""

    def __getitem__(self, name: str) -> AnyGame:
        return _load(name, _CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES


@cache
def _load(name: str, class_name: str) -> AnyGame:
    game: AnyGame = getattr(import_module(f"{__name__}.{name}"), class_name)()
    return game


GAMES: Mapping[str, AnyGame] = _Registry()
"""All games by name."""


def find_game(name: str) -> AnyGame:
    """A game by its name.

    Raises:
        UnknownGameError: there is none; the message names those that there are.
    """
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGameError(f"there is no game {name!r}; there are: {', '.join(GAMES)}") from None
