"""How far raters agree beyond chance: judges with people, judges among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasoning.statistics.samples import Floats, Interval, columns

__all__ = ["Agreement", "alpha", "kappa"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far raters agree: observed share, chance-corrected coefficient and its interval (None
    where a rater has only one answer for everything, which leaves it undefined)."""

    observed: float
    n: int
    coefficient: float | None
    interval: Interval | None


def kappa(first: Sequence[Any], second: Sequence[Any], *, seed: int = 0) -> Agreement:
    """Cohen's kappa of two raters (*Educational and Psychological Measurement* 20, 1960) with a
    bootstrap interval over items."""
    a, b = columns(first, second)
    codes = {value: i for i, value in enumerate(np.unique(np.concatenate([a, b])).tolist())}
    x, y = (np.array([codes[v] for v in column.tolist()]) for column in (a, b))
    table = np.zeros((len(codes), len(codes)))
    np.add.at(table, (x, y), 1)
    counts = np.random.default_rng(seed).multinomial(len(x), (table / len(x)).ravel(), 2000)
    draws = counts.astype(np.float64).reshape(-1, *table.shape)
    spread = [value for value in (_kappa(draw) for draw in draws) if value is not None]
    interval = Interval(*map(float, np.percentile(spread, [2.5, 97.5]))) if spread else None
    value = _kappa(table)
    return Agreement(float((x == y).mean()), len(x), value, interval if value is not None else None)


def _kappa(table: Floats) -> float | None:
    n = table.sum()
    chance = float((table.sum(axis=0) * table.sum(axis=1)).sum() / n**2)
    return float((np.trace(table) / n - chance) / (1 - chance)) if chance < 1 else None


def alpha(ratings: Sequence[Sequence[Any]]) -> float | None:
    """Krippendorff's alpha for nominal data (*Content Analysis*, 2004, chapter 11).

    Args:
        ratings: one row an item, one value a rater, None where a rater gave none.

    Returns:
        At most 1; None where nothing can be paired or only one value occurs.
    """
    kept = [[v for v in row if v is not None] for row in ratings]
    kept = [row for row in kept if len(row) > 1]
    values = sorted({v for row in kept for v in row}, key=str)
    coincidence = np.zeros((len(values), len(values)))
    for row in kept:
        counts = np.array([row.count(v) for v in values], dtype=np.float64)
        coincidence += (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)
    totals = coincidence.sum(axis=1)
    n = totals.sum()
    expected = n**2 - (totals**2).sum()
    if n == 0 or expected == 0:
        return None
    observed = n - np.trace(coincidence)
    return float(1 - (n - 1) * observed / expected)
