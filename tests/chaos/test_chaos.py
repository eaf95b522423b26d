"""Whatever happens to a tournament, its records come out the same. `make chaos` does more of it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.chaos import disk

KILLS = ("kill arena", "kill worker", "kill bot", "SIGINT")
DISK = ("full disk", "read-only disk", "power cut")


def chaos(kinds: tuple[str, ...]) -> str:
    """What the script prints, which must find nothing wrong."""
    line = ["--injections", str(len(kinds)), "--matches", str(80 * len(kinds)), "--kinds", *kinds]
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *line],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_killed_tournament_ends_with_the_records_of_an_undisturbed_one() -> None:
    assert f"{len(KILLS)} injections" in chaos(KILLS)


@pytest.mark.root
@pytest.mark.skipif(bool(disk.missing()), reason=f"no disk to break: {disk.missing()}")
def test_a_disk_that_fails_costs_nothing_that_was_stored() -> None:
    assert f"{len(DISK)} injections" in chaos(DISK)
