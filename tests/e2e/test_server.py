"""A server in a process of its own, killed and ended while it is at work: nothing is lost."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.store.store import Store, sqlite_url
from tests.e2e.arena import Arena
from tests.e2e.server import ServerProcess
from tests.store.filling import contents

BOT = """
from botarena import Bot, Turn, run


class RandomBot(Bot):
    def choose(self, turn: Turn) -> int:
        return turn.random.randrange(len(turn.actions))


if __name__ == "__main__":
    run(RandomBot)
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    found = ServerProcess(Arena(tmp_path), "--sandbox", "none")
    found.start()
    yield found
    found.kill()
    assert found.arena.wait_until_alone() == {}


def everything(db: Path) -> dict[str, list[dict[str, object]]]:
    store = Store(sqlite_url(db))
    try:
        with store.reading() as connection:
            return contents(connection)
    finally:
        store.close()


def test_a_submission_survives_the_server_and_a_backup_has_all_of_it(
    server: ServerProcess, tmp_path: Path
) -> None:
    ann = server.admit("ann", "bot:submit")
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "mybot.py").write_text(BOT)
    (folder / "bot.toml").write_text('name = "mybot"\ncommand = ["python3", "mybot.py"]\ngames = ["kotki"]')
    ann.run("bot", "submit", "./mybot", "--no-watch")
    server.kill()
    assert server.arena.wait_until_alone() == {}  # neither workers nor bots
    server.start()
    ann.run("bot", "watch", "mybot")
    (bot,) = ann.lines("bot", "list")
    assert (bot["bot"], bot["owner"], bot["state"]) == ("mybot", "ann", "active")

    server.arena.run("db", "backup", "whole")
    assert server.end() == 0
    assert server.arena.wait_until_alone() == {}
    server.arena.run("db", "restore", "whole", "--db", "again.db")
    server.arena.run("db", "check", "--db", "again.db")
    assert everything(tmp_path / "again.db") == everything(tmp_path / "whole")
    shutil.move(tmp_path / "again.db", tmp_path / "arena.db")
    for left in ("arena.db-wal", "arena.db-shm"):
        (tmp_path / left).unlink(missing_ok=True)
    server.start()
    assert ann.lines("bot", "list") == [bot]  # the same token, the same bot
    ann.run("db", "backup", "whole", code=1)  # it is there


def test_a_second_server_takes_over_at_once(server: ServerProcess, tmp_path: Path) -> None:
    refused = server.arena.run("serve", "--db", "arena.db", "--port", "0", code=1)
    assert "--wait" in refused.stderr
    with (tmp_path / "second.log").open("wb") as log:
        second = server.arena.start(
            "serve", "--db", "arena.db", "--port", "0", "--wait", "--port-file", "second", talk=log
        )
    while b"waits until" not in (tmp_path / "second.log").read_bytes():
        assert second.poll() is None
        time.sleep(0.02)
    assert server.end() == 0
    while not (tmp_path / "second").exists():
        assert second.poll() is None
        time.sleep(0.02)
    second.terminate()
    assert second.wait(60) == 0
