"""From a clip to what the network sees: random cameras and crops, and the errors of a pose
estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from nothing import Nothing, smooth_drift
from numpy.typing import NDArray
from skeletons import LIVE, LIVE_SCORES, Camera, Clip, Part, project, random_camera
from synthetic import synthetic_clip
from vocabulary import INDEX, MIRROR, NO_MIRROR, NONE, PERIODIC

from perception.skeleton.heatmaps import (
    SWAPPED_SIDES,
    HeatmapShape,
    compact,
    mirrored,
    sample_frames,
)

Floats = NDArray[np.float32]
Rng = np.random.Generator

SHAPE = HeatmapShape(frames=20, size=40, sigma=0.6, padding=0.25)

SYNTHETIC = {"jumping jack": 34, "jump": 32, "walk": 36, "run": 30}
"""Clips that each synthetic source counts for when it is drawn."""

FILM = 2.0
"""JHMDB's clips count twice: they alone were filmed, not recorded in front of a Kinect."""

TRAINING_CAMERAS = {"widest": 100.0, "behind": 0.2}

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


def correlated_noise(frames: int, rng: Rng) -> Floats:
    """`[frames, 17, 2]` of unit variance, white or correlated over up to eight frames, larger at
    the extremities."""
    keep = math.exp(-1 / rng.uniform(0.05, 8))
    noise = rng.normal(0, 1, (frames, 17, 2)).astype(np.float32)
    for frame in range(1, frames):
        noise[frame] = keep * noise[frame - 1] + math.sqrt(1 - keep * keep) * noise[frame]
    return noise * _NOISE[:, None]


def crop_window(clip: Clip, rng: Rng) -> tuple[int, int]:
    """Start and length of a training window.

    Periodic actions are mostly seen for 1.3-2.8 s, as in service, so that their pace tells walking
    from running; other actions are cut down to half of them.
    """
    total = len(clip.points)
    if clip.label in PERIODIC and clip.fps > 0 and rng.random() < 0.7:
        width = round(rng.uniform(1.3, 2.8) * clip.fps * rng.uniform(0.88, 1.14))
    else:
        width = round(total * rng.uniform(0.5, 1.0))
    width = max(min(width, total), min(total, 8))
    return int(rng.integers(0, total - width + 1)), width


def held_ends(index: NDArray[np.int64], rng: Rng) -> NDArray[np.int64]:
    """The window with its first or last frame held, as when somebody waits before or after an
    action."""
    before, after = (rng.uniform(0, 0.35, 2) * len(index) * (rng.random(2) < 0.7)).astype(int)
    return np.r_[np.full(before, index[0]), index, np.full(after, index[-1])]


def advance_m(clip: Clip, frames: int, rng: Rng) -> float:
    """Metres that somebody who walks or jogs in place is moved forward within `frames`, as if
    getting on."""
    if clip.source not in ("utd", "msr") or clip.fps <= 0 or rng.random() < 0.45:
        return 0.0
    seconds = frames / clip.fps
    if clip.label == INDEX["walk"]:
        return float(rng.uniform(0.6, 1.6) * seconds)
    if clip.label == INDEX["run"]:
        return float(rng.uniform(1.6, 3.6) * seconds)
    return 0.0


def take(clip: Clip, rng: Rng) -> Example:
    """A random window of an action through a random camera, with estimator errors."""
    start, width = crop_window(clip, rng)
    index = np.arange(start, start + width)
    if rng.random() < 0.3:
        index = held_ends(index, rng)
    index = index[sample_frames(len(index), SHAPE.frames, rng)]
    points = clip.points[index]
    if points.shape[2] == 3:
        points = project(
            points, random_camera(rng, advance_m(clip, width, rng), **TRAINING_CAMERAS)
        )
    return distort(points, np.repeat(LIVE_SCORES[None], len(points), axis=0), clip.label, rng)


def take_nothing(nothing: Nothing, rng: Rng, kind: str | None = None) -> Example:
    """A window of "none" (of `kind`, else drawn) through a random camera, with estimator errors."""
    points, scores = nothing.draw(rng, kind)
    width = max(int(len(points) * rng.uniform(0.8, 1.0)), min(len(points), 8))
    start = int(rng.integers(0, len(points) - width + 1))
    index = start + sample_frames(width, SHAPE.frames, rng)
    points, scores = points[index], scores[index]
    if points.shape[2] == 3:
        points = project(points, random_camera(rng, **TRAINING_CAMERAS))
    return distort(points, scores, NONE, rng)


def distort(points: Floats, scores: Floats, label: int, rng: Rng) -> Example:
    """Mirror, tilt, shear, stretch; then the estimator's errors; then the crop with a random
    zoom."""
    if label not in NO_MIRROR and rng.random() < 0.5:
        points, scores = mirrored(points, scores)
        label = MIRROR.get(label, label)
    tilt = rng.normal(0, 0.1)
    turn = np.array(
        [[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]], np.float32
    )
    points = (points - points[scores > 0].mean(axis=0)) @ turn.T
    points[..., 0] += rng.normal(0, 0.06) * points[..., 1]
    points = points * np.exp(rng.normal(0, 0.1, 2)).astype(np.float32)
    points, scores = estimate(points, scores.copy(), rng)
    zoom = rng.uniform(0.9, 1.25)
    shift = SHAPE.size * (1 - zoom) * rng.random(2)
    points = compact(points, scores, SHAPE.size, SHAPE.padding) * zoom + shift
    return Example(points.astype(np.float32), scores.astype(np.float32), label)


def estimate(points: Floats, scores: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """What a pose estimator makes of true joints: noise over time, lost and swapped joints, bodies
    cut by the frame."""
    frames = len(points)
    seen = scores > 0
    per_frame = np.ptp(points[:, LIVE], axis=1).max(axis=1)
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
    whole = scores
    draw = rng.random()
    if draw < 0.20:
        scores = scores.copy()
        lost = (
            [13, 14, 15, 16]
            if draw < 0.07
            else [15, 16]
            if draw < 0.12
            else [int(rng.choice(LIVE))]
        )
        scores[:, lost] = 0
    if (scores > 0).sum() < 20:
        scores = whole if (whole > 0).sum() >= 4 else seen * 0.5
    return np.asarray(points, np.float32), np.asarray(scores, np.float32)


def view(
    points: Floats,
    camera: Camera,
    scores: Floats | None = None,
    keep: float = 1.0,
    rng: Rng | None = None,
) -> tuple[Floats, Floats]:
    """The test-time view: no errors, the middle frame of every segment; `keep` < 1 cuts a random
    part (needs `rng`).

    Returns `[frames, 17, 2]` in heatmap pixels and `[frames, 17]`.
    """
    scores = np.repeat(LIVE_SCORES[None], len(points), axis=0) if scores is None else scores
    start, width = 0, len(points)
    if keep < 1 and rng is not None:
        width = max(2, round(len(points) * keep))
        start = int(rng.integers(0, len(points) - width + 1))
    flat = project(points, camera) if points.shape[2] == 3 else points
    index = start + sample_frames(width, SHAPE.frames)
    return compact(flat[index], scores[index], SHAPE.size, SHAPE.padding), scores[index]


class Examples:
    """An endless source of training batches from one part of the split.

    Every pair of class and source is drawn in proportion to a power of its number of clips, so that
    a small source of a large class is learnt too; synthetic clips are made anew each time.
    """

    def __init__(self, part: Part, none_share: float, power: float = 0.6) -> None:
        self._cells: list[list[Clip]] = []
        cells: dict[tuple[int, str, str], list[Clip]] = {}
        for clip in part.actions:
            cells.setdefault((clip.label, clip.source, clip.raw), []).append(clip)
        self._cells = list(cells.values())
        self._kinds = list(SYNTHETIC)
        counts = [len(c) * (FILM if c[0].source == "jhm" else 1) for c in self._cells]
        counts = np.array(counts + list(SYNTHETIC.values()), dtype=float)
        self._chances = counts**power / (counts**power).sum()
        self._people = [c for c in part.actions if c.source in ("utd", "msr", "utk")]
        self._nothing = Nothing(part)
        self._none_share = none_share

    def draw(self, rng: Rng) -> Example:
        if rng.random() < self._none_share:
            return take_nothing(self._nothing, rng)
        cell = int(rng.choice(len(self._chances), p=self._chances))
        if cell < len(self._cells):
            clips = self._cells[cell]
            return take(clips[int(rng.integers(len(clips)))], rng)
        return take(synthetic_clip(self._kinds[cell - len(self._cells)], self._people, rng), rng)

    def batch(self, size: int, rng: Rng) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Points `[B, frames, 17, 2]`, scores `[B, frames, 17]`, labels `[B]`."""
        examples = [self.draw(rng) for _ in range(size)]
        points = np.stack([e.points for e in examples])
        return points, np.stack([e.scores for e in examples]), np.array([e.label for e in examples])
