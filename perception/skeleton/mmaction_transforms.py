"""The test pipeline of an mmaction2 config for heatmaps, worked here in numpy. How it is written is
read in ``mmaction_pipeline``.

Names, order and arithmetic (float32) are those of mmaction2 1.2.0: UniformSampleFrames in test
mode, PoseDecode, PoseCompact, Resize, CenterCrop, GeneratePoseTarget, FormatShape. As there, a
coordinate that is exactly 0 belongs to a joint that was not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perception.skeleton.heatmaps import Floats, limb_target, pose_target

__all__ = ["CenterCrop", "PoseCompact", "Resize", "Step", "TestPipeline"]

Picture = tuple[int, int]
"""Height and width in pixels."""

Step = Callable[[Floats, Picture], tuple[Floats, Picture]]


@dataclass(frozen=True, slots=True)
class PoseCompact:
    """Crop to the box around all joints of all frames; boxes under ``threshold`` pixels stay."""

    padding: float = 0.25
    threshold: int = 10
    hw_ratio: tuple[float, float] | None = None
    allow_imgpad: bool = True

    def __call__(self, points: Floats, picture: Picture) -> tuple[Floats, Picture]:
        """Points with the crop's corner as origin, and the crop's height and width."""
        points = np.nan_to_num(points, nan=0.0, posinf=None, neginf=None)
        ends = []
        for axis in (0, 1):
            known = points[..., axis][points[..., axis] != 0]
            if not len(known) or known.max() - known.min() < self.threshold:
                return points, picture
            ends.append((known.min(), known.max()))
        (left, right), (top, bottom) = ends
        x, half_width = (right + left) / 2, (right - left) / 2 * (1 + self.padding)
        y, half_height = (bottom + top) / 2, (bottom - top) / 2 * (1 + self.padding)
        if self.hw_ratio is not None:
            half_height = max(self.hw_ratio[0] * half_width, half_height)
            half_width = max(1 / self.hw_ratio[1] * half_height, half_width)
        left, right, top, bottom = x - half_width, x + half_width, y - half_height, y + half_height
        if not self.allow_imgpad:
            left, right = max(0, left), min(picture[1], right)
            top, bottom = max(0, top), min(picture[0], bottom)
        corner = np.array([int(left), int(top)], dtype=np.float32)
        moved = np.where(points != 0, points - corner, points)
        return moved, (int(bottom) - int(top), int(right) - int(left))


@dataclass(frozen=True, slots=True)
class Resize:
    """Scale to width and height ``scale``; with ``keep_ratio`` until it fits into them, or until
    the shorter side is the other when one is -1."""

    scale: tuple[int, int]
    keep_ratio: bool = True

    def __call__(self, points: Floats, picture: Picture) -> tuple[Floats, Picture]:
        """Points in pixels of the scaled picture, and its height and width."""
        height, width = picture
        new_width, new_height = self.scale
        if self.keep_ratio:
            long, short = max(self.scale), min(self.scale)
            limit = (math.inf, long) if short == -1 else (long, short)
            factor = min(limit[0] / max(picture), limit[1] / min(picture))
            new_width, new_height = int(width * factor + 0.5), int(height * factor + 0.5)
        factors = np.array([new_width / width, new_height / height], dtype=np.float32)
        return points * factors, (new_height, new_width)


@dataclass(frozen=True, slots=True)
class CenterCrop:
    """Cut width and height ``crop_size`` out of the middle."""

    crop_size: tuple[int, int]

    def __call__(self, points: Floats, picture: Picture) -> tuple[Floats, Picture]:
        """Points with the crop's corner as origin, and the crop's height and width."""
        width, height = self.crop_size
        corner = [(picture[1] - width) // 2, (picture[0] - height) // 2]
        return np.asarray(points - np.array(corner), dtype=np.float32), (height, width)


@dataclass(frozen=True, slots=True)
class TestPipeline:
    """What turns poses into the views that a network of mmaction2 is tested on.

    Args:
        frames, clips, seed: of UniformSampleFrames (``clip_len``, ``num_clips``).
        steps: what happens to the picture before it is drawn, in order.
        sigma, use_score: of GeneratePoseTarget.
        limbs: pairs of joints that are drawn as lines; None = joints are drawn as points.
        double: whether every clip is also seen in a mirror.
        swapped: index that puts the channels of a mirrored clip in order.
    """

    __test__ = False

    frames: int
    clips: int
    steps: tuple[Step, ...]
    sigma: float
    use_score: bool
    limbs: tuple[tuple[int, int], ...] | None
    double: bool
    swapped: tuple[int, ...]
    seed: int = 255

    def volumes(self, keypoints: Floats, scores: Floats, picture: Picture) -> Iterator[Floats]:
        """The views one by one: all clips, then all in a mirror.

        Args:
            keypoints: [people, T, 17, 2] in pixels; a joint that was not seen is at 0, 0.
            scores: [people, T, 17].
            picture: height and width of the picture.

        Yields:
            float32 [channels, frames, height, width].
        """
        index = self.sampled(keypoints.shape[1])
        points = np.asarray(keypoints, dtype=np.float32)[:, index]
        seen = np.asarray(scores, dtype=np.float32)[:, index]
        if not self.use_score:
            seen = np.ones_like(seen)
        for step in self.steps:
            points, picture = step(points, picture)
        for mirror in (False, True) if self.double else (False,):
            for first in range(0, len(index), self.frames):
                clip = slice(first, first + self.frames)
                drawn = self._drawn(points[:, clip], seen[:, clip], picture)
                yield drawn[list(self.swapped)][..., ::-1] if mirror else drawn

    def _drawn(self, points: Floats, seen: Floats, picture: Picture) -> Floats:
        if self.limbs is None:
            return pose_target(points, seen, picture, self.sigma)
        return limb_target(points, seen, picture, self.limbs, self.sigma)

    def sampled(self, total: int) -> NDArray[np.int64]:
        """Indices [clips * frames] of the frames that are taken out of ``total``."""
        random = np.random.RandomState(self.seed)
        found = []
        for clip in range(self.clips):
            if total < self.frames:
                start = clip if total < self.clips else clip * total // self.clips
                index = np.arange(start, start + self.frames)
            elif total < 2 * self.frames:
                jumps = np.zeros(self.frames + 1, dtype=np.int64)
                jumps[random.choice(self.frames + 1, total - self.frames, replace=False)] = 1
                index = np.arange(self.frames) + np.cumsum(jumps)[:-1]
            else:
                edges = np.arange(self.frames + 1) * total // self.frames
                index = edges[:-1] + random.randint(np.diff(edges))
            found.append(index)
        return np.asarray(np.concatenate(found) % total, dtype=np.int64)
