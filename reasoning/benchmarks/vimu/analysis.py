"""The paper's analyses of ViMU's outcomes: kinds of errors in evidence grounding, which options are
liked too well, what systems get wrong alike, and how far the relations between classes are bent.

The paper defines its error profiles and its geometry in figures only; the definitions here are
ours and stand where they are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from perception.errors import BadInput
from reasoning.benchmarks.vimu.selection import ErrorKind, error_kind
from reasoning.benchmarks.vimu.table import selections, systems
from reasoning.results.outcomes import Outcome, Outcomes
from reasoning.statistics import Floats

__all__ = [
    "Bias",
    "Evidence",
    "Profiles",
    "error_profiles",
    "evidence",
    "geometry_distance",
    "option_bias",
]

SUBTEXT = ("RM", "SV")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence grounding over the replies with a list (``n``).

    Args:
        kinds: how many of each kind of error.
        selected, gold: mean numbers of letters.
    """

    n: int
    kinds: Mapping[ErrorKind, int]
    selected: float
    gold: float

    @property
    def exact(self) -> float:
        """Share of exactly right selections."""
        return self.kinds[ErrorKind.EXACT] / self.n

    @property
    def conservatism(self) -> float:
        """Letters selected less letters right, in the mean: under 0 = too few."""
        return self.selected - self.gold


@dataclass(frozen=True, slots=True)
class Bias:
    """How often an option is selected and right, as shares of the replies."""

    option: str
    selected: float
    gold: float

    @property
    def affinity(self) -> float:
        """Above 0 = over-predicted (the paper's Figure 9)."""
        return self.selected - self.gold


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Error profiles of systems and their principal components.

    Args:
        systems: names, one a row.
        features: names, one a column.
        values: shares in [0, 1], of shape (systems, features).
        components: coordinates on up to two principal components, (systems, 2).
        explained: share of the variance that each of the two holds.
    """

    systems: tuple[str, ...]
    features: tuple[str, ...]
    values: Floats
    components: Floats
    explained: tuple[float, float]


def evidence(outcomes: Outcomes, task: str = "EG") -> Evidence | None:
    """Of one system; None where no selection could be read."""
    rows = selections(outcomes, (task,))
    if not rows:
        return None
    kinds = [error_kind(row.details["selected"], row.details["gold"]) for row in rows]
    return Evidence(
        len(rows),
        {kind: kinds.count(kind) for kind in ErrorKind},
        fmean(len(row.details["selected"]) for row in rows),
        fmean(len(row.details["gold"]) for row in rows),
    )


def option_bias(outcomes: Outcomes, task: str) -> tuple[Bias, ...]:
    """Of one system in RM or SV, by option in their order."""
    rows = selections(outcomes, (task,))
    return tuple(
        Bias(
            option,
            fmean(option in row.details["selected"] for row in rows),
            fmean(option in row.details["gold"] for row in rows),
        )
        for option in _options(rows)
    )


def error_profiles(outcomes: Outcomes) -> Profiles:
    """What each system gets wrong in RM and SV, and along which two directions they differ most.

    A feature is the rate at which an option is missed where it is right, or added where it is not,
    over the questions where that can happen. Features that no system can have are left out. The
    components are those of the centred features (singular value decomposition); a sign is chosen so
    that each component's largest weight is positive.

    Raises:
        BadInput: there are fewer than two systems with selections.
    """
    parts = {name: part for name, part in systems(outcomes).items() if selections(part, SUBTEXT)}
    if len(parts) < 2:
        raise BadInput(f"Error profiles compare two systems or more; there are {len(parts)}.")
    rates = {name: _error_rates(part) for name, part in parts.items()}
    features = [
        name for name in next(iter(rates.values())) if all(name in r for r in rates.values())
    ]
    values = np.array([[rate[name] for name in features] for rate in rates.values()], np.float64)
    components, explained = _principal(values)
    return Profiles(tuple(parts), tuple(features), values, components, explained)


def geometry_distance(outcomes: Outcomes) -> float | None:
    """How far a system's selections bend the relations between the classes of RM and SV.

    The relation of two classes is the cosine of their columns of 0 and 1 over the videos (an empty
    column is related to nothing, 0); the distance is the root mean square difference between the
    relations in the selections and in the published labels, over all pairs, in [0, 1]. Videos with
    readable selections in both tasks count, one repeat as one video. None where there is none.
    """
    found: dict[tuple[str, int], dict[str, Outcome]] = {}
    for row in selections(outcomes, SUBTEXT):
        found.setdefault((row.video, row.repeat), {})[row.category] = row
    both = [pair for pair in found.values() if len(pair) == len(SUBTEXT)]
    if not both:
        return None
    columns = [(t, option) for t in SUBTEXT for option in _options([pair[t] for pair in both])]
    chosen, right = (
        np.array([[o in pair[t].details[key] for t, o in columns] for pair in both], np.float64)
        for key in ("selected", "gold")
    )
    upper = np.triu_indices(len(columns), 1)
    difference = _cosines(chosen)[upper] - _cosines(right)[upper]
    return float(np.sqrt((difference**2).mean()))


def _options(rows: Sequence[Outcome]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(option for row in rows for option in row.details["options"]))


def _error_rates(outcomes: Outcomes) -> dict[str, float]:
    rates = {}
    for task in SUBTEXT:
        rows = selections(outcomes, (task,))
        for option in _options(rows):
            right = [row for row in rows if option in row.details["gold"]]
            wrong = [row for row in rows if option not in row.details["gold"]]
            if right:
                missed = fmean(option not in row.details["selected"] for row in right)
                rates[f"{task} {option} missed"] = missed
            if wrong:
                rates[f"{task} {option} added"] = fmean(
                    option in row.details["selected"] for row in wrong
                )
    return rates


def _principal(values: Floats) -> tuple[Floats, tuple[float, float]]:
    centred = values - values.mean(axis=0)
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    largest = right[np.arange(len(right)), np.abs(right).argmax(axis=1)]
    scores = left * sizes * np.where(largest < 0, -1.0, 1.0)
    padded = np.zeros((len(values), 2))
    padded[:, : min(2, scores.shape[1])] = scores[:, :2]
    total = float((sizes**2).sum())
    shares = [float(size**2 / total) if total > 0 else 0.0 for size in sizes[:2]]
    return padded, (shares[0], shares[1] if len(shares) > 1 else 0.0)


def _cosines(columns: Floats) -> Floats:
    lengths = np.sqrt((columns**2).sum(axis=0))
    products = np.outer(lengths, lengths)
    shared = columns.T @ columns
    return np.divide(shared, products, out=np.zeros_like(shared), where=products > 0)
