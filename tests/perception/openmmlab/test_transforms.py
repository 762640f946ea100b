"""Our preprocessing against mmaction2's own transforms, run on the same poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.skeleton.mmaction_pipeline import read_pipeline
from tests.perception.openmmlab.poses import people, pipeline, theirs

pytest.importorskip("mmaction", reason="needs the extra openmmlab")

TOLERANCE = 1e-4


def assert_equal(transforms: list[dict[str, Any]], keypoints: Any, scores: Any) -> None:
    expected = theirs(transforms, keypoints, scores)
    ours = read_pipeline(transforms, "a test").volumes(keypoints, scores, (480, 640))
    count = 0
    for got, want in zip(ours, expected, strict=True):
        assert got.shape == want.shape
        assert np.abs(got - want).max() <= TOLERANCE
        count += 1
    assert count == len(expected)


@pytest.mark.parametrize("limb", [False, True], ids=["keypoint", "limb"])
@pytest.mark.parametrize("count", [1, 2])
def test_the_published_pipelines_give_the_same_volumes(limb: bool, count: int) -> None:
    transforms = pipeline(limb)
    keypoints, scores = people(count, 150, seed=count)
    assert theirs(transforms, keypoints, scores).shape == (20, 17, 48, 64, 64)
    assert_equal(transforms, keypoints, scores)


@pytest.mark.parametrize("frames", [1, 2, 7, 8, 9, 15, 16, 17])
@pytest.mark.parametrize("limb", [False, True], ids=["keypoint", "limb"])
def test_clips_of_every_length(limb: bool, frames: int) -> None:
    assert_equal(pipeline(limb, clips=3, frames=8), *people(2, frames, seed=frames))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    frames=st.integers(1, 60),
    limb=st.booleans(),
    spread=st.sampled_from([0.01, 0.1, 1.0, 3.0]),
    ratio=st.sampled_from([None, 1.0, (1.0, 2.0)]),
    pad=st.booleans(),
)
def test_bodies_of_every_size_and_place(
    seed: int, frames: int, limb: bool, spread: float, ratio: Any, pad: bool
) -> None:
    transforms = pipeline(limb, clips=2, frames=8, hw_ratio=ratio, allow_imgpad=pad)
    if not limb or ratio is None:
        transforms = [t for t in transforms if t["type"] != "CenterCrop"]
        resize = next(t for t in transforms if t["type"] == "Resize")
        resize |= {"scale": (24, 24), "keep_ratio": False}
    keypoints, scores = people(2, frames, seed)
    middle = np.array([320, 240], np.float32)
    keypoints[scores > 0] = (keypoints[scores > 0] - middle) * np.float32(spread) + middle
    assert_equal(transforms, keypoints, scores)


def test_nobody_is_an_empty_volume_as_there() -> None:
    nothing = np.zeros((1, 60, 17, 2), np.float32), np.zeros((1, 60, 17), np.float32)
    assert_equal(pipeline(False, clips=1), *nothing)
    assert_equal(pipeline(True, clips=1), *nothing)


def test_the_global_random_state_is_left_alone() -> None:
    np.random.seed(7)
    before = np.random.get_state()[1].tolist()  # type: ignore[index,union-attr]
    keypoints, scores = people(1, 150, 0)
    list(read_pipeline(pipeline(False), "a test").volumes(keypoints, scores, (480, 640)))
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index,union-attr]
