"""The options with which the games are tested, as a person would give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

OptionSet = Mapping[str, str]

_KOFFER_SPECIALS = ("2", "3", "4", "6", "13", "15")

OPTION_SETS: Mapping[str, Sequence[OptionSet]] = {
    "koffer": (
        {},
        *(
            {"specials": ",".join(chosen)}
            for count in (1, 2, 3)
            for chosen in combinations(_KOFFER_SPECIALS, count)
        ),
        {"specials": "random"},
        {"games": "3"},
        {"specials": "4,13,15", "games": "2"},
        {"specials": "random", "games": "4"},
    ),
    "hochstapler": ({}, {"match": "true"}),
    "kamozza": (
        {},
        {"table_talk": "true"},
        {"mode": "variant"},
        {"mode": "variant", "typhoon": "true"},
        {"mode": "variant", "cat_ship": "true"},
        {"mode": "variant", "typhoon": "true", "cat_ship": "true", "table_talk": "true"},
    ),
    "kotki": (
        {},
        {"target": "15"},
        {"max_rounds": "3"},
    ),
    "combo_up": (
        {},
        {"scoring": "true"},
        {"edition": "krass_kariert"},
        {"edition": "krass_kariert", "scoring": "true"},
    ),
}
"""By game: every combination of options worth a match."""

GOLDEN_SETS: Mapping[str, Sequence[OptionSet]] = {
    **OPTION_SETS,
    "koffer": (  # of its many combinations those in which every special card is in force once
        {},
        {"specials": "2,3,4"},
        {"specials": "6,13,15"},
        {"specials": "random", "games": "2"},
    ),
}
"""By game: options of which a golden record is kept for each number of seats."""


def label(options: OptionSet) -> str:
    """Options as part of a file's or a test's name."""
    return "_".join(f"{name}-{value.replace(',', '-')}" for name, value in options.items()) or "default"
