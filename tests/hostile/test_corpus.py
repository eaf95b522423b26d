"""Every hostile bot beside honest ones: the verdict in its file's name, and nothing else changed.

Containers take longer to start than this may take: `make hostile` plays the whole table in them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.cases import CASES, NONE, PROOFS, Case
from tests.hostile.judging import judge
from tests.hostile.playing import HERE, lay_out

ROWS = {*range(1, 24), 29, 30, 33, 34}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("corpus"))


def claimed_by(level: str) -> list[Case]:
    return [case for case in CASES if level in case.claimed and not case.long]


def check(case: Case, level: str, corpus: Path, logs: Path) -> None:
    result = judge(case, level, corpus, logs)
    assert (result.verdict, result.unchanged, result.problems) == (case.expected, True, ())


@pytest.mark.parametrize("case", claimed_by(NONE), ids=lambda case: case.bot)
def test_a_bad_bot_harms_itself_alone(case: Case, corpus: Path, tmp_path: Path) -> None:
    check(case, NONE, corpus, tmp_path)


def test_every_bot_is_in_the_table_and_every_row_has_a_bot_or_a_proof() -> None:
    files = {path.stem for path in (HERE / "bots").glob("*.py")} - {"__init__", "honest"}
    assert {case.bot for case in CASES} == files
    assert {case.row for case in CASES} | {proof.row for proof in PROOFS} == ROWS


def test_every_proof_is_a_test_that_exists() -> None:
    for proof in PROOFS:
        path, _, name = proof.test.partition("::")
        assert f"def {name}" in (HERE.parents[1] / path).read_text()
