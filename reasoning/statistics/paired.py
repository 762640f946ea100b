"""Two conditions over the same questions: their difference and tests of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perception.errors import BadInput
from reasoning.statistics.samples import (
    LEVEL,
    RESAMPLES,
    Floats,
    Interval,
    columns,
    grouped,
    scipy,
)

__all__ = [
    "Difference",
    "MarginalTest",
    "holm",
    "mcnemar",
    "mcnemar_from_margins",
    "paired_difference",
]

EXACT_CLUSTERS = 16
"""Up to so many videos with a difference, every swap of the conditions is counted (2^16)."""

FEW_CLUSTERS = 40
"""Up to so many videos the bootstrap alone is not trusted: what is few begins somewhere from 20 to
50 (Cameron and Miller, *Journal of Human Resources* 50, 2015)."""


_MOST_COUNTED = 1000
"""Changed questions up to which McNemar's test is counted in whole numbers."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Accuracy under one condition less that under another, over the same questions.

    Args:
        value: mean of the differences, in [-1, 1].
        n: questions.
        clusters: videos.
        interval: percentiles of the bootstrap over videos.
        gained: questions that only the second condition has right.
        lost: questions that only the first has right.
        p_mcnemar: exact McNemar test; it takes the questions for independent.
        p_clustered: the conditions swapped video by video (a randomisation test).
    """

    value: float
    n: int
    clusters: int
    interval: Interval
    gained: int
    lost: int
    p_mcnemar: float
    p_clustered: float

    @property
    def within_noise(self) -> bool:
        """Whether the interval holds 0."""
        return 0.0 in self.interval


@dataclass(frozen=True, slots=True)
class MarginalTest:
    """What can be said of two conditions of which only the numbers of right answers are known.

    Args:
        difference: of the shares.
        least_p, most_p: of the exact McNemar test, over every pairing that the numbers allow.
    """

    difference: float
    least_p: float
    most_p: float


def paired_difference(
    before: Sequence[float] | Floats,
    after: Sequence[float] | Floats,
    clusters: Sequence[Any],
    *,
    seed: int = 0,
) -> Difference:
    """``after`` less ``before`` over the same questions.

    The interval resamples videos ``RESAMPLES`` times; of ``FEW_CLUSTERS`` videos or fewer, whose
    percentiles lie too close together, it is widened to Student's with as many degrees of freedom
    as videos less one (Cameron, Gelbach and Miller, *Review of Economics and Statistics* 90, 2008).
    Without a single question that changed the
    bootstrap has nothing to say; the interval is then that of a share of which none of ``clusters``
    draws had any, in both directions (``_unseen``). One video says nothing of others: its interval
    is everything.

    Args:
        before, after: scores in [0, 1] in one order.
        clusters: the video of each question.
        seed: of the bootstrap and of the randomisation test.
    """
    first, second, owners = columns(
        np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64), clusters
    )
    change = second - first
    sums, counts = grouped(change, owners)
    rng = np.random.default_rng(seed)
    gained, lost = int((change > 0).sum()), int((change < 0).sum())
    if len(sums) < 2:
        interval = Interval(-1.0, 1.0)
    elif not (gained or lost):
        interval = Interval(-_unseen(len(sums)), _unseen(len(sums)))
    else:
        interval = _bootstrap(sums, counts, rng)
        if len(sums) <= FEW_CLUSTERS:
            limit = 1.0 if min(first.min(), second.min()) >= 0 else 2.0
            interval = _widened(interval, change, sums, counts, limit)
    return Difference(
        float(change.mean()),
        len(change),
        len(sums),
        interval,
        gained,
        lost,
        mcnemar(gained, lost),
        _swapped(sums, rng),
    )


def _bootstrap(sums: Floats, counts: Floats, rng: np.random.Generator) -> Interval:
    draws = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), RESAMPLES)
    low, high = np.percentile((draws @ sums) / (draws @ counts), [2.5, 97.5])
    return Interval(float(low), float(high))


def _widened(
    found: Interval, change: Floats, sums: Floats, counts: Floats, limit: float
) -> Interval:
    """``found``, and Student's interval of the mean change with the larger of two variances: with
    videos as draws, and with questions as draws. Where neither shows any, the mean may be off by
    what no draw of so many videos shows."""
    n, groups, mean = len(change), len(sums), float(change.mean())
    by_video = groups / (groups - 1) * float(((sums - mean * counts) ** 2).sum()) / n**2
    by_question = float(((change - mean) ** 2).sum()) / (n * max(1, n - 1))
    t = float(scipy("stats").t.ppf((1 + LEVEL) / 2, groups - 1))
    half = t * math.sqrt(max(by_video, by_question)) or _unseen(groups)
    return Interval(
        max(-limit, min(found.low, mean - half)), min(limit, max(found.high, mean + half))
    )


def _unseen(draws: int) -> float:
    """The largest share that ``draws`` draws need not show (Clopper and Pearson, *Biometrika* 26,
    1934)."""
    return float(1 - ((1 - LEVEL) / 2) ** (1 / draws))


def _swapped(sums: Floats, rng: np.random.Generator) -> float:
    """Two-sided p of the sum under swaps of the conditions within each cluster: all of them counted
    where few clusters differ, ``RESAMPLES`` drawn otherwise."""
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    if len(sums) <= EXACT_CLUSTERS:
        signs = 1 - 2 * (np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1)
        extreme = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
        return float(extreme.mean())
    signs = rng.choice([-1, 1], (RESAMPLES, len(sums)))
    extreme = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
    return float((extreme.sum() + 1) / (RESAMPLES + 1))


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided exact McNemar test: the discordant questions against a fair coin."""
    if gained < 0 or lost < 0:
        raise BadInput(f"McNemar's test needs counts, not {gained} and {lost}.")
    n, k = gained + lost, min(gained, lost)
    if n == 0:
        return 1.0
    if n > _MOST_COUNTED:
        return float(min(1.0, 2 * scipy("stats").binom.cdf(k, n, 0.5)))
    tail = sum(math.comb(n, i) for i in range(k + 1))
    return float(min(1.0, 2 * tail / 2**n))


def mcnemar_from_margins(before: int, after: int, n: int) -> MarginalTest:
    """The range of exact McNemar p over every pairing of ``before`` right answers with ``after``
    right ones of the same ``n`` questions.

    Published tables give such margins; intervals clustered by video cannot be had from them. The
    same difference over more changes is less of a proof: fewest changes give the least p, most
    changes the largest.
    """
    if not (0 <= before <= n and 0 <= after <= n and n >= 1):
        raise BadInput(f"Margins need 0 <= right <= n and n >= 1, not {before} and {after} of {n}.")
    fewest, most = max(0, after - before), min(after, n - before)
    least_p, most_p = (mcnemar(gained, gained - (after - before)) for gained in (fewest, most))
    return MarginalTest((after - before) / n, least_p, most_p)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p values of one family (*Scandinavian Journal of Statistics* 6, 1979), in the
    order given; None-free, each at least its raw value and at most 1."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = highest
    return adjusted
