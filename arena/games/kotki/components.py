"""What is in the box of Kotki: bait cards and cat tiles as tables, read once from `components.toml`.

A symbol is a bit, a set of symbols the sum of its bits. A bait card is its face, an integer in bait order:
cards with one symbol, with two, with three, each lexicographic by symbols, then the dog (P2). A cat is its
number from 1; 0 is no cat, and a set of cats has the bit of each one's number.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib import resources
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

Bait: TypeAlias = int
CatId: TypeAlias = int
Symbols: TypeAlias = int

ABILITIES = (
    "yard_1",
    "yard_2",
    "yard_all",
    "draw_1",
    "draw_2",
    "shift_right",
    "shift_left",
    "padlock",
    "ignore_dog",
    "substitute",
)
"""All abilities: first those that may be used at any moment, in canonical order (P14)."""


class Cat(NamedTuple):
    """A cat tile: what it costs, what it is worth, and what it can do once.

    Attributes:
        cost: symbols to be paid, one source for each.
        points: what it counts, used or not.
        ability: one of `ABILITIES`.
        shows: symbols that a substitute shows.
    """

    cost: Symbols
    points: int
    ability: str
    shows: Symbols = 0


def _bits(letters: str) -> Symbols:
    return sum(1 << _LETTERS.index(letter) for letter in letters)


def _cat(cost: str, points: int, ability: str) -> Cat:
    name, _, shows = ability.partition(" ")
    return Cat(_bits(cost), points, name, _bits(shows))


def cat_set(cats: Iterable[CatId]) -> int:
    """Cats as a set: the bits of their numbers."""
    return sum(1 << cat for cat in cats)


_BOX: dict[str, Any] = tomllib.loads(
    resources.files(__package__).joinpath("components.toml").read_text("utf-8")
)
_LETTERS = "".join(_BOX["symbols"])
_FACES = tuple(face for size in (1, 2, 3) for face in combinations(range(len(_LETTERS)), size))

SYMBOLS: tuple[str, ...] = tuple(_BOX["symbols"].values())
"""Names of the symbols, in canonical order."""
PILLOWS: int = _BOX["table"]["pillows"]
FIELDS: int = _BOX["table"]["fields"]
YARD: int = _BOX["table"]["yard"]

DOG: Bait = len(_FACES)
EMPTY: Bait = DOG + 1
"""What lies on an empty field."""
SHOWS: tuple[Symbols, ...] = (*(sum(1 << symbol for symbol in face) for face in _FACES), 0, 0)
"""By bait card, dog and empty field included, the symbols that it shows."""
BAIT_NAMES: tuple[str, ...] = (*("+".join(SYMBOLS[symbol] for symbol in face) for face in _FACES), "dog", "-")
COPIES: tuple[int, ...] = (*(_BOX["bait"]["copies"][len(face)] for face in _FACES), _BOX["bait"]["copies"][0])
"""By bait card, how many there are."""
DECK: tuple[Bait, ...] = tuple(card for card, copies in enumerate(COPIES) for _ in range(copies))
"""All bait cards in bait order."""

CATS: dict[CatId, Cat] = {int(number): _cat(*face) for number, face in _BOX["cats"].items()}
CAT_IDS: tuple[CatId, ...] = tuple(CATS)
COST: tuple[Symbols, ...] = (0, *(cat.cost for cat in CATS.values()))
POINTS: tuple[int, ...] = (0, *(cat.points for cat in CATS.values()))
CAT_SHOWS: tuple[Symbols, ...] = (0, *(cat.shows for cat in CATS.values()))
"""By cat the symbols that it shows as a substitute."""
WITH_ABILITY: dict[str, tuple[CatId, ...]] = {
    ability: tuple(number for number, cat in CATS.items() if cat.ability == ability) for ability in ABILITIES
}
"""By ability the cats that have it, by number."""
