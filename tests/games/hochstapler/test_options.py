"""Options of Hochstapler (X19): from text, from the wire, and every way in which they can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from botarena.v1.game_pb2 import GameOptions
from botarena.v1.hochstapler_pb2 import HochstaplerOptions
from botarena.v1.koffer_pb2 import KofferOptions

from arena.games import find_game
from arena.games.game import OptionError
from arena.games.hochstapler.rules import Options

HOCHSTAPLER = find_game("hochstapler")


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({}, Options()),
        ({"match": "false"}, Options(False)),
        ({"match": "true"}, Options(True)),
        ({"match": " true "}, Options(True)),
    ],
)
def test_options_from_text(values: Mapping[str, str], options: Options) -> None:
    assert HOCHSTAPLER.options(values) == options


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"match": "yes"}, r"match is 'yes': true or false is allowed \(X19\)"),
        ({"match": "True"}, "match is 'True'"),
        ({"match": ""}, "match is ''"),
        ({"games": "3"}, "Hochstapler has no option games; it has match"),
        ({"rounds": "3", "games": "3"}, "no option games, rounds; it has match"),
    ],
)
def test_what_is_wrong_and_what_is_allowed(values: Mapping[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        HOCHSTAPLER.options(values)


@pytest.mark.parametrize("match", [None, 0, 1, "true", (), 1.0])
def test_an_option_of_another_type_is_refused(match: Any) -> None:
    with pytest.raises(OptionError, match="true or false is allowed"):
        Options(match)


def test_options_on_the_wire() -> None:
    for match in (False, True):
        message = HOCHSTAPLER.options_message(Options(match))
        assert message == GameOptions(hochstapler=HochstaplerOptions(match=match))
        assert HOCHSTAPLER.options_from(message) == Options(match)


@pytest.mark.parametrize(
    ("message", "named"),
    [(GameOptions(), "no game"), (GameOptions(koffer=KofferOptions(games=1)), "koffer")],
)
def test_messages_that_hold_no_options_of_hochstapler(message: GameOptions, named: str) -> None:
    with pytest.raises(OptionError, match=f"of Hochstapler are needed, not of {named}"):
        HOCHSTAPLER.options_from(message)


def test_every_option_is_explained() -> None:
    assert set(HOCHSTAPLER.option_help) == {"match"}
    assert all("default" in line for line in HOCHSTAPLER.option_help.values())
