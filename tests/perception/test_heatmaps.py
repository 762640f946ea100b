"""PoseC3D's preprocessing against values worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from perception.skeleton.heatmaps import (
    SWAPPED_SIDES,
    HeatmapShape,
    clip_volume,
    compact,
    limb_target,
    mirrored,
    pose_target,
    sample_frames,
)
from perception.skeleton.training.architecture import ARCHITECTURES, Architecture


def test_the_middle_frame_of_every_segment_is_sampled() -> None:
    assert sample_frames(8, 4).tolist() == [1, 3, 5, 7]
    assert sample_frames(10, 4).tolist() == [1, 3, 6, 8]


def test_a_short_clip_repeats_frames_in_order() -> None:
    assert sample_frames(2, 4).tolist() == [0, 0, 1, 1]
    assert sample_frames(1, 3).tolist() == [0, 0, 0]


def test_random_sampling_takes_one_frame_of_every_segment() -> None:
    drawn = np.stack([sample_frames(20, 4, np.random.default_rng(seed)) for seed in range(200)])
    assert all(set(drawn[:, i]) == set(range(5 * i, 5 * i + 5)) for i in range(4))


def test_an_empty_clip_cannot_be_sampled() -> None:
    with pytest.raises(ValueError, match="empty clip"):
        sample_frames(0, 4)


def test_compact_makes_a_padded_square_around_all_frames() -> None:
    points = np.zeros((2, 17, 2), np.float32)
    scores = np.zeros((2, 17), np.float32)
    points[0, 0], points[1, 5] = (100, 300), (140, 380)
    scores[0, 0] = scores[1, 5] = 1
    # box 40 x 80, centre (120, 340), half side 40 * 1.25 = 50, 100 units -> 40 pixels
    placed = compact(points, scores, size=40, padding=0.25)
    assert placed[0, 0] == pytest.approx([(100 - 70) * 0.4, (300 - 290) * 0.4])
    assert placed[1, 5] == pytest.approx([(140 - 70) * 0.4, (380 - 290) * 0.4])


def test_compact_does_not_depend_on_unit_or_place() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((5, 17, 2)).astype(np.float32)
    scores = np.ones((5, 17), np.float32)
    moved = compact(points * 640 + [31, -7], scores, 40)
    assert np.allclose(compact(points, scores, 40), moved, atol=1e-3)


def test_a_joint_is_a_gaussian_of_its_score_cut_off_at_three_sigma() -> None:
    points = np.zeros((1, 17, 2), np.float32)
    scores = np.zeros((1, 17), np.float32)
    points[0, 9], scores[0, 9] = (4.0, 6.5), 0.5
    volume = pose_target(points, scores, size=12, sigma=0.6)
    assert volume.shape == (17, 1, 12, 12)
    assert volume.dtype == np.float32

    def expected(x: int, y: int) -> float:
        return 0.5 * math.exp(-((x - 4.0) ** 2 + (y - 6.5) ** 2) / (2 * 0.6**2))

    for x, y in ((4, 6), (4, 7), (3, 6), (5, 8), (2, 5)):
        assert volume[9, 0, y, x] == pytest.approx(expected(x, y), rel=1e-5)
    # columns from trunc(4 - 1.8) = 2 up to but not trunc(4 + 1.8) + 1 = 6; rows 4 up to not 9
    assert np.flatnonzero(volume[9, 0].any(axis=0)).tolist() == [2, 3, 4, 5]
    assert np.flatnonzero(volume[9, 0].any(axis=1)).tolist() == [4, 5, 6, 7, 8]
    assert not volume[np.arange(17) != 9].any()


def test_a_limb_is_drawn_by_the_distance_from_its_line() -> None:
    points = np.zeros((1, 17, 2), np.float32)
    scores = np.zeros((1, 17), np.float32)
    points[0, 5], points[0, 7], scores[0, [5, 7]] = (3, 5), (8, 5), (0.9, 0.5)
    volume = limb_target(points, scores, 12, [(5, 7), (7, 9)], sigma=0.6)
    assert volume.shape == (2, 1, 12, 12)

    def bell(distance: float) -> float:
        return 0.5 * math.exp(-(distance**2) / (2 * 0.6**2))

    # as high as the less sure end along the line, falling off beside it and beyond its ends
    for x, y, distance in ((3, 5, 0), (6, 5, 0), (8, 5, 0), (5, 6, 1), (9, 5, 1), (9, 6, 2**0.5)):
        assert volume[0, 0, y, x] == pytest.approx(bell(distance), rel=1e-5)
    # columns from trunc(3 - 1.8) = 1 up to but not trunc(8 + 1.8) + 1 = 10; rows 3 up to not 7
    assert np.flatnonzero(volume[0, 0].any(axis=0)).tolist() == list(range(1, 10))
    assert np.flatnonzero(volume[0, 0].any(axis=1)).tolist() == [3, 4, 5, 6]
    assert not volume[1].any()


def test_a_limb_of_less_than_a_pixel_is_its_first_joint() -> None:
    points = np.zeros((1, 17, 2), np.float32)
    scores = np.zeros((1, 17), np.float32)
    points[0, 5], points[0, 7], scores[0, [5, 7]] = (5, 5), (5.5, 5.5), (0.9, 0.5)
    volume = limb_target(points, scores, 12, [(5, 7)])
    assert np.array_equal(volume[0], pose_target(points, scores, 12)[5])
    scores[0, 7] = 0
    assert not limb_target(points, scores, 12, [(5, 7)]).any()


@pytest.mark.parametrize("limb", [False, True])
def test_of_several_people_the_highest_counts(limb: bool) -> None:
    rng = np.random.default_rng(4)
    points = rng.uniform(0, 20, (3, 4, 17, 2)).astype(np.float32)
    scores = rng.uniform(0, 1, (3, 4, 17)).astype(np.float32)

    def draw(keypoints: Any, seen: Any) -> Any:
        if limb:
            return limb_target(keypoints, seen, (16, 20), [(5, 7), (7, 9)])
        return pose_target(keypoints, seen, (16, 20))

    alone = [draw(*one) for one in zip(points, scores, strict=True)]
    assert draw(points, scores).shape[1:] == (4, 16, 20)
    assert np.array_equal(draw(points, scores), np.maximum.reduce(alone))


def test_a_joint_outside_of_the_crop_is_not_drawn() -> None:
    points = np.full((1, 17, 2), -30, np.float32)
    assert not pose_target(points, np.ones((1, 17), np.float32), size=12).any()


def test_the_mirror_exchanges_sides() -> None:
    points = np.arange(34, dtype=np.float32).reshape(1, 17, 2)
    scores = np.arange(17, dtype=np.float32)[None] / 17
    flipped, swapped = mirrored(points, scores)
    assert flipped[0, 9].tolist() == [-points[0, 10, 0], points[0, 10, 1]]
    assert swapped[0, 9] == scores[0, 10]
    again, same = mirrored(flipped, swapped)
    assert np.array_equal(again, points)
    assert np.array_equal(same, scores)
    assert sorted(SWAPPED_SIDES) == list(range(17))


def test_a_clip_becomes_one_volume() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((30, 17, 2)).astype(np.float32) * 100
    scores = np.ones((30, 17), np.float32)
    shape = HeatmapShape(frames=20, size=40)
    volume = clip_volume(points, scores, shape)
    assert volume.shape == (17, 20, 40, 40)
    index = sample_frames(30, 20)
    by_steps = pose_target(compact(points[index], scores[index], 40, 0.25), scores[index], 40, 0.6)
    assert np.array_equal(volume, by_steps)


def test_nobody_visible_gives_an_empty_volume() -> None:
    nothing = clip_volume(np.ones((3, 17, 2)), np.zeros((3, 17)), HeatmapShape(frames=4, size=8))
    assert not nothing.any()


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=list(ARCHITECTURES))
def test_training_draws_the_same_volumes(architecture: Architecture) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    from perception.skeleton.training.network import heatmap_batch

    size, sigma, joints = architecture.shape.size, architecture.shape.sigma, architecture.joints
    rng = np.random.default_rng(2)
    points = rng.uniform(-5, size + 5, (3, 6, 17, 2)).astype(np.float32)
    scores = rng.uniform(-0.2, 1, (3, 6, 17)).clip(0).astype(np.float32)
    batch = heatmap_batch(*map(torch.from_numpy, (points, scores)), architecture, torch.float32)
    for drawn, one, seen in zip(batch.numpy(), points, scores, strict=True):
        expected = pose_target(one, seen, size, sigma)[list(joints)]
        assert np.allclose(drawn, expected, atol=1e-6)
