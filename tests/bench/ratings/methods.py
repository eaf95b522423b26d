"""Ways to rate bots by the same results: other packages, each with its own formula for a win, and ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import choix
import numpy as np
import trueskill
from openskill.models import PlackettLuce, ThurstoneMostellerFull
from scipy.special import expit, ndtr

from arena.ratings.confidence import probability_above
from arena.ratings.fit import fit
from arena.ratings.fold import BETA
from tests.bench.ratings.figures import Rated
from tests.ratings.populations import Kind, Sample

ELO_K = 16.0
"""Points that a match is about, shared by the pairs of its table."""

CHOIX_ALPHA = 0.39
"""Penalty of choix that is a normal prior of about one BETA."""


Method = Callable[[Sample], Rated]


def ours(sample: Sample) -> Rated:
    """The fit of all matches."""
    rated = fit(sample.results(), sample.population.ties)
    return Rated(rated.mu, rated.corrected, BETA, probability_above(rated))


def online_trueskill(tau: float | None) -> Method:
    """The package match by match, with its defaults or without dynamics."""

    def rate(sample: Sample) -> Rated:
        env = trueskill.TrueSkill() if tau is None else trueskill.TrueSkill(tau=tau)
        ratings = [env.create_rating() for _ in sample.skills]
        for bots, ranks in _matches(sample):
            rated = env.rate([(ratings[bot],) for bot in bots], ranks)
            for bot, (rating,) in zip(bots, rated, strict=True):
                ratings[bot] = rating
        return _normal(ratings, env.beta)

    return rate


def openskill(model: Any, **options: float) -> Method:
    """A model of openskill; ranks from 1, and tau where the model takes it: in its constructor."""

    def rate(sample: Sample) -> Rated:
        rater = model(**options)
        ratings = [rater.rating() for _ in sample.skills]
        for bots, ranks in _matches(sample):
            rated = rater.rate([[ratings[bot]] for bot in bots], ranks=ranks)
            for bot, (rating,) in zip(bots, rated, strict=True):
                ratings[bot] = rating
        above = np.full((len(ratings), len(ratings)), 0.5)
        for one, other in combinations(range(len(ratings)), 2):
            wins = rater.predict_win([[ratings[one]], [ratings[other]]])
            above[one, other], above[other, one] = wins
        normal = _normal(ratings, rater.beta)
        return Rated(normal.mu, normal.covariance, rater.beta, above)

    return rate


def elo(sample: Sample) -> Rated:
    """Elo over all pairs of a table, match by match."""
    ratings = np.zeros(len(sample.skills))
    k = ELO_K / (sample.population.seats - 1)
    scores = (np.sign(sample.ranks[:, None, :] - sample.ranks[:, :, None]) + 1) / 2
    for bots, score in zip(sample.bots, scores, strict=True):
        own = ratings[bots]
        expected = expit((own[:, None] - own) * np.log(10) / 400)
        ratings[bots] += k * (score - expected).sum(axis=1)
    return Rated(ratings, above=expit((ratings[:, None] - ratings) * np.log(10) / 400))


def bradley_terry(sample: Sample) -> Rated:
    """Bradley-Terry by choix on all pairs of every match, with a prior; a draw is half a win for both."""
    pairs: list[tuple[int, int]] = []
    halves = sample.population.kind is Kind.SCORES
    for bots, ranks in _matches(sample):
        for one, other in combinations(range(len(bots)), 2):
            if ranks[one] != ranks[other]:
                winner, loser = (one, other) if ranks[one] < ranks[other] else (other, one)
                pairs += [(bots[winner], bots[loser])] * (1 + halves)
            elif halves:
                pairs += [(bots[one], bots[other]), (bots[other], bots[one])]
    skills = choix.opt_pairwise(len(sample.skills), pairs, alpha=CHOIX_ALPHA * (1 + halves))
    return Rated(skills, above=expit(skills[:, None] - skills))


def mean_score(sample: Sample) -> Rated:
    """The mean share of opponents outranked: an order, no probabilities."""
    return Rated(sample.mean_scores)


METHODS: dict[str, Method] = {
    "trueskill, defaults": online_trueskill(None),
    "trueskill, tau=0": online_trueskill(0.0),
    "openskill PL": openskill(PlackettLuce),
    "openskill PL, tau=0": openskill(PlackettLuce, tau=0.0),
    "openskill TM": openskill(ThurstoneMostellerFull),
    "openskill TM, tau=0": openskill(ThurstoneMostellerFull, tau=0.0),
    f"Elo, K={ELO_K:.0f}": elo,
    "choix Bradley-Terry": bradley_terry,
    "mean score": mean_score,
    "ours": ours,
}


def _matches(sample: Sample) -> Iterator[tuple[list[int], list[int]]]:
    return zip(sample.bots.tolist(), sample.ranks.tolist(), strict=True)


def _normal(ratings: list[Any], beta: float) -> Rated:
    """Independent normal skills, and the win formula of TrueSkill."""
    mu = np.array([rating.mu for rating in ratings])
    variance = np.array([rating.sigma**2 for rating in ratings])
    spread = np.sqrt(variance[:, None] + variance + 2 * beta**2)
    return Rated(mu, np.diag(variance), beta, ndtr((mu[:, None] - mu) / spread))
