"""Options of Combo Up (U27): from text, from the wire, and every way in which they can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from botarena.v1.combo_up_pb2 import ComboUpEdition, ComboUpOptions
from botarena.v1.game_pb2 import GameOptions
from botarena.v1.koffer_pb2 import KofferOptions

from arena.games import find_game
from arena.games.combo_up.rules import Options
from arena.games.game import OptionError

COMBO_UP = find_game("combo_up")


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({}, Options("combo_up", False)),
        ({"edition": "combo_up"}, Options()),
        ({"edition": " krass_kariert "}, Options("krass_kariert")),
        ({"scoring": "false"}, Options()),
        ({"scoring": " true"}, Options(scoring=True)),
        ({"edition": "krass_kariert", "scoring": "true"}, Options("krass_kariert", True)),
    ],
)
def test_options_from_text(values: Mapping[str, str], options: Options) -> None:
    assert COMBO_UP.options(values) == options


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"edition": "classic"}, "'classic' is no edition; edition: combo_up .default., or krass_kariert"),
        ({"edition": ""}, "'' is no edition"),
        ({"edition": "Combo_Up"}, "'Combo_Up' is no edition"),
        ({"scoring": "on"}, "'on' is neither true nor false; scoring: false .default."),
        ({"scoring": "1"}, "'1' is neither true nor false"),
        ({"tokens": "5"}, "no option tokens; it has edition, scoring"),
    ],
)
def test_what_is_wrong_and_what_is_allowed(values: Mapping[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        COMBO_UP.options(values)


@pytest.mark.parametrize(
    ("edition", "scoring", "said"),
    [
        ("classic", False, "edition is 'classic': allowed are combo_up and krass_kariert"),
        (None, False, "edition is None"),
        (1, False, "edition is 1"),
        (("combo_up",), False, "edition is"),
        ("combo_up", "true", "scoring is 'true': allowed are true and false"),
        ("combo_up", 1, "scoring is 1"),
        ("combo_up", None, "scoring is None"),
    ],
)
def test_options_that_cannot_be_made(edition: Any, scoring: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        Options(edition, scoring)


@pytest.mark.parametrize(
    "message",
    [
        GameOptions(),
        GameOptions(combo_up=ComboUpOptions()),
        GameOptions(combo_up=ComboUpOptions(scoring=True)),
        GameOptions(koffer=KofferOptions(games=1)),
    ],
)
def test_messages_that_hold_no_valid_options(message: GameOptions) -> None:
    with pytest.raises(OptionError):
        COMBO_UP.options_from(message)


def test_an_edition_of_a_later_protocol_is_refused() -> None:
    message = GameOptions.FromString(
        GameOptions(combo_up=ComboUpOptions(edition=ComboUpEdition.ValueType(7))).SerializeToString()
    )
    with pytest.raises(OptionError, match="edition is number 7: allowed are 1, 2"):
        COMBO_UP.options_from(message)


def test_options_on_the_wire() -> None:
    message = COMBO_UP.options_message(Options("krass_kariert", True))
    edition = ComboUpEdition.COMBO_UP_EDITION_KRASS_KARIERT
    assert message == GameOptions(combo_up=ComboUpOptions(edition=edition, scoring=True))


def test_every_option_is_explained() -> None:
    assert set(COMBO_UP.option_help) == {"edition", "scoring"}
    assert all("default" in line for line in COMBO_UP.option_help.values())
