"""Bots that do better or worse when another one sits at their table.

Ratings suppose that a bot plays for itself. If one plays for another, or against it, the other does better
or worse against third bots when both sit at a table than when they do not. Skill does not explain that: it
is the same at both, and what the fit expects of each table is taken away first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from arena.ratings.arrays import Floats
from arena.ratings.fit import Fit
from arena.ratings.pair_sums import Sums, mean_square, pairs_of
from arena.ratings.results import Results
from arena.ratings.surprises import Tables, tables_of

FAMILY_ERROR = 0.05
"""Probability that anybody of an honest population is flagged."""

SMALLEST_EFFECT = 0.03
"""Share of opponents. Smaller effects are not flagged: that luck is normal is only nearly true of a game."""

_MEDIAN = 0.6745
"""Of the absolute value of a standard normal variable."""

_LEAST_TABLES = 10
"""With fewer on either side a pair is not judged."""


@dataclass(frozen=True, slots=True)
class Partnership:
    """How a bot does when another one sits at its table.

    Attributes:
        bot: who does better or worse.
        with_: who sits there.
        effect: of third bots outranked, the share beyond expectation with `with_` there minus that without.
        error: its standard deviation, wider where all pairs of the population differ more than by luck.
        p: probability of so great an effect, either way, by luck.
        p_corrected: the same, corrected for the number of pairs that were judged (Holm).
        matches: in which both sat.
        flagged: whether `p_corrected` is below `FAMILY_ERROR` and the effect not below `SMALLEST_EFFECT`.
    """

    bot: str
    with_: str
    effect: float
    error: float
    p: float
    p_corrected: float
    matches: int
    flagged: bool


@dataclass(frozen=True, slots=True)
class Partnerships:
    """What was found.

    Attributes:
        pairs: all ordered pairs that could be judged, flagged ones first, then the least probable.
        reason: why none could be judged; None if some could.
    """

    pairs: list[Partnership]
    reason: str | None = None


def partners(results: Results, fit: Fit) -> Partnerships:
    """Who does better or worse when whom is at the table.

    Flags are accusations, so the probability that any of them is wrong is held, not their share (S. Holm,
    "A simple sequentially rejective multiple test procedure", 1979). Who plays for another pulls third
    bots along, which gain where it sacrifices itself. So after each flag the tables where those two sat
    are left out, and the rest is judged again; a pair is flagged once, where it shows most.

    Args:
        fit: of these results.
    """
    tables = [each for each in tables_of(results, fit) if each.bots.shape[1] > 2]
    if not tables:
        return Partnerships([], "at tables of two there is no third bot against whom one could help another")
    if all(each.bots.shape[1] == len(fit.bots) for each in tables):
        return Partnerships([], "all bots sit at every table, so none was ever seen without another")
    flagged: list[Partnership] = []
    judged = _judged(tables, fit.bots)
    while chosen := next((pair for pair in judged if pair.flagged), None):
        flagged.append(chosen)
        both = fit.bots.index(chosen.bot), fit.bots.index(chosen.with_)
        tables = [_without(each, *both) for each in tables]
        judged = _judged(tables, fit.bots)
    if not (flagged or judged):
        return Partnerships([], f"no two bots sat at {_LEAST_TABLES} tables together and at as many apart")
    return Partnerships(flagged + judged)


def _without(tables: Tables, one: int, other: int) -> Tables:
    """The tables at which these two do not both sit."""
    kept = ~((tables.bots == one).any(axis=1) & (tables.bots == other).any(axis=1))
    return Tables(tables.bots[kept], tables.matches[kept], tables.sums[kept], tables.outcomes[kept])


def _judged(tables: Iterable[Tables], bots: Sequence[str]) -> list[Partnership]:
    """All pairs that can be judged, those that may be flagged first, the least probable first."""
    together, apart = _compare(tables, len(bots))
    (with_, with_variance), (without, variance) = together.mean(), apart.mean()
    least = np.minimum(together.tables, apart.tables)
    pairs = np.flatnonzero(least >= _LEAST_TABLES)
    effect, matches = (with_ - without)[pairs], together.matches[pairs]
    # Where a bot always ends the same, nothing is surer than if it had once ended otherwise.
    error = np.sqrt(np.maximum((with_variance + variance)[pairs], matches**-2))
    error *= _usual(effect / error)
    p = 2 * stdtr(np.minimum(least[pairs], len(pairs)) - 1, -np.abs(effect) / error)
    corrected, small = _holm(p), np.abs(effect) < SMALLEST_EFFECT
    return [
        Partnership(
            bot=bots[pairs[place] // len(bots)],
            with_=bots[pairs[place] % len(bots)],
            effect=float(effect[place]),
            error=float(error[place]),
            p=float(p[place]),
            p_corrected=float(corrected[place]),
            matches=int(matches[place]),
            flagged=bool(corrected[place] < FAMILY_ERROR and not small[place]),
        )
        for place in np.lexsort((p, small))
    ]


def _usual(z: Floats) -> float:
    """By how much pairs of this population differ more than by luck; at least 1.

    Honest bots do not leave each other alone either: a bot that wastes what others want helps some of them
    more than others. So a pair is conspicuous among pairs, not beside luck alone; the median is that of the
    many honest ones (B. Efron, "Large-scale simultaneous hypothesis testing: the choice of a null
    hypothesis", 2004).
    """
    return max(1.0, float(np.median(np.abs(z))) / _MEDIAN) if len(z) else 1.0


def _holm(p: Floats) -> Floats:
    """Probabilities corrected for their number: the k-th smallest times the number from there on."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected


def _compare(tables: Iterable[Tables], bots: int) -> tuple[Sums, Sums]:
    """By ordered pair, the first one's surprises against third bots at tables with the second, and its
    surprises against all at tables without."""
    together, seated, everywhere = Sums.none(bots**2), Sums.none(bots**2), Sums.none(bots)
    for each in tables:
        seats = each.bots.shape[1]
        apart, firsts = ~np.eye(seats, dtype=bool), each.bots.ravel()
        own = each.sums.sum(axis=2, keepdims=True)
        pairs, matches = pairs_of(each, bots), np.repeat(each.matches, seats)
        third = ((own - each.sums) / (seats - 2))[:, apart]
        everyone = (own / (seats - 1)).ravel()
        # A pair alone has too few tables to tell its variance: where that is small by luck, luck would
        # seem certain. So it is that of all tables of its first bot.
        times = seats - 1
        of_third = mean_square(np.repeat(firsts, times), np.repeat(matches, times), third.ravel(), bots)
        of_all = mean_square(firsts, matches, everyone, bots)
        counted = np.repeat(matches, times)
        together.add(pairs.ravel(), counted, third.ravel(), np.repeat(of_third, bots))
        seated.add(pairs.ravel(), counted, np.repeat(everyone, times), np.repeat(of_all, bots))
        everywhere.add(firsts, matches, everyone, of_all)
    return together, everywhere.repeated(bots).less(seated)
