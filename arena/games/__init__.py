"""The games that the arena knows: the registry."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from arena.games.combo_up import ComboUp
from arena.games.game import AnyGame, UnknownGameError
from arena.games.hochstapler import Hochstapler
from arena.games.kamozza import Kamozza
from arena.games.koffer import Koffer
from arena.games.kotki import Kotki

_ALL: tuple[AnyGame, ...] = (Koffer(), Hochstapler(), Kamozza(), Kotki(), ComboUp())

GAMES: Mapping[str, AnyGame] = MappingProxyType({game.name: game for game in _ALL})
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
