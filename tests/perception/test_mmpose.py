"""mmpose's models in the product give what mmpose's own doors give where somebody is; mistakes in
a config or a checkpoint are one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from perception import sample, traces
from perception.cue import CueTimeline
from perception.errors import BadInput, UserError, WeightsError
from perception.recognizer import Frame
from perception.skeleton.boxes import BoxOptions
from perception.skeleton.pose import PoseEstimator
from perception.skeleton.pose_estimators import blazepose, mmpose, rtmlib
from reasoning.cli import main
from tests.perception.conftest import fetched
from tests.perception.pose_models import (
    HRNET,
    RTMO,
    RTMPOSE,
    boxes_file,
    grain,
    needs_mmpose,
    needs_rtmlib,
    random_model,
)

Checkpoint = Callable[[str], Path]
Corners = tuple[float, float, float, float]

HALPE = "rtmpose-t_8xb1024-700e_body8-halpe26-256x192"
MAN, WOMAN = (210.0, 40.0, 300.0, 330.0), (400.0, 20.0, 640.0, 200.0)


@pytest.fixture(autouse=True)
def installed() -> None:
    needs_mmpose()


def estimator(
    config: str, checkpoint: Path, folder: Path, *corners: Corners, **options: Any
) -> PoseEstimator:
    boxes = BoxOptions(file=boxes_file(folder, *corners)) if corners else BoxOptions()
    return mmpose.build(
        mmpose.Options(config=config, checkpoint=str(checkpoint), boxes=boxes, **options)
    )


def by_mmpose(config: str, bgr: npt.NDArray[np.uint8], corners: Sequence[Corners]) -> list[Any]:
    """What mmpose's own function finds in the boxes, with the same random weights."""
    model = random_model(config)
    from mmpose.apis import inference_topdown

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = inference_topdown(model, bgr, np.array(corners, np.float32))
    return [each.pred_instances for each in found]


def path_of(config: str) -> Path:
    from perception.skeleton.openmmlab.config_file import ConfigFile

    return ConfigFile.named(config, "mmpose").path


def changed(config: str, folder: Path, test_cfg: str) -> str:
    """A config of the user's own that changes how another one's model is run."""
    path = folder / "own.py"
    path.write_text(
        f"_base_ = [{str(path_of(config))!r}]\nmodel = dict(test_cfg=dict({test_cfg}))\n"
    )
    return str(path)


@pytest.mark.parametrize("config", [RTMPOSE, HRNET, HALPE])
def test_top_down_poses_are_those_of_mmposes_own_door(
    checkpoint: Checkpoint, tmp_path: Path, config: str
) -> None:
    """mmpose takes OpenCV's pictures, blue first. Halpe-26 begins with COCO's 17."""
    frame = grain()
    expected = by_mmpose(config, np.ascontiguousarray(frame.rgb[..., ::-1]), [MAN, WOMAN])
    poses = estimator(config, checkpoint(config), tmp_path, MAN, WOMAN).estimate(frame)
    assert len(poses) == 2
    for pose, own in zip(poses, expected, strict=True):
        np.testing.assert_allclose(pose.keypoints, own.keypoints[0, :17], atol=1e-3)
        scores = np.clip(own.keypoint_scores[0, :17], 0, 1)
        np.testing.assert_allclose(pose.scores, scores, atol=1e-5)


def test_rtmpose_of_rtmlib_and_of_mmpose_agree(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """One network, exported: the same crops, the same order of colours, the same joints. Where no
    bin rises above 0 the two differ by design, so that the scores are lifted first."""
    needs_rtmlib()
    import torch

    model = random_model(RTMPOSE)

    class Exported(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, picture: Any) -> Any:
            return self.model.head.forward(self.model.extract_feat(picture))

    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Exported().eval(),
            (torch.zeros(1, 3, 256, 192),),
            str(tmp_path / "rtmpose.onnx"),
            input_names=["input"],
            output_names=["simcc_x", "simcc_y"],
            dynamo=False,
        )
    config = changed(RTMPOSE, tmp_path, "flip_test=False")
    frame = grain()
    torch_poses = estimator(config, checkpoint(RTMPOSE), tmp_path, MAN, WOMAN).estimate(frame)
    onnx = rtmlib.build(
        rtmlib.Options(
            model=str(tmp_path / "rtmpose.onnx"),
            boxes=BoxOptions(file=boxes_file(tmp_path, MAN, WOMAN)),
        )
    )
    seen = 0
    for one, other in zip(torch_poses, onnx.estimate(frame), strict=True):
        sure = (one.scores > 0.05) & (other.scores > 0.05)
        seen += int(sure.sum())
        np.testing.assert_allclose(one.keypoints[sure], other.keypoints[sure], atol=0.1)
    assert seen >= 20


def test_a_batch_of_persons_is_each_of_them_whatever_its_size(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    crowd = [(20.0 * n, 10.0, 20.0 * n + 90, 300.0 - 20 * n) for n in range(5)]
    path = checkpoint(RTMPOSE)
    at_once, in_twos = (
        estimator(RTMPOSE, path, tmp_path, *crowd, persons_at_once=size).estimate(grain())
        for size in (16, 2)
    )
    assert len(at_once) == len(crowd)
    for one, other in zip(at_once, in_twos, strict=True):
        np.testing.assert_allclose(one.keypoints, other.keypoints, atol=1e-2)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


# --- one-stage -------------------------------------------------------------------------------


def rtmo(config: str, folder: Path, bias: float) -> tuple[Any, Path]:
    """RTMO with random weights of which each place's score and box are made tame, and its file."""
    import torch

    model = random_model(config)
    weights = model.state_dict()
    for name, value in weights.items():
        if "out_bbox" in name:
            value.zero_()
        elif "out_cls" in name:
            value.fill_(bias) if name.endswith("bias") else value.mul_(1e-3)
    torch.save({"state_dict": weights}, folder / "rtmo.pth")
    return model, folder / "rtmo.pth"


def test_a_one_stage_model_finds_whom_mmposes_own_door_finds(tmp_path: Path) -> None:
    """The 50 surest places are looked at."""
    config = changed(RTMO, tmp_path, "nms_pre=50")
    frame = grain()
    model, path = rtmo(config, tmp_path, bias=0.0)
    from mmpose.apis import inference_bottomup

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (found,) = inference_bottomup(model, np.ascontiguousarray(frame.rgb[..., ::-1]))
    expected = found.pred_instances
    assert np.isfinite(expected.keypoints).all()
    poses = estimator(config, path, tmp_path, least_score=0.0).estimate(frame)
    assert len(poses) == len(expected.keypoints) > 1
    for pose, own in zip(poses, expected.keypoints, strict=True):
        np.testing.assert_allclose(pose.keypoints, own, rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose([pose.score for pose in poses], expected.bbox_scores, atol=1e-5)
    least = float(np.median(expected.bbox_scores))
    sure = estimator(config, path, tmp_path, least_score=least).estimate(frame)
    assert len(sure) == int((expected.bbox_scores >= least).sum()) < len(poses)


def test_a_one_stage_model_that_finds_nobody_has_nobody(tmp_path: Path) -> None:
    built = estimator(RTMO, rtmo(RTMO, tmp_path, bias=-50.0)[1], tmp_path)
    for frame in (grain(), Frame(0.0, np.zeros((1, 1, 3), np.uint8))):
        assert built.estimate(frame) == ()


# --- mistakes --------------------------------------------------------------------------------


def refusal(config: str, checkpoint: Path, folder: Path, **options: Any) -> str:
    with pytest.raises((UserError, WeightsError)) as caught:
        estimator(config, checkpoint, folder, MAN, **options).estimate(grain())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_checkpoint_of_another_config_is_one_sentence(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    halpe = refusal(RTMPOSE, checkpoint(HALPE), tmp_path)
    assert "does not fit the config" in halpe
    assert "size mismatch for head.final_layer.weight" in halpe
    import torch

    weights = torch.load(checkpoint(RTMPOSE), weights_only=True)
    del weights["state_dict"]["head.mlp.0.g"]
    torch.save(weights, tmp_path / "less.pth")
    less = refusal(RTMPOSE, tmp_path / "less.pth", tmp_path)
    assert "it lacks 1 of the model's " in less
    assert "'head.mlp.0.g'" in less


def test_a_file_that_is_no_checkpoint_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "broken.pth"
    path.write_bytes(b"no checkpoint")
    assert str(path) in refusal(RTMPOSE, path, tmp_path)
    assert "there is no such file" in refusal(RTMPOSE, tmp_path / "none.pth", tmp_path)


def test_a_config_that_is_not_there_names_the_nearest(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    said = refusal("rtmpose-t_8xb256-420e_coco-256x193", checkpoint(RTMPOSE), tmp_path)
    assert "mmpose ships no config 'rtmpose-t_8xb256-420e_coco-256x193'" in said
    assert RTMPOSE in said
    said = refusal(str(tmp_path / "none.py"), checkpoint(RTMPOSE), tmp_path)
    assert "There is no config" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("this is no Python", "cannot be read as Python: line 1: invalid syntax"),
        ("raise ValueError('in the config')", "in the config"),
        ("model = None", "has no model"),
        ("model = dict(type='PoseLifter')", "has a model of the type PoseLifter"),
        ("model = dict(type='TopdownPoseEstimator', backbone=dict(type='Nothing'))", "Nothing"),
    ],
)
def test_a_config_that_cannot_be_used_is_one_sentence(
    checkpoint: Checkpoint, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "own.py"
    path.write_text(text)
    assert said in refusal(str(path), checkpoint(RTMPOSE), tmp_path)


def test_a_model_of_other_keypoints_says_which_it_lacks(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    crowd = "td-hm_hrnet-w32_8xb64-210e_crowdpose-256x192"
    said = refusal(crowd, checkpoint(crowd), tmp_path)
    assert "tells the keypoints of 'crowdpose', not COCO's 17: it lacks nose, left_eye" in said


def test_a_device_that_is_not_there_is_one_sentence(checkpoint: Checkpoint, tmp_path: Path) -> None:
    said = refusal(RTMPOSE, checkpoint(RTMPOSE), tmp_path, device="quantum")
    assert "mmpose's device 'quantum' is none of cpu, cuda, cuda:1" in said


@pytest.mark.parametrize("wrong", [{"persons_at_once": 0}, {"least_score": 2.0}])
def test_options_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadInput, match=name):
        mmpose.Options(**wrong)


def test_a_config_is_pinned_by_its_content_and_that_of_its_bases(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    base, own = tmp_path / "base.py", tmp_path / "own.py"
    shipped = path_of(RTMPOSE)
    base.write_text(shipped.read_text().replace("../../../", f"{shipped.parents[3]}/"))
    own.write_text("_base_ = ['base.py']\n")

    def pinned() -> object:
        return dict(estimator(str(own), checkpoint(RTMPOSE), tmp_path).settings)

    before = pinned()
    assert before == pinned()
    base.write_text(base.read_text() + "\n# another\n")
    assert before != pinned()


# --- the whole command -----------------------------------------------------------------------


@pytest.mark.weights
def test_rtmpose_runs_from_a_clip_to_a_track(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two people of the sample, in boxes of the embedded detector; random weights, so that only
    who is where in time is known."""
    for name in (*blazepose.CHECKPOINTS, "sports2d_demo"):
        fetched(name)
    estimators = "recognizers.action.pose_estimators.mmpose"
    settings = {
        "recognizers.action.pose_estimator": "mmpose",
        f"{estimators}.config": RTMPOSE,
        f"{estimators}.checkpoint": checkpoint(RTMPOSE),
        "recognizers.action.rate_hz": 5,
        "recognizers.action.tracker.max_growth": 100,
        "recognizers.action.tracker.max_jump": 10,
    }
    arguments = ["perceive", str(sample.compose()), "--only", "action", "--out", str(tmp_path)]
    for key, value in settings.items():
        arguments += ["--set", f"{key}={value}"]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0, capsys.readouterr().err
    (track,) = CueTimeline.read(next(tmp_path.glob("*.cues.json"))).tracks
    assert track.source.settings["pose_estimator"] == "mmpose"
    assert "weights_sha256" in track.source.settings["pose_estimators"]["mmpose"]
    people = traces.load(next(tmp_path.glob("*.traces.npz")))
    assert set(people["action/poses/person"].tolist()) >= {1, 2}
