"""A small run of the fuzzer; `python -m tests.fuzz` does large ones."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz import frames
from tests.fuzz.__main__ import fuzz
from tests.fuzz.beside import Table


async def test_nothing_that_a_bot_sends_escapes_or_disturbs_another() -> None:
    report = await fuzz(4_000, seed=11)
    assert report.frames >= 4_000
    assert report.wrong == ()
    for kind in ("MALFORMED_MESSAGE", "ILLEGAL_ACTION", "CRASHED", "abandoned"):
        assert kind in report.summary


async def test_it_notices_a_disturbance(monkeypatch: pytest.MonkeyPatch) -> None:
    really_judge = Table._judge

    def judge_another_seat(table: Table, record: object, seat: int) -> None:
        really_judge(table, record, (seat + 1) % 3)  # type: ignore[arg-type]

    monkeypatch.setattr(Table, "_judge", judge_another_seat)
    assert (await fuzz(500, seed=11)).wrong


def test_frames_repeat_themselves_by_their_seed() -> None:
    first, second = ([frames.frame(dice, [7, 9]) for _ in range(500)] for dice in (Random(3), Random(3)))
    assert first == second
