"""A command line run in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.cli.commands import run
from arena.cli.output import OUT


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did.

    Attributes:
        code: its exit code.
    """

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The JSON lines that it printed."""
        return [json.loads(line) for line in self.out.splitlines()]


class Commands:
    """Runs command lines and keeps what they print."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self._captured = captured

    def __call__(self, *line: str, code: int = 0) -> Done:
        """Run one, which must have this exit code."""
        self._captured.readouterr()
        try:
            found = run(self.whole(line))
        finally:
            OUT.set(as_json=False, as_csv=False, quiet=False, verbose=0, color=True)
        done = Done(found, *self._captured.readouterr())
        assert done.code == code, f"{line}: exit code {done.code}\n{done.out}\n{done.err}"
        return done

    def whole(self, line: Sequence[str]) -> list[str]:
        """A line as it is run."""
        return [*line]

    def refused(self, *line: str, code: int) -> str:
        """Run one that must fail with this exit code and three lines; the first and the second."""
        done = self(*line, code=code)
        told = done.err.splitlines()
        assert [text.split(":")[0] for text in told[-3:]] == ["error", "why", "do"]
        assert done.out == ""
        return "\n".join(told[-3:-1])


class Command(Commands):
    """Runs them on a database."""

    def __init__(self, database: Path, captured: pytest.CaptureFixture[str]) -> None:
        super().__init__(captured)
        self.database = database

    def whole(self, line: Sequence[str]) -> list[str]:
        """A line with its database."""
        return [*line, "--db", str(self.database)]
