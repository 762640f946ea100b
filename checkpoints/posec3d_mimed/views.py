"""Views to evaluate: through cameras, cut, with an estimator's errors, of nothing done."""

from __future__ import annotations

import numpy as np
from augmentation import view
from network import SHAPE
from nothing import Nothing, frozen
from numpy.typing import NDArray
from skeletons import LIVE, LIVE_SCORES, Camera, Clip, Part, project, random_camera
from synthetic import synthetic_clip

from perception.skeleton.heatmaps import SWAPPED_SIDES, compact
from perception.skeleton.pose import RATE_HZ
from perception.skeleton.training.augmentation import correlated_noise
from perception.skeleton.windows import joint_travel

Floats = NDArray[np.float32]
View = tuple[Floats, Floats]
"""Points `[frames, 17, 2]` in heatmap pixels, scores `[frames, 17]`."""

JACKS = 40
"""Synthetic jumping jacks (bones of the part's own people) among the actions of a part."""


def noisy(seen: View, rng: np.random.Generator) -> View:
    """A pose estimator's view: noise of 1.5 % of the body correlated over time, 8 % of the joints
    lost."""
    points, scores = seen
    size = np.ptp(points[:, LIVE], axis=(0, 1)).max()
    points = points + 0.015 * size * correlated_noise(len(points), rng)
    scores = scores * rng.uniform(0.6, 1, scores.shape) * (rng.random(scores.shape) > 0.08)
    return compact(points, scores, SHAPE.size, SHAPE.padding), scores.astype(np.float32)


def none_views(
    part: Part, kind: str, count: int, rng: np.random.Generator
) -> tuple[list[View], Floats]:
    """`count` windows of one kind of "none" through random cameras, and their joints' travel."""
    nothing, views, travel = Nothing(part), [], []
    for _ in range(count):
        points, scores = nothing.draw(rng, kind)
        flat = project(points, random_camera(rng)) if points.shape[2] == 3 else points
        views.append(view(flat, Camera(), scores))
        travel.append(joint_travel(flat, scores, RATE_HZ))
    return views, np.array(travel, np.float32)


def frozen_views(
    clips: list[Clip], jitter: float, count: int, rng: np.random.Generator
) -> tuple[list[View], Floats]:
    """Held poses of random clips with white jitter (share of the body's size), and their travel."""
    views, travel = [], []
    for i in rng.permutation(len(clips))[:count]:
        held = frozen(clips[i].points, rng, 0.0, float(rng.choice([0.25, 0.5, 0.75])))
        flat = project(held, random_camera(rng)) if held.shape[2] == 3 else held
        size = np.ptp(flat[:, LIVE], axis=(0, 1)).max()
        flat = (flat + rng.normal(0, jitter * size, flat.shape)).astype(np.float32)
        scores = np.repeat(LIVE_SCORES[None], len(flat), axis=0)
        views.append(view(flat, Camera(), scores))
        travel.append(joint_travel(flat, scores, RATE_HZ))
    return views, np.array(travel, np.float32)


def with_jacks(part: Part, seed: int) -> list[Clip]:
    """The part's actions and synthetic jumping jacks on its people's bones."""
    rng = np.random.default_rng(seed)
    people = [c for c in part.actions if c.source in ("utd", "msr", "utk")]
    return part.actions + [synthetic_clip("jumping jack", people, rng) for _ in range(JACKS)]


def mirror_image(seen: View) -> View:
    """The view in a mirror: x runs the other way within the crop, the sides change places."""
    points, scores = seen[0].copy(), seen[1]
    points[..., 0] = SHAPE.size - points[..., 0]
    return points[:, SWAPPED_SIDES], scores[:, SWAPPED_SIDES]
