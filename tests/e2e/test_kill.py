"""SIGKILL at any moment: nothing is lost, doubled, changed or left over. `make kill-test` does more of it."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.kill_and_resume import experiment


def test_a_killed_tournament_ends_with_the_records_of_an_undisturbed_one(tmp_path: Path) -> None:
    found = experiment(tmp_path, matches=240, kills=3, seed=5)
    assert sum(found.kills.values()) == 3
    assert found.left_over == []
    assert found.matches == (240, 240)
    assert found.identical
