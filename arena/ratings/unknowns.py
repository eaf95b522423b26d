"""What a fit is after: the skills of the bots, then the advantages of the seats, by size of the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.ratings.arrays import Floats, Ints
from arena.ratings.fold import BETA
from arena.ratings.propagation import Sums

SEAT_SIGMA = BETA
"""Standard deviation of the prior of a seat's advantage, in rating points."""


class Unknowns:
    """Where each unknown stands, and what its prior is.

    Args:
        bots: how many.
        sizes: table sizes whose seats have an advantage each.
        sigma: prior of a skill.

    Attributes:
        prior: precision of each unknown's prior; all means are 0.
        seats: where the advantages of the seats stand, by size of the table.
    """

    def __init__(self, bots: int, sizes: Sequence[int], sigma: float) -> None:
        self._bots = bots
        firsts = bots + np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.seats = {size: slice(first, first + size) for size, first in zip(sizes, firsts, strict=False)}
        self.prior = np.full(firsts[-1], SEAT_SIGMA**-2)
        self.prior[:bots] = sigma**-2

    def places(self, size: int) -> int:
        """How many players a bot is at tables of a size: one per seat if seats have advantages."""
        return size if size in self.seats else 1

    def nothing(self) -> tuple[Floats, Floats]:
        """Skills of 0 without a doubt: the first sweep then looks at the matches alone."""
        return np.zeros(len(self.prior)), np.zeros((len(self.prior), len(self.prior)))

    def players(self, size: int, mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Mean and covariance of all players of a table size: each is a bot plus a seat."""
        bots = slice(0, self._bots)
        if size not in self.seats:
            return mean[bots], np.ascontiguousarray(covariance[bots, bots])
        seats = self.seats[size]
        cross = covariance[bots, seats]
        grid = (
            covariance[bots, bots][:, None, :, None]
            + cross[:, None, None, :]
            + cross.T[None, :, :, None]
            + covariance[seats, seats][None, :, None, :]
        )
        number = self._bots * size
        return (mean[bots, None] + mean[None, seats]).ravel(), grid.reshape(number, number)

    def collect(self, size: int, sums: Sums, precision: Floats, shift: Floats) -> None:
        """Add what the matches at tables of a size say of their players to what is known of the unknowns."""
        bots = slice(0, self._bots)
        if size not in self.seats:
            precision[bots, bots] += sums.symmetric()
            shift[bots] += sums.shift
            return
        seats = self.seats[size]
        grid = sums.symmetric().reshape(self._bots, size, self._bots, size)
        cross = grid.sum(axis=1).sum(axis=1)
        precision[bots, bots] += grid.sum(axis=(1, 3))
        precision[seats, seats] += grid.sum(axis=(0, 2))
        precision[bots, seats] += cross
        precision[seats, bots] += cross.T
        shift[bots] += sums.shift.reshape(self._bots, size).sum(axis=1)
        shift[seats] += sums.shift.reshape(self._bots, size).sum(axis=0)

    def numbers(self, size: int, players: Ints) -> list[Ints]:
        """The unknowns that make up players."""
        if size not in self.seats:
            return [players]
        return [players // size, self.seats[size].start + players % size]

    def advantages(self, mean: Floats, covariance: Floats) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Advantage of each seat, centred, and its standard deviation, by size of the table."""
        advantages, sigmas = {}, {}
        for size, where in self.seats.items():
            centre = np.eye(size) - 1 / size
            advantages[size] = centre @ mean[where]
            sigmas[size] = np.sqrt(np.diag(centre @ covariance[where, where] @ centre))
        return advantages, sigmas
