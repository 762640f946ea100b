"""PoseC3D's preprocessing: people's joints become a volume of Gaussian heatmaps.

The steps and their names are mmaction2's (UniformSampleFrames, PoseCompact, Resize,
GeneratePoseTarget); Duan et al., *Revisiting Skeleton-based Action Recognition*, CVPR 2022, section
3.2. ``pose_target`` and ``limb_target`` draw for every network. ``HeatmapShape`` is what ours were
trained on; training and serving both go through this module, so they cannot drift apart. A network
of mmaction2 is served by its own config's steps, in ``perception.skeleton.mmaction_transforms``.

Two deliberate differences to mmaction2 in how ours are fed, both of which make a clip's volume
depend on the clip alone: at test time the frame in the middle of every segment is taken (mmaction2
draws one with a fixed seed, and runs round to the beginning when the clip is shorter than the
volume, which inserts a jump; here frames are repeated), and the crop is not rounded to whole pixels
(mmaction2 rounds it), so that coordinates may have any unit.
"""

from __future__ import annotations

from collections.abc import Sequence
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

SHORTEST_LIMB = 1.0
"""Limbs that are shorter, in heatmap pixels, are drawn as their first joint."""


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
        keypoints: `[..., 17, 2]` x and y in any unit.
        scores: `[..., 17]`; joints with score 0 do not count for the box.

    Returns `[..., 17, 2]` in heatmap pixels. A clip without any visible joint is returned at the
    origin.
    """
    seen = scores > 0
    if not seen.any():
        return np.zeros_like(keypoints, dtype=np.float32)
    low, high = keypoints[seen].min(axis=0), keypoints[seen].max(axis=0)
    half = max(float((high - low).max()) / 2 * (1 + padding), 1e-6)
    corner = (low + high) / 2 - half
    return np.asarray((keypoints - corner) * (size / (2 * half)), dtype=np.float32)


def _span(low: Floats, high: Floats, size: int, sigma: float) -> tuple[Floats, Floats]:
    """First pixel and the one after the last that GeneratePoseTarget draws, three sigma around."""
    first = np.maximum(np.trunc(low - 3 * sigma), 0)
    return first, np.minimum(np.trunc(high + 3 * sigma) + 1, size)


def _gaussians(centres: Floats, size: int, sigma: float) -> Floats:
    """`[...]` centres along one axis -> `[..., size]`, cut off at three sigma."""
    grid = np.arange(size, dtype=np.float32)
    first, last = _span(centres, centres, size, sigma)
    bell = np.exp(-((grid - centres[..., None]) ** 2) / (2 * sigma**2))
    return np.asarray(bell * ((grid >= first[..., None]) & (grid < last[..., None])), np.float32)


def pose_target(
    keypoints: Floats, scores: Floats, size: int | tuple[int, int], sigma: float = 0.6
) -> Floats:
    """GeneratePoseTarget with keypoints.

    Args:
        keypoints: `[T, J, 2]` in heatmap pixels, or `[people, T, J, 2]`: where several are drawn on
            one place, the highest counts.
        scores: `[..., T, J]` in [0, 1], the height of each Gaussian.
        size: height and width in pixels; one number for both.

    Returns `[J, T, height, width]` float32.
    """
    points, heights = _of_people(keypoints, scores)
    height, width = (size, size) if isinstance(size, int) else size
    volume = np.zeros((points.shape[2], points.shape[1], height, width), np.float32)
    for person, seen in zip(points.transpose(0, 2, 1, 3), heights.transpose(0, 2, 1), strict=True):
        rows = _gaussians(person[..., 1], height, sigma) * seen[..., None]
        columns = _gaussians(person[..., 0], width, sigma)
        np.maximum(volume, rows[..., :, None] * columns[..., None, :], out=volume)
    return volume


def limb_target(
    keypoints: Floats,
    scores: Floats,
    size: int | tuple[int, int],
    limbs: Sequence[tuple[int, int]],
    sigma: float = 0.6,
) -> Floats:
    """GeneratePoseTarget with limbs: each pixel by its distance from the line between two joints.

    Arguments as for `pose_target`; a limb is as high as the less sure of its joints. Returns
    `[limbs, T, height, width]` float32.
    """
    points, heights = _of_people(keypoints, scores)
    frame = (size, size) if isinstance(size, int) else size
    volume = np.zeros((len(limbs), points.shape[1], *frame), np.float32)
    for person, seen in zip(points, heights, strict=True):
        for channel, (start, end) in zip(volume, limbs, strict=True):
            line = _line(person[:, start], person[:, end], frame, sigma)
            drawn = line * np.minimum(seen[:, start], seen[:, end])[:, None, None]
            np.maximum(channel, drawn, out=channel)
            short = np.linalg.norm(person[:, start] - person[:, end], axis=1) < SHORTEST_LIMB
            point = seen[:, start] * (short & (seen[:, end] > 0))
            as_joint = pose_target(person[:, None, start], point[:, None], frame, sigma)[0]
            np.maximum(channel, as_joint, out=channel)
    return volume


def _line(start: Floats, end: Floats, frame: tuple[int, int], sigma: float) -> Floats:
    """`[T, 2]` ends -> `[T, height, width]`; empty where the limb is too short to be a line."""
    along = end - start
    length2 = (along**2).sum(axis=1)[:, None, None]
    grids = [np.arange(n, dtype=np.float32) for n in (frame[1], frame[0])]
    x, y = grids[0][None, None, :], grids[1][None, :, None]
    dx, dy = x - start[:, 0, None, None], y - start[:, 1, None, None]
    across = dx * along[:, 0, None, None] + dy * along[:, 1, None, None]
    share = np.clip(across / np.maximum(length2, SHORTEST_LIMB), 0, 1)
    distance2 = (dx - share * along[:, 0, None, None]) ** 2
    distance2 += (dy - share * along[:, 1, None, None]) ** 2
    low, high = np.minimum(start, end), np.maximum(start, end)
    inside = length2 >= SHORTEST_LIMB**2
    for axis, grid in ((0, x), (1, y)):
        first, last = _span(low[:, axis], high[:, axis], frame[1 - axis], sigma)
        inside = inside & (grid >= first[:, None, None]) & (grid < last[:, None, None])
    return np.asarray(np.exp(-distance2 / (2 * sigma**2)) * inside, dtype=np.float32)


def _of_people(keypoints: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """`[people, T, J, 2]` and `[people, T, J]`, without the joints that are not drawn."""
    points, heights = np.asarray(keypoints, np.float32), np.asarray(scores, np.float32)
    heights = np.where(heights < LOWEST_SCORE, np.float32(0), heights)
    return (points, heights) if points.ndim == 4 else (points[None], heights[None])


def mirrored(keypoints: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """The clip in a mirror: x changes its sign, left and right joints change places."""
    flipped = np.asarray(keypoints, dtype=np.float32) * np.array([-1, 1], np.float32)
    seen = np.asarray(scores, dtype=np.float32)
    return flipped[..., SWAPPED_SIDES, :], seen[..., SWAPPED_SIDES]


def clip_volume(keypoints: Floats, scores: Floats, shape: HeatmapShape) -> Floats:
    """The whole test-time pipeline: `[T, 17, 2]`, `[T, 17]` in image pixels, or several people's
    with one more axis in front -> `[17, frames, size, size]`."""
    index = sample_frames(scores.shape[-2], shape.frames)
    points = np.asarray(keypoints, dtype=np.float32)[..., index, :, :]
    seen = np.asarray(scores, dtype=np.float32)[..., index, :]
    return pose_target(
        compact(points, seen, shape.size, shape.padding), seen, shape.size, shape.sigma
    )
