"""A tournament under rules that fail in some of its deals: it goes on, and says which matches are void."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.runs import executor
from tests.cli.command import Command
from tests.match.failing import registered, worker_command


def test_a_tournament_goes_on_and_names_what_is_void(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "WORKER_COMMAND", worker_command("apply"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    arena = Command(tmp_path / "arena.db", capsys)
    run = ("tournament", "run", "koffer", "house:first", "house:random", "--name", "cup", "--seed", "2")
    with registered("apply"):
        done = arena(*run, "--deals", "4", "--jobs", "1", code=3)
        rows = arena("--json", "match", "list", "cup").rows
        void = [row["match"] for row in rows if row["verdict"] == "ENGINE_FAULT"]
        assert len(rows) == 8
        assert 0 < len(void) < 8
        assert {row["verdict"] for row in rows} == {"ENGINE_FAULT", "PLAYED"}
        assert f"{len(void)} ENGINE_FAULT; where the rules failed: arena replay cup/{void[0]}" in done.err
        assert arena("--json", "tournament", "show", "cup").rows[0]["state"] == "finished"

        name = f"cup/{void[0]}"
        arena("export", "records", "--out", str(tmp_path))
        for match in (name, str(tmp_path / f"{name}.record")):
            shown = arena("replay", match, code=3)
            assert "→ decision 0" in shown.out
            assert "why: KeyError: 'a fault of ours'" in shown.err
            assert "failing.py, line" in shown.err
            assert "reproduces KeyError" in arena("verify", match).out
        *steps, error = arena("--json", "replay", name, code=3).rows
        assert (error["kind"], error["error"]) == ("engine_error", "KeyError: 'a fault of ours'")
        decisions = next(row["decisions"] for row in rows if row["match"] == void[0])
        assert steps[-1]["moves"][-1]["decision"] == decisions - 1
        arena("verify", "--tournament", "cup")
        exported = arena("export", "decisions", "--format", "jsonl").rows
        assert sum(row["match"] == void[0] for row in exported) == decisions
        arena("leaderboard")

    # Once the rules are mended, it is said that they are.
    assert "do not fail any more" in arena("replay", name).err
    assert "do not fail any more" in arena.refused("verify", name, code=3)


def test_a_tournament_of_void_matches_alone_ends_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "WORKER_COMMAND", worker_command("event"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    arena = Command(tmp_path / "arena.db", capsys)
    with registered("event"):
        done = arena("play", "koffer", "house:first", "house:first", "--matches", "2", code=3)
        assert "2 ENGINE_FAULT" in done.err
        arena("match", "show", "m0000")
        arena("tournament", "show")
        assert "failing.py" in arena("replay", "m0000", code=3).err
