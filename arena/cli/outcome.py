"""What came out of a server's tournament: shown, said and left with as if it had been played here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.cli.answers import show_answer
from arena.cli.common import DEFAULT_DB
from arena.cli.output import OUT
from arena.cli.results import show_places, show_result, show_standings
from arena.cli.source import Source, open_source
from arena.errors import CheckFailedError
from arena.match.verdicts import FAULTS
from arena.runs.names import match_name

Row = dict[str, Any]


def show_hosted(name: str) -> int:
    """Show what came out of a tournament or league of a server, as far as it is played.

    Returns:
        The exit code that this comes to: 0, or 3 if matches are void or bots failed.
    """
    with open_source(DEFAULT_DB) as source:
        result = source.result(name, details=False)
        tournament = result["tournament"]
        _show(source, result)
        faulty = [] if tournament["kind"] == "league" else source.matches(name, faults=True)
    for line in (*_void_lines(name, faulty), *_fault_lines(faulty)):
        OUT.say(line)
    if tournament["seed"] is not None:
        OUT.say(f"replay: arena replay {name}/{match_name(0)} · seed {tournament['seed']}")
    return CheckFailedError.code if _has_failed(tournament["kind"], faulty) else 0


def _show(source: Source, result: Row) -> None:
    tournament = result["tournament"]
    if tournament["kind"] == "play" and tournament["matches"] == tournament["stored"] == 1:
        show_result(source.record(f"{tournament['name']}/{match_name(0)}"))
        return
    show_standings(result["board"])
    if not OUT.csv:
        show_places(result["places"])
    show_answer((result["answer_kind"], result["answer"]) if result["answer"] else None)


def _void_lines(name: str, faulty: Sequence[Row]) -> Iterator[str]:
    """How many matches are void, and how to see why."""
    void = [row for row in faulty if not row["ranks"]]
    if void:
        yield (
            f"void matches, not rated: {len(void)}, the first {void[0]['verdict']}: "
            f"arena replay {name}/{void[0]['match']} · all of them: arena match list {name} --faults"
        )


def _fault_lines(faulty: Sequence[Row]) -> Iterator[str]:
    """Each bot's faults, the first match with each kind, and what to do about it."""
    matches: dict[str, list[str]] = {}
    for row in faulty:
        for fault in row["faults"]:
            matches.setdefault(fault, []).append(f"{row['tournament']}/{row['match']}")
    for fault, found in sorted(matches.items()):
        bot, _, kind = fault.rpartition(" ")
        advice = [rule.advice for rule in FAULTS.values() if rule.name == kind]  # none: the server is newer
        told = "; ".join([f"faults of {bot}: {len(found)} {kind}", *advice])
        yield f"{told}; see one: arena match logs {found[0]}"


def _has_failed(kind: str, faulty: Sequence[Row]) -> bool:
    """Whether matches are void or a bot never started; of a play, whether anything failed at all."""
    if kind == "play":
        return bool(faulty)
    return any(not row["ranks"] or any(f.endswith(" START_FAILED") for f in row["faults"]) for row in faulty)
