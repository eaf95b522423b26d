"""Every format with real bots: run, looked at, verified, interrupted and repeated."""

from __future__ import annotations

import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.e2e.arena import Arena

BOTS = ("house:greedy", "house:first", "house:random", "house:random", "house:first")
RUN = ("tournament", "run", "koffer", *BOTS, "--seats", "2", "--jobs", "1", "--deals", "1", "--seed", "5")


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


@pytest.mark.parametrize(
    ("options", "shown", "matches", "places"),
    [
        (("--format", "gauntlet"), "gauntlet", 8, 0),
        (("--format", "swiss", "--rounds", "2"), "swiss (deals 1, rounds 2)", 8, 5),
        (("--format", "double-knockout"), "double knockout (deals 1)", None, 5),
    ],
)
def test_a_format_is_played_shown_verified_and_repeated(
    arena: Arena, options: tuple[str, ...], shown: str, matches: int | None, places: int
) -> None:
    done = arena.run("--json", *RUN, *options, "--name", "cup")
    assert f"koffer · {shown} · 5 bots at 2 seats" in done.stderr
    assert done.stdout.count('"kind": "place"') == places
    head, *rows = arena.lines("tournament", "show", "cup")
    assert (head["format"], head["state"], head["at_most"]) == (options[1], "finished", False)
    assert head["stored"] == head["matches"] == (matches or head["stored"])
    assert len([row for row in rows if row["kind"] == "place"]) == places
    assert arena.lines("verify", "--tournament", "cup")[-1]["matches"] == head["matches"]
    if options[1] != "swiss":  # the others differ from it in no option
        return
    repeat = next(line for line in done.stderr.splitlines() if line.startswith("repeat: arena "))
    arena.run(*repeat.removeprefix("repeat: arena ").split(), "--name", "again")
    assert arena.records("again") == arena.records("cup")


def test_a_killed_tournament_of_rounds_says_how_far_it_is_and_goes_on(arena: Arena) -> None:
    command = [*RUN[:-4], "--deals", "8", "--seed", "5", "--format", "knockout"]
    process = arena.start(*command, "--name", "cup")
    while arena.stored("cup") < 17:  # the second round has begun
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert arena.wait_until_alone() == {}
    (listed,) = arena.lines("tournament", "list")
    assert (listed["state"], listed["at_most"]) == ("unfinished", True)
    assert listed["stored"] < listed["matches"] == 4 * (8 + 5) * 2
    assert f"/≤{listed['matches']}" in arena.run("tournament", "list").stdout
    done = arena.run("tournament", "resume", "cup", "--jobs", "1")
    assert "at most 104 matches" in done.stderr
    (listed,) = arena.lines("tournament", "list")
    assert (listed["state"], listed["stored"]) == ("finished", listed["matches"])
    assert arena.lines("verify", "--tournament", "cup")[-1]["differing"] == 0


def test_a_changed_pairing_is_found_by_verify(arena: Arena) -> None:
    arena.run(*RUN, "--format", "swiss", "--rounds", "1", "--name", "cup")
    database = sqlite3.connect(arena.folder / "arena.db")
    with database:
        database.execute("UPDATE pairing SET seatings = '[[0, 0], [0, 0]]' WHERE block = 0")
        database.execute("DELETE FROM pairing WHERE block = 1")
    database.close()
    (*differing, _) = arena.lines("verify", "--tournament", "cup", code=3)
    assert [row["match"] for row in differing] == ["m0000", "m0001", "m0002", "m0003"]


def test_a_file_names_a_format(arena: Arena) -> None:
    bots = ", ".join(f'"{bot}"' for bot in BOTS)
    (arena.folder / "cup.toml").write_text(
        f'game = "koffer"\nbots = [{bots}]\nseats = 2\ndeals = 1\nformat = "swiss"\nrounds = 2\n'
    )
    arena.run("tournament", "run", "cup.toml", "--rounds", "1", "--name", "cup")
    row = arena.lines("tournament", "show", "cup")[0]
    assert (row["format"], row["settings"], row["matches"]) == ("swiss", {"rounds": 1, "deals": 1}, 4)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--format", "cup"), "there is no format 'cup'"),
        (("--format", "knockout", "--rounds", "3"), "knockout has no rounds"),
        (("--rounds", "3"), "round-robin has no rounds"),
        (("--format", "swiss", "--seats", "9"), "9 were asked for"),
    ],
)
def test_what_makes_no_tournament_is_three_lines(arena: Arena, options: tuple[str, ...], why: str) -> None:
    lines = arena.run(*RUN, *options, code=2).stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "why", "do"]
    assert why in lines[1]
