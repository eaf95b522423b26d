"""The margin within which two performances count as equal."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from arena.ratings.arrays import Floats
from arena.ratings.fold import BETA
from arena.ratings.results import Size

_TIE_SHARES = (0.001, 0.99)
"""Nearer to 0 or 1 the share of ties says nothing about a margin."""
_MARGIN_STEPS = 30


class TieMargin:
    """Ties at tables of one size: how many, and who met whom.

    The margin is the one at which as many pairs would be tied as were: the mean over all pairs that met of
    P(|difference of performance| < margin) is the share of tied pairs.
    """

    def __init__(self, size: Size, bots: int) -> None:
        met = np.zeros(bots * bots)
        tied = 0
        for one, other in combinations(range(size.seats), 2):
            low, high = np.sort(size.bots[:, [one, other]], axis=1).T
            met += np.bincount(low * bots + high, minlength=bots * bots)
            tied += int((size.ranks[:, one] == size.ranks[:, other]).sum())
        pairs = np.flatnonzero(met)
        self._one, self._other = pairs // bots, pairs % bots
        self._weights = met[pairs] / met.sum()
        self._share = min(max(tied / met.sum(), _TIE_SHARES[0]), _TIE_SHARES[1])

    def margin(self, mean: Floats) -> float:
        """The margin for these skills, in rating points: Newton's method, from the margin of equal bots."""
        spread = float(np.sqrt(2)) * BETA
        gaps = np.abs(mean[self._one] - mean[self._other]) / spread
        margin = float(ndtri((1 + self._share) / 2))
        for _ in range(_MARGIN_STEPS):
            share = float(self._weights @ (ndtr(margin - gaps) - ndtr(-margin - gaps)))
            slopes = np.exp(-((margin - gaps) ** 2) / 2) + np.exp(-((margin + gaps) ** 2) / 2)
            step = (self._share - share) / float(self._weights @ slopes / np.sqrt(2 * np.pi))
            margin = max(margin / 2, margin + min(step, 1.0))
            if abs(step) < 1e-12:
                break
        return margin * spread
