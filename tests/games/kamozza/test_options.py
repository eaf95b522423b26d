"""Options of Kamozza (Z18): from text, from the wire, and every way in which they can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from botarena.v1.game_pb2 import GameOptions
from botarena.v1.kamozza_pb2 import KamozzaMode, KamozzaOptions
from botarena.v1.koffer_pb2 import KofferOptions

from arena.games import find_game
from arena.games.game import OptionError
from arena.games.kamozza.rules import Options

KAMOZZA = find_game("kamozza")
BASE, VARIANT = KamozzaMode.KAMOZZA_MODE_BASE, KamozzaMode.KAMOZZA_MODE_VARIANT


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({}, Options()),
        ({"mode": "base"}, Options("base")),
        ({"mode": " variant "}, Options("variant")),
        ({"table_talk": "true"}, Options(table_talk=True)),
        ({"mode": "variant", "typhoon": "true"}, Options("variant", typhoon=True)),
        ({"mode": "variant", "cat_ship": "true", "typhoon": "false"}, Options("variant", cat_ship=True)),
        (
            {"mode": "variant", "typhoon": "true", "cat_ship": "true", "table_talk": "true"},
            Options("variant", True, True, True),
        ),
    ],
)
def test_options_from_text(values: Mapping[str, str], options: Options) -> None:
    assert KAMOZZA.options(values) == options


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"mode": "Base"}, "'Base' is no mode; mode: base .* or variant"),
        ({"mode": ""}, "'' is no mode"),
        ({"table_talk": "yes"}, "'yes' is neither true nor false; table_talk: false .* or true"),
        ({"mode": "variant", "typhoon": "1"}, "'1' is neither true nor false; typhoon"),
        ({"typhoon": "true"}, "typhoon with mode base: bonus ships belong to the variant"),
        ({"mode": "base", "cat_ship": "true"}, "cat_ship with mode base"),
        ({"typhoon": "true", "cat_ship": "true"}, "typhoon and cat_ship with mode base"),
        ({"talk": "true"}, "no option talk; it has mode, typhoon, cat_ship, table_talk"),
    ],
)
def test_what_is_wrong_and_what_is_allowed(values: Mapping[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        KAMOZZA.options(values)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (("Variant",), "mode is 'Variant': base or variant is allowed"),
        ((None,), "mode is None"),
        (("variant", 1), "typhoon is 1: true or false is allowed"),
        (("variant", False, "true"), "cat_ship is 'true'"),
        (("base", False, False, None), "table_talk is None"),
        (("base", True), "bonus ships belong to the variant"),
    ],
)
def test_options_are_checked_when_they_are_made(values: tuple[Any, ...], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        Options(*values)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (GameOptions(), "not of no game"),
        (GameOptions(koffer=KofferOptions(games=1)), "not of koffer"),
        (GameOptions(kamozza=KamozzaOptions()), "mode is number 0 on the wire"),
        (GameOptions(kamozza=KamozzaOptions(mode=7)), "mode is number 7 on the wire"),  # type: ignore[arg-type]
        (GameOptions(kamozza=KamozzaOptions(mode=BASE, typhoon=True)), "bonus ships belong to the variant"),
    ],
)
def test_messages_that_hold_no_valid_options(message: GameOptions, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        KAMOZZA.options_from(message)


def test_options_on_the_wire() -> None:
    message = KAMOZZA.options_message(Options("variant", cat_ship=True, table_talk=True))
    assert message == GameOptions(kamozza=KamozzaOptions(mode=VARIANT, cat_ship=True, table_talk=True))
    assert KAMOZZA.options_message(Options()) == GameOptions(kamozza=KamozzaOptions(mode=BASE))


def test_every_option_is_explained() -> None:
    assert set(KAMOZZA.option_help) == {"mode", "typhoon", "cat_ship", "table_talk"}
    assert all("default" in line for line in KAMOZZA.option_help.values())
