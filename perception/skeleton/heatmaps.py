"""PoseC3D's preprocessing: a person's joints become a volume of Gaussian heatmaps.

The steps and their names are mmaction2's (UniformSampleFrames, PoseCompact, Resize,
GeneratePoseTarget with keypoints only, one person); Duan et al., *Revisiting Skeleton-based Action
Recognition*, CVPR 2022, section 3.2. Training and serving both go through this module, so they
cannot drift apart.

Two deliberate differences, both of which make a clip's volume depend on the clip alone: at test
time the frame in the middle of every segment is taken (mmaction2 draws one with a fixed seed, and
runs round to the beginning when the clip is shorter than the volume, which inserts a jump; here
frames are repeated), and the crop is not rounded to whole pixels (mmaction2 rounds it when
`allow_imgpad` is on), so that coordinates may have any unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

KEYPOINTS = 17
"""COCO's: nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; odd = left, even =
right."""

LEFT = (1, 3, 5, 7, 9, 11, 13, 15)
RIGHT = (2, 4, 6, 8, 10, 12, 14, 16)
SWAPPED_SIDES = np.array([0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15])
"""Index that exchanges left and right joints, as mmaction2's Flip does."""

LOWEST_SCORE = 1e-4
"""Joints below it are not drawn (`eps` of GeneratePoseTarget)."""


@dataclass(frozen=True)
class HeatmapShape:
    """Size of the volume that a model was trained on.

    Attributes:
        frames: frames in the volume (`clip_len`).
        size: height and width in heatmap pixels.
        sigma: standard deviation of a joint's Gaussian in heatmap pixels (mmaction2's default 0.6).
        padding: margin that PoseCompact adds on each side, as a share of half the box (mmaction2's
            default 0.25).
    """

    frames: int
    size: int
    sigma: float = 0.6
    padding: float = 0.25


def sample_frames(
    total: int, wanted: int, rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """UniformSampleFrames: one frame out of each of `wanted` equal segments of a clip of `total`
    frames.

    With `rng` a random frame of each segment (training), else the middle one. Frames repeat when
    `total < wanted`. Returns `[wanted]` indices in ascending order. Raises ValueError when the clip
    has no frame.
    """
    if total < 1:
        raise ValueError(f"cannot sample frames of an empty clip (total={total})")
    edges = np.linspace(0, total, wanted + 1)
    where = rng.random(wanted) if rng is not None else np.full(wanted, 0.5)
    return np.clip((edges[:-1] + where * np.diff(edges)).astype(np.int64), 0, total - 1)


def compact(keypoints: Floats, scores: Floats, size: int, padding: float = 0.25) -> Floats:
    """PoseCompact(hw_ratio=1, allow_imgpad) and Resize: crop to the square around all joints of all
    frames.

    Args:
        keypoints: `[T, 17, 2]` x and y in any unit.
        scores: `[T, 17]`; joints with score 0 do not count for the box.

    Returns `[T, 17, 2]` in heatmap pixels. A clip without any visible joint is returned at the
    origin.
    """
    seen = scores > 0
    if not seen.any():
        return np.zeros_like(keypoints, dtype=np.float32)
    low, high = keypoints[seen].min(axis=0), keypoints[seen].max(axis=0)
    half = max(float((high - low).max()) / 2 * (1 + padding), 1e-6)
    corner = (low + high) / 2 - half
    return np.asarray((keypoints - corner) * (size / (2 * half)), dtype=np.float32)


def _gaussians(centres: Floats, size: int, sigma: float) -> Floats:
    """`[17, T]` centres along one axis -> `[17, T, size]`, cut off at three sigma as
    GeneratePoseTarget does."""
    grid = np.arange(size, dtype=np.float32)
    first = np.maximum(np.trunc(centres - 3 * sigma), 0)[..., None]
    last = np.minimum(np.trunc(centres + 3 * sigma) + 1, size)[..., None]
    bell = np.exp(-((grid - centres[..., None]) ** 2) / (2 * sigma**2))
    return np.asarray(bell * ((grid >= first) & (grid < last)), dtype=np.float32)


def pose_target(keypoints: Floats, scores: Floats, size: int, sigma: float = 0.6) -> Floats:
    """GeneratePoseTarget for the keypoints of one person.

    Args:
        keypoints: `[T, 17, 2]` in heatmap pixels.
        scores: `[T, 17]` in [0, 1], the height of each Gaussian.

    Returns `[17, T, size, size]` float32.
    """
    centres = np.asarray(keypoints, dtype=np.float32).transpose(1, 0, 2)
    heights = np.asarray(scores, dtype=np.float32).T
    heights = np.where(heights < LOWEST_SCORE, np.float32(0), heights)
    rows = _gaussians(centres[..., 1], size, sigma) * heights[..., None]
    columns = _gaussians(centres[..., 0], size, sigma)
    return np.asarray(rows[..., :, None] * columns[..., None, :], dtype=np.float32)


def mirrored(keypoints: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """The clip in a mirror: x changes its sign, left and right joints change places."""
    flipped = np.asarray(keypoints, dtype=np.float32) * np.array([-1, 1], np.float32)
    return flipped[:, SWAPPED_SIDES], np.asarray(scores, dtype=np.float32)[:, SWAPPED_SIDES]


def clip_volume(keypoints: Floats, scores: Floats, shape: HeatmapShape) -> Floats:
    """The whole test-time pipeline: `[T, 17, 2]`, `[T, 17]` in image pixels -> `[17, frames, size,
    size]`."""
    index = sample_frames(len(keypoints), shape.frames)
    points = np.asarray(keypoints, dtype=np.float32)[index]
    seen = np.asarray(scores, dtype=np.float32)[index]
    return pose_target(
        compact(points, seen, shape.size, shape.padding), seen, shape.size, shape.sigma
    )
