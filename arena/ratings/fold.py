"""TrueSkill as a fold over results.

Parameters are those of high-luck games: what counts is the ratio of beta (the standard deviation of
one bot's luck in one match) to the prior's sigma, and skills differ by less than the luck of a match.
tau is 0: a bot version does not change, so its rating need not stay restless.
"""

from __future__ import annotations

import enum
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from statistics import NormalDist
from typing import Any

from trueskill import Rating as PackageRating
from trueskill import TrueSkill
from trueskill.factorgraph import LikelihoodFactor, PriorFactor, SumFactor, TruncateFactor, Variable

MU = 25.0
"""Mean of the prior, in rating points."""

SIGMA = MU / 3
"""Standard deviation of the prior, in rating points."""

BETA = SIGMA
"""Standard deviation of one bot's luck in one match, in rating points."""

DRAW_PROBABILITY = 0.05
_DRAW_PROBABILITIES = (0.001, 0.99)  # nearer to 0 or 1 the package loses its digits without saying so

_SETTLED = 1e-10  # rating points
_SWEEPS = 1000

# By how much a posterior may seem wider than its prior: the package's erfc is good to 1e-7.
_ROUNDING = 1e-6


class RatingError(ValueError):
    """A result or rating that cannot be rated: which match, what, why and what to do."""


class TieRule(enum.Enum):
    """What a shared rank says. The values are those of the games' own declaration."""

    SHARED = "shared"
    """The order among those who share a rank is unknown: the game names one loser or one winner."""
    DRAW = "draw"
    """Those who share a rank were equally good in this match."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A bot's skill as a normal distribution.

    Attributes:
        mu: mean, in rating points.
        sigma: standard deviation, in rating points.

    Raises:
        RatingError: mu is not finite, or sigma not finite and above 0.
    """

    mu: float = MU
    sigma: float = SIGMA

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mu) and math.isfinite(self.sigma) and self.sigma > 0):
            raise RatingError(
                f"mu {self.mu}, sigma {self.sigma} is no rating: mu must be finite and sigma finite and "
                "above 0; start the bot from the default instead"
            )


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended, as ratings see it.

    Attributes:
        bots: names by seat.
        ranks: by seat, competition ranks from 1: 1 + number of bots strictly better.
        order: bytes that identify the match. They decide in which order tied bots are compared, so
            the same match always gives the same ratings and no bot is always first.
    """

    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    order: bytes


class TrueSkillFold:
    """Ratings after the results added so far, in the order in which they were added.

    `TieRule.DRAW` is the package's own `rate`. It compares neighbours of the ranking only, so which
    of the tied bots are neighbours matters; they are put in an order drawn from the match.

    `TieRule.SHARED` compares every bot with every bot of the next better rank, and never two of the
    same rank. With one loser, one winner or no ties the factor graph is a tree; with several bots in
    two neighbouring ranks it has loops and belief propagation is approximate there.

    Args:
        ties: what a shared rank says.
        draw_probability: of two equal bots, for `TieRule.DRAW`; taken into 0.001..0.99.
        start: ratings that bots start from instead of the default.

    Raises:
        RatingError: the draw probability is not a number.
    """

    def __init__(
        self,
        ties: TieRule,
        draw_probability: float = DRAW_PROBABILITY,
        start: Mapping[str, Rating] | None = None,
    ) -> None:
        if math.isnan(draw_probability):
            raise RatingError("a draw probability of nan says nothing; give a number in 0.001..0.99")
        low, high = _DRAW_PROBABILITIES
        self._ties = TieRule(ties)
        # The package's own erfc jumps by 1e-7 at 0, where without a draw margin equal bots lie: there a
        # rounding error, such as another order of the list makes, would show in the eighth digit.
        backend = (_cdf, _pdf, NormalDist().inv_cdf) if self._ties is TieRule.SHARED else None
        probability = min(max(draw_probability, low), high)
        self._env = TrueSkill(MU, SIGMA, BETA, 0.0, probability, backend)
        self._start = dict(start or {})
        self._ratings: dict[str, Rating] = {}

    def add(self, result: Result) -> None:
        """Fold a result in.

        Raises:
            RatingError: the result is malformed, or no finite rating follows from it. The ratings
                are unchanged.
        """
        check_result(result)
        before = [self._rating(bot) for bot in result.bots]
        try:
            after = self._rate(result, [PackageRating(rating.mu, rating.sigma) for rating in before])
        except (ArithmeticError, ValueError) as error:
            raise _lost(result, str(error)) from error
        self._ratings.update(zip(result.bots, _checked(result, before, after), strict=True))

    def ratings(self) -> dict[str, Rating]:
        """The rating of every bot that was in a result, as it is now."""
        return dict(self._ratings)

    def _rating(self, bot: str) -> Rating:
        return self._ratings.get(bot) or self._start.get(bot) or Rating()

    def _rate(self, result: Result, before: list[Any]) -> list[Any]:
        if self._ties is TieRule.SHARED:
            return _rate_unordered(self._env, before, result.ranks)
        turns = _draw_order(result)
        groups = [(before[seat],) for seat in turns]
        rated = self._env.rate(groups, [result.ranks[seat] for seat in turns])
        return [rating for _, (rating,) in sorted(zip(turns, rated, strict=True), key=lambda pair: pair[0])]


def check_result(result: Result) -> None:
    """Refuse what is no result.

    Raises:
        RatingError: fewer than two bots, a bot twice, or ranks that are no competition ranks.
    """
    if fault := _fault(result.bots, result.ranks):
        raise RatingError(f"match {result.order.hex()} cannot be rated: {fault}")


def _fault(bots: Sequence[str], ranks: Sequence[object]) -> str | None:
    if len(bots) < 2:
        return f"it has {len(bots)} bots, and skill shows only against others; leave it out"
    if len(set(bots)) < len(bots):
        return f"a bot has two seats of {', '.join(bots)}, and playing oneself shows nothing; leave it out"
    if len(ranks) != len(bots):
        return f"it has {len(ranks)} ranks for {len(bots)} bots; give one rank per seat"
    numbers = [rank for rank in ranks if isinstance(rank, int) and not isinstance(rank, bool)]
    if len(numbers) < len(ranks):
        return f"ranks {tuple(ranks)} are not all integers; give competition ranks such as 1, 1, 3"
    if any(rank != 1 + sum(other < rank for other in numbers) for rank in numbers):
        return (
            f"{tuple(ranks)} are not competition ranks, which are 1 + number of bots strictly better; "
            "give ranks such as 1, 1, 3"
        )
    return None


def _lost(result: Result, why: str) -> RatingError:
    return RatingError(
        f"match {result.order.hex()} gives no finite ratings ({why}): its result is all but impossible "
        f"for the ratings of {', '.join(result.bots)}; see whether its record or their ratings are corrupt"
    )


def _checked(result: Result, before: Sequence[Rating], after: Sequence[Any]) -> list[Rating]:
    """The package's ratings as ours.

    A match always narrows a rating if tau is 0. Where the package has run out of digits, it may say
    nothing and widen one.
    """
    ratings = []
    for old, new in zip(before, after, strict=True):
        mu, sigma = float(new.mu), float(new.sigma)
        if not (math.isfinite(mu) and 0 < sigma <= old.sigma * (1 + _ROUNDING)):
            raise _lost(result, f"mu {mu}, sigma {sigma} after sigma {old.sigma}")
        ratings.append(Rating(mu, sigma))
    return ratings


def _draw_order(result: Result) -> list[int]:
    """Seats from best to worst; those who share a rank in an order drawn from the match and the names.

    The draw leaves seats out, so the order in which a result lists its bots does not matter.
    """
    match = hashlib.sha256(result.order).digest()
    return sorted(
        range(len(result.bots)),
        key=lambda seat: (result.ranks[seat], hashlib.sha256(match + result.bots[seat].encode()).digest()),
    )


def _rate_unordered(env: TrueSkill, before: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
    """Posterior ratings if all that is known of bots with the same rank is who was above and below.

    Expectation propagation after R. Herbrich, T. Minka, T. Graepel, "TrueSkill: A Bayesian skill
    rating system" (2007), with a difference per pair of neighbouring ranks instead of one per pair
    of neighbours in a list, and without a draw margin.
    """
    skills = [Variable() for _ in before]
    performances = [Variable() for _ in before]
    priors = [PriorFactor(*pair) for pair in zip(skills, before, strict=True)]
    luck = [LikelihoodFactor(*pair, env.beta**2) for pair in zip(skills, performances, strict=True)]
    for factor in (*priors, *luck):
        factor.down()
    _settle([_Duel(env, performances[better], performances[worse]) for better, worse in _duels(ranks)])
    for factor in luck:
        factor.up()
    return skills


def _cdf(x: float) -> float:
    """Standard normal distribution function, right in the far tail too."""
    return math.erfc(-x / math.sqrt(2)) / 2


def _pdf(x: float) -> float:
    """Standard normal density."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _duels(ranks: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of seats (better, worse) with no rank between them."""
    seats = sorted(range(len(ranks)), key=ranks.__getitem__)
    groups = [tuple(group) for _, group in groupby(seats, key=ranks.__getitem__)]
    return [duel for better, worse in pairwise(groups) for duel in product(better, worse)]


def _settle(duels: Sequence[_Duel]) -> None:
    """Pass messages until nothing moves, so that the order of the duels does not matter.

    Raises:
        FloatingPointError: the messages do not settle.
    """
    for _ in range(_SWEEPS):
        if max((duel.update() for duel in duels), default=0.0) <= _SETTLED:
            return
    raise FloatingPointError(f"not settled after {_SWEEPS} sweeps")


class _Duel:
    """The fact that one performance was better than another."""

    def __init__(self, env: TrueSkill, better: Variable, worse: Variable) -> None:
        self._difference = Variable()
        self._sum = SumFactor(self._difference, [better, worse], [1, -1])
        self._won = TruncateFactor(self._difference, env.v_win, env.w_win, 0.0)
        self._last = (math.inf, math.inf)

    def update(self) -> float:
        """Tell both performances once; how far the difference moved since last time, in rating points."""
        self._sum.down()
        self._won.up()
        self._sum.up(0)
        self._sum.up(1)
        mu, sigma = self._last
        self._last = (self._difference.mu, self._difference.sigma)
        return max(abs(self._last[0] - mu), abs(self._last[1] - sigma))
