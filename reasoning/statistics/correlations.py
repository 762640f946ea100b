"""How far two accuracies go together over videos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from reasoning.statistics.samples import LEVEL, RESAMPLES, Floats, Interval, columns

__all__ = ["Correlation", "correlation"]


_NEARLY_ONE = 1 - 1e-12
"""An r of 1 has no atanh."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r over ``n`` videos; None where one side does not vary."""

    r: float | None
    n: int
    interval: Interval | None


def correlation(
    x: Sequence[float] | Floats, y: Sequence[float] | Floats, *, seed: int = 0
) -> Correlation:
    """Pearson's r of two accuracies over the same videos.

    The interval is that of the bootstrap over videos, widened to Fisher's (*Metron* 1, 1921), which
    says of three videos that they say nothing: few videos drawn again and again are the same few.
    """
    a, b = (np.asarray(c, dtype=np.float64) for c in columns(x, y))
    value = _pearson(a[None], b[None])[0]
    if len(a) < 3 or math.isnan(value):
        return Correlation(None, len(a), None)
    index = np.random.default_rng(seed).integers(0, len(a), (RESAMPLES, len(a)))
    spread = _pearson(a[index], b[index])
    low, high = np.nanpercentile(spread, [2.5, 97.5])
    least, most = _fisher(float(value), len(a))
    return Correlation(
        float(value), len(a), Interval(min(float(low), least), max(float(high), most))
    )


def _fisher(r: float, n: int) -> tuple[float, float]:
    """Ends of the interval that takes atanh r for normal with variance 1 / (n - 3)."""
    if n <= 3:
        return -1.0, 1.0
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) / math.sqrt(n - 3)
    middle = math.atanh(max(-_NEARLY_ONE, min(_NEARLY_ONE, r)))
    return math.tanh(middle - half), math.tanh(middle + half)


def _pearson(a: Floats, b: Floats) -> Floats:
    a, b = (c - c.mean(axis=1, keepdims=True) for c in (a, b))
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(scale > 1e-12, np.clip((a * b).sum(axis=1) / scale, -1, 1), np.nan)
