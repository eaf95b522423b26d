"""The container engine fails, and comes back: bots play on, and none is blamed for what that did to it."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots.container import Container
from arena.bots.containers import Containers
from arena.bots.engine import EngineError, check_able, connect
from arena.bots.launcher import LaunchError, Place
from arena.bots.limits import BotLimits
from arena.bots.reference import BotSpec
from arena.bots.walls import SOCKET_LABEL
from tests.containers import shell_image
from tests.engine import Engine, missing

ABLE = {
    "MemoryLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "CPUSet": True,
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=default"],
    "Runtimes": {
        "runc": {"path": "runc"},
        "plain": {"path": "/usr/bin/plain"},
        "open": {"path": "/usr/bin/open", "runtimeArgs": ["--debug", "--host-uds=open"]},
        "script": {"path": "/usr/local/bin/with-sockets"},
    },
}


@pytest.mark.parametrize("runtime", ["", "open", "script"])
def test_an_engine_that_can_hold_bots(runtime: str) -> None:
    check_able(ABLE, runtime)


@pytest.mark.parametrize(
    ("lacks", "runtime", "why"),
    [
        ({"MemoryLimit": False}, "", "cannot limit memory"),
        ({"PidsLimit": False, "CPUSet": False}, "", "cannot limit the number of processes, which cores"),
        ({"SecurityOptions": None}, "", "cannot filter system calls"),
        ({}, "runsc", "knows no runsc"),
        ({}, "plain", "no bot can reach a unix socket"),
    ],
)
def test_an_engine_that_cannot(lacks: dict[str, object], runtime: str, why: str) -> None:
    with pytest.raises(EngineError, match=why) as raised:
        check_able({**ABLE, **lacks}, runtime)
    assert raised.value.do


def test_an_engine_of_another_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    with pytest.raises(EngineError, match="not one of this machine"):
        connect()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine of our own, with an image that has a shell."""
    if reason := missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="arena-dk-", dir="/tmp") as folder:
        engine = Engine(Path(folder))
        monkeypatch.setenv("DOCKER_HOST", engine.host)
        engine.start()
        try:
            yield engine
        finally:
            engine.stop()


class _Worker:
    """Starts bots that sleep, each with a folder of its own."""

    def __init__(self, image: str, folder: Path) -> None:
        self._launcher = Containers()
        self._image = image
        self._folder = folder

    async def start(self) -> Container:
        place = Place(self._folder / secrets.token_hex(4), "token", self._folder / "log")
        place.folder.mkdir()
        bot = BotSpec("./b", "b", "1", ("sleep", "600"), "/", image=self._image)
        return await self._launcher.start(bot, BotLimits(), place)


@pytest.mark.docker
async def test_bots_outlive_the_engine_and_none_is_blamed_when_it_comes_back(
    engine: Engine, tmp_path: Path
) -> None:
    client = connect()
    worker = _Worker(shell_image(client), tmp_path)
    sleeper, stopped = await worker.start(), await worker.start()
    pids = [client.inspect_container(found["Id"])["State"]["Pid"] for found in client.containers()]
    engine.kill()
    await asyncio.sleep(2)  # longer than it takes to notice
    assert [running.ended.done() for running in (sleeper, stopped)] == [False, False]

    assert (await stopped.stop()).infra
    assert [Path(f"/proc/{pid}").exists() for pid in pids].count(True) == 1
    with pytest.raises(LaunchError, match="cannot be reached"):
        await worker.start()

    await asyncio.to_thread(engine.start)  # which ends what it finds
    assert (await asyncio.wait_for(sleeper.ended, 60)).infra
    again = await worker.start()
    assert not (await again.stop()).infra
    await sleeper.stop()
    await stopped.stop()
    assert client.containers(all=True, filters={"label": SOCKET_LABEL}) == []
    client.close()
