"""Shares of right answers, with intervals clustered by video."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perception.errors import BadInput
from reasoning.statistics.samples import LEVEL, Floats, Interval, columns, grouped, scipy

__all__ = ["Accuracy", "accuracy", "proportion"]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A share of right answers.

    Args:
        value: mean score, in [0, 1].
        n: answers.
        clusters: videos.
        interval: see ``accuracy``.
        design_effect: variance against that of as many independent answers.
    """

    value: float
    n: int
    clusters: int
    interval: Interval
    design_effect: float


def accuracy(
    scores: Sequence[float] | Floats,
    clusters: Sequence[Any],
    questions: Sequence[Any] | None = None,
) -> Accuracy:
    """Mean score with a Wilson interval at the effective sample size.

    The cluster-robust variance of the mean (linearised, with the small-sample factor G / (G - 1))
    gives the design effect; n divided by it, never more than there are questions (the same
    question asked again is no further one), is the effective size, and the
    normal quantile is replaced by Student's with G - 1 degrees of freedom (Korn and Graubard,
    *Survey Methodology* 24, 1998; Dean and Pagano, *Journal of Survey Statistics and Methodology*
    3, 2015). Where all answers agree the clusters show no variance; each then counts as one draw.

    Args:
        scores: in [0, 1], one an answer.
        clusters: the video of each.
        questions: which question each answers; None = each another.

    Raises:
        BadInput: no question, or columns of different lengths.
        MissingExtra: scipy is not installed.
    """
    values, owners = columns(np.asarray(scores, dtype=np.float64), np.asarray(clusters))
    sums, counts = grouped(values, owners)
    n, groups, mean = len(values), len(sums), float(values.mean())
    if groups < 2:
        return Accuracy(mean, n, groups, Interval(0.0, 1.0), math.nan)
    residuals = sums - mean * counts
    variance = groups / (groups - 1) * float((residuals**2).sum()) / n**2
    independent = mean * (1 - mean) / n
    effect = variance / independent if independent > 0 else n**2 / groups / n
    most = float(n if questions is None else len(set(questions)))
    effective = min(most, n / effect) if effect > 0 else most
    t = float(scipy("stats").t.ppf((1 + LEVEL) / 2, groups - 1))
    return Accuracy(mean, n, groups, _wilson(mean, effective, t), effect)


def proportion(right: int, n: int) -> Accuracy:
    """``right`` of ``n`` independent draws, with Wilson's interval (Wilson, *JASA* 22, 1927)."""
    if not 0 <= right <= n or n < 1:
        raise BadInput(f"A share needs 0 <= right <= n and n >= 1, not {right} of {n}.")
    z = float(scipy("stats").norm.ppf((1 + LEVEL) / 2))
    return Accuracy(right / n, n, n, _wilson(right / n, n, z), 1.0)


def _wilson(mean: float, n: float, quantile: float) -> Interval:
    spread = quantile**2 / n
    centre = (mean + spread / 2) / (1 + spread)
    half = math.sqrt(spread * mean * (1 - mean) + spread**2 / 4) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
