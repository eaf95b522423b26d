"""The container engine of this machine, as code on an event loop sees it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from arena.bots.launcher import LaunchError
from arena.errors import ArenaError

if TYPE_CHECKING:  # it takes a quarter of a second to load
    from docker import APIClient

_T = TypeVar("_T")

_CONNECT_S = 10
_LOCAL = "unix://"
_USUAL = "unix:///var/run/docker.sock"
_THREADS = 16  # calls at once; what comes beyond them waits
_NEEDED = {
    "MemoryLimit": "memory",
    "PidsLimit": "the number of processes",
    "CpuCfsQuota": "processor time",
    "CPUSet": "which cores are used",
}


class EngineError(ArenaError, LaunchError):
    """The container engine cannot be used, or did not do what it was told."""


class MissingError(EngineError):
    """The engine knows no such container or image."""


class Engine:
    """The engine's client, which is synchronous: it is called in threads, and never waited for without end.

    Args:
        runtime: the runtime that must be there; empty: the engine's own.
    """

    def __init__(self, runtime: str = "") -> None:
        self._runtime = runtime
        self._threads = ThreadPoolExecutor(_THREADS, "engine")
        self._connecting = asyncio.Lock()
        self._client: APIClient | None = None

    async def connect(self, first: Callable[[APIClient], None]) -> None:
        """Connect to the engine, unless that was done.

        Args:
            first: done once, in a thread, before all other calls.

        Raises:
            EngineError: there is no engine, or none that can hold bots.
        """
        async with self._connecting:
            if self._client is None:
                client = await self._in_thread(6 * _CONNECT_S, lambda: connect(self._runtime))
                await self._in_thread(6 * _CONNECT_S, lambda: first(client))
                self._client = client

    async def call(self, seconds: float, work: Callable[[APIClient], _T]) -> _T:
        """What a call of the engine returns.

        Args:
            seconds: how long it is waited for.
            work: makes it, in a thread.

        Raises:
            EngineError: it failed, or took too long.
        """
        client = self._client
        assert client is not None

        def knock_and_work() -> _T:
            _knock()
            return work(client)

        return await self._in_thread(seconds, knock_and_work)

    async def _in_thread(self, seconds: float, work: Callable[[], _T]) -> _T:
        running = asyncio.get_running_loop().run_in_executor(self._threads, translated, work)
        try:
            return await asyncio.wait_for(running, seconds)
        except TimeoutError:
            raise EngineError(
                "the container engine does not answer",
                f"it took longer than {seconds:g} s",
                "see whether it is overloaded, or restart it",
            ) from None


def connect(runtime: str = "") -> APIClient:
    """A client of the engine that DOCKER_HOST names, or of the one at its usual place.

    Raises:
        EngineError: there is none, or it cannot hold bots.
    """
    return translated(lambda: _connected(runtime))


def _connected(runtime: str) -> APIClient:
    from docker import APIClient
    from docker.utils import kwargs_from_env

    _knock()
    client = APIClient(timeout=_CONNECT_S, max_pool_size=_THREADS, **kwargs_from_env())
    check_able(client.info(), runtime)
    return client


def _knock() -> None:
    """See whether the engine's socket is answered: its client leaves a socket open each time that it is not.

    Raises:
        EngineError: it can be none of this machine.
        OSError: nobody answers.
    """
    address = _address()
    if not address.startswith(_LOCAL):
        raise EngineError(
            "bots cannot be run in containers",
            f"the container engine at {address} is not one of this machine",
            f"name one by DOCKER_HOST={_USUAL}: bots reach the arena through unix sockets",
        )
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(_CONNECT_S)
        door.connect(address.removeprefix(_LOCAL))


def _address() -> str:
    """Where the engine is looked for."""
    return os.environ.get("DOCKER_HOST") or _USUAL


def check_able(info: Mapping[str, Any], runtime: str) -> None:
    """Whether an engine can hold bots.

    Args:
        info: what it says about itself.
        runtime: the runtime that must be there; empty: its own.

    Raises:
        EngineError: it cannot.
    """
    if lacking := [what for key, what in _NEEDED.items() if not info.get(key)]:
        raise EngineError(
            "bots cannot be held in containers",
            f"this container engine cannot limit {', '.join(lacking)}",
            "have its system mount these control groups, and restart it",
        )
    if not any("name=seccomp" in option for option in info.get("SecurityOptions") or ()):
        raise EngineError(
            "bots cannot be held in containers",
            "this container engine cannot filter system calls",
            "take an engine and a kernel with seccomp",
        )
    if runtime:
        _check_runtime(runtime, (info.get("Runtimes") or {}).get(runtime))


def _check_runtime(name: str, runtime: Mapping[str, Any] | None) -> None:
    lines = f'{{"runtimes": {{"{name}": {{"path": "/usr/bin/{name}", "runtimeArgs": ["--host-uds=open"]}}}}}}'
    do = f"write {lines} into /etc/docker/daemon.json, and restart the engine"
    if runtime is None:
        raise EngineError("bots cannot be held by gVisor", f"the container engine knows no {name}", do)
    # A program of another name is taken for a script that adds it.
    is_plain = PurePath(runtime.get("path", "")).name == name
    if is_plain and not any("host-uds" in argument for argument in runtime.get("runtimeArgs") or ()):
        why = f"the container engine starts {name} so that no bot can reach a unix socket of the arena"
        raise EngineError("bots cannot be held by gVisor", why, do)


def translated(work: Callable[[], _T]) -> _T:
    """What some work with the engine's client returns, or its error as one of ours.

    Raises:
        EngineError: it failed.
    """
    from docker.errors import APIError, DockerException, NotFound
    from requests.exceptions import RequestException

    try:
        return work()
    except NotFound as error:
        raise MissingError("the container engine has no such thing", _said(error), "see its log") from None
    except APIError as error:
        raise EngineError("the container engine refused", _said(error), "see its log") from None
    except (DockerException, RequestException, OSError) as error:
        raise EngineError(
            "the container engine cannot be reached",
            f"{_address()}: {error}",
            "start it, name its socket by DOCKER_HOST, or see whether you may use that",
        ) from None


def _said(error: Any) -> str:
    return str(error.explanation or error)
