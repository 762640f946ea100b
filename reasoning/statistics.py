"""Numbers that survive review: accuracies and paired differences with intervals clustered by video,
exact tests, and what a sample of this size could have shown.

Questions about one video share what the model saw of it, so they are no independent draws: every
interval here resamples or groups whole videos (``clusters``). Comparisons pair the same questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput, MissingExtra

__all__ = [
    "Accuracy",
    "Correlation",
    "Difference",
    "Floats",
    "Interval",
    "MarginalTest",
    "accuracy",
    "columns",
    "correlation",
    "holm",
    "mcnemar",
    "mcnemar_from_margins",
    "paired_difference",
    "proportion",
    "smallest_difference",
]

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 10_000
EXACT_CLUSTERS = 16
"""Up to so many videos with a difference, every swap of the conditions is counted (2^16)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of ``LEVEL``."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A share of right answers.

    Args:
        value: mean score, in [0, 1].
        n: questions.
        clusters: videos.
        interval: see ``accuracy``.
        design_effect: variance against that of as many independent questions.
    """

    value: float
    n: int
    clusters: int
    interval: Interval
    design_effect: float


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


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r over ``n`` videos; None where one side does not vary."""

    r: float | None
    n: int
    interval: Interval | None


def _scipy(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError:
        raise MissingExtra("scipy", "studies", "A study's statistics") from None


def columns(*given: Sequence[Any] | npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Arrays of one length.

    Raises:
        BadInput: they are empty, or differ in length.
    """
    arrays = [np.asarray(column) for column in given]
    if not len(arrays[0]) or any(len(a) != len(arrays[0]) for a in arrays):
        raise BadInput(
            f"Statistics need columns of one length, at least 1, not {[len(a) for a in arrays]}."
        )
    return arrays


def _grouped(values: Floats, clusters: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Sum and count of ``values`` for each cluster."""
    _, index = np.unique(clusters, return_inverse=True)
    sums = np.bincount(index, weights=values).astype(np.float64)
    return sums, np.bincount(index).astype(np.float64)


def accuracy(scores: Sequence[float] | Floats, clusters: Sequence[Any]) -> Accuracy:
    """Mean score with a Wilson interval at the effective sample size.

    The cluster-robust variance of the mean (linearised, with the small-sample factor G / (G - 1))
    gives the design effect; n divided by it, never more than n, is the effective size, and the
    normal quantile is replaced by Student's with G - 1 degrees of freedom (Korn and Graubard,
    *Survey Methodology* 24, 1998; Dean and Pagano, *Journal of Survey Statistics and Methodology*
    3, 2015). Where all answers agree the clusters show no variance; each then counts as one draw.

    Args:
        scores: in [0, 1], one a question.
        clusters: the video of each.

    Raises:
        BadInput: no question, or columns of different lengths.
        MissingExtra: scipy is not installed.
    """
    values, owners = columns(np.asarray(scores, dtype=np.float64), np.asarray(clusters))
    sums, counts = _grouped(values, owners)
    n, groups, mean = len(values), len(sums), float(values.mean())
    if groups < 2:
        return Accuracy(mean, n, groups, Interval(0.0, 1.0), math.nan)
    residuals = sums - mean * counts
    variance = groups / (groups - 1) * float((residuals**2).sum()) / n**2
    independent = mean * (1 - mean) / n
    effect = variance / independent if independent > 0 else n**2 / groups / n
    effective = min(float(n), n / effect) if effect > 0 else float(n)
    t = float(_scipy("stats").t.ppf((1 + LEVEL) / 2, groups - 1))
    return Accuracy(mean, n, groups, _wilson(mean, effective, t), effect)


def proportion(right: int, n: int) -> Accuracy:
    """``right`` of ``n`` independent draws, with Wilson's interval (Wilson, *JASA* 22, 1927)."""
    if not 0 <= right <= n or n < 1:
        raise BadInput(f"A share needs 0 <= right <= n and n >= 1, not {right} of {n}.")
    z = float(_scipy("stats").norm.ppf((1 + LEVEL) / 2))
    return Accuracy(right / n, n, n, _wilson(right / n, n, z), 1.0)


def _wilson(mean: float, n: float, quantile: float) -> Interval:
    spread = quantile**2 / n
    centre = (mean + spread / 2) / (1 + spread)
    half = math.sqrt(spread * mean * (1 - mean) + spread**2 / 4) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def paired_difference(
    before: Sequence[float] | Floats,
    after: Sequence[float] | Floats,
    clusters: Sequence[Any],
    *,
    seed: int = 0,
) -> Difference:
    """``after`` less ``before`` over the same questions.

    The interval resamples videos ``RESAMPLES`` times. Without a single question that changed the
    bootstrap has nothing to say; the interval is then that of a share of which none of ``clusters``
    draws had any, in both directions (Clopper and Pearson, *Biometrika* 26, 1934).

    Args:
        before, after: scores in [0, 1] in one order.
        clusters: the video of each question.
        seed: of the bootstrap and of the randomisation test.
    """
    first, second, owners = columns(
        np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64), clusters
    )
    change = second - first
    sums, counts = _grouped(change, owners)
    rng = np.random.default_rng(seed)
    gained, lost = int((change > 0).sum()), int((change < 0).sum())
    if not (gained or lost):
        none = 1 - ((1 - LEVEL) / 2) ** (1 / len(sums))
        interval = Interval(-none, none)
    else:
        interval = _bootstrap(sums, counts, rng)
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
    tail = sum(math.comb(n, i) for i in range(k + 1))
    return float(min(1.0, 2 * tail / 2**n))


def mcnemar_from_margins(before: int, after: int, n: int) -> MarginalTest:
    """The range of exact McNemar p over every pairing of ``before`` right answers with ``after``
    right ones of the same ``n`` questions.

    Published tables give such margins; intervals clustered by video cannot be had from them.
    """
    if not (0 <= before <= n and 0 <= after <= n and n >= 1):
        raise BadInput(f"Margins need 0 <= right <= n and n >= 1, not {before} and {after} of {n}.")
    least = max(0, after - before)
    most = min(after, n - before)
    ps = [mcnemar(gained, gained - (after - before)) for gained in range(least, most + 1)]
    return MarginalTest((after - before) / n, min(ps), max(ps))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p values of one family (*Scandinavian Journal of Statistics* 6, 1979), in the
    order given; None-free, each at least its raw value and at most 1."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = highest
    return adjusted


def smallest_difference(
    n: int, discordant: float, *, design_effect: float = 1.0, power: float = 0.8
) -> float | None:
    """The smallest true difference that the exact McNemar test at 5 % would find with ``power``.

    Args:
        n: questions.
        discordant: share of questions that change between the conditions, either way, in (0, 1].
        design_effect: by which clustering divides the effective number of questions.
        power: chance of finding it.

    Returns:
        A difference of accuracies in (0, ``discordant``], None where even that cannot be found.
    """
    if n < 1 or not 0 < discordant <= 1 or design_effect <= 0 or not 0 < power < 1:
        raise BadInput(
            "The smallest difference needs n >= 1, a share of changes in (0, 1], a design effect "
            f"above 0 and a power in (0, 1), not {n}, {discordant}, {design_effect}, {power}."
        )
    binom = _scipy("stats").binom
    size = max(1, int(n / max(1.0, design_effect)))
    changes = np.arange(size + 1)
    weights = binom.pmf(changes, size, discordant)
    critical = binom.ppf(0.025, changes, 0.5)
    critical = np.where(binom.cdf(critical, changes, 0.5) <= 0.025, critical, critical - 1)

    def found(share: float) -> float:
        tails = binom.cdf(critical, changes, share) + binom.cdf(critical, changes, 1 - share)
        return float((weights * np.where(critical >= 0, tails, 0.0)).sum())

    if found(1.0) < power:
        return None
    low, high = 0.5, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) >= power else (middle, high)
    return float(discordant * (2 * high - 1))


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
