"""Options of Kotki (P22): from text, from the wire, and every way in which they can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from botarena.v1.game_pb2 import GameOptions
from botarena.v1.koffer_pb2 import KofferOptions
from botarena.v1.kotki_pb2 import KotkiOptions

from arena.games import find_game
from arena.games.game import OptionError
from arena.games.kotki.rules import Options

KOTKI = find_game("kotki")


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({}, Options(10, 100)),
        ({"target": "15"}, Options(15)),
        ({"target": " 10 "}, Options()),
        ({"max_rounds": "1"}, Options(10, 1)),
        ({"target": "15", "max_rounds": "100"}, Options(15, 100)),
    ],
)
def test_options_from_text(values: Mapping[str, str], options: Options) -> None:
    assert KOTKI.options(values) == options


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"target": "long"}, "'long' is no number; target: 10 .* or 15"),
        ({"target": ""}, "'' is no number"),
        ({"target": "12"}, r"target is 12: 10 or 15 is allowed \(P22\)"),
        ({"max_rounds": "0"}, r"max_rounds is 0: a whole number from 1 to 100 is allowed \(P22\)"),
        ({"max_rounds": "101"}, "max_rounds is 101"),
        ({"max_rounds": "1.5"}, "'1.5' is no number; max_rounds: 1 to 100"),
        ({"targets": "10", "round": "1"}, "no option round, targets; it has target, max_rounds"),
    ],
)
def test_what_is_wrong_and_what_is_allowed(values: Mapping[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        KOTKI.options(values)


@pytest.mark.parametrize(
    ("target", "max_rounds"),
    [
        *((target, 100) for target in (0, -10, 14, 16, 10.0, "10", None, True)),
        *((10, max_rounds) for max_rounds in (0, 101, -1, 3.0, "3", None, True)),
    ],
)
def test_options_that_cannot_be(target: Any, max_rounds: Any) -> None:
    with pytest.raises(OptionError, match="is allowed"):
        Options(target, max_rounds)


@pytest.mark.parametrize(
    "message",
    [
        GameOptions(),
        GameOptions(koffer=KofferOptions(games=1)),
        GameOptions(kotki=KotkiOptions()),
        GameOptions(kotki=KotkiOptions(target=10)),
        GameOptions(kotki=KotkiOptions(target=11, max_rounds=100)),
        GameOptions(kotki=KotkiOptions(target=10, max_rounds=101)),
    ],
)
def test_messages_that_hold_no_valid_options(message: GameOptions) -> None:
    with pytest.raises(OptionError):
        KOTKI.options_from(message)


def test_options_on_the_wire() -> None:
    message = KOTKI.options_message(Options(15, 7))
    assert message == GameOptions(kotki=KotkiOptions(target=15, max_rounds=7))


def test_every_option_is_explained() -> None:
    assert set(KOTKI.option_help) == {"target", "max_rounds"}
    assert all("default" in line for line in KOTKI.option_help.values())
