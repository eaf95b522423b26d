"""Tournaments that end with an answer, with real bots."""

from __future__ import annotations

import re
import shlex
import signal
import time
from pathlib import Path

import pytest

from tests.e2e.arena import Arena

HOUSE = ("house:random", "house:first", "house:greedy")


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


def test_until_the_winner_is_known(arena: Arena) -> None:
    line = ("tournament", "run", "koffer", *HOUSE, "--seats", "2", "--until", "winner", "--seed", "5")
    lines = arena.lines(*line, "--name", "cup")
    (answer,) = [row for row in lines if row["kind"] == "answer"]
    assert answer["settled"] is True
    assert answer["best"] == ["greedy"]
    assert answer["statement"].startswith("greedy is the best of 3 bots; 95 % sure of each pair, after")
    cup, *_, shown = arena.lines("tournament", "show", "cup")
    assert shown == answer
    assert cup["format"] == "until"
    assert cup["stored"] == cup["matches"] == answer["matches"] < 3000
    assert cup["state"] == "finished"


def test_the_most_deals_leave_it_undecided(arena: Arena) -> None:
    done = arena.run("tournament", "run", "koffer", *HOUSE, "--until", "order", "--deals", "2")
    assert "undecided after 6 matches: " in done.stderr
    assert "allow more --deals" in done.stderr


def test_a_better_version(arena: Arena) -> None:
    line = ("compare", "koffer", "house:random", "house:greedy", "--against", "house:first", "--gain", "20")
    done = arena.run(*line, "--name", "duel")
    assert "greedy is better than random; 95 % sure" in done.stderr
    assert "identical pairs of matches" in done.stdout
    (row,) = arena.lines("tournament", "list")
    assert (row["format"], row["seats"], row["stored"]) == ("compare", 2, row["matches"])
    assert row["matches"] == 80, "as few blocks as it takes for anything to be said"
    repeat = re.search(r"repeat: arena (.*)", done.stderr)
    assert repeat is not None
    arena.run(*shlex.split(repeat[1]), "--name", "again")
    assert list(arena.records("duel").values()) == list(arena.records("again").values())
    arena.run("verify", "--tournament", "duel")
    assert {row["bot"] for row in arena.lines("leaderboard")} == {"random", "greedy", "first"}


def test_a_version_against_itself_is_exactly_equal(arena: Arena) -> None:
    line = ("compare", "koffer", "house:greedy", "house:greedy", "--against", "house:first", "house:random")
    lines = arena.lines(*line, "--deals", "12")
    (found,) = [row for row in lines if row["kind"] == "comparison"]
    assert (found["old"], found["new"]) == ("greedy-old", "greedy-new")
    assert found["share_difference"] == found["score_difference"] == 0
    assert found["share_low"] == found["share_high"] == 0
    assert found["identical"] == found["pairs"] == 36
    standings = {row["bot"]: row for row in lines if row["kind"] == "standing"}
    old, new = standings["greedy-old"], standings["greedy-new"]
    assert all(old[key] == new[key] for key in ("wins", "draws", "losses", "mean_rank", "mean_score"))


def test_a_stopped_comparison_goes_on(arena: Arena) -> None:
    versions = ("compare", "koffer", "house:greedy", "house:greedy", "--against", "house:first")
    line = (*versions, "--deals", "24", "--seed", "3")
    running = arena.start(*line, "--name", "cut")
    deadline = time.monotonic() + 120
    while not arena.stored("cut"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert arena.wait_until_alone() == {}
    arena.run("tournament", "resume", "cut")
    arena.run(*line, "--name", "whole")
    assert arena.records("cut") == arena.records("whole")
