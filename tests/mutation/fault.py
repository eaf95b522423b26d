"""A known fault of a game's code."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One place of a game's code, made wrong.

    Attributes:
        what: what is wrong then, in a few words.
        file: the file in the game's folder, such as "rules.py".
        right: text that stands in the file exactly once.
        wrong: what is put in its place.
    """

    what: str
    file: str
    right: str
    wrong: str
