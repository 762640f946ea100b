"""Numbers of a classifier: accuracy, calibration, risk and coverage, false actions. numpy only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

BINS = 15
THRESHOLDS = (0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def softmax(logits: Floats, temperature: float = 1.0) -> Floats:
    """`[N, classes]` logits -> probabilities."""
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    scaled = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


def merge(probabilities: Floats, served: Labels, labels: int) -> Floats:
    """Sum the probabilities of the head's classes that share a served label; `served` `[classes]`
    -> label index."""
    out = np.zeros((len(probabilities), labels))
    np.add.at(out.T, served, probabilities.T)
    return out


def accuracy(probabilities: Floats, truth: Labels) -> dict[str, Any]:
    """Top-1, top-5 and the mean of the classes' top-1."""
    ranked = np.argsort(-probabilities, axis=1)
    right = ranked[:, 0] == truth
    classes = np.unique(truth)
    return {
        "n": len(truth),
        "top1": round(float(right.mean()), 4),
        "top5": round(float((ranked[:, :5] == truth[:, None]).any(axis=1).mean()), 4),
        "mean_class": round(float(np.mean([right[truth == c].mean() for c in classes])), 4),
    }


def clustered_interval(right: NDArray[np.bool_], clips: Labels, seed: int = 0) -> list[float]:
    """95 % bootstrap interval `[low, high]` of the mean of `right` `[N]`, resampling the `clips`
    `[N]` that each belongs to (all views of a clip stay together)."""
    order = np.unique(clips)
    sums = np.array([right[clips == c].sum() for c in order], dtype=float)
    counts = np.array([(clips == c).sum() for c in order], dtype=float)
    draws = np.random.default_rng(seed).integers(0, len(order), (2000, len(order)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    return [round(float(q), 4) for q in np.percentile(means, [2.5, 97.5])]


def expected_calibration_error(probabilities: Floats, truth: Labels) -> float:
    """Guo et al., *On Calibration of Modern Neural Networks*, ICML 2017, section 2; 15 bins of
    equal width."""
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(right[bins == b].sum() - confidence[bins == b].sum()) for b in range(BINS)]
    return round(float(np.sum(gaps) / len(truth)), 4)


def reliability(probabilities: Floats, truth: Labels) -> list[dict[str, float]]:
    """Mean confidence and accuracy in ten bins of confidence."""
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    bins = np.minimum((confidence * 10).astype(int), 9)
    return [
        {
            "n": int((bins == b).sum()),
            "confidence": round(float(confidence[bins == b].mean()), 3),
            "accuracy": round(float(right[bins == b].mean()), 3),
        }
        for b in range(10)
        if (bins == b).any()
    ]


def negative_log_likelihood(probabilities: Floats, truth: Labels) -> float:
    """Mean over the windows, in nats."""
    return float(-np.log(probabilities[np.arange(len(truth)), truth] + 1e-12).mean())


def fit_temperature(logits: Floats, truth: Labels, served: Labels, labels: int) -> float:
    """The temperature with the least negative log likelihood over the served labels."""
    grid = np.exp(np.linspace(np.log(0.3), np.log(3), 231))
    losses = [
        negative_log_likelihood(merge(softmax(logits, t), served, labels), truth) for t in grid
    ]
    return round(float(grid[int(np.argmin(losses))]), 4)


def risk_coverage(probabilities: Floats, truth: Labels) -> list[dict[str, float]]:
    """Error among the most confident share of the windows, for shares of 10 to 100 %."""
    order = np.argsort(-probabilities.max(axis=1), kind="stable")
    wrong = (probabilities.argmax(axis=1) != truth)[order]
    confidence = probabilities.max(axis=1)[order]
    points = []
    for share in np.arange(0.1, 1.01, 0.1):
        count = max(1, round(share * len(truth)))
        risk, least = float(wrong[:count].mean()), float(confidence[count - 1])
        points.append(
            {"coverage": round(share, 1), "risk": round(risk, 4), "threshold": round(least, 3)}
        )
    return points


def at_thresholds(probabilities: Floats, truth: Labels, none: int) -> dict[str, dict[str, float]]:
    """Of the windows that hold an action: the share that becomes a cue, and how many of these cues
    are right."""
    confidence, said = probabilities.max(axis=1), probabilities.argmax(axis=1)
    out = {}
    for threshold in THRESHOLDS:
        kept = (confidence >= threshold) & (said != none)
        right = float((said == truth)[kept].mean()) if kept.any() else float("nan")
        out[str(threshold)] = {"kept": round(float(kept.mean()), 4), "right": round(right, 4)}
    return out


def false_actions(
    probabilities: Floats, none: int, moving: NDArray[np.bool_]
) -> dict[str, dict[str, float] | int]:
    """Of the windows without an action: the share that becomes a cue all the same, by threshold.

    `probabilities` `[N, labels]`; `moving` `[N]` tells which windows pass the motion gate.
    """
    confidence, said = probabilities.max(axis=1), probabilities.argmax(axis=1)
    wrong = said != none

    def shares(counted: NDArray[np.bool_]) -> dict[str, float]:
        rates = {t: (counted & (confidence >= t)).mean() for t in THRESHOLDS}
        return {str(t): round(float(rate), 4) for t, rate in rates.items()}

    return {"n": len(said), "network": shares(wrong), "with_gate": shares(wrong & moving)}


def confusion(said: Labels, truth: Labels, labels: int) -> NDArray[np.int64]:
    """`[truth, said]` counts."""
    table = np.zeros((labels, labels), dtype=np.int64)
    np.add.at(table, (truth, said), 1)
    return table
