"""What code costs on a machine that others use too."""

from __future__ import annotations

from collections.abc import Iterator

Sample = tuple[int, float]
"""How much was done, and the seconds that it took."""
SLICES = 8


def best_rate(samples: Iterator[Sample], seconds: float) -> float:
    """Things done per second in the best of several slices of the time: others can only make it less.

    Every rate that is compared with another one is taken in this way.
    """
    return max(_rate(samples, seconds / SLICES) for _ in range(SLICES))


def _rate(samples: Iterator[Sample], seconds: float) -> float:
    done, passed = 0, 0.0
    while passed < seconds:
        number, took = next(samples)
        done, passed = done + number, passed + took
    return done / passed
