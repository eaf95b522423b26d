"""The README is true: its bot plays, its commands work."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.arena import Arena

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def block(language: str, number: int) -> str:
    return [text for name, text in BLOCKS if name == language][number]


def arena_lines(text: str) -> list[list[str]]:
    return [line.split()[1:] for line in text.splitlines() if line.startswith("arena ")]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """A folder with the README's bot in it."""
    found = Arena(tmp_path_factory.mktemp("readme"))
    (found.folder / "mybot.py").write_text(block("python", 0))
    return found


def test_the_first_commands_set_up_play_and_test() -> None:
    """They are run as they stand from a fresh clone by the whole check of a change; here that they exist."""
    lines = [line.split("#")[0].strip() for line in block("sh", 0).splitlines()]
    assert lines == ["make tournament", "make test"]
    for line in lines:
        planned = subprocess.run(
            [*line.split(), "--dry-run"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
        )
        assert planned.stdout


def test_the_bot_is_at_most_ten_lines_and_plays(arena: Arena) -> None:
    assert len([line for line in block("python", 0).splitlines() if line.strip()]) <= 10
    for command in arena_lines(block("sh", 1)):
        arena.run(*command)
    assert arena.lines("leaderboard")[0]["bot"] == "greedy"


def test_the_tournament_commands_work(arena: Arena) -> None:
    for command in arena_lines(block("sh", 2)):
        arena.run(*command)


def test_the_commands_that_play_no_more_than_an_answer_needs_work(arena: Arena) -> None:
    for name in ("old.py", "new.py"):
        (arena.folder / name).write_text(block("python", 0))
    answers = [
        line for command in block("sh", 3).splitlines() for line in arena.lines(*shlex.split(command)[1:])
    ]
    (until,) = (row for row in answers if row["kind"] == "answer")
    (comparison,) = (row for row in answers if row["kind"] == "comparison")
    assert (until["best"], until["settled"]) == (["search"], True)
    assert (comparison["verdict"], comparison["identical"]) == ("no gain", comparison["pairs"])


def test_an_arena_of_ones_own_takes_a_bot_and_rates_it(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(arena.folder / "config"))
    setup, serve, *commands = block("sh", 4).splitlines()
    assert setup.startswith("make setup")
    words = serve.partition("&")[0].split()[1:]
    port = arena.folder / "port"
    server = arena.start(*words, "--port", "0", "--port-file", str(port))
    try:
        while not port.exists():
            assert server.poll() is None
            time.sleep(0.05)
        here = f"127.0.0.1:{port.read_text().strip()}"
        for command in commands:
            done = arena.run(*command.replace("127.0.0.1", here).split()[1:])
        assert "mybot@1" in done.stdout
        played = arena.lines("tournament", "list", "--server", here)[-1]
        verified = arena.run("verify", "--tournament", played["name"], "--server", here)
        assert f"{played['matches']} of {played['matches']} matches replay" in verified.stdout
    finally:
        server.terminate()
        assert server.wait(60) == 0


def test_the_bot_toml_works(arena: Arena) -> None:
    folder = arena.folder / "folder"
    folder.mkdir()
    (folder / "bot.toml").write_text(block("toml", 0))
    (folder / "main.py").write_text(block("python", 0))
    arena.run("play", "koffer", "./folder", "house:first")


def test_every_command_that_is_named_exists(arena: Arena) -> None:
    commands = {match.split()[0] for match in re.findall(r"`arena ([a-z -]+)", README)}
    assert {"games", "play", "tournament", "leaderboard", "match", "replay", "verify"} <= commands
    for command in commands:
        arena.run(command, "--help")


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)`", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
