"""BlazePose: its geometry by hand, and what it sees in the sample and in pictures of nobody."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from perception import plugins, sample, video, weights
from perception.errors import BadInput, UnsupportedPlatform, WeightsError
from perception.recognizer import Frame
from perception.skeleton.people import PeopleTracker, PersonTrack
from perception.skeleton.pose import COCO_KEYPOINTS, MAX_SIDE_PX, RATE_HZ
from perception.skeleton.pose_estimators import blazepose
from perception.skeleton.pose_estimators.blazepose.detector import (
    Detection,
    anchor_centres,
    merged,
)
from perception.skeleton.pose_estimators.blazepose.estimator import BlazePose
from perception.skeleton.pose_estimators.blazepose.landmarks import refined
from perception.skeleton.pose_estimators.blazepose.region import Region
from perception.skeleton.pose_estimators.blazepose.tflite import TfliteModel
from perception.skeleton.pose_estimators.blazepose.tiles import sweep

Picture = npt.NDArray[np.uint8]


def xy(x: float, y: float) -> npt.NDArray[np.float32]:
    return np.array([x, y], dtype=np.float32)


def test_a_region_is_the_circle_around_the_body_and_a_quarter_more() -> None:
    """Hips at (100, 200), the circle's top 80 above: diameter 160, times 1.25."""
    upright = Region.around(xy(100, 200), xy(100, 120))
    assert (upright.x, upright.y, upright.side, upright.rotation) == (100, 200, 200, 0)
    lying_to_the_right = Region.around(xy(100, 200), xy(180, 200))
    assert lying_to_the_right.rotation == pytest.approx(math.pi / 2)


def test_a_crop_is_upright_where_the_person_is_not() -> None:
    """A person lies with the head to the right: the crop's upper middle is the picture's right."""
    to_picture = Region(100, 200, 80, math.pi / 2).to_picture(256)
    corners = {
        (128, 128): (100, 200),
        (128, 0): (140, 200),
        (0, 0): (140, 160),
        (256, 256): (60, 240),
    }
    for crop, picture in corners.items():
        assert to_picture @ [*crop, 1] == pytest.approx(picture, abs=1e-3)


def test_regions_of_one_person_are_near_and_of_two_are_not() -> None:
    region = Region(100, 100, 200, 0)
    assert region.near(Region(150, 150, 150, 1))
    assert not region.near(Region(210, 100, 200, 0))
    assert not region.near(Region(100, 100, 401, 0))


def test_a_region_that_turns_past_half_a_circle_is_about_the_same() -> None:
    assert Region(0, 0, 100, math.pi - 0.01).about(Region(0, 0, 100, -math.pi + 0.01))
    assert not Region(0, 0, 100, 0.2).about(Region(0, 0, 100, 0))


def test_the_anchors_are_those_of_the_model() -> None:
    """28² · 2 at stride 8, 14² · 2 at stride 16, 7² · 2 · 3 at stride 32: 2254."""
    anchors = anchor_centres()
    assert anchors.shape == (2254, 2)
    assert anchors[0].tolist() == anchors[1].tolist() == pytest.approx([0.5 / 28, 0.5 / 28])
    assert anchors[2].tolist() == pytest.approx([1.5 / 28, 0.5 / 28])
    assert anchors[28 * 28 * 2].tolist() == pytest.approx([0.5 / 14, 0.5 / 14])
    assert anchors[-1].tolist() == pytest.approx([6.5 / 7, 6.5 / 7])


def test_overlapping_detections_become_their_weighted_mean() -> None:
    """Boxes of 10×10 shifted by 2 overlap by 80 / 120; weights are 0.9 and 0.6 of 1.5."""

    def found(left: float, score: float) -> Detection:
        box = np.array([left, 0, left + 10, 10], dtype=np.float32)
        return Detection(box, np.array([[left, 50], [left, 0]], dtype=np.float32), score)

    best, other = merged([found(2, 0.6), found(100, 0.7), found(0, 0.9)])
    assert best.score == 0.9
    assert best.box.tolist() == pytest.approx([0.8, 0, 10.8, 10])
    assert best.points.tolist() == [pytest.approx([0.8, 50]), pytest.approx([0.8, 0])]
    assert (other.score, other.box[0]) == (0.7, 100)
    assert merged([]) == []


def test_points_move_to_the_centre_of_mass_of_a_clear_heatmap() -> None:
    """Cells are 4 pixels. A clear peak over cells (10, 20) and (11, 20), 0.8 and 0.4: x = 10⅓
    cells. A faint peak and a point outside the crop stay."""
    heatmaps = np.zeros((64, 64, 3), dtype=np.float32)
    heatmaps[20, 10, 0], heatmaps[20, 11, 0] = 0.8, 0.4
    heatmaps[20, 10, 1] = 0.4
    heatmaps[:, :, 2] = 0.9
    points = np.array([[43, 79], [43, 79], [-9, 300]], dtype=np.float32)
    with np.errstate(divide="ignore"):
        moved = refined(points, np.log(heatmaps / (1 - heatmaps)))
    assert moved[0].tolist() == pytest.approx([4 * (10 * 0.8 + 11 * 0.4) / 1.2, 80], abs=1e-4)
    assert moved[1:].tolist() == points[1:].tolist()


@pytest.mark.parametrize("size", [(1280, 720), (720, 1280), (640, 640), (340, 256), (3000, 500)])
def test_windows_cover_the_picture_and_hold_small_bodies_whole(size: tuple[int, int]) -> None:
    """Whatever fits into the overlap of neighbouring windows lies whole in one of them."""
    width, height = size
    coarse, fine = sweep(width, height, 0.6)
    assert coarse[0].right - coarse[0].left == max(size)
    for windows, share in ((coarse, 0.5), (fine, 0.3 * 0.6)):
        body = share * min(size) - 2
        for x, y in itertools.product(
            np.linspace(0, width - body, 40), np.linspace(0, height - body, 40)
        ):
            assert any(
                w.left <= x and x + body <= w.right and w.top <= y and y + body <= w.bottom
                for w in windows
            )


def test_a_sliver_of_a_picture_has_windows() -> None:
    for size in ((1, 1), (2, 1), (1, 500)):
        coarse, fine = sweep(*size, 0.6)
        assert 0 < len(coarse + fine) < 25
        assert all(w.right > w.left and w.bottom > w.top for w in coarse + fine)


def test_no_fine_windows_when_none_are_wanted() -> None:
    assert sweep(1280, 720, 0.0)[1] == ()


@pytest.mark.parametrize(
    "wrong", [{"start_score": 1.1}, {"presence": -0.1}, {"max_people": 0}, {"threads": 0}]
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(BadInput, match=name):
        blazepose.Options(**wrong)


def test_it_is_found_by_its_name_and_loads_nothing_when_built() -> None:
    plugin = plugins.take("perception.skeleton.pose_estimators", "blazepose")
    estimator = plugin.build(plugin.Options())
    assert estimator.checkpoints == ("blazepose_detector", "blazepose_landmarks")
    assert not {"detector", "landmarker"} & set(vars(estimator))


def fetched(name: str) -> Path:
    try:
        return weights.path(name)
    except WeightsError as error:
        pytest.skip(f"{name} is neither cached nor to be had: {error}")


@pytest.fixture(scope="module")
def estimator() -> BlazePose:
    for name in blazepose.CHECKPOINTS:
        fetched(name)
    return blazepose.build(blazepose.Options())


@pytest.fixture(scope="module")
def clip() -> Path:
    fetched("sports2d_demo")
    return sample.compose()


def followed(estimator: BlazePose, frames: Iterator[Frame]) -> tuple[PersonTrack, ...]:
    stream, tracker = estimator.stream(), PeopleTracker()
    for frame in frames:
        tracker.feed(frame.time_s, stream.estimate(frame))
    return tracker.finish()


@pytest.fixture(scope="module")
def people(estimator: BlazePose, clip: Path) -> tuple[PersonTrack, ...]:
    return followed(estimator, video.frames(clip, RATE_HZ, MAX_SIDE_PX))


@pytest.fixture(scope="module")
def both_in_sight(clip: Path) -> Frame:
    """The man stands on the roof, the woman walks on the grass."""
    (frame,) = video.frames_at(clip, [2.8])
    return frame


def joint(track: PersonTrack, name: str, time_s: float) -> npt.NDArray[np.float32]:
    row = int(np.abs(track.times_s - time_s).argmin())
    return track.keypoints[row, COCO_KEYPOINTS.index(name)]


@pytest.mark.weights
def test_both_people_of_the_sample_are_followed_while_they_are_to_be_seen(
    people: tuple[PersonTrack, ...],
) -> None:
    man, woman = people
    assert (man.id, woman.id) == (1, 2)
    assert man.span.start_s == 0
    assert man.span.end_s > 7.4
    assert woman.span.start_s < 1.8
    assert 6.4 < woman.span.end_s < 7.0
    assert man.observed.mean() > 0.9
    assert woman.observed.mean() > 0.95


@pytest.mark.weights
def test_their_joints_are_where_they_are_in_the_picture(people: tuple[PersonTrack, ...]) -> None:
    """Read off the sample's frames by eye, in pixels of 1280×720, ±15."""
    man, woman = people
    assert joint(man, "nose", 2.8) == pytest.approx([462, 84], abs=15)
    assert joint(man, "left_ankle", 2.8) == pytest.approx([480, 311], abs=15)
    assert joint(man, "right_ankle", 2.8) == pytest.approx([440, 311], abs=15)
    assert joint(woman, "nose", 2.8) == pytest.approx([850, 400], abs=15)


@pytest.mark.weights
def test_the_jumping_jack_lifts_the_hands_over_the_head(people: tuple[PersonTrack, ...]) -> None:
    man = people[0]
    for side in ("left", "right"):
        assert joint(man, f"{side}_wrist", 0.0)[1] > joint(man, "left_hip", 0.0)[1] - 40
        assert joint(man, f"{side}_wrist", 0.8)[1] < joint(man, "nose", 0.8)[1]


@pytest.mark.weights
def test_a_still_picture_of_them_has_still_joints(
    estimator: BlazePose, both_in_sight: Frame
) -> None:
    """Over three seconds no joint's mean distance from its own mean exceeds 1 % of the body."""
    still = (Frame(index / RATE_HZ, both_in_sight.rgb) for index in range(45))
    tracks = followed(estimator, still)
    assert len(tracks) == 2
    for track in tracks:
        size = np.hypot(*np.ptp(track.keypoints[0], axis=0))
        apart = np.linalg.norm(track.keypoints - track.keypoints.mean(axis=0), axis=2)
        assert apart.mean(axis=0).max() < 0.01 * size


@pytest.mark.weights
def test_a_picture_by_itself_has_the_same_poses_whatever_came_before(
    estimator: BlazePose, both_in_sight: Frame
) -> None:
    first = estimator.estimate(both_in_sight)
    assert len(first) == 2
    estimator.estimate(Frame(0.0, np.ascontiguousarray(both_in_sight.rgb[:, ::-1])))
    for was, now in zip(first, estimator.estimate(both_in_sight), strict=True):
        np.testing.assert_array_equal(was.keypoints, now.keypoints)
        np.testing.assert_array_equal(was.scores, now.scores)
        assert was.score == now.score


@pytest.mark.weights
def test_a_stream_gives_the_same_poses_every_time(
    estimator: BlazePose, both_in_sight: Frame
) -> None:
    def poses() -> list[npt.NDArray[np.float32]]:
        stream = estimator.stream()
        shifted = (np.roll(both_in_sight.rgb, 4 * index, axis=1) for index in range(6))
        return [
            pose.keypoints
            for index, rgb in enumerate(shifted)
            for pose in stream.estimate(Frame(index / RATE_HZ, rgb))
        ]

    first = poses()
    assert len(first) >= 6
    for was, now in zip(first, poses(), strict=True):
        np.testing.assert_array_equal(was, now)


@pytest.mark.weights
def test_coordinates_are_those_of_the_full_size_picture(
    estimator: BlazePose, both_in_sight: Frame
) -> None:
    plain = estimator.estimate(both_in_sight)
    scaled = estimator.estimate(Frame(0.0, both_in_sight.rgb, scale=1.5))
    assert len(plain) == 2
    for one, other in zip(plain, scaled, strict=True):
        np.testing.assert_allclose(other.keypoints, one.keypoints * 1.5, rtol=1e-5)


@pytest.mark.weights
def test_when_the_scene_changes_its_people_are_gone_at_once(
    estimator: BlazePose, both_in_sight: Frame
) -> None:
    stream = estimator.stream()
    assert len(stream.estimate(both_in_sight)) == 2
    assert stream.estimate(Frame(0.1, np.full_like(both_in_sight.rgb, 90))) == ()
    assert len(stream.estimate(Frame(0.2, both_in_sight.rgb))) == 2


@pytest.mark.weights
def test_no_more_people_than_wanted(estimator: BlazePose, both_in_sight: Frame) -> None:
    assert len(estimator.estimate(both_in_sight)) == 2
    alone = blazepose.build(blazepose.Options(max_people=1))
    assert len(alone.estimate(both_in_sight)) == 1


@pytest.mark.weights
@pytest.mark.parametrize("name", ["blazepose_detector", "blazepose_landmarks"])
def test_a_model_without_what_nobody_asks_for_answers_the_same(name: str) -> None:
    from ai_edge_litert.interpreter import Interpreter

    path = fetched(name)
    whole = Interpreter(str(path), num_threads=1)
    whole.allocate_tensors()
    shape = whole.get_input_details()[0]["shape"]
    picture = np.random.default_rng(0).random(tuple(shape), dtype=np.float32)
    whole.set_tensor(whole.get_input_details()[0]["index"], picture)
    whole.invoke()
    outputs = whole.get_output_details()
    assert len(outputs) >= 2
    for output in outputs:
        (pruned,) = TfliteModel(path, [tuple(output["shape"][1:])], threads=1)(picture)
        np.testing.assert_array_equal(pruned, whole.get_tensor(output["index"])[0])


@pytest.mark.weights
def test_without_the_schema_the_model_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    path = fetched("blazepose_landmarks")
    picture = np.random.default_rng(0).random((1, 256, 256, 3), dtype=np.float32)
    pruned = TfliteModel(path, [(195,), (1,)], threads=1)(picture)
    monkeypatch.delattr("ai_edge_litert.schema_py_generated")
    monkeypatch.setitem(sys.modules, "ai_edge_litert.schema_py_generated", None)
    whole = TfliteModel(path, [(195,), (1,)], threads=1)(picture)
    assert [output.shape for output in whole] == [(195,), (1,)]
    for output, same in zip(whole, pruned, strict=True):
        np.testing.assert_array_equal(output, same)


def test_a_machine_without_the_runtime_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(UnsupportedPlatform, match="pip install ai-edge-litert"):
        TfliteModel(tmp_path / "model.tflite", [(1,)], threads=1)


def black(_: int) -> Picture:
    return np.zeros((360, 640, 3), np.uint8)


def red(_: int) -> Picture:
    return np.full((360, 640, 3), (220, 30, 30), np.uint8)


def noise(index: int) -> Picture:
    return np.random.default_rng(index).integers(0, 256, (360, 640, 3), dtype=np.uint8)


def clouds(index: int) -> Picture:
    import cv2

    coarse = np.random.default_rng(index // 5).integers(0, 256, (23, 40, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (640, 360), interpolation=cv2.INTER_CUBIC))


def drifting_shapes(index: int) -> Picture:
    import cv2

    rng = np.random.default_rng(0)
    picture = np.full((360, 640, 3), (90, 120, 80), np.uint8)
    for shape in range(12):
        x, y, width, height = rng.integers((0, 0, 10, 10), (640, 360, 200, 200)).tolist()
        colour = rng.integers(0, 256, 3).tolist()
        x += int(rng.uniform(-4, 4) * index)
        if shape % 2:
            cv2.rectangle(picture, (x, y), (x + width, y + height), colour, -1)
        else:
            cv2.circle(picture, (x, y), width // 2, colour, -1)
    return picture


def text(_: int) -> Picture:
    import cv2

    picture = np.full((360, 640, 3), 255, np.uint8)
    for line in range(10):
        at = (10, 30 + 34 * line)
        cv2.putText(
            picture, "The quick brown fox jumps over the lazy dog", at, 0, 0.8, (0, 0, 0), 2
        )
    return picture


def empty_room(index: int) -> Picture:
    """Wall, floor, window, door, table, and the noise of a camera."""
    import cv2

    picture = np.full((360, 640, 3), (205, 198, 185), np.uint8)
    for (left, top), (right, bottom), colour in (
        ((0, 260), (640, 360), (120, 95, 70)),
        ((60, 50), (200, 180), (190, 220, 250)),
        ((430, 70), (530, 262), (110, 80, 50)),
        ((250, 210), (380, 225), (90, 60, 40)),
        ((260, 225), (268, 300), (90, 60, 40)),
        ((362, 225), (370, 300), (90, 60, 40)),
    ):
        cv2.rectangle(picture, (left, top), (right, bottom), colour, -1)
    grain = np.random.default_rng(index).normal(0, 4, picture.shape)
    return np.clip(picture + grain, 0, 255).astype(np.uint8)


@pytest.mark.weights
@pytest.mark.parametrize("picture", [black, red, noise, clouds, drifting_shapes, text, empty_room])
def test_where_nobody_is_nobody_is_seen(
    estimator: BlazePose, picture: Callable[[int], Picture]
) -> None:
    stream = estimator.stream()
    for index in range(20):
        assert stream.estimate(Frame(index / RATE_HZ, picture(index))) == ()


@pytest.mark.weights
def test_the_empty_parts_of_the_sample_are_empty(estimator: BlazePose, clip: Path) -> None:
    """The wood and the houses to the right of the man, before he leaps."""
    frames = video.frames(clip, 5, 0)
    parts = (
        Frame(frame.time_s, np.ascontiguousarray(frame.rgb[:400, 720:]))
        for frame in itertools.takewhile(lambda frame: frame.time_s < 1.2, frames)
    )
    assert followed(estimator, parts) == ()


@pytest.mark.weights
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 2), (16, 16)])
def test_tiny_pictures_hold_nobody(estimator: BlazePose, size: tuple[int, int]) -> None:
    assert estimator.estimate(Frame(0.0, np.full((*size, 3), 128, np.uint8))) == ()
