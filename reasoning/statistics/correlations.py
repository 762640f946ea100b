"""How far two accuracies go together over videos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reasoning.statistics.samples import RESAMPLES, Floats, Interval, columns

__all__ = ["Correlation", "correlation"]


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r over ``n`` videos; None where one side does not vary."""

    r: float | None
    n: int
    interval: Interval | None


def correlation(
    x: Sequence[float] | Floats, y: Sequence[float] | Floats, *, seed: int = 0
) -> Correlation:
    """Pearson's r of two accuracies over the same videos, with a bootstrap interval over videos."""
    a, b = (np.asarray(c, dtype=np.float64) for c in columns(x, y))
    value = _pearson(a[None], b[None])[0]
    if len(a) < 3 or math.isnan(value):
        return Correlation(None, len(a), None)
    index = np.random.default_rng(seed).integers(0, len(a), (RESAMPLES, len(a)))
    spread = _pearson(a[index], b[index])
    low, high = np.nanpercentile(spread, [2.5, 97.5])
    return Correlation(float(value), len(a), Interval(float(low), float(high)))


def _pearson(a: Floats, b: Floats) -> Floats:
    a, b = (c - c.mean(axis=1, keepdims=True) for c in (a, b))
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(scale > 1e-12, (a * b).sum(axis=1) / scale, np.nan)
