"""What the options mean by which commands say which matches they are about."""

from __future__ import annotations

from typing import Any

import pytest

from arena.errors import ArenaError, NotFoundError, UsageError
from arena.games import find_game
from arena.games.game import GameError
from arena.runs.selecting import Filters, option_sets, parse_date, tournaments_game
from arena.store.store import Store
from tests.cli.command import Command

KOFFER = find_game("koffer")


@pytest.mark.parametrize(
    ("filters", "matches"),
    [
        ({}, {"one": 6, "two": 6, "three": 4, "four": 2}),
        ({"game": "koffer"}, {"one": 6, "two": 6, "three": 4}),
        ({"tournaments": ["one", "four"]}, {"one": 6, "four": 2}),
        ({"bots": ["c"]}, {"two": 6, "three": 4}),
        ({"bots": ["c", "b"]}, {"one": 6, "two": 6, "three": 4, "four": 2}),
        ({"bots": ["a@2"]}, {"two": 6, "three": 4, "four": 2}),
        ({"bots": ["a@2", "c"], "only": True}, {"three": 4}),
        ({"together": ["a", "b"]}, {"one": 6, "two": 6, "four": 2}),
        ({"together": ["a", "b"], "only": True}, {"one": 6, "four": 2}),
        ({"together": ["a", "b"], "bots": ["c"]}, {"two": 6}),
        ({"seats": 3}, {"two": 6}),
        ({"game": "koffer", "options": ["games=1"]}, {"one": 6, "two": 6, "three": 4}),
        ({"game": "koffer", "options": ["specials=none"]}, {"one": 6, "three": 4}),
        ({"game": "koffer", "options": ["specials=2", "games=1"]}, {"two": 6}),
        ({"tournaments": ["one", "two"], "options": ["specials=2"]}, {"two": 6}),
        ({"game": "koffer", "options": ["games=2"]}, {}),
        ({"since": "2023-11-14"}, {"one": 6, "two": 6, "three": 4, "four": 2}),
        ({"since": "2023-11-15"}, {}),
        ({"before": "2023-11-15"}, {"one": 6, "two": 6, "three": 4, "four": 2}),
        ({"before": "2023-11-14"}, {}),
    ],
)
def test_what_is_selected(store: Store, filters: dict[str, Any], matches: dict[str, int]) -> None:
    found = [of.name for of, _ in store.selected(Filters(**filters).selection(store))]
    assert {name: found.count(name) for name in found} == matches


@pytest.mark.parametrize(
    ("filters", "error", "what"),
    [
        ({"game": "chess"}, GameError, "no game 'chess'"),
        ({"tournaments": ["nope"]}, NotFoundError, "no tournament 'nope'"),
        ({"bots": ["nobody"]}, NotFoundError, r"no bot 'nobody'.*choose one of these: a@1, a@2, b, c"),
        ({"bots": ["a@3"]}, NotFoundError, "no bot 'a@3'"),
        ({"bots": ["c"], "tournaments": ["one"]}, NotFoundError, "no bot 'c'.*choose one of these: a, b"),
        ({"only": True}, UsageError, "--only"),
        ({"options": ["games=1"]}, UsageError, "name one with --game"),
        ({"game": "koffer", "options": ["games"]}, UsageError, "'games' means nothing"),
        ({"game": "koffer", "options": ["colour=red"]}, GameError, "no option colour"),
        ({"since": "soon"}, UsageError, "'soon' is no date"),
        ({"before": "2026-13-01"}, UsageError, "'2026-13-01' is no date"),
        ({"since": "2026-01-02", "before": "2026-01-02"}, UsageError, "nothing is since"),
    ],
)
def test_what_means_nothing(store: Store, filters: dict[str, Any], error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        Filters(**filters).selection(store)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86400),
        ("1970-01-01T00:01", 60),
        ("1970-01-01T01:00+01:00", 0),
        ("1969-12-31T23:59:59Z", -1),
        ("1970-01-01 00:00:00.5", 0.5),
    ],
)
def test_dates(text: str, seconds: float) -> None:
    assert parse_date(text) == seconds * 1_000_000


def test_option_sets_are_told_apart_as_the_game_does(store: Store) -> None:
    found = [(one.options, one.tournaments) for one in option_sets(store, KOFFER)]
    assert found == [({}, ("one", "three")), ({"specials": "2"}, ("two",))]


def test_the_game_of_tournaments(store: Store) -> None:
    every = [of for of, _ in store.tournaments()]
    assert tournaments_game(every[:3], "x").name == "koffer"
    with pytest.raises(UsageError, match="koffer, kotki"):
        tournaments_game(every, "x")
    with pytest.raises(ArenaError, match="no such match"):
        tournaments_game([], "x")


def test_filters_are_the_same_for_every_command(arena: Command) -> None:
    options = [
        "--game", "--tournament", "--bot", "--only", "--option", "--seats", "--since", "--before"
    ]  # fmt: skip
    for command in ("export", "head-to-head"):
        told = arena(command, "--help").out
        assert [option for option in options if option not in told] == []
