"""One rating over several games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arena.ratings.arrays import Floats, Ints
from arena.ratings.confidence import Judgement, judge
from arena.ratings.fit import Fit
from arena.ratings.fold import RatingError

_PRIOR = 4.0
"""Greatest spread of overall skills, in that of a game."""

WIDER = 1.2
"""By how much the sigma is wider than that of the means of the games: that of a game's spread is not counted
in it, and without this the intervals cover 90 % instead of 95 %."""


@dataclass(frozen=True, slots=True)
class Overall:
    """Ratings over several games.

    Attributes:
        skills: of the bots that have a rating in every game. Their mean is 0, and the unit is the standard
            deviation of these bots' skills in a game.
        by_game: by game and bot, the rating that goes into it.
        missing: by bot of the others, the games in which it has no rating.
    """

    skills: list[Judgement]
    by_game: dict[str, dict[str, float]]
    missing: dict[str, list[str]]


def overall(fits: Mapping[str, Fit]) -> Overall:
    """The mean of the games' ratings, each in units of its own spread: all games count the same.

    Args:
        fits: by game. Bots of any but a game's first pool have no rating in it that could be compared.

    Raises:
        RatingError: no two bots have a rating in every game, or all of them are rated the same in one.
    """
    rated = {game: _first_pool(fit) for game, fit in fits.items()}
    everyone = sorted({bot for bots in rated.values() for bot in bots})
    missing = {bot: [game for game in fits if bot not in rated[game]] for bot in everyone}
    bots = tuple(bot for bot in everyone if not missing[bot])
    if len(bots) < 2:
        raise RatingError(
            f"{len(bots)} bots have a rating in all of {', '.join(fits)}, and an overall rating compares "
            "those; let more bots play all the games, or name fewer games"
        )
    parts = {game: _standardised(game, fits[game], [rated[game][bot] for bot in bots]) for game in fits}
    mu = np.mean([mu for mu, _ in parts.values()], axis=0)
    covariance = WIDER**2 * np.sum([each for _, each in parts.values()], axis=0) / len(parts) ** 2
    whole = Fit(bots, mu, covariance, covariance, {}, {}, {}, np.zeros(len(bots), np.intp), 0, _PRIOR)
    return Overall(
        skills=judge(whole),
        by_game={game: dict(zip(bots, mu.tolist(), strict=True)) for game, (mu, _) in parts.items()},
        missing={bot: games for bot, games in missing.items() if games},
    )


def _first_pool(fit: Fit) -> dict[str, int]:
    """Numbers of the bots in the largest pool."""
    return {bot: number for number, bot in enumerate(fit.bots) if fit.pools[number] == 0}


def _standardised(game: str, fit: Fit, numbers: list[int]) -> tuple[Floats, Floats]:
    """Mean and covariance of some bots' skills, centred, in units of their spread."""
    chosen: Ints = np.array(numbers, np.intp)
    centre = np.eye(len(chosen)) - 1 / len(chosen)
    mu = centre @ fit.mu[chosen]
    spread = float(np.sqrt(np.square(mu).sum() / (len(chosen) - 1)))
    if spread <= 0:
        raise RatingError(f"all bots are rated the same in {game}, so it says nothing; leave it out")
    return mu / spread, centre @ fit.corrected[np.ix_(chosen, chosen)] @ centre / spread**2
