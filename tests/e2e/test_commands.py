"""The commands as a person runs them, with real bots in processes of their own."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.arena import Arena

HOUSE = ("house:random", "house:first", "house:greedy")


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """An arena in which a small tournament has been played."""
    arena = Arena(tmp_path_factory.mktemp("cup"))
    arena.run("tournament", "run", "koffer", *HOUSE, "--deals", "4", "--seed", "7", "--name", "cup")
    return arena


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


def test_games(arena: Arena) -> None:
    (koffer,) = [row for row in arena.lines("games") if row["game"] == "koffer"]
    assert koffer["seats"] == "2-4"
    assert {"house:random", "house:search"} <= set(koffer["house_bots"])
    shown = arena.run("games", "show", "koffer").stdout
    assert "--option specials" in shown
    assert "position" in shown
    assert "K1" in arena.run("games", "show", "koffer", "--rules").stdout


def test_play_one_match_and_look_at_it(arena: Arena) -> None:
    out = arena.folder / "records"
    rows = arena.lines("play", "koffer", *HOUSE, "--out", str(out))
    assert {row["bot"] for row in rows} == {"random", "first", "greedy"}
    assert sorted(row["rank"] for row in rows)[0] == 1
    assert arena.lines("match", "show", "m0000") == rows
    arena.run("verify", str(out / "m0000.record"))
    steps = arena.lines("replay", str(out / "m0000.record"))
    assert len(steps) == 37
    assert steps[-1]["ranks"] == [row["rank"] for row in sorted(rows, key=lambda row: row["seat"])]


def test_the_bots_of_a_run_repeat_themselves(arena: Arena) -> None:
    for name in ("one", "two"):
        arena.run("tournament", "run", "koffer", *HOUSE, "--deals", "2", "--seed", "abc", "--name", name)
    assert list(arena.records("one").values()) == list(arena.records("two").values())


def test_the_leaderboard(cup: Arena) -> None:
    rows = cup.lines("leaderboard")
    assert [row["kind"] for row in rows] == ["standing"] * 3
    assert rows[0]["bot"] == "greedy"
    assert all(row["matches"] == 12 == row["wins"] + row["draws"] + row["losses"] for row in rows)
    assert all(row["sigma"] < 25 / 3 for row in rows)
    assert all(row["think_p50_us"] <= row["think_p99_us"] for row in rows)
    assert cup.lines("leaderboard", "koffer", "--tournament", "cup") == rows
    table = csv.DictReader(io.StringIO(cup.run("leaderboard", "--csv").stdout))
    assert [row["bot"] for row in table] == [row["bot"] for row in rows]


def test_without_a_terminal_there_are_no_control_characters(cup: Arena) -> None:
    for command in (["tournament", "show"], ["leaderboard"], ["match", "list"], ["replay", "m0000"]):
        done = cup.run(*command)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout + done.stderr)


def test_show_reveals_the_seed_only_at_the_end(cup: Arena) -> None:
    row = cup.lines("tournament", "show", "cup")[0]
    assert row["state"] == "finished"
    assert row["seed"] == "7".zfill(64)
    (listed,) = cup.lines("tournament", "list")
    assert listed["stored"] == listed["matches"] == 12


def test_export(cup: Arena) -> None:
    rows = cup.lines("export", "seats", "--tournament", "cup")
    assert len(rows) == 12 * 3
    assert {row["verdict"] for row in rows} == {"PLAYED"}
    table = list(csv.DictReader(io.StringIO(cup.run("--csv", "export", "seats").stdout)))
    assert [row["score"] for row in table] == [str(row["score"]) for row in rows]
    assert len(cup.lines("export", "decisions", "--bot", "greedy")) == 12 * 36
    cup.run("export", "records", "--out", "files")
    files = sorted((cup.folder / "files" / "cup").iterdir())
    assert len(files) == 12
    cup.run("verify", str(files[5]))


def test_head_to_head(cup: Arena) -> None:
    *matches, summary = cup.lines("head-to-head", "greedy", "random")
    assert summary["matches"] == 12 == summary["wins"] + summary["draws"] + summary["losses"]
    assert summary["low"] <= summary["share"] <= summary["high"]
    cup.run("replay", matches[0]["name"])
    assert "cup/m0011" in cup.run("head-to-head", "greedy", "random").stdout


def test_a_seat_is_shown_its_own_choices_only(cup: Arena) -> None:
    steps = cup.lines("replay", "cup/m0001", "--seat", "1")
    assert len(steps) == 37
    assert {move["seat"] for step in steps for move in step["moves"]} == {1}
    assert all(move["text"] in move["legal"] for step in steps for move in step["moves"])


def test_verify_finds_one_changed_byte(cup: Arena, tmp_path: Path) -> None:
    cup.run("verify", "--tournament", "cup")
    copy = Arena(tmp_path)
    source, target = sqlite3.connect(cup.folder / "arena.db"), sqlite3.connect(tmp_path / "arena.db")
    with target:
        source.backup(target)
    source.close()
    (record,) = target.execute("SELECT record FROM match WHERE block = 2 AND seating = 1").fetchone()
    changed = bytearray(record)
    changed[len(changed) // 2] ^= 1
    with target:
        target.execute("UPDATE match SET record = ? WHERE block = 2 AND seating = 1", (bytes(changed),))
    target.close()
    found = copy.lines("verify", "--tournament", "cup", code=3)
    assert [row.get("match") for row in found] == ["m0007", None]
    assert found[-1]["differing"] == 1
    copy.run("verify", "cup/m0007", code=3)
    told = copy.run("leaderboard", code=3).stderr.splitlines()
    assert [line.split(":")[0] for line in told] == ["error", "why", "do"]
    assert "block 2, seating 1" in told[1]
    copy.run("verify", "cup/m0006")


@pytest.mark.parametrize("column", ["rank", "score", "bot"])
def test_verify_finds_a_changed_column(cup: Arena, tmp_path: Path, column: str) -> None:
    copy = Arena(tmp_path)
    (tmp_path / "arena.db").write_bytes((cup.folder / "arena.db").read_bytes())
    database = sqlite3.connect(tmp_path / "arena.db")
    with database:
        database.execute(f"UPDATE match_seat SET {column} = {column} + 1 WHERE match = 1 AND seat = 0")
    database.close()
    assert copy.lines("verify", "--tournament", "cup", code=3)[-1]["differing"] == 1


def test_faults_are_told_and_the_logs_say_why(arena: Arena) -> None:
    (arena.folder / "bad.py").write_text(
        "from botarena import run\n\n"
        "def choose(turn):\n"
        "    print('thinking \\x1b[31m hard')\n"
        "    raise ValueError('my <b>plan</b> failed')\n\n"
        "run(choose)\n"
    )
    done = arena.run("play", "koffer", "./bad.py", "house:first", code=3)
    assert "1 CRASHED" in done.stderr
    assert "arena match logs" in done.stderr
    (row,) = [row for row in arena.lines("match", "show", "m0000") if row["bot"] == "bad"]
    assert (row["rank"], row["fault"]) == (2, "CRASHED")
    logs = arena.run("match", "logs", "m0000").stdout
    assert "ValueError: my <b>plan</b> failed" in logs
    assert "thinking \\x1b[31m hard" in logs
    fault, *_ = arena.lines("match", "logs", "m0000", "--bot", "bad")
    moves = [move for step in arena.lines("replay", "m0000") for move in step["moves"]]
    first = next(move["decision"] for move in moves if move["bot"] == "bad")  # who begins is drawn
    assert (fault["fault"], fault["decision"]) == ("CRASHED", first)


def test_a_bot_that_cannot_start_is_exit_code_3(arena: Arena) -> None:
    (arena.folder / "bad.py").write_text("import brain\n")
    done = arena.run("tournament", "run", "koffer", "./bad.py", "house:first", "--deals", "2", code=3)
    assert "START_FAILED" in done.stderr
    assert "No module named 'brain'" in arena.run("match", "logs", "m0001", "--bot", "bad").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["play", "chess", "house:first"], 4, "no such game"),
        (["play", "koffer", "house:first", "./none"], 4, "there is no bot './none'"),
        (["play", "koffer", "house:first"], 2, "this cannot be played"),
        (
            ["play", "koffer", "house:first", "house:first", "--option", "specials=9"],
            2,
            "this cannot be played",
        ),
        (["play", "koffer", "house:first", "house:first", "--each", "time=soon"], 2, "'soon' is no time"),
        (["leaderboard"], 4, "there is no tournament yet"),
        (["tournament", "resume", "nope"], 4, "there is no tournament 'nope'"),
        (["replay", "m0000"], 4, "there is no tournament yet"),
        (["replay", "none.record"], 4, "there is no file none.record"),
        (["verify"], 2, "nothing to verify"),
        (["match", "show", "what"], 2, "'what' is no match"),
        (["leaderboard", "--db", "/no/such/place/arena.db"], 1, "cannot be opened"),
    ],
)
def test_bad_input_is_three_lines(arena: Arena, arguments: list[str], code: int, what: str) -> None:
    done = arena.run(*arguments, code=code)
    lines = done.stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "why", "do"]
    assert what in lines[0]
    assert done.stdout == ""
    assert "Traceback" in arena.run("-vv", *arguments, code=code).stderr


@pytest.mark.parametrize(
    "arguments", [["play"], ["nonsense"], ["play", "koffer", "--matches", "0"], ["--nonsense"]]
)
def test_bad_usage_is_exit_code_2(arena: Arena, arguments: list[str]) -> None:
    assert "Traceback" not in arena.run(*arguments, code=2).stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_tournament_says_how_to_go_on_and_leaves_nobody_behind(
    arena: Arena, number: signal.Signals
) -> None:
    command = ["tournament", "run", "koffer", *HOUSE, "--deals", "300", "--seed", "1", "--name", "long"]
    process = arena.start(*command)
    while arena.stored("long") < 1:
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(timeout=60) == 130
    assert arena.wait_until_alone() == {}
    stored = arena.stored("long")
    assert 1 <= stored < 900
    row = arena.lines("tournament", "show")[0]
    assert (row["state"], row["seed"]) == ("unfinished", None)
    done = arena.run("tournament", "resume")
    assert arena.stored("long") == 900
    assert "resume" not in done.stderr


def test_a_tournament_whose_bot_was_changed_is_not_resumed(arena: Arena) -> None:
    bot = arena.folder / "mybot.py"
    bot.write_text("from botarena import run\nrun(lambda turn: 0)\n")
    arena.run("tournament", "run", "koffer", "./mybot.py", "house:first", "--deals", "1", "--name", "cup")
    arena.run("tournament", "resume", "cup")
    bot.write_text("from botarena import run\nrun(lambda turn: 1)\n")
    done = arena.run("tournament", "resume", "cup", code=1)
    assert "the code of mybot has changed" in done.stderr


def test_a_file_describes_a_tournament(arena: Arena) -> None:
    (arena.folder / "cup.toml").write_text(
        'game = "koffer"\nbots = ["house:random", "house:first"]\ndeals = 2\nname = "cup"\n'
        "[options]\ngames = 2\n"
    )
    arena.run("tournament", "run", "cup.toml", "--deals", "3")
    row = arena.lines("tournament", "show", "cup")[0]
    assert (row["matches"], row["options"]) == (6, {"games": "2"})


def test_more_bots_than_seats_with_options_play_verify_and_sit_equally_often(arena: Arena) -> None:
    options = ["--option", "specials=random", "--option", "games=2"]
    bots = [*HOUSE, "house:first"]
    done = arena.run(
        "tournament", "run", "koffer", *bots, "--seats", "3", "--deals", "5", *options, "--name", "cup"
    )
    assert "8 deals instead of 5" in done.stderr
    rows = arena.lines("export", "seats", "--tournament", "cup")
    places = Counter((row["bot"], row["seat"]) for row in rows)
    assert set(places.values()) == {8 * 3 * 3 // (4 * 3)}
    assert len(places) == 4 * 3
    assert arena.lines("verify", "--tournament", "cup")[-1]["matches"] == 24


def test_the_line_that_repeats_a_run_repeats_it(cup: Arena, tmp_path: Path) -> None:
    again = Arena(tmp_path)
    options = ["--option", "specials=2,3", "--each", "time=2s,faults=1"]
    done = again.run("tournament", "run", "koffer", *HOUSE, "--deals", "2", "--name", "one", *options)
    line = next(line for line in done.stderr.splitlines() if line.startswith("repeat: arena "))
    again.run(*line.removeprefix("repeat: arena ").split(), "--name", "two")
    assert list(again.records("one").values()) == list(again.records("two").values())


def test_json_lines_carry_the_number_of_their_schema(cup: Arena) -> None:
    done = cup.run("tournament", "show", "--json")
    assert {json.loads(line)["schema"] for line in done.stdout.splitlines()} == {2}
