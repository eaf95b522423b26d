"""What a fit allows to be said, and how surely.

Skills are compared within a pool: of bots that no chain of matches connects nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from arena.ratings.arrays import Floats, Ints
from arena.ratings.fit import Fit
from arena.ratings.fold import BETA
from arena.ratings.shrinkage import drawn_together

CONFIDENCE = 0.95
"""How sure a statement must be to be made."""

PROVISIONAL_SIGMA = BETA / 4
"""Rating points. With a greater sigma a bot has a rating, but little is known of it: some 27 matches at
tables of four bring it below."""

_DRAWS = 4000
"""Draws from the joint distribution from which ranges of places are taken."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of a bot's skill.

    Attributes:
        bot: its name.
        mu: mean, in rating points above the anchor, or above the mean of its pool if that has no anchor.
        sigma: standard deviation of its skill above the mean of its pool, in rating points.
        low: best place that is not ruled out: places from there to `high` hold it with 95 %.
        high: worst place that is not ruled out.
        first: probability that it is the best of its pool.
        group: number of its group, from 1: within a group no bot is surely (95 %) below the group's first.
        pool: number of its pool, from 1; places and groups are counted within a pool.
        share: of its opponents that it is expected to outrank in a match with any bot of its pool, in 0..1.
        provisional: whether so little is known that the rating is but a guess.
    """

    bot: str
    mu: float
    sigma: float
    low: int
    high: int
    first: float
    group: int
    pool: int
    share: float
    provisional: bool


def judge(fit: Fit, anchor: str | None = None) -> list[Judgement]:
    """What is known of every bot: pool by pool, the highest mean first.

    Args:
        anchor: the bot whose mean is 0, if it is there.
    """
    pools = range(int(fit.pools.max(initial=-1)) + 1)
    return [judgement for pool in pools for judgement in _judge_pool(fit, pool, anchor)]


def probability_better(fit: Fit) -> Floats:
    """By row and column, the probability that the row's bot has more skill than the column's.

    From skills drawn together as far as their spread tells (see `drawn_together`), so that of the pairs that
    are said to be ordered no more are wrong than is said. A half where nothing is known: a bot against
    itself, and bots of two pools.
    """
    better = np.full((len(fit.bots), len(fit.bots)), 0.5)
    for pool in range(int(fit.pools.max(initial=-1)) + 1):
        members = np.flatnonzero(fit.pools == pool)
        grid = np.ix_(members, members)
        better[grid] = sum(
            drawn.weight * ndtr(_gaps(drawn.mu) / np.sqrt(_variances(drawn.covariance)))
            for drawn in drawn_together(fit.mu[members], fit.corrected[grid], fit.prior)
        )
    np.fill_diagonal(better, 0.5)
    return better


def probability_above(fit: Fit) -> Floats:
    """By row and column, the probability that the row's bot performs better in a match than the column's."""
    probability: Floats = ndtr(_gaps(fit.mu) / np.sqrt(_variances(fit.corrected) + 2 * BETA**2))
    return probability


def centred_sigmas(covariance: Floats) -> Floats:
    """Standard deviations of skills above their mean: what all have in common is unknown, and not needed."""
    centred = covariance - covariance.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    return np.sqrt(np.maximum(np.diag(centred), 0))


def _gaps(mu: Floats) -> Floats:
    return mu[:, None] - mu


def _variances(covariance: Floats) -> Floats:
    """Variance of each difference of skill; 1 on the diagonal, where the difference is 0 anyway."""
    own = np.diag(covariance)
    variances = own[:, None] + own - 2 * covariance
    np.fill_diagonal(variances, 1.0)
    return np.maximum(variances, np.finfo(float).tiny)


def _judge_pool(fit: Fit, pool: int, anchor: str | None) -> Iterator[Judgement]:
    members = np.flatnonzero(fit.pools == pool)
    order = members[np.argsort(-fit.mu[members], kind="stable")]
    mu, covariance = fit.mu[order], fit.corrected[np.ix_(order, order)]
    zero = next((fit.mu[bot] for bot in members if fit.bots[bot] == anchor), mu.mean())
    sigmas = centred_sigmas(covariance)
    low, high = _places(mu, covariance)
    first = _chances(mu, covariance, fit.prior)
    groups = _groups(probability_better(fit)[np.ix_(order, order)])
    above = probability_above(fit)[np.ix_(order, order)]
    shares = (above.sum(axis=1) - 0.5) / max(1, len(order) - 1)
    for place, bot in enumerate(order):
        yield Judgement(
            bot=fit.bots[bot],
            mu=float(mu[place] - zero),
            sigma=float(sigmas[place]),
            low=min(int(low[place]), place + 1),
            high=max(int(high[place]), place + 1),
            first=float(first[place]),
            group=groups[place],
            pool=pool + 1,
            share=float(shares[place]),
            provisional=bool(sigmas[place] > PROVISIONAL_SIGMA),
        )


def _places(mu: Floats, covariance: Floats) -> tuple[Ints, Ints]:
    """Best and worst place with 95 %, in draws of the skills."""
    places = np.argsort(np.argsort(-_draws(mu, covariance, _DRAWS), axis=1), axis=1) + 1
    tail = (1 - CONFIDENCE) / 2
    low = np.quantile(places, tail, axis=0, method="lower")
    high = np.quantile(places, 1 - tail, axis=0, method="higher")
    return low.astype(np.intp), high.astype(np.intp)


def _chances(mu: Floats, covariance: Floats, prior: float) -> Floats:
    """How often each is the best in draws of skills drawn together."""
    draws = [
        _draws(drawn.mu, drawn.covariance, max(1, round(_DRAWS * drawn.weight)))
        for drawn in drawn_together(mu, covariance, prior)
    ]
    best = np.concatenate(draws).argmax(axis=1)
    chances: Floats = np.bincount(best, minlength=len(mu)) / len(best)
    return chances


def _draws(mu: Floats, covariance: Floats, number: int) -> Floats:
    """Skills by draw and bot."""
    chance = np.random.Generator(np.random.PCG64(0))
    skills: Floats = chance.multivariate_normal(mu, covariance, number, method="eigh")
    return skills


def _groups(better: Floats) -> list[int]:
    """By place, the number of its group: a new one begins with each bot surely below the group's first.

    The first stays the anchor of its group; a chain of bots that cannot be told from their neighbours does
    not become one group.
    """
    groups: list[int] = []
    first = 0
    for place in range(len(better)):
        if better[first, place] >= CONFIDENCE:
            first = place
        groups.append(groups[-1] + (first == place) if groups else 1)
    return groups
