"""From a clip to what the network sees: random windows and cameras; the errors of a pose estimator
are the product's (``perception.skeleton.training.augmentation``)."""

from __future__ import annotations

import numpy as np
from network import SHAPE
from nothing import Nothing
from numpy.typing import NDArray
from skeletons import LIVE_SCORES, Camera, Clip, Part, project, random_camera
from synthetic import synthetic_clip
from vocabulary import INDEX, MIRROR, NO_MIRROR, NONE, PERIODIC

from perception.skeleton.heatmaps import compact, sample_frames
from perception.skeleton.training.augmentation import Example, Mirror, distort, held_ends

Floats = NDArray[np.float32]
Rng = np.random.Generator

SYNTHETIC = {"jumping jack": 34, "jump": 32, "walk": 36, "run": 30}
"""Clips that each synthetic source counts for when it is drawn."""

FILM = 2.0
"""JHMDB's clips count twice: they alone were filmed, not recorded in front of a Kinect."""

TRAINING_CAMERAS = {"widest": 100.0, "behind": 0.2}

IN_THE_MIRROR = Mirror(MIRROR, NO_MIRROR)


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
    scores = np.repeat(LIVE_SCORES[None], len(points), axis=0)
    return distort(points, scores, clip.label, SHAPE, IN_THE_MIRROR, rng)


def take_nothing(nothing: Nothing, rng: Rng, kind: str | None = None) -> Example:
    """A window of "none" (of `kind`, else drawn) through a random camera, with estimator errors."""
    points, scores = nothing.draw(rng, kind)
    width = max(int(len(points) * rng.uniform(0.8, 1.0)), min(len(points), 8))
    start = int(rng.integers(0, len(points) - width + 1))
    index = start + sample_frames(width, SHAPE.frames, rng)
    points, scores = points[index], scores[index]
    if points.shape[2] == 3:
        points = project(points, random_camera(rng, **TRAINING_CAMERAS))
    return distort(points, scores, NONE, SHAPE, IN_THE_MIRROR, rng)


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
    """An endless source of training examples from one part of the split.

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
