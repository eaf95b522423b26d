"""A league with real bots: it begins, grows, changes, is killed, and goes on."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.arena import Arena

BEGIN = (
    "house:greedy",
    "house:random",
    "house:first",
    "--game",
    "koffer",
    "--seats",
    "2",
    "--seed",
    "3",
    "--jobs",
    "1",
)


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


def test_a_league_takes_new_bots_and_new_versions_and_keeps_all_games(arena: Arena) -> None:
    bot = arena.folder / "mybot.py"
    bot.write_text("from botarena import run\nrun(lambda turn: 0)\n")
    done = arena.run("--json", "league", "run", "cup", "./mybot.py", *BEGIN, "--rounds", "2")
    assert done.stdout.count('"kind": "place"') == 4
    assert arena.stored("cup") == 2 * 2 * 2
    bot.write_text("from botarena import run\nrun(lambda turn: len(turn.actions) - 1)\n")
    told = arena.run("league", "run", "cup", "--rounds", "1", code=1).stderr
    assert "the code of mybot has changed" in told
    assert "arena league add cup BOT" in told
    arena.run("league", "add", "cup", "./mybot.py")
    arena.run("league", "remove", "cup", "first")
    arena.run("league", "run", "cup", "--rounds", "2")
    head, *rows = arena.lines("league", "status", "cup")
    names = [bot["name"] for bot in head["bots"]]
    assert names[:4] == ["mybot", "greedy", "random", "first"]
    assert names[4].startswith("mybot@")
    assert head["matches"] is None
    games = {row["bot"]: row["matches"] for row in rows if row["kind"] == "standing"}
    assert games["mybot"] == games["first"] == 4
    assert games[names[4]] == 4
    assert {row["bot"] for row in rows if row["kind"] == "place"} == {"greedy", "random", names[4]}
    last = arena.lines("verify", "--tournament", "cup")[-1]
    assert (last["differing"], last["missing"]) == (0, 0)
    assert "12/∞" in arena.run("tournament", "list").stdout


def bots_that_played(arena: Arena) -> set[int]:
    with closing(sqlite3.connect(arena.folder / "arena.db")) as database:
        return {row[0] for row in database.execute("SELECT DISTINCT bot FROM match_seat")}


def test_a_running_league_takes_a_bot_up_at_its_next_round_and_survives_a_kill(arena: Arena) -> None:
    arena.run("league", "run", "cup", *BEGIN, "--rounds", "1")
    process = arena.start("league", "run", "cup", "--jobs", "1")
    while arena.stored("cup") < 6:
        time.sleep(0.02)
    told = arena.run("league", "run", "cup", code=1).stderr
    assert "cup is being played" in told
    arena.run("league", "add", "cup", "house:search")
    try:
        end = time.monotonic() + 60
        while 3 not in bots_that_played(arena) and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 3 in bots_that_played(arena)
    assert arena.wait_until_alone() == {}
    arena.run("league", "run", "cup", "--rounds", "1")
    places = list(arena.records("cup"))
    assert len(places) == len(set(places)) == arena.stored("cup")
    assert arena.lines("verify", "--tournament", "cup")[-1]["differing"] == 0
    assert any(row["bot"] == "search" for row in arena.lines("leaderboard"))


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (("run", "none"), 4, "there is no tournament 'none'"),
        (("run", "cup", "house:first"), 2, "bots were named, but no game"),
        (("run", "cup", "house:first", "--game", "chess"), 4, "there is no such game"),
        (("add", "none", "house:first"), 4, "there is no tournament 'none'"),
        (("status", "none"), 4, "there is no tournament 'none'"),
    ],
)
def test_bad_input_is_three_lines(arena: Arena, arguments: tuple[str, ...], code: int, what: str) -> None:
    lines = arena.run("league", *arguments, code=code).stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "why", "do"]
    assert what in lines[0]


def test_what_a_league_refuses(arena: Arena) -> None:
    arena.run("league", "run", "cup", *BEGIN, "--rounds", "1")
    arena.run("tournament", "run", "koffer", "house:first", "house:first", "--deals", "1", "--name", "other")
    for arguments, code, what in (
        (("league", "add", "cup", "house:first"), 2, "first plays in cup already"),
        (("league", "remove", "cup", "nobody"), 4, "nobody does not play in cup"),
        (("league", "run", "cup", "--seats", "3"), 2, "cup cannot be changed"),
        (("league", "status", "other"), 2, "other is no league"),
        (("tournament", "resume", "cup"), 2, "cup is a league"),
    ):
        assert what in arena.run(*arguments, code=code).stderr.splitlines()[0]
