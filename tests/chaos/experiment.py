"""Disturb a tournament at random moments, resume it each time, and compare with an undisturbed one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos import stored, traces
from tests.chaos.command import Command, wrong_in
from tests.chaos.containers import ContainerEngine
from tests.chaos.disk import Disk
from tests.chaos.kinds import KINDS, Scene
from tests.e2e.arena import Arena

NAME = "cup"
_IN_FLIGHT = 16
"""Few, so that results come often and a moment can be met."""
_EARLY = 0.25
"""Share of the moments after a start that fall before the first result."""
_EARLY_S = 2.0
_STUCK_S = 120.0
_ENOUGH = 20
"""So many problems are no accident."""
_TOURNAMENTS = 10
"""Most that are played until all injections are done: a quick machine is through before all are met."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done.

    Attributes:
        matches: size of the tournament; it is rounded to whole deals.
        injections: how often it is disturbed.
        seed: of the moments, the kinds and the victims.
        kinds: of blows, by name.
        bots: references of those that play, one for each seat.
        options: further words for the command that runs the tournament.
    """

    matches: int
    injections: int
    seed: int
    kinds: Sequence[str]
    bots: Sequence[str]
    options: Sequence[str] = ()

    @property
    def command(self) -> list[str]:
        """The command that runs the tournament."""
        size = ["--deals", str(-(-self.matches // len(self.bots))), "--in-flight", str(_IN_FLIGHT)]
        return [
            "tournament",
            "run",
            "koffer",
            *self.bots,
            *size,
            "--seed",
            "77",
            "--name",
            NAME,
            *self.options,
        ]


@dataclass(slots=True)
class Outcome:
    """What was found.

    Attributes:
        tournaments: how many were played.
        done: injections by kind.
        endings: how commands ended by them, by kind and exit code.
        problems: whatever was not as it must be, one line each.
    """

    tournaments: int = 0
    done: Counter[str] = field(default_factory=Counter)
    endings: Counter[tuple[str, int]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def injections(self) -> int:
        """How many were done."""
        return self.done.total()

    def complain(self, when: str, text: str) -> None:
        """Note a problem."""
        self.problems.append(f"injection {self.injections}, {when}: {text}")


class Experiment:
    """A tournament that is disturbed.

    Args:
        plan: what is to be done.
        folder: for the undisturbed run and what commands say.
        disturbed: where the disturbed tournament is played.
        disk: what that folder is on, if that is a disk of its own.
        engine: runs the bots, if they are in containers.
        tell: told how many injections were done.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        disturbed: Path,
        disk: Disk | None,
        engine: ContainerEngine | None,
        tell: Callable[[int], None],
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._disk = disk
        self._engine = engine
        self._tell = tell
        self._rng = random.Random(plan.seed)
        self._undisturbed = Arena(folder / "undisturbed")
        self._arena = Arena(disturbed)
        self._command: Command | None = None
        self._commands = 0
        self._before = traces.orphans()
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Do all of it."""
        self._undisturbed.folder.mkdir()
        first = Command(self._undisturbed, self._plan.command, self._folder / "said.undisturbed")
        self._check("undisturbed", first, 10 * _STUCK_S)
        self._disturb()
        while self._is_short and not self.outcome.problems and self.outcome.tournaments < _TOURNAMENTS:
            self._arena.clear()
            self._disturb()
        if self._is_short:
            text = f"only {self.outcome.injections} injections in {self.outcome.tournaments} tournaments"
            self.outcome.complain("the end", f"{text}; give more matches")
        return self.outcome

    @property
    def _is_short(self) -> bool:
        return self.outcome.injections < self._plan.injections

    def _disturb(self) -> None:
        """Play one tournament, and disturb it as often as is left to be done."""
        self.outcome.tournaments += 1
        self._command = None
        while self._is_short and (command := self._meet_moment()):
            self._strike(command)
            self._tell(self.outcome.injections)
        self._end_in_peace()

    # the moment

    def _meet_moment(self) -> Command | None:
        """Wait until as many matches are stored as are due, or only a moment after a start.

        Returns:
            The command that plays then; None if nothing is left to be disturbed.
        """
        while len(self.outcome.problems) < _ENOUGH:
            is_early = self._command is None and self._rng.random() < _EARLY
            self._command = command = self._command or self._start()
            if self._lives_until_early(command) if is_early else self._lives_until_due(command):
                return command
            if self._ended_by_itself(command):
                return None
        return None

    def _lives_until_early(self, command: Command) -> bool:
        command.lives_until(lambda: traces.is_ready(command.pid), _STUCK_S)
        return command.lives_until(lambda: False, self._rng.uniform(0, _EARLY_S))

    def _lives_until_due(self, command: Command) -> bool:
        """The moments that are left are spread evenly over the matches that are left."""
        now = stored.matches(self._arena)
        share = (self._plan.matches - now) / (self._plan.injections - self.outcome.injections + 1)
        due = now + self._rng.uniform(0, 2 * share)
        command.lives_until(lambda: stored.matches(self._arena) > due, _STUCK_S)
        return command.lives_until(lambda: False, self._rng.uniform(0, 0.1))

    def _ended_by_itself(self, command: Command) -> bool:
        """Take note of a command that ended undisturbed; whether the tournament is over."""
        self._command = None
        self._check("nothing", command)
        return command.end(0) == 0

    # the blow

    def _strike(self, command: Command) -> None:
        """Deal a blow of a kind that was dealt least and finds a victim, and see what comes of it."""
        scene = Scene(self._arena, command.pid, self._rng, self._disk, self._engine, command.struck)
        order = list(self._plan.kinds)
        self._rng.shuffle(order)
        order.sort(key=lambda name: self.outcome.done[name])
        name = next((name for name in order if KINDS[name].strike(scene)), None)
        if name is None:
            return  # there is nobody to meet it yet
        self.outcome.done[name] += 1
        kind = KINDS[name]
        command.excused |= kind.codes | kind.excuses
        if kind.codes:
            self._command = None
            self._check(name, command)
            if kind.needs == "disk":
                again = self._start()
                again.excused = kind.codes
                self._check(f"{name}, resumed", again)
        if kind.mend is not None and self._disk is not None:
            kind.mend(self._disk)

    def _check(self, name: str, command: Command, seconds: float = _STUCK_S) -> None:
        """A command must end in order, and leave nothing behind."""
        code = command.end(seconds)
        self.outcome.endings[name, code] += 1
        if code != 0 and code not in command.excused:  # 0: it was done before
            self.outcome.complain(name, f"exit code {code}: {command.said()[-300:]!r}")
        if wrong := wrong_in(command.said(), code):
            self.outcome.complain(name, wrong)
        for line in self._arena.wait_until_alone().values():
            self.outcome.complain(name, f"left over: {line}")

    def _start(self) -> Command:
        is_begun = stored.tournaments(self._arena) > 0
        line = (
            ["tournament", "resume", NAME, "--in-flight", str(_IN_FLIGHT)] if is_begun else self._plan.command
        )
        self._commands += 1
        return Command(self._arena, line, self._folder / f"said.{self._commands}")

    # the end

    def _end_in_peace(self) -> None:
        """Play what is missing, and look at what is there then, and what else is left."""
        self._check("the end", self._command or self._start(), 10 * _STUCK_S)
        self._check("the end", self._start(), 10 * _STUCK_S)  # to resume what is done does nothing
        self._check("verify", self._verify(), 10 * _STUCK_S)
        for difference in stored.differences(self._undisturbed, self._arena, NAME):
            self.outcome.complain("the end", difference)
        containers = self._engine.left() if self._engine is not None else []
        for trace in [*(traces.orphans() - self._before), *containers]:
            self.outcome.complain("the end", f"left over: {trace}")

    def _verify(self) -> Command:
        return Command(self._arena, ["verify", "--tournament", NAME], self._folder / "said.verify")
