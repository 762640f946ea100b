"""Views to evaluate: through cameras, cut, with an estimator's errors, of nothing done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from augmentation import SHAPE, correlated_noise, view
from network import PoseC3D, heatmap_batch
from nothing import Nothing, frozen
from numpy.typing import NDArray
from skeletons import LIVE, Clip, Part, random_camera
from synthetic import synthetic_clip
from vocabulary import CLASSES

from perception.skeleton.heatmaps import SWAPPED_SIDES, compact

Floats = NDArray[np.float32]
View = tuple[Floats, Floats]
"""Points `[frames, 17, 2]` in heatmap pixels, scores `[frames, 17]`."""

JACKS = 40
"""Synthetic jumping jacks (bones of the part's own people) among the actions of a part."""


class Network:
    """The averaged weights of a checkpoint in float32."""

    def __init__(self, path: Path) -> None:
        self.net = PoseC3D(len(CLASSES)).to(memory_format=torch.channels_last_3d).eval()
        self.net.load_state_dict(torch.load(path, weights_only=True)["average"])

    @torch.no_grad()
    def logits(self, views: list[View]) -> NDArray[Any]:
        points = torch.from_numpy(np.stack([p for p, _ in views]).astype(np.float32))
        scores = torch.from_numpy(np.stack([s for _, s in views]).astype(np.float32))
        out = []
        for i in range(0, len(points), 32):
            batch = heatmap_batch(
                points[i : i + 32], scores[i : i + 32], SHAPE.size, SHAPE.sigma, torch.float32
            )
            out.append(self.net(batch))
        return torch.cat(out).numpy()


def noisy(seen: View, rng: np.random.Generator) -> View:
    """A pose estimator's view: noise of 1.5 % of the body correlated over time, 8 % of the joints
    lost."""
    points, scores = seen
    size = np.ptp(points[:, LIVE], axis=(0, 1)).max()
    points = points + 0.015 * size * correlated_noise(len(points), rng)
    scores = scores * rng.uniform(0.6, 1, scores.shape) * (rng.random(scores.shape) > 0.08)
    return compact(points, scores, SHAPE.size, SHAPE.padding), scores.astype(np.float32)


def none_views(part: Part, kind: str, count: int, rng: np.random.Generator) -> list[View]:
    """`count` windows of one kind of "none" through random cameras."""
    nothing, views = Nothing(part), []
    for _ in range(count):
        points, scores = nothing.draw(rng, kind)
        views.append(view(points, random_camera(rng), scores))
    return views


def frozen_views(
    clips: list[Clip], jitter: float, count: int, rng: np.random.Generator
) -> list[View]:
    """Held poses of random clips with the given jitter in the image (share of the body's size)."""
    views = []
    for i in rng.permutation(len(clips))[:count]:
        held = frozen(clips[i].points, rng, 0.0, float(rng.choice([0.25, 0.5, 0.75])))
        points, scores = view(held, random_camera(rng))
        size = np.ptp(points[:, LIVE], axis=(0, 1)).max()
        points = points + rng.normal(0, jitter * size, points.shape).astype(np.float32)
        views.append((compact(points, scores, SHAPE.size, SHAPE.padding), scores))
    return views


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
