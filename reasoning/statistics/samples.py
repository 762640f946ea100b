"""What all statistics share: columns of one length, values grouped by cluster, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput, MissingExtra

__all__ = ["LEVEL", "RESAMPLES", "Floats", "Interval", "columns", "grouped", "scipy"]

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of ``LEVEL``."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


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


def grouped(values: Floats, clusters: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Sum and count of ``values`` for each cluster."""
    _, index = np.unique(clusters, return_inverse=True)
    sums = np.bincount(index, weights=values).astype(np.float64)
    return sums, np.bincount(index).astype(np.float64)


def scipy(module: str) -> Any:
    """One of scipy's modules.

    Raises:
        MissingExtra: scipy is not installed.
    """
    import importlib

    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError:
        raise MissingExtra("scipy", "studies", "A study's statistics") from None
