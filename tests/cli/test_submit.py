"""`arena bot` against a server: sent, followed, listed, had back, and refused with what to do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.cli.commands import run
from arena.cli.output import OUT
from arena.rights import BOT_SUBMIT
from arena.runs.trial import Trial
from arena.server import checking
from arena.store.accounts import Accounts
from arena.store.store import Store, sqlite_url
from tests.cli.command import Done
from tests.server.catalog_server import serving
from tests.server.submitted import code


@contextmanager
def in_background(store: Store, data: Path) -> Iterator[str]:
    """A server on a thread beside the command line; its address."""
    ready, ending = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    address = ""

    async def serve() -> None:
        nonlocal address
        async with serving(store, data) as address:
            ready.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield address
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()


@dataclass
class Cli:
    """Runs `arena bot` against a server."""

    server: str
    captured: pytest.CaptureFixture[str]

    def __call__(self, *line: str, code: int = 0) -> Done:
        self.captured.readouterr()
        try:
            found = run(["--server", self.server, "bot", *line] if self.server else ["bot", *line])
        finally:
            OUT.set(as_json=False, as_csv=False, quiet=False, verbose=0, color=True)
        done = Done(found, *self.captured.readouterr())
        assert done.code == code, f"{line}: exit code {done.code}\n{done.out}\n{done.err}"
        return done


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    async def judged(bot: object, *_: object) -> Trial:
        code = Path(bot.folder, "main.py").read_text()  # type: ignore[attr-defined]
        bad = "raise" in code
        return Trial(1, 1, ["x"] if bad else [], "CRASHED" if bad else "", ["my last words"])

    monkeypatch.setattr(checking, "play_trial", judged)
    store = Store(sqlite_url(tmp_path / "arena.db"))
    accounts = Accounts(store)
    secret, _ = accounts.create_token(accounts.add_user("ada").id, "", [BOT_SUBMIT])
    monkeypatch.setenv("ARENA_TOKEN", secret)
    monkeypatch.delenv("ARENA_SERVER", raising=False)
    with in_background(store, tmp_path / "data") as address:
        yield Cli(address, capsys)
    store.close()


def write(folder: Path, choose: str = "return 0") -> str:
    folder.mkdir(exist_ok=True)
    for name, text in code(choose, toml='games = ["koffer"]\nversion = "1.0"').items():
        (folder / name).write_text(text)
    return str(folder)


def test_a_bot_is_sent_followed_and_shown(cli: Cli, tmp_path: Path) -> None:
    done = cli("submit", write(tmp_path / "mine"), "--notes", "first")
    assert done.out.splitlines() == ["mybot@1 is active"]
    assert "it is mybot@1" in done.err
    again = cli("submit", write(tmp_path / "mine"), "--json")
    assert "was there already" in again.err
    assert [(row["kind"], row["form"], row["reference"], row["state"]) for row in again.rows] == [
        ("version", "archive", "mybot@1", "active")
    ]
    cli("submit", write(tmp_path / "mine", "return 1"), "--no-activate", "--no-watch")
    assert cli("watch", "mybot").out.splitlines() == ["mybot@2 is superseded"]
    (row,) = cli("list", "--owner", "ada", "--game", "koffer", "--json").rows
    assert (row["bot"], row["state"], row["active"]) == ("mybot", "active", 1)
    assert "mybot@1" in cli("list").out
    assert [row["number"] for row in cli("versions", "mybot", "--json").rows] == [2, 1]
    assert "first" in cli("show", "mybot").out
    assert "my last words" in cli("logs", "mybot@1").out
    assert cli("rollback", "mybot@2").out == "mybot@2 is active\n"
    assert cli("rollback", "mybot").out == "mybot@1 is active\n"
    assert cli("disable", "mybot@1", "--reason", "slow").out == "mybot@1 is disabled: slow\n"
    assert cli("enable", "mybot@1").out == "mybot@1 is superseded\n"
    assert cli("disable", "mybot").out == "mybot is disabled\n"
    assert cli("enable", "mybot").out == "mybot is waiting\n"


def test_a_bad_bot_ends_with_its_last_words(cli: Cli, tmp_path: Path) -> None:
    done = cli("submit", write(tmp_path / "mine", "raise ValueError"), code=3)
    assert done.out == "mybot@1 is failed: CRASHED\n"
    assert "my last words" in done.err
    assert "arena bot logs mybot@1" in done.err


def test_a_single_file_and_another_name(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "mine")
    done = cli("submit", str(tmp_path / "mine/main.py"), "--name", "solo", "--json")
    assert [(row["reference"], row["state"], row["language"]) for row in done.rows] == [
        ("solo@1", "active", "python")
    ]


def test_a_bot_that_dials_in(cli: Cli) -> None:
    (row,) = cli("register", "far", "--as", "v1", "--game", "kotki", "--mixed", "--json").rows
    assert (row["reference"], row["version"], row["games"]) == ("far@1", "v1", ["kotki"])


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (("submit", "nothing"), 2, "neither a folder nor a file"),
        (("submit", "house:greedy"), 2, "neither a folder nor a file"),
        (("submit", "x", "--on-engine"), 2, "no name"),
        (("show", "nobody"), 4, "there is no bot"),
        (("logs", "nobody@2"), 4, "there is no bot"),
        (("watch", "a b"), 2, "no bot of a server"),
    ],
)
def test_what_is_refused(cli: Cli, line: tuple[str, ...], code: int, told: str) -> None:
    assert told in cli(*line, code=code).err


@pytest.mark.parametrize("line", [("list",), ("show", "x"), ("register", "x"), ("submit", ".")])
def test_they_say_that_they_need_a_server(
    line: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_SERVER", raising=False)
    assert "--server HOST:PORT" in Cli("", capsys)(*line, code=2).err
