"""The covariance of a fit, corrected for what the matches of a block have in common."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from arena.ratings.arrays import Floats, Ints
from arena.ratings.kinds import Kind
from arena.ratings.propagation import by_place, evidence, times
from arena.ratings.unknowns import Unknowns


class Gradients:
    """The pull of each block on the unknowns at the fit, and the covariance that follows from it.

    Matches of a block share their deal, so their luck is not independent. If blocks are, the covariance of
    the estimate is S (sum of g g') S, with S the model's covariance and g the sum of a block's gradients
    (the sandwich estimator; P. J. Huber, "The behavior of maximum likelihood estimates under nonstandard
    conditions", 1967). What the prior adds to the precision is added to the sum: there is no block of it.
    """

    def __init__(self, unknowns: Unknowns, mean: Floats) -> None:
        self._unknowns = unknowns
        self._mean = mean
        self._parts: list[tuple[Ints, Ints, Floats]] = []

    def add(self, kind: Kind, means: Floats) -> None:
        """Add the matches of a kind.

        Args:
            means: of all players of its table size.
        """
        pulls = np.empty(kind.players.shape)
        for chunk in kind.chunks():
            precision, shift = evidence(kind, chunk)
            skills = means[kind.players[:, chunk]]
            skill = skills[kind.better] - skills[kind.worse]
            pulls[:, chunk] = by_place(kind, shift - times(precision, skill[:, None])[:, 0])
        for place in range(len(pulls)):
            for numbers in self._unknowns.numbers(kind.size, kind.players[place]):
                self._parts.append((kind.blocks, numbers[kind.which], pulls[place][kind.which]))

    def corrected(self, covariance: Floats) -> Floats:
        """The model's covariance, corrected."""
        if not self._parts:
            return covariance
        blocks, numbers, pulls = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        names, rows = np.unique(blocks, return_inverse=True)
        table = coo_array((pulls, (rows.ravel(), numbers)), shape=(len(names), len(self._mean))).tocsr()
        prior = np.diag(self._unknowns.prior)
        matches = np.linalg.inv(covariance) - prior
        pulled: Floats = (table.T @ table).toarray()
        # The fit follows its data: of few blocks it leaves less pull than there was, by up to a block for
        # each unknown that the matches decide. The model's own precision stands in; half a block each keeps
        # the intervals of small tournaments honest without making those of large ones wide.
        decided = float((covariance * matches).sum())
        pulled += prior + min(1.0, decided / (2 * len(names))) * matches
        result: Floats = covariance @ pulled @ covariance
        return result
