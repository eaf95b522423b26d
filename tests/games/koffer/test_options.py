"""Options of Koffer (K19): from text, from the wire, and every way in which they can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from botarena.v1.game_pb2 import GameOptions
from botarena.v1.koffer_pb2 import KofferOptions

from arena.games import find_game
from arena.games.game import OptionError, SpecialUnknownError, SpecialUnprintedError
from arena.games.koffer.rules import Options

KOFFER = find_game("koffer")


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({}, Options()),
        ({"specials": "none"}, Options()),
        ({"specials": ""}, Options()),
        ({"specials": "random"}, Options("random")),
        ({"specials": "15,2,6"}, Options((2, 6, 15))),
        ({"specials": " 4 , 13"}, Options((4, 13))),
        ({"games": "5"}, Options((), 5)),
        ({"specials": "random", "games": "1000"}, Options("random", 1000)),
    ],
)
def test_options_from_text(values: Mapping[str, str], options: Options) -> None:
    assert KOFFER.options(values) == options


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"specials": "all"}, "'all' is no number; specials: .* or random"),
        ({"specials": "2,,3"}, "'' is no number"),
        ({"specials": "2;3"}, "'2;3' is no number"),
        ({"games": "many"}, "'many' is no number; games: .* to 1000"),
        ({"games": "0"}, "games is 0: a whole number from 1 to 1000"),
        ({"games": "1001"}, "games is 1001"),
        ({"game": "2"}, "no option game; it has specials, games"),
        ({"specials": "2,3,4,6"}, "specials is 2, 3, 4, 6: allowed are up to 3 different"),
    ],
)
def test_what_is_wrong_and_what_is_allowed(values: Mapping[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        KOFFER.options(values)


@pytest.mark.parametrize(
    ("specials", "games", "error"),
    [
        # the form comes before the numbers, which come before their texts
        ((16, 16), 1, OptionError),
        ((1, 7, 9, 16), 1, OptionError),
        ((16, 1), 0, OptionError),
        ((1, 16), 1, SpecialUnknownError),
        ((0,), 1, SpecialUnknownError),
        ((-2,), 1, SpecialUnknownError),
        *(((number,), 1, SpecialUnprintedError) for number in (1, 5, 7, 8, 9, 10, 11, 12, 14)),
        ("Random", 1, OptionError),
        ("2", 1, OptionError),
        (None, 1, OptionError),
        (4, 1, OptionError),
        ((2, "3"), 1, OptionError),
        ((2.0,), 1, OptionError),
        ((True,), 1, OptionError),
        ((), True, OptionError),
        ((), 1.0, OptionError),
        ((), "1", OptionError),
        ((), -1, OptionError),
    ],
)
def test_the_first_error_in_order_is_reported(specials: Any, games: Any, error: type[OptionError]) -> None:
    with pytest.raises(OptionError) as raised:
        Options(specials, games)
    assert type(raised.value) is error


def test_special_cards_are_kept_ascending() -> None:
    assert Options((13, 2, 4)).specials == (2, 4, 13)
    assert Options((13, 2, 4)) == Options((2, 4, 13))


def test_unprinted_special_cards_are_all_named() -> None:
    with pytest.raises(SpecialUnprintedError, match="special card 5, 12, 14 "):
        Options((14, 5, 12))


@pytest.mark.parametrize(
    "message",
    [
        GameOptions(),
        GameOptions(koffer=KofferOptions()),
        GameOptions(koffer=KofferOptions(games=1001)),
        GameOptions(koffer=KofferOptions(games=1, specials=(2,), random_specials=True)),
        GameOptions(koffer=KofferOptions(games=1, specials=(2, 2))),
        GameOptions(koffer=KofferOptions(games=1, specials=(1,))),
    ],
)
def test_messages_that_hold_no_valid_options(message: GameOptions) -> None:
    with pytest.raises(OptionError):
        KOFFER.options_from(message)


def test_options_on_the_wire() -> None:
    message = KOFFER.options_message(Options((13, 2), 3))
    assert message == GameOptions(koffer=KofferOptions(specials=(2, 13), games=3))
    drawn = KOFFER.options_message(Options("random"))
    assert drawn == GameOptions(koffer=KofferOptions(random_specials=True, games=1))


def test_every_option_is_explained() -> None:
    assert set(KOFFER.option_help) == {"specials", "games"}
    assert all("default" in line for line in KOFFER.option_help.values())
