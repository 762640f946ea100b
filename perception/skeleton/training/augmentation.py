"""The errors of a pose estimator, and the views of one movement: what training adds to its clips.

numpy only; all draws come from the generator that is handed in.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perception.skeleton.heatmaps import SWAPPED_SIDES, HeatmapShape, compact, mirrored
from perception.skeleton.training.architecture import LIVE_JOINTS
from perception.skeleton.training.nothing import smooth_drift

__all__ = ["Example", "Mirror", "correlated_noise", "distort", "estimate", "held_ends"]

Floats = NDArray[np.float32]
Rng = np.random.Generator

_NOISE = np.ones(17, np.float32)
_NOISE[[0, 5, 6]] = 0.7
_NOISE[[11, 12]] = 0.8
_NOISE[[9, 10, 15, 16]] = 1.5
"""Wrists and ankles are estimated worst, head and shoulders best."""

_LIMBS = ((7, 9), (8, 10), (13, 15), (14, 16))
_SIDES = (SWAPPED_SIDES, np.r_[0:11, 12, 11, 14, 13, 16, 15], np.r_[0:7, 8, 7, 10, 9, 11:17])
"""Whole body, legs, arms."""


@dataclass(frozen=True)
class Example:
    """`points` `[frames, 17, 2]` in heatmap pixels, `scores` `[frames, 17]`."""

    points: Floats
    scores: Floats
    label: int


@dataclass(frozen=True)
class Mirror:
    """What a mirror does to the classes.

    Attributes:
        becomes: classes that turn into another one, by index.
        never: classes that have no mirror image among the classes.
    """

    becomes: Mapping[int, int] = field(default_factory=dict)
    never: Collection[int] = ()


def correlated_noise(frames: int, rng: Rng) -> Floats:
    """`[frames, 17, 2]` of unit variance, white or correlated over up to eight frames, larger at
    the extremities."""
    keep = math.exp(-1 / rng.uniform(0.05, 8))
    noise = rng.normal(0, 1, (frames, 17, 2)).astype(np.float32)
    for frame in range(1, frames):
        noise[frame] = keep * noise[frame - 1] + math.sqrt(1 - keep * keep) * noise[frame]
    return np.asarray(noise * _NOISE[:, None], dtype=np.float32)


def held_ends(index: NDArray[np.int64], rng: Rng) -> NDArray[np.int64]:
    """The window's frames [frames] with the first or the last one held, as when somebody waits
    before or after an action."""
    before, after = (rng.uniform(0, 0.35, 2) * len(index) * (rng.random(2) < 0.7)).astype(int)
    return np.concatenate([np.full(before, index[0]), index, np.full(after, index[-1])])


def distort(
    points: Floats, scores: Floats, label: int, shape: HeatmapShape, mirror: Mirror, rng: Rng
) -> Example:
    """Mirror, tilt, shear, stretch; then the estimator's errors; then the crop with a random
    zoom.

    Args:
        points: `[frames, 17, 2]` in any unit, y down.
        scores: `[frames, 17]`; at least one is above 0.
    """
    if label not in mirror.never and rng.random() < 0.5:
        points, scores = mirrored(points, scores)
        label = mirror.becomes.get(label, label)
    tilt = rng.normal(0, 0.1)
    turn = np.array(
        [[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]], np.float32
    )
    points = (points - points[scores > 0].mean(axis=0)) @ turn.T
    points[..., 0] += rng.normal(0, 0.06) * points[..., 1]
    points = points * np.exp(rng.normal(0, 0.1, 2)).astype(np.float32)
    points, scores = estimate(points, scores.copy(), rng)
    zoom = rng.uniform(0.9, 1.25)
    shift = shape.size * (1 - zoom) * rng.random(2)
    placed = compact(points, scores, shape.size, shape.padding) * zoom + shift
    return Example(placed.astype(np.float32), scores.astype(np.float32), label)


def estimate(
    points: NDArray[np.floating[Any]], scores: NDArray[np.floating[Any]], rng: Rng
) -> tuple[Floats, Floats]:
    """What a pose estimator makes of true joints [frames, 17, 2] and their scores [frames, 17]:
    noise over time, lost and swapped joints, bodies cut by the frame."""
    frames = len(points)
    seen = scores > 0
    per_frame = np.ptp(points[:, LIVE_JOINTS], axis=1).max(axis=1)
    size = max(float(np.median(per_frame)), 1e-6)
    if rng.random() < 0.85:
        points = points + abs(rng.normal(0, 0.012)) * size * correlated_noise(frames, rng)
        points = points + abs(rng.normal(0, 0.008)) * size * rng.normal(0, 1, (1, 17, 2))
    if rng.random() < 0.25:
        outlier = rng.random(scores.shape) < 0.03
        points[outlier] += rng.normal(0, 0.15 * size, (int(outlier.sum()), 2))
    if rng.random() < 0.2:
        limb = list(_LIMBS[int(rng.integers(4))])
        points[:, limb] += smooth_drift(frames, (len(limb), 2), rng, 0.04 * size, 6)
        scores[:, limb] *= rng.uniform(0.1, 0.8)
    if rng.random() < 0.15:
        a, b = sorted(rng.integers(0, frames + 1, 2))
        b = min(b, a + frames // 3)
        order = _SIDES[int(rng.integers(3))]
        points[a:b], scores[a:b] = points[a:b][:, order], scores[a:b][:, order]
    if rng.random() < 0.6:
        scores = scores * rng.uniform(0.45, 1.0, (1, 17)) * rng.uniform(0.8, 1.0, scores.shape)
    if rng.random() < 0.3:
        scores = scores * (rng.random(scores.shape) > rng.uniform(0, 0.2))
    return np.asarray(points, np.float32), np.asarray(_cut_off(scores, seen, rng), np.float32)


def _cut_off(
    scores: NDArray[np.floating[Any]], seen: NDArray[np.bool_], rng: Rng
) -> NDArray[np.floating[Any]]:
    """One time in five the legs, the ankles or one joint are out of the picture; never so much
    that nothing is left."""
    whole = scores
    draw = rng.random()
    if draw < 0.20:
        scores = scores.copy()
        lost = (
            [13, 14, 15, 16]
            if draw < 0.07
            else [15, 16]
            if draw < 0.12
            else [int(rng.choice(LIVE_JOINTS))]
        )
        scores[:, lost] = 0
    if (scores > 0).sum() < 20:
        return whole if (whole > 0).sum() >= 4 else seen * np.float32(0.5)
    return scores
