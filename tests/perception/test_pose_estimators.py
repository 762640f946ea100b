"""What every pose estimator keeps to: blazepose, rtmlib and mmpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from perception import plugins, weights
from perception.recognizer import Frame
from perception.skeleton.boxes import BoxOptions
from perception.skeleton.pose import PersonPose, PoseEstimator
from perception.skeleton.pose_estimators import blazepose, mmpose, rtmlib
from tests.perception.pose_models import RTMPOSE, boxes_file, grain, three_lights


@dataclass
class Case:
    estimator: PoseEstimator
    crowd: Frame
    count: int


@pytest.fixture(
    scope="module",
    params=["blazepose", "rtmlib of RTMPose", "rtmlib of RTMO", "mmpose of RTMPose"],
)
def case(request: pytest.FixtureRequest) -> Case:
    name = request.param
    if name == "rtmlib of RTMO":
        options = rtmlib.Options(model=str(request.getfixturevalue("rtmo")))
        return Case(rtmlib.build(options), Frame(0.0, three_lights()), 3)
    if name == "rtmlib of RTMPose":
        built: PoseEstimator = rtmlib.build(
            rtmlib.Options(model=str(request.getfixturevalue("simcc")))
        )
    elif name == "mmpose of RTMPose":
        path = request.getfixturevalue("checkpoint")(RTMPOSE)
        built = mmpose.build(mmpose.Options(config=RTMPOSE, checkpoint=str(path)))
    else:
        built = blazepose.build(blazepose.Options())
    return Case(built, request.getfixturevalue("two_people"), 2)


def same(one: PersonPose, other: PersonPose, factor: float = 1.0) -> None:
    """One is the other in a picture ``factor`` times as large."""
    np.testing.assert_allclose(one.keypoints, other.keypoints * factor, rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)
    assert one.score == pytest.approx(other.score, abs=1e-5)


@pytest.mark.weights
def test_everybody_has_17_keypoints_with_scores(case: Case) -> None:
    poses = case.estimator.estimate(case.crowd)
    assert len(poses) == case.count
    for pose in poses:
        assert (pose.keypoints.shape, pose.keypoints.dtype) == ((17, 2), np.float32)
        assert (pose.scores.shape, pose.scores.dtype) == ((17,), np.float32)
        assert np.isfinite(pose.keypoints).all()
        assert ((pose.scores >= 0) & (pose.scores <= 1)).all()
        assert 0 < pose.score <= 1


@pytest.mark.weights
def test_where_nobody_is_nobody_is_found(case: Case) -> None:
    """The known RTMPose sees somebody in every box, so that none may be made of the picture."""
    black = np.zeros((360, 640, 3), np.uint8)
    noise = np.random.default_rng(0).integers(0, 60, black.shape, dtype=np.uint8)
    stream = case.estimator.stream()
    for index, rgb in enumerate((black, noise, black, noise)):
        assert len(case.estimator.estimate(Frame(0.0, rgb))) == 0
        assert len(stream.estimate(Frame(index / 15, rgb))) == 0


@pytest.mark.weights
def test_coordinates_are_those_of_the_full_size_picture(case: Case) -> None:
    plain = case.estimator.estimate(case.crowd)
    half = case.estimator.estimate(Frame(0.0, case.crowd.rgb, scale=2.0))
    assert len(half) == case.count
    for one, other in zip(half, plain, strict=True):
        same(one, other, factor=2.0)


@pytest.mark.weights
def test_a_picture_has_the_same_poses_whatever_came_before(case: Case) -> None:
    before = case.estimator.estimate(case.crowd)
    case.estimator.estimate(Frame(0.0, case.crowd.rgb[:, ::-1]))
    case.estimator.estimate(Frame(0.0, np.zeros((50, 70, 3), np.uint8)))
    assert len(before) == case.count
    case.estimator.estimate(Frame(0.0, np.roll(case.crowd.rgb, 3, axis=1)))
    for one, other in zip(before, case.estimator.estimate(case.crowd), strict=True):
        same(one, other)


@pytest.mark.weights
def test_a_stream_begins_as_a_picture_by_itself_and_forgets_the_last_video(case: Case) -> None:
    alone = case.estimator.estimate(case.crowd)
    assert len(alone) == case.count
    case.estimator.stream().estimate(Frame(9.0, case.crowd.rgb[::-1]))
    for one, other in zip(case.estimator.stream().estimate(case.crowd), alone, strict=True):
        same(one, other)


@pytest.mark.weights
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 2), (2000, 1), (16, 16)])
def test_black_pictures_of_every_size_hold_nobody(case: Case, size: tuple[int, int]) -> None:
    assert len(case.estimator.estimate(Frame(0.0, np.zeros((*size, 3), np.uint8)))) == 0


@pytest.mark.weights
def test_what_pins_it_is_plain_json(case: Case) -> None:
    settings = dict(case.estimator.settings)
    assert json.loads(json.dumps(settings)) == settings
    for name in case.estimator.checkpoints:
        assert weights.sha256(name)


@pytest.mark.parametrize("name", ["blazepose", "mmpose", "rtmlib"])
def test_it_is_found_by_its_name(name: str) -> None:
    assert name in plugins.names("perception.skeleton.pose_estimators")
    assert plugins.take("perception.skeleton.pose_estimators", name).Options()


@pytest.fixture(params=["rtmlib", "mmpose"])
def in_boxes(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., PoseEstimator]:
    """Builds a top-down estimator on given boxes."""
    if request.param == "rtmlib":
        model = str(request.getfixturevalue("simcc"))
        return lambda *corners: rtmlib.build(
            rtmlib.Options(model=model, boxes=BoxOptions(file=boxes_file(tmp_path, *corners)))
        )
    path = str(request.getfixturevalue("checkpoint")(RTMPOSE))
    return lambda *corners, at_once=2: mmpose.build(
        mmpose.Options(
            config=RTMPOSE,
            checkpoint=path,
            persons_at_once=at_once,
            boxes=BoxOptions(file=boxes_file(tmp_path, *corners)),
        )
    )


CROWD = (
    (10, 20, 110, 320),
    (200, 40, 330, 350),
    (250.5, 60.5, 500, 200),
    (400, 5, 640, 360),
    (0, 0, 60, 90),
)


def test_many_boxes_are_many_persons_and_each_is_as_if_alone(
    in_boxes: Callable[..., PoseEstimator],
) -> None:
    together = in_boxes(*CROWD).estimate(grain())
    assert [pose.score for pose in together] == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5])
    for pose, corners in zip(together, CROWD, strict=True):
        (alone,) = in_boxes(corners).estimate(grain())
        np.testing.assert_allclose(pose.keypoints, alone.keypoints, atol=1e-2)
        np.testing.assert_allclose(pose.scores, alone.scores, atol=1e-4)


def test_a_time_without_boxes_has_nobody(in_boxes: Callable[..., PoseEstimator]) -> None:
    stream = in_boxes(*CROWD).stream()
    assert len(stream.estimate(grain())) == 5
    assert len(stream.estimate(Frame(3.0, grain().rgb))) == 0
