"""How a run uses the machine."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from arena.runs.definition import Definition
from arena.runs.executor import Workers, make_executor
from arena.runs.worker_setup import WorkerSetup
from arena.store.stored import StoredTournament


def setups(tournament: StoredTournament, folder: Path, workers: Workers) -> list[WorkerSetup]:
    executor = make_executor(tournament, str(folder / "arena.db"), workers)
    return [WorkerSetup.unpack(command.setup) for command in executor.commands]


@pytest.fixture
def cup() -> StoredTournament:
    return Definition("koffer", ["house:first", "house:random"], deals=100, seed="1").build()


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))


def test_there_is_a_worker_on_each_core(cup: StoredTournament, tmp_path: Path) -> None:
    assert [setup.cores for setup in setups(cup, tmp_path, Workers())] == [[core] for core in range(8)]


def test_a_bot_that_keeps_several_cores_busy_has_them(cup: StoredTournament, tmp_path: Path) -> None:
    greedy = replace(cup.bots[0], spec={**cup.bots[0].spec, "threads": 3})
    found = setups(replace(cup, bots=(greedy, cup.bots[1])), tmp_path, Workers())
    assert [len(setup.cores) for setup in found] == [4, 4]


def test_a_few_matches_have_no_more_workers_than_blocks(tmp_path: Path) -> None:
    cup = Definition("koffer", ["house:first", "house:random"], kind="play", matches=5, seed="1").build()
    assert len(setups(cup, tmp_path, Workers())) == 3


def test_workers_are_as_many_as_asked_for_and_need_not_be_pinned(
    cup: StoredTournament, tmp_path: Path
) -> None:
    found = setups(cup, tmp_path, Workers(jobs=2, in_flight=7, pin=False))
    assert [(setup.worker, setup.cores, setup.in_flight) for setup in found] == [(0, [], 7), (1, [], 7)]
