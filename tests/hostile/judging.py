"""Plays one case at one level and judges it: a line of the table."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from arena.bots.sandbox import launcher_for
from tests.hostile import checks
from tests.hostile.cases import Case
from tests.hostile.playing import Played, new_mark, play


@dataclass(frozen=True, slots=True)
class Result:
    """A line of the table.

    Attributes:
        row: what kind of attack it is.
        case: what was tried.
        sandbox: the level, or "" where none is needed.
        verdict: what came of it.
        expected: what had to come of it.
        unchanged: whether the honest bots played as they do without it; None where there are none.
        seconds: how long it took.
        problems: what else was not as it must be.
    """

    row: int
    case: str
    sandbox: str
    verdict: str
    expected: str
    unchanged: bool | None
    seconds: float
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all was as it must be."""
        right = self.expected.split(" or ")
        return self.verdict in right and self.unchanged is not False and not self.problems


def judge(case: Case, level: str, folder: Path, logs: Path, image: str = "") -> Result:
    """Play a case at a level.

    Args:
        case: the case.
        level: the sandbox.
        folder: where the bots are laid out.
        logs: an empty folder for their output.
        image: the image with them, for containers.
    """
    try:
        played = asyncio.run(play(case, launcher_for(level), folder, logs, new_mark(), image))
    except TimeoutError:
        over = f"not over after {case.bound_s:g} s"
        return Result(case.row, case.bot, level, "none", case.expected, False, case.bound_s, (over,))
    found = list(checks.problems(case, level, played))
    if case.twice:
        found += _differences(case, level, folder, logs, image, played)
    return Result(
        row=case.row,
        case=case.bot,
        sandbox=level,
        verdict=checks.verdict_of(played, case),
        expected=" or ".join(case.accepted(level)),
        unchanged=checks.honest_are_unchanged(case, played),
        seconds=round(played.seconds, 1),
        problems=tuple(found),
    )


def _differences(case: Case, level: str, folder: Path, logs: Path, image: str, played: Played) -> list[str]:
    """What comes out otherwise when it is played again."""
    again = asyncio.run(play(case, launcher_for(level), folder, logs, new_mark(), image))
    return [] if checks.identities(again) == checks.identities(played) else ["played again, it differs"]
