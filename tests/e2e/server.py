"""A server as an operator runs it, and its users at their command lines."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from tests.e2e.arena import Arena

_START_S = 60


class ServerProcess:
    """A server in its own process, which may be ended in any way and begun again on the same port.

    Args:
        arena: where it works.
        flags: more of its command line.

    Attributes:
        port: on which it listens, the same after each start.
    """

    def __init__(self, arena: Arena, *flags: str) -> None:
        self.arena = arena
        self.port = 0
        self._flags = flags
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    @property
    def talk(self) -> str:
        """What it has said since the first start."""
        return self._log.read_text(errors="replace")

    @property
    def token(self) -> str:
        """The one of its first start."""
        found = re.search(r"the token of admin is (arena_\S+)", self.talk)
        assert found, self.talk
        return found[1]

    def start(self) -> None:
        """Start it and wait until it listens."""
        told = self.arena.folder / "port"
        told.unlink(missing_ok=True)
        line = ("serve", "--db", "arena.db", "--port", str(self.port), "--port-file", told.name)
        with self._log.open("ab") as log:
            self._process = self.arena.start(*line, *self._flags, talk=log)
        end = time.monotonic() + _START_S
        while not told.exists():
            assert self._process.poll() is None, self.talk
            assert time.monotonic() < end, self.talk
            time.sleep(0.02)
        self.port = int(told.read_text())

    def kill(self) -> None:
        """End it by SIGKILL."""
        self._end(signal.SIGKILL)

    def end(self) -> int:
        """Ask it to end, and wait; its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        return process.wait(_START_S)

    def user(self, token: str) -> Arena:
        """The command line of whoever has a token."""
        known = {"ARENA_SERVER": self.address, "ARENA_TOKEN": token}
        return replace(self.arena, environment={**self.arena.environment, **known})

    def admit(self, name: str, *scopes: str) -> Arena:
        """Add a user; the command line of its own."""
        admin = self.user(self.token)
        admin.run("user", "add", name)
        wanted = [word for scope in scopes for word in ("--scope", scope)]
        (made,) = admin.lines("token", "create", "--user", name, *wanted)
        return self.user(made["secret"])

    @property
    def _log(self) -> Path:
        return self.arena.folder / "server.log"
