"""Temperature and bias of "none": what makes a network's confidence mean what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perception.skeleton.training import measures

__all__ = ["AT", "MOST_FALSE", "Calibration", "calibrated"]

MOST_FALSE = 0.03
"""Share of still windows that may become a cue."""

AT = 0.6
"""At this confidence: fusion's threshold for actions, the paper's."""

Logits = NDArray[np.floating]


@dataclass(frozen=True)
class Calibration:
    """What is done to logits before the softmax.

    Args:
        none: index of the class "none"; None without one.
        temperature: divides them.
        none_bias: added to those of "none" first.
    """

    none: int | None
    temperature: float = 1.0
    none_bias: float = 0.0

    def probabilities(self, logits: Logits) -> NDArray[np.float64]:
        """`[N, classes]` of logits `[N, classes]`."""
        shifted = np.asarray(logits, dtype=np.float64).copy()
        if self.none is not None:
            shifted[:, self.none] += self.none_bias
        return measures.softmax(shifted, self.temperature)


def calibrated(
    logits: Logits, truth: NDArray[np.int64], none: int | None, still: Sequence[Logits] = ()
) -> Calibration:
    """Fit both on held-out windows.

    The bias is the least, in steps of a quarter up to 4, at which at most ``MOST_FALSE`` of each
    kind of still windows become cues at ``AT``; for each bias the temperature has the least
    negative log likelihood.

    Args:
        logits: `[N, classes]` of windows of actions and of "none".
        truth: `[N]` their classes.
        none: index of "none"; None = no bias.
        still: logits of windows in which somebody holds still, one array a kind.
    """
    classes = logits.shape[1]
    same = np.arange(classes)
    found = Calibration(none)
    for bias in np.arange(0, 4.25, 0.25) if none is not None else (0.0,):
        shifted = np.asarray(logits, dtype=np.float64) + bias * (same == none)
        temperature = measures.fit_temperature(shifted, truth, same, classes)
        found = Calibration(none, temperature, float(bias))
        if none is None or max((_false(found, z) for z in still), default=0.0) <= MOST_FALSE:
            break
    return found


def _false(calibration: Calibration, logits: Logits) -> float:
    chances = calibration.probabilities(logits)
    named = (chances.argmax(axis=1) != calibration.none) & (chances.max(axis=1) >= AT)
    return float(named.mean()) if len(logits) else 0.0
