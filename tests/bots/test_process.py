"""A bot as a process: how its end is told, what is kept of its output, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from arena.bots.launcher import Ending, Place
from arena.bots.limits import BotLimits
from arena.bots.process import BotProcess
from arena.bots.reference import BotSpec


def spec(folder: Path, *command: str) -> BotSpec:
    return BotSpec("", "b", "1", command, str(folder))


def place(folder: Path) -> Place:
    return Place(folder, "token", folder / "log")


async def run(tmp_path: Path, *command: str, log_bytes: int = 10_000) -> tuple[Ending, str]:
    process = await BotProcess.start(
        spec(tmp_path, *command), BotLimits(log_bytes=log_bytes), place(tmp_path)
    )
    ending = await process.ended
    await process.stop()
    return ending, (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("script", "text", "tail"),
    [
        ("exit 3", "exit code 3", ""),
        ("echo oh no >&2; exit 1", "exit code 1", "oh no\n"),
        ("kill -9 $$", "SIGKILL", ""),
    ],
)
async def test_how_it_ended(tmp_path: Path, script: str, text: str, tail: str) -> None:
    ending, _ = await run(tmp_path, "sh", "-c", script)
    assert text in ending.text
    assert ending.tail == tail
    assert ending.started


async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    ending, _ = await run(tmp_path, "./no-such-program")
    assert not ending.started
    assert "./no-such-program: No such file or directory" in ending.text


async def test_output_is_kept_with_time_and_stream(tmp_path: Path) -> None:
    _, log = await run(tmp_path, "sh", "-c", "echo one; echo two >&2; printf three")
    lines = sorted(line.split(" ", 1)[1] for line in log.splitlines())
    assert lines == ["err two", "out one", "out three"]


async def test_a_flood_is_cut_with_a_mark_and_its_last_bytes(tmp_path: Path) -> None:
    code = "import sys\nfor i in range(200000): print('line', i)\nprint('the end')"
    _, log = await run(tmp_path, sys.executable, "-c", code)
    assert len(log) < 20_000
    assert "the log is full" in log
    assert log.endswith("the end\n\n")


async def test_the_log_of_a_bot_with_many_lives_stays_bounded(tmp_path: Path) -> None:
    code = "print('flood ' * 20000)"
    sizes = []
    for _ in range(12):
        _, log = await run(tmp_path, sys.executable, "-c", code, log_bytes=10_000)
        sizes.append(len(log))
    assert sizes[-1] == sizes[-2] < 30_000
    assert "flood" in log


async def test_a_log_that_cannot_be_written_costs_the_log_alone(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    bot = spec(tmp_path, "sh", "-c", "echo words; echo last words >&2; exit 3")
    ending = await (await BotProcess.start(bot, BotLimits(), place(tmp_path))).ended
    assert (ending.exit_code, ending.tail) == (3, "last words\n")


async def test_the_environment_holds_what_a_bot_needs_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_ARENA", "x")
    _, log = await run(tmp_path, "env")
    names = {line.split(" ", 2)[2].split("=")[0] for line in log.splitlines()}
    assert {"ARENA_ADDR", "ARENA_TOKEN", "PATH"} <= names
    assert "SECRET_OF_THE_ARENA" not in names


async def test_stop_ends_what_does_not_listen_and_what_ran_away(tmp_path: Path) -> None:
    script = "trap '' TERM; (setsid sh -c 'echo $$ > orphan; exec sleep 600' &) ; echo $$ > self; sleep 600"
    process = await BotProcess.start(spec(tmp_path, "sh", "-c", script), BotLimits(), place(tmp_path))
    while not ((tmp_path / "orphan").exists() and (tmp_path / "self").exists()):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    pids = [int((tmp_path / name).read_text()) for name in ("orphan", "self")]
    ending = await process.stop()
    assert "SIGKILL" in ending.text
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


async def test_a_bot_does_not_outlive_its_supervisor(tmp_path: Path) -> None:
    bot = spec(tmp_path, "sh", "-c", "echo $$ > self; exec sleep 600")
    process = await BotProcess.start(bot, BotLimits(), place(tmp_path))
    while not (tmp_path / "self").exists() or not (tmp_path / "self").read_text().strip():
        await asyncio.sleep(0.01)
    pid = int((tmp_path / "self").read_text())
    os.kill(process._process.pid, signal.SIGKILL)
    assert "supervisor was killed" in (await process.ended).text
    for _ in range(500):
        if not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("the bot lives on")


async def test_the_token_is_on_no_command_line(tmp_path: Path) -> None:
    process = await BotProcess.start(
        spec(tmp_path, "sleep", "600"), BotLimits(), Place(tmp_path, "my-token", tmp_path / "log")
    )
    await asyncio.sleep(0.2)
    lines = b"".join(
        (folder / "cmdline").read_bytes()
        for folder in Path("/proc").glob("[0-9]*")
        if (folder / "cmdline").exists()
    )
    await process.stop()
    assert b"my-token" not in lines
