"""What a trained network is worth on clips that it never saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perception.skeleton.pose import RATE_HZ
from perception.skeleton.training import measures
from perception.skeleton.training.calibration import Calibration, calibrated
from perception.skeleton.training.clips import Clip, Window, service_windows, view
from perception.skeleton.training.examples import MadeNothing
from perception.skeleton.training.plan import Plan
from perception.skeleton.windows import joint_travel

__all__ = ["LogitsOf", "calibrate", "measure", "sampled_views"]

LogitsOf = Callable[[NDArray[np.float32], NDArray[np.float32]], NDArray[np.float32]]
"""Views `[N, frames, 17, 2]` in heatmap pixels and `[N, frames, 17]` -> logits `[N, classes]`."""

MADE = 60
"""Made windows of "none" of each kind."""

STILL = ("frozen", "fidget")
"""Kinds of "none" in which somebody holds still."""

STRIDE_S = 0.5
LEAST_TRAVEL = 0.05
"""The action recognizer's defaults for the way between windows and for what moves."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Logits of windows, with what they belong to.

    Args:
        logits: [N, classes].
        clip: [N] index of each window's clip.
    """

    logits: NDArray[np.float32]
    clip: NDArray[np.int64]


def _judged(plan: Plan, clips: Sequence[Clip], logits_of: LogitsOf) -> Judged:
    shape, window_s = plan.architecture.shape, plan.settings.window_s
    windows = [service_windows(clip, window_s, STRIDE_S) for clip in clips]
    views = [view(window, shape) for each in windows for window in each]
    index = np.repeat(np.arange(len(clips)), [len(each) for each in windows])
    return Judged(_logits(views, logits_of), index)


def _logits(views: Sequence[Window], logits_of: LogitsOf) -> NDArray[np.float32]:
    points, scores = zip(*views, strict=True)
    return logits_of(np.stack(points), np.stack(scores))


def _truth(plan: Plan, clips: Sequence[Clip]) -> NDArray[np.int64]:
    return np.array([plan.classes.index(clip.label) for clip in clips], dtype=np.int64)


def _nothing(plan: Plan, part: str, logits_of: LogitsOf) -> dict[str, tuple[Any, Any]]:
    """Logits of made windows of "none" by kind, and whether each of them moves."""
    actions = [clip for clip in plan.part(part) if clip.label != plan.none]
    if plan.none is None or not actions:
        return {}
    made, rng = MadeNothing(actions, plan.settings.window_s), np.random.default_rng(1)
    found = {}
    for kind in made.kinds:
        windows = [made.draw(rng, kind) for _ in range(MADE)]
        travel = [joint_travel(*window, RATE_HZ) for window in windows]
        views = [view(window, plan.architecture.shape) for window in windows]
        found[kind] = _logits(views, logits_of), np.array(travel) >= LEAST_TRAVEL
    return found


def calibrate(plan: Plan, logits_of: LogitsOf) -> Calibration:
    """Temperature and bias, fitted on the calibration part; neutral ones without such a part."""
    none = None if plan.none is None else plan.classes.index(plan.none)
    clips = plan.part("calibration")
    if not clips:
        return Calibration(none)
    judged = _judged(plan, clips, logits_of)
    logits, truth = judged.logits, _truth(plan, clips)[judged.clip]
    made = _nothing(plan, "calibration", logits_of)
    if made:
        logits = np.concatenate([logits, *(z for z, _ in made.values())])
        truth = np.concatenate([truth, np.full(MADE * len(made), none, dtype=np.int64)])
    return calibrated(logits, truth, none, [made[kind][0] for kind in STILL if kind in made])


def measure(plan: Plan, calibration: Calibration, logits_of: LogitsOf) -> dict[str, Any]:
    """Figures of the test part, by labelled span; empty without such a part.

    A span counts as right when the mean of its windows' probabilities is highest for its label.
    The interval of the accuracy is None where all spans are of one group of subjects and videos.
    """
    clips = plan.part("test")
    if not clips:
        return {}
    judged, truth = _judged(plan, clips, logits_of), _truth(plan, clips)
    windows = calibration.probabilities(judged.logits)
    spans = np.stack([windows[judged.clip == i].mean(axis=0) for i in range(len(clips))])
    said = spans.argmax(axis=1)
    names, groups = np.unique([clip.group for clip in clips], return_inverse=True)
    alone = len(names) == 1
    made = _nothing(plan, "test", logits_of)
    before = Calibration(calibration.none).probabilities(judged.logits)
    of = truth[judged.clip]
    return {
        "spans": len(clips),
        "windows": len(windows),
        "accuracy": {
            **measures.accuracy(spans, truth),
            "interval": None if alone else measures.clustered_interval(said == truth, groups),
            "by_window": measures.accuracy(windows, of)["top1"],
        },
        "per_label": _per_label(plan, measures.confusion(said, truth, len(plan.classes))),
        "confusion": measures.confusion(said, truth, len(plan.classes)).tolist(),
        "calibration": {
            "temperature": calibration.temperature,
            "none_bias": calibration.none_bias,
            "error_before": measures.expected_calibration_error(before, of),
            "error": measures.expected_calibration_error(windows, of),
            "reliability": measures.reliability(windows, of),
        },
        "at_threshold": _at_thresholds(plan, windows, of),
        "false_actions": {
            kind: measures.false_actions(
                calibration.probabilities(logits), plan.classes.index(str(plan.none)), moving
            )
            for kind, (logits, moving) in made.items()
        },
    }


def _per_label(plan: Plan, table: NDArray[np.int64]) -> dict[str, Any]:
    rows = {}
    for i, name in enumerate(plan.classes):
        count, said = int(table[i].sum()), int(table[:, i].sum())
        wrong = table[i].copy()
        wrong[i] = 0
        taken = {plan.classes[j]: int(wrong[j]) for j in np.argsort(-wrong)[:3] if wrong[j]}
        rows[name] = {
            "spans": count,
            "recall": round(int(table[i, i]) / count, 3) if count else None,
            "precision": round(int(table[i, i]) / said, 3) if said else None,
            "taken_for": taken,
        }
    return rows


def _at_thresholds(
    plan: Plan, windows: NDArray[np.float64], truth: NDArray[np.int64]
) -> dict[str, dict[str, float | None]]:
    none = plan.classes.index(plan.none) if plan.none else -1
    acting = truth != none
    if not acting.any():
        return {}
    found = measures.at_thresholds(windows[acting], truth[acting], none)
    return {
        threshold: {name: None if np.isnan(share) else share for name, share in row.items()}
        for threshold, row in found.items()
    }


def sampled_views(
    plan: Plan, part: str, most: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Views of at most `most` spans of a part, one each: points `[N, frames, 17, 2]`, scores
    `[N, frames, 17]` and classes `[N]`, for a quick look."""
    clips = plan.part(part)
    chosen = np.random.default_rng(2).permutation(len(clips))[:most]
    some = [clips[i] for i in chosen]
    shape, window_s = plan.architecture.shape, plan.settings.window_s
    views = [view(service_windows(clip, window_s, STRIDE_S)[0], shape) for clip in some]
    points, scores = zip(*views, strict=True)
    return np.stack(points), np.stack(scores), _truth(plan, some)
