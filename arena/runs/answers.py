"""The answers of tournaments that end with one: who is best, or whether a new version is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.store.stored import StoredTournament
from arena.tournament.formats import COMPARE, UNTIL
from arena.tournament.runner import played_tables, schedule_of

if TYPE_CHECKING:
    from arena.ratings.stopping import Finding, Pair
    from arena.store.store import Store
    from arena.tournament.adaptive import Answer
    from arena.tournament.comparison import Comparison

Row = dict[str, Any]


def answer_of(store: Store, tournament: StoredTournament) -> tuple[str, Row] | None:
    """What a tournament has found out, as the kind of its line and plain data; None if it asks nothing."""
    if tournament.format == UNTIL:
        return "answer", _until(store, tournament)
    if tournament.format == COMPARE:
        return "comparison", _compare(store, tournament)
    return None


# until


def _until(store: Store, tournament: StoredTournament) -> Row:
    from arena.tournament.adaptive import Until

    schedule = schedule_of(tournament)
    assert isinstance(schedule, Until)
    answer = schedule.answer(played_tables(store, tournament))
    names = [bot.name for bot in tournament.bots]
    finding = answer.finding
    return {
        "tournament": tournament.name,
        "goal": str(answer.criterion.goal),
        "settled": not finding.open,
        "statement": _statement(answer, names, tournament.finished_us is not None),
        "order": [names[bot] for bot in finding.order],
        "best": [names[bot] for bot in finding.order[: answer.criterion.goal.best]],
        "tied": _named(finding.tied, names),
        "open": _named(finding.open, names),
        "matches": answer.matches,
        "confidence": answer.criterion.confidence,
        "tolerance": answer.criterion.tolerance,
    }


def _named(pairs: Sequence[Pair], names: Sequence[str]) -> list[list[str]]:
    return [[names[pair.better], names[pair.worse]] for pair in pairs]


def _statement(answer: Answer, names: Sequence[str], is_over: bool) -> str:
    after = f"after {answer.matches:,} matches"
    criterion, finding = answer.criterion, answer.finding
    if finding.open:
        pairs = _listed([f"{one} or {other}" for one, other in _named(finding.open, names)])
        now = "undecided" if is_over else "not decided yet"
        more = "; allow more --deals, or a greater --tolerance" if is_over else ""
        return f"{now} {after}: {len(finding.open)} of {len(finding.pairs)} pairs are open, {pairs}{more}"
    sure = f"{100 * criterion.confidence:g} % sure of each pair, {after}"
    return f"{_found(finding, criterion.goal.best, names)}; {sure}{_ties(answer, names)}"


def _found(finding: Finding, best: int, names: Sequence[str]) -> str:
    order = [names[bot] for bot in finding.order]
    if best == 1:
        return f"{order[0]} is the best of {len(order)} bots"
    if best:
        return f"the top {best} of {len(order)} bots are {', '.join(order[:best])}"
    tied = {(pair.better, pair.worse) for pair in finding.tied}
    signs = [" ≈ " if pair in tied else " > " for pair in zip(finding.order, finding.order[1:], strict=False)]
    return "the order is " + "".join(name + sign for name, sign in zip(order, [*signs, ""], strict=True))


def _ties(answer: Answer, names: Sequence[str]) -> str:
    """Who cannot be told apart, for people."""
    if not answer.finding.tied:
        return ""
    pairs = _listed([f"{one} and {other}" for one, other in _named(answer.finding.tied, names)])
    return f"; not separable within the tolerance of {answer.criterion.tolerance:.2f} points: {pairs}"


def _listed(items: Sequence[str], most: int = 5) -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


# compare


def _compare(store: Store, tournament: StoredTournament) -> Row:
    from arena.tournament.comparison import comparison_of

    comparison = comparison_of(store, tournament)
    finding = comparison.finding
    old, new = (bot.name for bot in tournament.bots[:2])
    return {
        "tournament": tournament.name,
        "old": old,
        "new": new,
        "verdict": finding.verdict.value,
        "statement": _verdict(comparison, old, new, tournament.finished_us is not None),
        "share_difference": finding.difference.mean,
        "share_low": _finite(finding.difference.low),
        "share_high": _finite(finding.difference.high),
        "score_difference": comparison.scores.mean,
        "score_low": _finite(comparison.scores.low),
        "score_high": _finite(comparison.scores.high),
        "llr": finding.llr,
        "llr_bound": finding.bound,
        "gain": comparison.test.gain,
        "confidence": comparison.test.confidence,
        "blocks": finding.blocks,
        "matches": comparison.matches,
        "pairs": comparison.pairs,
        "identical": comparison.identical,
    }


def _finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if abs(value) != float("inf") else None


def _verdict(comparison: Comparison, old: str, new: str, is_over: bool) -> str:
    from arena.ratings.compare import Verdict

    gain, after = f"{100 * comparison.test.gain:g} %", f"after {comparison.matches:,} matches"
    sure = f"{100 * comparison.test.confidence:g} % sure, {after}"
    match comparison.finding.verdict:
        case Verdict.BETTER:
            return f"{new} is better than {old}; {sure}"
        case Verdict.WORSE:
            return f"{new} is worse than {old}; {sure}"
        case Verdict.NO_GAIN if comparison.identical == comparison.pairs:
            return f"no difference: {new} plays every match as {old} does; {sure}"
        case Verdict.NO_GAIN:
            return f"{new} does not outrank {gain} more opponents than {old}; {sure}"
    now = "undecided" if is_over else "not decided yet"
    more = "; allow more --deals, or ask for a greater --gain" if is_over else ""
    return f"{now} {after}: {new} may or may not outrank {gain} more opponents than {old}{more}"
