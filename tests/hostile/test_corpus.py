"""Every hostile bot beside honest ones: the verdict in its file's name, and nothing else changed.

Containers take longer to start than this may take: `make hostile` plays the whole table in them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bots.parts import needs_bwrap
from tests.containers import need_engine, python_image
from tests.hostile.cases import BWRAP, CASES, DOCKER, NONE, PROOFS, Case
from tests.hostile.judging import judge
from tests.hostile.levels import image_of
from tests.hostile.playing import HERE, lay_out

ROWS = {*range(1, 24), 26, 29, 30, 33, 34}


# One of each: of what is held by memory, by the filter of calls, and by what is shown to a bot.
IN_CONTAINERS = ("memory_exceeded_itself", "played_wants_out", "played_looks_for_hidden_state")


@pytest.fixture(scope="session")
def corpus() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="arena-hostile-") as folder:
        Path(folder).chmod(0o755)  # bots in a sandbox are other users
        yield lay_out(Path(folder, "corpus"))


@pytest.fixture(scope="module")
def image(corpus: Path) -> Iterator[str]:
    need_engine()
    python_image()
    with image_of(corpus) as image:
        yield image


def claimed_by(level: str) -> list[Case]:
    return [case for case in CASES if level in case.claimed and not case.long]


def held_by(level: str) -> list[Case]:
    """Cases that the sandbox alone stops."""
    return [case for case in claimed_by(level) if NONE not in case.claimed]


def check(case: Case, level: str, corpus: Path, logs: Path, image: str = "") -> None:
    result = judge(case, level, corpus, logs, image)
    assert (result.verdict in case.accepted(level), result.unchanged, result.problems) == (True, True, ())
    assert result.ok


@pytest.mark.parametrize("case", claimed_by(NONE), ids=lambda case: case.bot)
def test_a_bad_bot_harms_itself_alone(case: Case, corpus: Path, tmp_path: Path) -> None:
    check(case, NONE, corpus, tmp_path)


class TestInBubblewrap:
    pytestmark = needs_bwrap

    @pytest.mark.parametrize("case", held_by(BWRAP), ids=lambda case: case.bot)
    def test_a_bad_bot_reaches_nothing(self, case: Case, corpus: Path, tmp_path: Path) -> None:
        check(case, BWRAP, corpus, tmp_path)


@pytest.mark.docker
@pytest.mark.parametrize("stem", IN_CONTAINERS)
def test_a_bad_bot_reaches_nothing_in_a_container(
    stem: str, corpus: Path, image: str, tmp_path: Path
) -> None:
    (case,) = [case for case in CASES if case.bot == stem]
    check(case, DOCKER, corpus, tmp_path, image)


def test_a_bot_without_a_sandbox_reaches_what_the_sandboxes_are_there_for(
    corpus: Path, tmp_path: Path
) -> None:
    """Else a probe that is broken would look like a sandbox that holds."""
    (case,) = [case for case in CASES if case.bot == "played_tries_the_network"]
    result = judge(case, NONE, corpus, tmp_path)
    assert any("socket AF_INET 1" in problem for problem in result.problems)


def test_every_bot_is_in_the_table_and_every_row_has_a_bot_or_a_proof() -> None:
    files = {path.stem for path in (HERE / "bots").glob("*.py")} - {"__init__", "honest"}
    assert {case.bot for case in CASES} == files
    assert {case.row for case in CASES} | {proof.row for proof in PROOFS} == ROWS


def test_every_proof_is_a_test_that_exists() -> None:
    for proof in PROOFS:
        path, _, name = proof.test.partition("::")
        assert f"def {name}" in (HERE.parents[1] / path).read_text()
