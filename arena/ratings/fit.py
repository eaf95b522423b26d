"""The rating of record: one TrueSkill fit over all matches together, in which their order means nothing.

Model: in a match each bot performs as its skill, plus its seat's advantage, plus normal luck of standard
deviation beta. The ranks say whose performance was above whose (R. Herbrich, T. Minka, T. Graepel,
"TrueSkill: A Bayesian skill rating system", 2007). Inference is expectation propagation over all matches
jointly: every comparison of a match has a Gaussian site on the difference of two performances, and the
skills have one joint normal distribution, so that what is known of the difference of two bots is known
exactly.

What a shared rank says is the game's to tell, see `TieRule`. Where equal scores share a rank, two
performances that differ by less than a margin are equal; the margin is fitted to the share of ties.

Written without the package `trueskill`, which rates one match at a time. Without ties both agree on a match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arena.ratings.arrays import Floats, Ints
from arena.ratings.fold import BETA, SIGMA, Rating, RatingError, TieRule
from arena.ratings.kinds import kinds_of, pools_of, renumbered
from arena.ratings.propagation import Belief, Sums, improve
from arena.ratings.results import Results
from arena.ratings.sandwich import Gradients
from arena.ratings.ties import TieMargin
from arena.ratings.unknowns import Unknowns

TOLERANCE = 1e-10
"""A fit ends when no mean moves, and no standard deviation changes, by more than this share of the latter."""

_ROUNDING, _PATIENCE = 1e-7, 20
"""Moves below the first that have not become smaller for so many sweeps are rounding errors."""

_SWEEPS = 500
_FREE_SWEEPS = 3
"""After them steps may be made smaller: all matches step at once, and where one bot never loses they
overshoot together and go back and forth."""
_LEAST_STEP = 1 / 64
_LONGER = 1.05


@dataclass(frozen=True, slots=True)
class Fit:
    """Skills of all bots as one normal distribution, in rating points; only differences mean something.

    Attributes:
        bots: names, sorted.
        mu: mean skill by bot; the prior's mean is 0.
        covariance: of the skills, as the model has it.
        corrected: the same, corrected for what matches of one block have in common (see `Gradients`).
        seats: mean advantage of each seat by size of the table; they sum to 0.
        seat_sigmas: standard deviation of each.
        margins: by size of the table, by how much performances must differ not to be equal; 0 without ties.
        pools: by bot, the number of its pool: bots of two pools are not connected by any chain of matches,
            and nothing is known of their difference.
        sweeps: passes over all matches that it took.
        prior: standard deviation of the prior of a skill.
    """

    bots: tuple[str, ...]
    mu: Floats
    covariance: Floats
    corrected: Floats
    seats: dict[int, Floats]
    seat_sigmas: dict[int, Floats]
    margins: dict[int, float]
    pools: Ints
    sweeps: int
    prior: float = SIGMA


def fit(
    results: Results,
    ties: TieRule,
    *,
    sigma: float = SIGMA,
    seats: bool = True,
    start: Fit | None = None,
) -> Fit:
    """Rate all bots by all results at once.

    Args:
        results: what was played; the order means nothing.
        ties: what a shared rank says.
        sigma: standard deviation of the prior of a skill, in rating points.
        seats: whether seats may have an advantage.
        start: an earlier fit of nearly the same results: the way from there is shorter.

    Raises:
        RatingError: sigma is no number above 0, or the fit does not settle.
    """
    if not (np.isfinite(sigma) and sigma > 0):
        raise RatingError(f"a sigma of {sigma} is no spread of skills: give a finite number above 0")
    return _Fitting(results, ties, sigma, seats).run(start)


def of_ratings(ratings: Mapping[str, Rating]) -> Fit:
    """Ratings that were made one match at a time, as a fit: their errors are taken as independent."""
    bots = tuple(sorted(ratings))
    mu = np.array([ratings[bot].mu for bot in bots])
    covariance = np.diag([ratings[bot].sigma ** 2 for bot in bots])
    return Fit(bots, mu, covariance, covariance, {}, {}, {}, np.zeros(len(bots), np.intp), 0)


def _better_step(step: float, move: Floats, last: Floats) -> float:
    """The step with which moves no longer go back and forth, or a little more if they do not.

    If in steps s each move is r times the one before, then in steps s / (1 - r) the next one is 0.
    """
    length = float(last @ last)
    ratio = float(move @ last) / length if length else 0.0
    return min(1.0, step * _LONGER) if ratio >= 0 else max(_LEAST_STEP, step / (1 - ratio))


class _Fitting:
    """One fit."""

    def __init__(self, results: Results, ties: TieRule, sigma: float, seats: bool) -> None:
        # Sorted, so that the order in which bots first came means nothing.
        order = sorted(range(len(results.bots)), key=results.bots.__getitem__)
        self._bots = tuple(results.bots[bot] for bot in order)
        number = np.empty(len(order), np.intp)
        number[order] = np.arange(len(order))
        sizes = [renumbered(size, number) for size in results.sizes()]
        self._sigma = sigma
        self._unknowns = Unknowns(len(order), [size.seats for size in sizes] if seats else [], sigma)
        self._kinds = [
            kind for size in sizes for kind in kinds_of(size, self._unknowns.places(size.seats), ties)
        ]
        self._pools = pools_of(len(order), sizes)
        drawn = sizes if ties is TieRule.DRAW else []
        self._ties = {size.seats: TieMargin(size, len(order)) for size in drawn}
        self._margins = {size.seats: 0.0 for size in sizes}

    def run(self, start: Fit | None) -> Fit:
        """Sweep until nothing moves."""
        mean, covariance = self._unknowns.nothing() if start is None else self._known(start)
        sweeps, settled, step = 0, False, 1.0
        last, sigmas = np.zeros(len(mean)), np.zeros(len(mean))
        best, since = np.inf, 0
        while not settled:
            if sweeps == _SWEEPS:
                raise RatingError(
                    f"the ratings do not settle after {_SWEEPS} sweeps over all matches: some results "
                    "contradict each other beyond reason; see whether their records are corrupt"
                )
            sweeps += 1
            shifted = self._fit_margins(mean)
            before, (mean, covariance) = mean, self._sweep(mean, covariance, step)
            wide, sigmas = sigmas, np.sqrt(np.diag(covariance))
            move = (mean - before) / sigmas
            moved = max(np.abs(move).max(initial=0.0), np.abs(wide / sigmas - 1).max(initial=0.0), shifted)
            if moved < best:
                best, since = moved, sweeps
            is_rounding = best < _ROUNDING and sweeps - since >= _PATIENCE
            # The first sweep starts from what is not its own belief.
            settled = sweeps > 1 and (moved < TOLERANCE or is_rounding)
            if sweeps > _FREE_SWEEPS:
                step = _better_step(step, move, last)
            last = move
        return self._result(mean, covariance, sweeps)

    def _known(self, start: Fit) -> tuple[Floats, Floats]:
        """What an earlier fit knew; of other bots nothing."""
        mean, covariance = np.zeros(len(self._unknowns.prior)), np.diag(1 / self._unknowns.prior)
        old = {bot: number for number, bot in enumerate(start.bots)}
        here = np.array([number for number, bot in enumerate(self._bots) if bot in old], np.intp)
        there = np.array([old[self._bots[number]] for number in here], np.intp)
        mean[here] = start.mu[there]
        covariance[np.ix_(here, here)] = start.covariance[np.ix_(there, there)]
        for size, where in self._unknowns.seats.items():
            if size in start.seats:
                mean[where] = start.seats[size]
                covariance[where, where] = np.diag(start.seat_sigmas[size] ** 2)
        return mean, covariance

    def _fit_margins(self, mean: Floats) -> float:
        """Fit the margins of a tie; by how much one moved, in shares of beta."""
        moved = 0.0
        for seats, ties in self._ties.items():
            margin = ties.margin(mean[: len(self._bots)])
            moved = max(moved, abs(margin - self._margins[seats]) / BETA)
            self._margins[seats] = margin
        return moved

    def _sweep(self, mean: Floats, covariance: Floats, step: float) -> tuple[Floats, Floats]:
        """Improve the sites of all matches once; what is believed then.

        Args:
            step: how far sites go towards the better ones, see `improve`.
        """
        precision, shift = np.diag(self._unknowns.prior), np.zeros(len(mean))
        beliefs: dict[int, Belief] = {}
        sums: dict[int, Sums] = {}
        for kind in self._kinds:
            if kind.size not in beliefs:
                beliefs[kind.size] = Belief(*self._unknowns.players(kind.size, mean, covariance))
                sums[kind.size] = Sums(len(beliefs[kind.size].mean))
            for chunk in kind.chunks():
                improve(kind, chunk, beliefs[kind.size], self._margins[kind.size], step)
                sums[kind.size].add(kind, chunk)
        for size, total in sums.items():
            self._unknowns.collect(size, total, precision, shift)
        covariance = np.linalg.inv(precision)
        covariance = (covariance + covariance.T) / 2
        return covariance @ shift, covariance

    def _result(self, mean: Floats, covariance: Floats, sweeps: int) -> Fit:
        bots = len(self._bots)
        gradients = Gradients(self._unknowns, mean)
        for kind in self._kinds:
            gradients.add(kind, self._unknowns.players(kind.size, mean, covariance)[0])
        corrected = gradients.corrected(covariance)
        advantages, sigmas = self._unknowns.advantages(mean, corrected)
        return Fit(
            self._bots,
            mean[:bots],
            covariance[:bots, :bots],
            corrected[:bots, :bots],
            advantages,
            sigmas,
            dict(self._margins),
            self._pools,
            sweeps,
            self._sigma,
        )
