"""mmaction2's test transforms in numpy, against values worked out by hand.

That they equal mmaction2's own is tested where it is installed (openmmlab/test_transforms.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.errors import BadInput
from perception.skeleton.mmaction_pipeline import read_pipeline
from perception.skeleton.mmaction_transforms import (
    CenterCrop,
    PoseCompact,
    Resize,
    TestPipeline,
)
from tests.perception.openmmlab.poses import pipeline


def published(**changed: Any) -> TestPipeline:
    return read_pipeline(pipeline(False, **changed), "a test")


def points(*places: tuple[float, float]) -> Any:
    found = np.zeros((1, 1, 17, 2), np.float32)
    found[0, 0, : len(places)] = places
    return found


def test_compact_crops_to_whole_pixels_and_leaves_unseen_joints_at_the_origin() -> None:
    # box 100..140 x 300..380; half sides 25 and 50, squared to 50: crop 70..170 x 290..390
    placed, picture = PoseCompact(hw_ratio=(1.0, 1.0))(points((100, 300), (140, 380)), (480, 640))
    assert picture == (100, 100)
    assert placed[0, 0, :3].tolist() == [[30, 10], [70, 90], [0, 0]]


def test_compact_without_padding_beyond_the_picture_is_cut_at_its_edge() -> None:
    # half sides 25 and 12.5 around (20, 110)
    compact = PoseCompact(hw_ratio=None, allow_imgpad=False)
    placed, picture = compact(points((0.5, 100), (39.5, 120)), (480, 640))
    assert picture == (25, 44)
    assert placed[0, 0, 0].tolist() == [0.5, 100 - 97]


def test_a_body_of_a_few_pixels_is_not_cropped() -> None:
    few = points((100, 300), (105, 380))
    placed, picture = PoseCompact(hw_ratio=(1.0, 1.0))(few, (480, 640))
    assert picture == (480, 640)
    assert np.array_equal(placed, few)


def test_resize_to_a_size_or_to_a_shorter_side_and_the_middle_of_it() -> None:
    stretched, picture = Resize((64, 64), keep_ratio=False)(points((50, 20)), (40, 100))
    assert picture == (64, 64)
    assert stretched[0, 0, 0] == pytest.approx([32, 32])
    scaled, picture = Resize((-1, 64))(points((50, 20)), (40, 100))
    assert picture == (64, 160)
    assert scaled[0, 0, 0] == pytest.approx([80, 32])
    cropped, picture = CenterCrop((64, 64))(scaled, picture)
    assert picture == (64, 64)
    assert cropped[0, 0, 0] == pytest.approx([32, 32])


def test_clips_shorter_than_the_volume_start_in_turn_and_run_round() -> None:
    assert published(clips=2, frames=4).sampled(3).tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert published(clips=3, frames=4).sampled(2).tolist() == [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1]


@given(total=st.integers(1, 400), clips=st.integers(1, 4), frames=st.integers(1, 60))
def test_frames_are_in_the_clip_and_in_order(total: int, clips: int, frames: int) -> None:
    index = published(clips=clips, frames=frames).sampled(total).reshape(clips, frames)
    assert index.min() >= 0
    assert index.max() < total
    if total >= frames:
        assert (np.diff(index, axis=1) > 0).all()
    if total == frames:
        assert (index == np.arange(frames)).all()


def test_a_mirror_looks_at_all_clips_again_with_sides_changed() -> None:
    rng = np.random.default_rng(0)
    keypoints = rng.uniform(50, 400, (1, 20, 17, 2)).astype(np.float32)
    scores = np.ones((1, 20, 17), np.float32)
    views = list(published(clips=2, frames=8).volumes(keypoints, scores, (480, 640)))
    assert len(views) == 4
    for view, mirrored in zip(views[:2], views[2:], strict=True):
        assert np.array_equal(mirrored[9], view[10][..., ::-1])
        assert np.array_equal(mirrored[0], view[0][..., ::-1])


def changed(kind: str, **settings: Any) -> list[dict[str, Any]]:
    """The published pipeline with other settings of one transform; None leaves one out."""
    found = []
    for each in pipeline(False):
        mine = {**each, **settings} if each["type"] == kind else each
        found.append({name: value for name, value in mine.items() if value is not None})
    return found


def refused(transforms: Any) -> str:
    with pytest.raises(BadInput) as caught:
        read_pipeline(transforms, "the config 'own.py'")
    said = str(caught.value)
    assert "test pipeline of the config 'own.py'" in said
    return said


@pytest.mark.parametrize(
    ("transforms", "said"),
    [
        ([], "makes no heatmaps"),
        ([{"type": "Flip"}], "the transform 'Flip'"),
        (["Flip"], "the transform 'Flip'"),
        (changed("FormatShape", input_format="NCTHW"), "makes no heatmaps"),
        (changed("GeneratePoseTarget", scaling=0.5), "scaling=1, not with_kp=True"),
        (changed("GeneratePoseTarget", with_limb=True), "either with_kp or with_limb"),
    ],
)
def test_a_pipeline_that_is_not_known_here_is_named(transforms: Any, said: str) -> None:
    assert said in refused(transforms)


@pytest.mark.parametrize(
    ("kind", "settings", "said"),
    [
        ("PoseCompact", {"foo": 3}, "the setting 'foo', which is not known. It takes padding, thr"),
        ("PoseCompact", {"treshold": 3}, "Did you mean 'threshold'?"),
        ("PoseCompact", {"padding": "much"}, "padding='much'; it takes a number from 0"),
        ("PoseCompact", {"hw_ratio": 0}, "hw_ratio=0; it takes None, a number or two"),
        ("PoseDecode", {"squeeze": True}, "'squeeze', which is not known. It takes no settings"),
        ("UniformSampleFrames", {"num_clip": 2}, "Did you mean 'num_clips'?"),
        ("UniformSampleFrames", {"clip_len": None}, "lacks clip_len: a whole number from 1"),
        ("UniformSampleFrames", {"clip_len": 0}, "clip_len=0; it takes a whole number from 1"),
        ("Resize", {"scale": None}, "Resize in the test pipeline"),
        ("Resize", {"scale": None}, "lacks scale: two whole numbers, width and height"),
        ("Resize", {"scale": 56}, "scale=56; it takes two whole numbers, width and height"),
        ("Resize", {"scale": (-1, -1)}, "scale=(-1, -1); it takes two whole numbers"),
        ("Resize", {"lazy": True}, "lazy=True; it takes False"),
        ("GeneratePoseTarget", {"skeleton": [[0, 1]]}, "Did you mean 'skeletons'?"),
        ("GeneratePoseTarget", {"double": 1}, "double=1; it takes True or False"),
        ("GeneratePoseTarget", {"left_kp": [1]}, "they take as many numbers, each under 17"),
        ("FormatShape", {"input_fromat": "x"}, "Did you mean 'input_format'?"),
    ],
)
def test_a_setting_that_is_not_known_or_does_not_fit_is_told(
    kind: str, settings: dict[str, Any], said: str
) -> None:
    assert said in refused(changed(kind, **settings))


def test_settings_that_decide_nothing_about_heatmaps_are_passed_over() -> None:
    same = read_pipeline(
        [
            {**each, "interpolation": "area", "lazy": False} if each["type"] == "Resize" else each
            for each in changed("PackActionInputs", meta_keys=("img_shape",), _scope_="mmaction")
        ],
        "a test",
    )
    assert same == published()
