"""The margin within which two performances count as equal."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from arena.ratings.arrays import Floats
from arena.ratings.fold import BETA
from arena.ratings.results import Size

_EQUAL_TIES = (0.001, 0.99)
"""Least and greatest probability that two equal bots tie. Where one bot never loses to another no share of
ties would be too small for a margin without end."""
_MARGIN_STEPS = 60
_EXACT = 1e-13


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
        self._share = tied / met.sum()

    def margin(self, mean: Floats) -> float:
        """The margin for these skills, in rating points: by Newton's method, within bounds that close in."""
        spread = float(np.sqrt(2)) * BETA
        gaps = np.abs(mean[self._one] - mean[self._other]) / spread
        low, high = (float(ndtri((1 + share) / 2)) for share in _EQUAL_TIES)
        margin = low
        for _ in range(_MARGIN_STEPS):
            missing = self._share - float(self._weights @ (ndtr(margin - gaps) - ndtr(-margin - gaps)))
            low, high = (margin, high) if missing > 0 else (low, margin)
            slopes = np.exp(-((margin - gaps) ** 2) / 2) + np.exp(-((margin + gaps) ** 2) / 2)
            slope = float(self._weights @ slopes) / np.sqrt(2 * np.pi)
            best = margin + missing / slope if slope > 0 else high
            best = best if low < best < high else (low + high) / 2
            if abs(best - margin) < _EXACT:
                break
            margin = best
        return float(margin) * spread
