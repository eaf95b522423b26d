"""What `arena compare` and `--until` make of a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.cli.commands import run
from arena.errors import UsageError
from arena.runs.definition import Definition
from arena.tournament.schedule import ScheduleError

BOTS = ["house:random", "house:first", "house:greedy", "house:search", "house:first"]


def test_a_goal_chooses_the_format() -> None:
    built = Definition("koffer", BOTS, until="top 2", tolerance=1.0, seed="1").build()
    assert built.format == "until"
    assert built.settings == {
        "deals": 2500,
        "until": "top 2",
        "confidence": 0.95,
        "tolerance": 1.0,
        "ties": "draw",
    }
    assert built.matches == 10_000
    assert Definition("koffer", BOTS, until="winner", deals=7).build().matches == 28


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"until": "winner", "format": "swiss"}, "do not go together"),
        ({"until": "top 9"}, "1 to 4"),
        ({"until": "nonsense"}, "nothing to play for"),
        ({"until": "winner", "confidence": 1.0}, r"0\.95"),
        ({"until": "winner", "tolerance": -1.0}, "equal bots play for ever"),
        ({"tolerance": 1.0}, "tolerance"),
        ({"confidence": 0.9}, "confidence"),
        ({"until": "winner", "rounds": 3}, "rounds"),
    ],
)
def test_no_goal(more: dict[str, object], why: str) -> None:
    definition = Definition("koffer", BOTS, deals=10, **more)  # type: ignore[arg-type]
    with pytest.raises((UsageError, ScheduleError), match=why):
        definition.build()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["compare", "koffer", "house:first", "house:greedy"], "nobody to play against"),
        (["compare", "koffer", "house:first", "house:nobody", "--against", "house:first"], "house:nobody"),
        (
            ["compare", "koffer", "house:first", "house:greedy", "--against", "house:first", "--seats", "9"],
            "seats",
        ),
        (
            ["compare", "koffer", "house:first", "house:greedy", "--against", "house:first", "--gain", "0"],
            "gain",
        ),
        (
            [
                "compare",
                "koffer",
                "house:first",
                "house:greedy",
                "--against",
                "house:first",
                "--confidence",
                "2",
            ],
            "confidence",
        ),
        (["tournament", "run", "koffer", *BOTS, "--format", "compare"], "arena compare"),
        (["tournament", "run", "koffer", *BOTS, "--until", "top 5"], "1 to 4"),
        (["tournament", "run", "koffer", "house:first", "--until", "winner"], "too few"),
    ],
)
def test_bad_lines(line: Sequence[str], why: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code = run([*line, "--db", str(tmp_path / "arena.db")])
    error = capsys.readouterr().err
    assert code in (2, 4)
    assert why in error
    assert "Traceback" not in error
