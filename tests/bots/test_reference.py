"""References to bots."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

from arena.bots.reference import (
    BotNotFoundError,
    BotReferenceError,
    BotSpec,
    current_version,
    house_names,
    resolve,
    resolve_all,
)


def write_bot(folder: Path, manifest: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(manifest)
    (folder / "main.py").write_text("print(1)\n")
    return folder


GOOD = 'name = "my-bot"\nversion = "1.2"\ncommand = ["python3", "main.py"]\n'


def test_a_folder_with_a_bot_toml(tmp_path: Path) -> None:
    spec = resolve(str(write_bot(tmp_path / "b", GOOD)))
    assert (spec.name, spec.command, spec.folder) == ("my-bot", ("python3", "main.py"), str(tmp_path / "b"))
    assert spec.version.startswith("1.2+")


def test_a_bot_says_how_many_cores_it_keeps_busy(tmp_path: Path) -> None:
    spec = resolve(str(write_bot(tmp_path / "b", GOOD + "threads = 4\n")))
    assert spec.threads == 4
    assert BotSpec.from_json(spec.to_json()) == spec
    assert resolve("house:random").threads == 1


def test_the_version_follows_the_code_and_not_what_running_leaves_behind(tmp_path: Path) -> None:
    folder = write_bot(tmp_path / "b", GOOD)
    spec = resolve(str(folder))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "main.pyc").write_bytes(b"x")
    assert current_version(spec) == spec.version
    (folder / "main.py").write_text("print(2)\n")
    assert current_version(spec) != spec.version


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ("name = 'x'", "command"),
        ("command = ['a']", "name"),
        (GOOD + "colour = 'red'", "colour"),
        (GOOD + "threads = 0", "threads"),
        (GOOD + "threads = 'all'", "threads"),
        ('name = "a b"\ncommand = ["x"]', "name"),
        ('name = "x"\ncommand = [1]', "command"),
        ('name = "x"\ncommand = []', "command"),
        ("name = ", "TOML"),
        ('name = 3\ncommand = ["x"]', "name"),
        ('name = "\\u001b[31m"\ncommand = ["x"]', "name"),
    ],
)
def test_a_bad_bot_toml_says_what_is_wrong(tmp_path: Path, manifest: str, why: str) -> None:
    with pytest.raises(BotReferenceError) as caught:
        resolve(str(write_bot(tmp_path / "b", manifest)))
    assert why in str(caught.value)
    assert "bot.toml" in caught.value.what


def test_a_python_file_runs_with_this_python(tmp_path: Path) -> None:
    path = tmp_path / "clever bot.py"
    path.write_text("")
    spec = resolve(str(path))
    assert spec.command == (sys.executable, str(path))
    assert spec.name == "clever-bot"


def test_a_command(tmp_path: Path) -> None:
    (tmp_path / "mybot").write_text("#!/bin/sh\n")
    with contextlib.chdir(tmp_path):
        spec = resolve("cmd:./mybot --fast 'two words'")
        assert spec.command == ("./mybot", "--fast", "two words")
        assert (spec.name, spec.folder) == ("mybot", str(tmp_path))
        (tmp_path / "mybot").write_text("#!/bin/sh\nexit 1\n")
        assert resolve("cmd:./mybot --fast 'two words'").version != spec.version


def test_a_module(tmp_path: Path) -> None:
    (tmp_path / "thinker.py").write_text("class Deep: ...\n")
    with contextlib.chdir(tmp_path):
        spec = resolve("thinker:Deep")
    assert spec.command == (sys.executable, "-m", "botarena", "thinker:Deep")
    assert (spec.name, spec.folder) == ("Deep", str(tmp_path))
    assert current_version(spec) == spec.version


@pytest.mark.parametrize("reference", ["./nothing", "house:nobody", "no_module:Bot", "", "x@1.3"])
def test_nothing_there(reference: str) -> None:
    with pytest.raises(BotNotFoundError):
        resolve(reference)


def test_house_bots_are_there_and_play_koffer() -> None:
    assert {"random", "first", "greedy", "search"} <= set(house_names())
    names = [f"house:{name}" for name in ("random", "first", "greedy", "search")]
    assert [spec.name for spec in resolve_all(names, "koffer")] == ["random", "first", "greedy", "search"]


def test_bots_of_one_name_are_numbered() -> None:
    specs = resolve_all(["house:first", "house:first", "house:first"], "koffer")
    assert [spec.name for spec in specs] == ["first", "first-2", "first-3"]


def test_a_bot_that_does_not_play_the_game_is_refused(tmp_path: Path) -> None:
    folder = write_bot(tmp_path / "b", GOOD + 'games = ["kotki"]\n')
    with pytest.raises(BotReferenceError, match="kotki"):
        resolve_all([str(folder)], "koffer")
