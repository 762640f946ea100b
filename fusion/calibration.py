"""Scores that become probabilities: maps, how they are fitted, and how well they hold.

*Temperature* (Guo et al., "On Calibration of Modern Neural Networks", ICML 2017, section 4.2) for
scores of a softmax: every probability is raised to 1 / T and the sum made one again. A recognizer
keeps its best few labels; what they leave is one label more, in fitting as in use.

*Isotonic* (Zadrozny and Elkan 2002) for all other scores: the least squares among all maps that do
not fall, by pool adjacent violators; between its points it is linear.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perception.errors import BadInput, UnknownName

__all__ = [
    "METHODS",
    "Bin",
    "Calibration",
    "Labelled",
    "cross_validated",
    "expected_calibration_error",
    "fit",
    "reliability",
]

METHODS = ("identity", "temperature", "isotonic")
"""``identity``: the recognizer's scores are probabilities already, e.g. because its own checkpoint
holds a temperature."""

ECE_BINS = 15
"""As Guo et al.; reliability diagrams have ``SHOWN_BINS``."""
SHOWN_BINS = 10

_TEMPERATURES = (0.05, 20.0)
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 60
_LEAST = 1e-6
"""Probabilities are kept so far from 0 and 1, so that no single mistake costs without end."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A cue of which somebody knows whether it is right.

    Args:
        score: of its label, in [0, 1].
        others: the scores of the other labels that are known; empty where there are none.
        is_right: the truth.
    """

    score: float
    others: tuple[float, ...]
    is_right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a reliability diagram: ``n`` cues, their mean confidence, the share that is
    right."""

    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted map; it never falls where the score rises.

    Args:
        method: a name in ``METHODS``.
        temperature: of the method *temperature*.
        points: (score, probability) of the method *isotonic*, rising in both.

    Raises:
        UnknownName: there is no such method.
        BadInput: the temperature is not above 0, or the points do not fit the method.
    """

    method: str = "identity"
    temperature: float = 1.0
    points: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownName("method of calibration", self.method, METHODS)
        if not 0 < self.temperature < math.inf:
            raise BadInput(f"A temperature is above 0, not {self.temperature}.")
        if (self.method == "isotonic") != bool(self.points):
            raise BadInput("An isotonic calibration has points, and no other has.")
        ends = [(0.0, 0.0), *self.points, (1.0, 1.0)]
        if not all(_rises(values) for values in zip(*ends, strict=True)):
            raise BadInput(
                f"The points of an isotonic calibration rise within [0, 1], not {self.points}."
            )

    def __call__(self, score: float, others: Sequence[float] = ()) -> float:
        """The probability of the label with ``score`` beside ``others``."""
        if self.method == "temperature":
            return _tempered(score, others, self.temperature)
        return _between(self.points, score) if self.points else score


def fit(method: str, labelled: Sequence[Labelled]) -> Calibration:
    """The map of a method that suits the labelled cues best.

    Raises:
        UnknownName: there is no such method.
        BadInput: there are no labelled cues.
    """
    if not labelled:
        raise BadInput("A calibration is fitted to labelled cues; there are none.")
    if method == "temperature":
        return Calibration(method, temperature=_fit_temperature(labelled))
    if method == "isotonic":
        return Calibration(method, points=_fit_isotonic(labelled))
    return Calibration(method)


def cross_validated(method: str, labelled: Sequence[Labelled], folds: int = 5) -> list[float]:
    """For each cue the probability by a map that was fitted without its fold; every ``folds``-th
    cue in order of score is of one fold.

    Raises:
        UnknownName: there is no such method.
        BadInput: there are too few cues for so many folds.
    """
    order = sorted(range(len(labelled)), key=lambda at: (labelled[at].score, at))
    probabilities = [0.0] * len(labelled)
    for fold in range(folds):
        held_out = order[fold::folds]
        rest = [labelled[at] for at in order if at not in set(held_out)]
        if not rest:
            raise BadInput(f"{len(labelled)} labelled cues are too few for {folds} folds.")
        fitted = fit(method, rest)
        for at in held_out:
            probabilities[at] = fitted(labelled[at].score, labelled[at].others)
    return probabilities


def reliability(
    probabilities: Sequence[float], is_right: Sequence[bool], bins: int = SHOWN_BINS
) -> tuple[Bin, ...]:
    """Bars of equal width from 0 to 1; empty ones are left out."""
    members: dict[int, list[tuple[float, bool]]] = {}
    for probability, right in zip(probabilities, is_right, strict=True):
        members.setdefault(min(int(probability * bins), bins - 1), []).append((probability, right))
    return tuple(
        Bin(
            len(each),
            math.fsum(probability for probability, _ in each) / len(each),
            sum(right for _, right in each) / len(each),
        )
        for _, each in sorted(members.items())
    )


def expected_calibration_error(probabilities: Sequence[float], is_right: Sequence[bool]) -> float:
    """The mean distance of confidence and accuracy over bins of equal width, weighted by their
    counts (Guo et al. 2017, section 2)."""
    bars = reliability(probabilities, is_right, ECE_BINS)
    return math.fsum(bar.n * abs(bar.confidence - bar.accuracy) for bar in bars) / max(
        1, len(probabilities)
    )


def _tempered(score: float, others: Sequence[float], temperature: float) -> float:
    rest = max(0.0, 1.0 - score - math.fsum(others))
    logits = [math.log(max(each, _LEAST**2)) / temperature for each in (score, *others, rest)]
    highest = max(logits)
    weights = [math.exp(logit - highest) for logit in logits]
    return weights[0] / math.fsum(weights)


def _fit_temperature(labelled: Sequence[Labelled]) -> float:
    """The least negative log likelihood of right and wrong, by golden-section search over ln T."""

    def loss(log_t: float) -> float:
        return _loss(labelled, lambda each: _tempered(each.score, each.others, math.exp(log_t)))

    low, high = map(math.log, _TEMPERATURES)
    for _ in range(_STEPS):
        width = _GOLDEN * (high - low)
        if loss(high - width) <= loss(low + width):
            high = low + width
        else:
            low = high - width
    return round(math.exp((low + high) / 2), 4)


def _loss(labelled: Sequence[Labelled], probability: Callable[[Labelled], float]) -> float:
    total = 0.0
    for each in labelled:
        p = min(max(probability(each), _LEAST), 1 - _LEAST)
        total -= math.log(p if each.is_right else 1 - p)
    return total


def _fit_isotonic(labelled: Sequence[Labelled]) -> tuple[tuple[float, float], ...]:
    """Pool adjacent violators; equal scores are one. Each pool gives its first and last score."""
    pools: list[tuple[float, float, float, int]] = []
    ordered = sorted(labelled, key=lambda each: each.score)
    for score, group in itertools.groupby(ordered, key=lambda each: each.score):
        rights = [each.is_right for each in group]
        pool = (score, score, float(sum(rights)), len(rights))
        while pools and pools[-1][2] / pools[-1][3] >= pool[2] / pool[3]:
            first, _, right, n = pools.pop()
            pool = (first, pool[1], right + pool[2], n + pool[3])
        pools.append(pool)
    points = [
        (round(score, 6), round(right / n, 6))
        for first, last, right, n in pools
        for score in dict.fromkeys((first, last))
    ]
    return tuple(dict(points).items())


def _between(points: Sequence[tuple[float, float]], score: float) -> float:
    """Linear between the points, constant beyond them."""
    at = bisect.bisect_left(points, (score,))
    if at == 0:
        return points[0][1]
    if at == len(points):
        return points[-1][1]
    (x0, y0), (x1, y1) = points[at - 1], points[at]
    return y1 if x1 == score else y0 + (y1 - y0) * (score - x0) / (x1 - x0)


def _rises(values: Sequence[float]) -> bool:
    return all(low <= high for low, high in itertools.pairwise(values))
