"""RTMPose and RTMO by rtmlib, on models whose poses are known: values by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perception.errors import BadInput, MissingPackage, UserError
from perception.recognizer import Frame
from perception.skeleton.boxes import BoxOptions
from perception.skeleton.pose_estimators import rtmlib
from tests.perception import pose_models
from tests.perception.pose_models import (
    boxes_file,
    brightest_simcc,
    grain,
    needs_rtmlib,
    three_lights,
)

LIGHTS = np.array([(250, 120), (300, 200), (350, 290)])


def test_rtmpose_maps_its_crop_back_to_the_picture(simcc: Path, tmp_path: Path) -> None:
    """The box of 153.6×204.8 around (300, 200), a quarter larger, is the crop of 192×256 pixels
    one to one: a light at column 46 of the crop lies at 300 - 96 + 46 = 250."""
    file = boxes_file(tmp_path, (223.2, 97.6, 376.8, 302.4))
    estimator = rtmlib.build(rtmlib.Options(model=str(simcc), boxes=BoxOptions(file=file)))
    (pose,) = estimator.estimate(Frame(0.0, three_lights()))
    np.testing.assert_allclose(pose.keypoints, LIGHTS[np.arange(17) % 3], atol=1e-3)
    assert pose.scores.tolist() == [1.0] * 17
    assert pose.score == pytest.approx(0.9)


def test_rtmpose_scales_a_larger_box_down_and_its_joints_back(simcc: Path, tmp_path: Path) -> None:
    """A box twice as large: two pixels of the picture are one of the crop, so that each light is
    found to a pixel of the crop. The picture is half of the full size: boxes and joints double."""
    file = boxes_file(tmp_path, (292.8, -9.6, 907.2, 809.6))
    estimator = rtmlib.build(rtmlib.Options(model=str(simcc), boxes=BoxOptions(file=file)))
    rgb = three_lights()
    for x, y in LIGHTS:
        rgb[y : y + 2, x : x + 2] = rgb[y, x]
    (pose,) = estimator.estimate(Frame(0.0, rgb, scale=2.0))
    np.testing.assert_allclose(pose.keypoints, 2 * LIGHTS[np.arange(17) % 3], atol=1e-3)


def test_rtmpose_widens_a_slim_box_to_its_own_shape(simcc: Path, tmp_path: Path) -> None:
    """A box of 20×204.8 has the crop of 192×256 too: lights beside the box are seen."""
    file = boxes_file(tmp_path, (290, 97.6, 310, 302.4))
    estimator = rtmlib.build(rtmlib.Options(model=str(simcc), boxes=BoxOptions(file=file)))
    (pose,) = estimator.estimate(Frame(0.0, three_lights()))
    np.testing.assert_allclose(pose.keypoints, LIGHTS[np.arange(17) % 3], atol=1e-3)


def test_a_number_of_keypoints_that_the_file_calls_by_a_name_is_found_out(tmp_path: Path) -> None:
    needs_rtmlib()
    file = boxes_file(tmp_path, (223.2, 97.6, 376.8, 302.4))
    for keypoints in (17, 26):
        model = brightest_simcc(tmp_path / f"{keypoints}.onnx", keypoints, named=True)
        estimator = rtmlib.build(rtmlib.Options(model=str(model), boxes=BoxOptions(file=file)))
        (pose,) = estimator.estimate(Frame(0.0, three_lights()))
        np.testing.assert_allclose(pose.keypoints, LIGHTS[np.arange(17) % 3], atol=1e-3)
    hand = brightest_simcc(tmp_path / "hand.onnx", 21, named=True)
    with pytest.raises(BadInput, match="has 21 keypoints"):
        rtmlib.build(rtmlib.Options(model=str(hand))).estimate(grain())
    rtmo = pose_models.brightest_rtmo(tmp_path / "rtmo.onnx", named=True)
    assert (
        len(rtmlib.build(rtmlib.Options(model=str(rtmo))).estimate(Frame(0, three_lights()))) == 3
    )


@pytest.mark.parametrize("keypoints", [26, 133])
def test_of_larger_sets_the_first_17_keypoints_are_taken(tmp_path: Path, keypoints: int) -> None:
    needs_rtmlib()
    model = brightest_simcc(tmp_path / "large.onnx", keypoints)
    file = boxes_file(tmp_path, (223.2, 97.6, 376.8, 302.4))
    estimator = rtmlib.build(rtmlib.Options(model=str(model), boxes=BoxOptions(file=file)))
    (pose,) = estimator.estimate(Frame(0.0, three_lights()))
    np.testing.assert_allclose(pose.keypoints, LIGHTS[np.arange(17) % 3], atol=1e-3)


def test_rtmo_sees_everybody_in_blue_green_and_red(rtmo: Path) -> None:
    """640×400 fits into 640×640 one to one, at the upper left. The model's first person is the blue
    light, as OpenCV has its pictures, the last the red one; keypoint k of person c lies k pixels to
    the right and c below."""
    poses = rtmlib.build(rtmlib.Options(model=str(rtmo))).estimate(Frame(0.0, three_lights()))
    by_x = sorted(poses, key=lambda pose: pose.keypoints[0, 0])
    for pose, light, below in zip(by_x, LIGHTS, (2, 1, 0), strict=True):
        expected = light + np.stack([np.arange(17), np.full(17, below)], axis=1)
        np.testing.assert_allclose(pose.keypoints, expected, atol=1e-3)
        assert (pose.score, pose.scores.tolist()) == (1.0, [1.0] * 17)


def test_rtmo_scales_a_larger_picture_down_and_its_joints_back(rtmo: Path) -> None:
    """1280×800 is halved: keypoint k of the first person lies 2 k pixels to the right. All three
    see the same white light, of which one is kept."""
    rgb = np.zeros((800, 1280, 3), np.uint8)
    rgb[400:402, 600:602] = 255
    (pose,) = rtmlib.build(rtmlib.Options(model=str(rtmo))).estimate(Frame(0.0, rgb))
    below = pose.keypoints[0, 1] - 400
    assert below in (0, 2, 4)
    expected = np.array([600, 400 + below]) + np.outer(np.arange(17), [2, 0])
    np.testing.assert_allclose(pose.keypoints, expected, atol=1e-3)


def test_rtmo_believes_who_is_sure_enough_and_once(rtmo: Path) -> None:
    """Blue is 0.89 sure, green 0.61, red 0.40; green lies 5 pixels beside blue, and boxes of 40
    pixels that are 5 apart share 35 / 45 of their area."""
    rgb = np.zeros((400, 640, 3), np.uint8)
    rgb[100, 100, 2], rgb[100, 105, 1], rgb[300, 300, 0] = 240, 200, 170

    def persons(**options: float) -> list[float]:
        built = rtmlib.build(rtmlib.Options(model=str(rtmo), **options))
        return sorted(float(pose.keypoints[0, 0]) for pose in built.estimate(Frame(0.0, rgb)))

    assert persons(least_score=0.3) == [100, 300]
    assert persons(least_score=0.5) == [100]
    assert persons(least_score=0.3, overlap=0.8) == [100, 105, 300]
    assert persons(least_score=0.9) == []


def test_a_model_that_finds_the_persons_itself_takes_no_boxes(rtmo: Path, tmp_path: Path) -> None:
    boxes = BoxOptions(file=boxes_file(tmp_path, (223.2, 97.6, 376.8, 302.4)))
    estimator = rtmlib.build(rtmlib.Options(model=str(rtmo), boxes=boxes))
    with pytest.raises(BadInput, match=r"boxes\.file is of no use to it"):
        estimator.estimate(grain())


def test_rtmlib_says_nothing_on_stdout_and_downloads_nothing(
    simcc: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import rtmlib.tools.base as base

    def refuse(url: str) -> str:
        raise AssertionError(f"{url} was to be downloaded")

    monkeypatch.setattr(base, "download_checkpoint", refuse)
    estimator = rtmlib.build(rtmlib.Options(model=str(simcc)))
    assert estimator._network.needs_boxes
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no model", "is no ONNX file that can be run: it begins with 'no model'"),
        (b"", "is no ONNX file that can be run: it is empty"),
        (b"\x08\xff", r"is no ONNX file that can be run: \[ONNXRuntimeError\]"),
    ],
)
def test_a_file_that_is_no_model_is_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    needs_rtmlib()
    (tmp_path / "model.onnx").write_bytes(content)
    estimator = rtmlib.build(rtmlib.Options(model=str(tmp_path / "model.onnx")))
    with pytest.raises(BadInput, match=said):
        estimator.estimate(grain())


def test_a_model_of_something_else_says_what_is_needed(tmp_path: Path) -> None:
    needs_rtmlib()

    def refused(path: Path) -> str:
        with pytest.raises(BadInput) as caught:
            rtmlib.build(rtmlib.Options(model=str(path))).estimate(grain())
        return str(caught.value)

    hand = brightest_simcc(tmp_path / "hand.onnx", keypoints=21)
    assert "has 21 keypoints. Needed are COCO's 17" in refused(hand)
    anysize = brightest_simcc(tmp_path / "any.onnx", size=("height", "width"))
    assert "takes pictures of any size" in refused(anysize)
    outputs = {"input_2": [1, 3, 8, 8]}
    from onnx import helper

    copy = [helper.make_node("Identity", ["input"], ["input_2"])]
    other = pose_models.saved(tmp_path / "other.onnx", copy, [1, 3, 8, 8], outputs)
    assert "is neither RTMPose" in refused(other)


def test_a_device_that_is_not_there_is_one_sentence(simcc: Path) -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this onnxruntime has CUDA")
    estimator = rtmlib.build(rtmlib.Options(model=str(simcc), device="cuda:1"))
    with pytest.raises(BadInput, match=r"'cuda:1'.*runs on .*CPUExecutionProvider only"):
        estimator.estimate(grain())


def test_a_model_is_one_of_the_manifest_or_a_file_that_is_there(tmp_path: Path) -> None:
    needs_rtmlib()
    assert rtmlib.build(rtmlib.Options()).checkpoints[-1] == "rtmpose_m_body7_onnx"
    with pytest.raises(BadInput, match="there is no such file"):
        rtmlib.build(rtmlib.Options(model=str(tmp_path / "none.onnx")))
    with pytest.raises(UserError, match="There is no checkpoint 'rtmpose_x'"):
        rtmlib.build(rtmlib.Options(model="rtmpose_x"))


def test_without_rtmlib_the_sentence_has_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rtmlib", None)
    with pytest.raises(MissingPackage, match="Install it with: pip install --no-deps rtmlib=="):
        rtmlib.build(rtmlib.Options(model="any.onnx"))


@pytest.mark.parametrize(
    "wrong", [{"least_score": 1.5}, {"overlap": -1.0}, {"device": "tpu"}, {"device": ""}]
)
def test_options_of_rtmlib_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadInput, match=name):
        rtmlib.Options(**wrong)


def test_the_model_is_pinned_by_its_content(simcc: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere.onnx"
    copy.write_bytes(simcc.read_bytes())
    one, other = (rtmlib.build(rtmlib.Options(model=str(path))) for path in (simcc, copy))
    assert one.settings == other.settings
    copy.write_bytes(simcc.read_bytes() + b"\0")
    assert rtmlib.build(rtmlib.Options(model=str(copy))).settings != one.settings
    faster = rtmlib.build(rtmlib.Options(model=str(simcc), boxes=BoxOptions(max_people=1)))
    assert faster.settings != one.settings
