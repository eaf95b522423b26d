"""Whatever happens to a tournament, its records come out the same. `make chaos` does more of it."""

from __future__ import annotations

import subprocess
import sys

KINDS = ("kill bot", "full disk")  # the last one is left out where there can be no disk


def test_a_disturbed_tournament_ends_with_the_records_of_an_undisturbed_one() -> None:
    line = ["--injections", str(len(KINDS)), "--matches", "120", "--kinds", *KINDS]
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *line], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(KINDS)} injections into " in done.stdout
