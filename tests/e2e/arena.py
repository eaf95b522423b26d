"""The arena as a person runs it: a program in its own process, with a database of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from arena.match.record import identity
from arena.store.store import Store, sqlite_url


@dataclass(frozen=True, slots=True)
class Arena:
    """A folder with a database, and the program on it.

    Attributes:
        folder: where it works.
        mark: a word in the environment of all its processes, and of nothing else's.
        environment: more of its environment.
    """

    folder: Path
    mark: str = field(default_factory=lambda: f"arena-mark-{os.getpid()}-{time.monotonic_ns()}")
    environment: Mapping[str, str] = field(default_factory=dict)

    def clear(self) -> None:
        """Begin anew, with nothing in the folder."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def start(self, *arguments: str, talk: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        """Start a command; what it says goes to a file, or nowhere."""
        return subprocess.Popen(
            self._command(arguments),
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=talk or subprocess.DEVNULL,
        )

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, which must have this exit code."""
        done = subprocess.run(
            self._command(arguments),
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=280,
            check=False,
        )
        assert done.returncode == code, (
            f"exit code {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
        )
        return done

    def lines(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        """The JSON lines that a command prints."""
        done = self.run("--json", *arguments, code=code)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def records(self, tournament: str) -> dict[tuple[int, int], bytes]:
        """Identity of each stored match of a tournament, by block and seating."""
        with closing(Store(sqlite_url(self.folder / "arena.db"))) as store:
            number = store.tournament(tournament).id
            return {(m.block, m.seating): identity(m.record) for m in store.matches(number)}

    def stored(self, tournament: str) -> int:
        """Number of stored matches of a tournament; 0 if it is not there yet."""
        if not (self.folder / "arena.db").exists():
            return 0
        with closing(Store(sqlite_url(self.folder / "arena.db"))) as store:
            return next((count for t, count in store.tournaments() if t.name == tournament), 0)

    def processes(self) -> dict[int, str]:
        """Its processes that live, with their command lines."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return found

    def wait_until_alone(self, seconds: float = 20) -> dict[int, str]:
        """Wait until none of its processes lives; those that still do at the end of the time."""
        end = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.05)
        return left

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "arena.cli.main", *arguments]

    def _environment(self) -> dict[str, str]:
        # LC_ALL is passed on to bots, so the mark reaches them too.
        return {**os.environ, "LC_ALL": self.mark, "NO_COLOR": "1", **self.environment}
