"""Rows of the table that tests prove, without a hostile bot: they are run, and each is a line."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.hostile.cases import Proof
from tests.hostile.judging import Result

ROOT = Path(__file__).parents[2]


class _Outcomes:
    """A plugin of pytest that notes how tests ended."""

    def __init__(self) -> None:
        self.reports: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a phase of a test."""
        if report.when == "call" or not report.passed:
            self.reports.append(report)

    def of(self, proof: Proof) -> list[pytest.TestReport]:
        """Those of a proof's tests."""
        return [report for report in self.reports if report.nodeid.startswith(proof.test)]


def prove(proofs: Sequence[Proof], available: bool) -> list[Result]:
    """Run the tests that prove rows.

    Args:
        proofs: the rows.
        available: whether tests that are skipped, as a part of the machine is missing, are no failure.
    """
    outcomes = _Outcomes()
    tests = [str(ROOT / proof.test) for proof in proofs]
    failed = []
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            pytest.main(["-p", "no:xdist", "-p", "no:cacheprovider", f"--rootdir={ROOT}", *tests], [outcomes])
        except Exception as error:  # what is left open is told at the very end
            failed = [
                Result(0, "what tests leave behind", "–", "something", "nothing", None, 0, (repr(error),))
            ]
    return [*(_result(proof, outcomes.of(proof), available) for proof in proofs), *failed]


def _result(proof: Proof, reports: Sequence[pytest.TestReport], available: bool) -> Result:
    problems = tuple(_problems(reports, available))
    return Result(
        row=proof.row,
        case=proof.what,
        sandbox=proof.sandbox,
        verdict="not so" if problems else proof.expected,
        expected=proof.expected,
        unchanged=None,
        seconds=round(sum(report.duration for report in reports), 1),
        problems=problems,
    )


def _problems(reports: Sequence[pytest.TestReport], available: bool) -> Iterator[str]:
    if not reports:
        yield "no such test was run"
    for report in reports:
        if not report.passed and not (report.skipped and available):
            yield f"{report.nodeid}: {report.longreprtext.strip().splitlines()[-1]}"
