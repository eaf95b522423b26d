"""What a person writes, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import NotFoundError, UsageError
from arena.games.game import OptionError, PlayersError, UnknownGameError
from arena.runs.definition import (
    Definition,
    Limits,
    limits_text,
    parse_each,
    parse_options,
    parse_seed,
    read_definition,
)
from arena.tournament.schedule import ScheduleError
from arena.units import parse_time

HOUSE = ["house:random", "house:first", "house:greedy"]


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [("1s", 10**6), ("500ms", 500_000), ("1.5s", 1_500_000), ("2m", 120 * 10**6), ("7us", 7)],
)
def test_times(text: str, microseconds: int) -> None:
    assert parse_time(text) == microseconds
    limits = Limits(microseconds, 2 * microseconds, 3, 4)
    assert parse_each([limits_text(limits)]) == limits


@pytest.mark.parametrize("text", ["1", "s", "-1s", "0s", "1 s", "1h", "nan", "1e3s"])
def test_no_times(text: str) -> None:
    with pytest.raises(UsageError, match=r"1\.5s"):
        parse_time(text)


@pytest.mark.parametrize(("text", "first", "last"), [("1", 0, 1), ("ff00", 0, 0), ("AB" * 32, 0xAB, 0xAB)])
def test_seeds(text: str, first: int, last: int) -> None:
    seed = parse_seed(text)
    assert (len(seed), seed[0], seed[-1]) == (32, first, last)


@pytest.mark.parametrize("text", ["", "xyz", "0x1", "0" * 65, "-1"])
def test_no_seeds(text: str) -> None:
    with pytest.raises(UsageError, match="hexadecimal"):
        parse_seed(text)


def test_each() -> None:
    assert parse_each([]) == Limits()
    assert parse_each(["time=1s"], Limits(faults_allowed=2)) == Limits(move_us=10**6, faults_allowed=2)
    assert parse_each(["time=1s,bank=2m", "faults=3"]) == Limits(10**6, 120 * 10**6, Limits().start_us, 3)


@pytest.mark.parametrize("text", ["time", "time=", "speed=1s", "faults=-1", "faults=x", "=1s", ","])
def test_no_each(text: str) -> None:
    with pytest.raises(UsageError):
        parse_each([text])


def test_options_are_pairs() -> None:
    assert parse_options(["specials=2,3,4", "games=2"]) == {"specials": "2,3,4", "games": "2"}
    with pytest.raises(UsageError, match="key=value"):
        parse_options(["specials"])


def test_defaults() -> None:
    built = Definition("koffer", HOUSE, deals=5).build()
    assert (built.seats, built.deals, built.matches, built.rotate) == (3, 5, 15, True)
    assert [bot.name for bot in built.bots] == ["random", "first", "greedy"]
    assert len(built.seed) == 32
    assert Definition("koffer", HOUSE, deals=5).build().seed != built.seed


def test_more_bots_than_seats_round_up_to_whole_cycles() -> None:
    built = Definition("koffer", HOUSE * 2, seats=4, deals=7).build()
    assert (built.deals, built.matches) == (12, 48)


def test_play_counts_matches() -> None:
    built = Definition("koffer", HOUSE, seats=3, matches=4).build()
    assert (built.deals, built.matches) == (2, 4)


@pytest.mark.parametrize(
    ("definition", "error"),
    [
        (Definition("chess", HOUSE), UnknownGameError),
        (Definition("koffer", HOUSE, seats=9), PlayersError),
        (Definition("koffer", HOUSE[:1]), PlayersError),
        (Definition("koffer", HOUSE, deals=0), ScheduleError),
        (Definition("koffer", HOUSE, deals=1, format="cup"), ScheduleError),
        (Definition("koffer", HOUSE, deals=1, rounds=3), ScheduleError),
        (Definition("koffer", HOUSE, seats=2, deals=1, format="swiss", rounds=0), ScheduleError),
        (Definition("koffer", HOUSE, deals=1, format="knockout"), ScheduleError),
        (Definition("koffer", HOUSE[:2], seats=3, deals=0, format="gauntlet"), ScheduleError),
        (Definition("koffer", HOUSE, seats=2, deals=1, format="ladder"), UsageError),
        (Definition("koffer", HOUSE, options={"specials": "1"}), OptionError),
        (Definition("koffer", HOUSE, options={"colour": "red"}), OptionError),
        (Definition("koffer", HOUSE, name="a b"), UsageError),
        (Definition("koffer", HOUSE, name="../x"), UsageError),
        (Definition("koffer", [*HOUSE, "./nothing"]), NotFoundError),
    ],
)
def test_what_cannot_be_played_is_refused(definition: Definition, error: type[Exception]) -> None:
    with pytest.raises(error):
        definition.build()


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(
        'game = "koffer"\nbots = ["house:random", "house:first"]\ndeals = 3\nseed = "7"\nname = "cup"\n'
        '[options]\nspecials = [2, 3]\ngames = 2\n[each]\ntime = "1s"\nfaults = 1\n'
    )
    built = read_definition(path).build()
    assert (built.name, built.deals, built.seed[-1], built.move_us, built.faults_allowed) == (
        "cup",
        3,
        7,
        10**6,
        1,
    )
    assert built.options == {"specials": "2,3", "games": "2"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('game = "koffer"', "no bots"),
        ("bots = []", "no game"),
        ('game = "koffer"\nbots = "house:first"', "bots"),
        ('game = "koffer"\nbots = []\ncolour = 1', "colour"),
        ('game = "koffer"\nbots = []\nrounds = "five"', "rounds"),
        ('game = "koffer"\nbots = []\nformat = 5', "format"),
        ("game =", "TOML"),
    ],
)
def test_a_bad_file(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_definition(path)
    assert why in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_definition(tmp_path / "none.toml")


def test_copies_of_the_bots_fill_a_table_that_asks_for_more() -> None:
    built = Definition("koffer", ["house:random", "house:first"], seats=4, deals=4).build()
    assert (built.seats, [bot.name for bot in built.bots]) == (4, ["random", "first", "random-2", "first-2"])
    assert len(Definition("koffer", HOUSE, seats=2, deals=3).build().bots) == 3


@pytest.mark.parametrize(
    ("kind", "bots", "seats", "why"),
    [
        ("tournament", ["house:first"], None, "2 to 4 seats, and 1 bots are too few: .* --seats 2"),
        ("tournament", HOUSE, 5, "2 to 4 seats, and 5 were asked for"),
        ("play", ["house:first"], None, "2 to 4 seats, and bots were named for 1: name one for each seat"),
        ("play", ["house:first"] * 5, None, "2 to 4 seats, and bots were named for 5"),
    ],
)
def test_tables_that_cannot_be(kind: str, bots: list[str], seats: int | None, why: str) -> None:
    with pytest.raises(PlayersError, match=why):
        Definition("koffer", bots, kind, seats).build()
