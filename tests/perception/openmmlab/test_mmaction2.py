"""PoseC3D in mmaction2: our door against its own pipeline, and our weights in both runtimes."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perception
from perception.errors import BadInput, UserError, WeightsError
from perception.shipped import shipped
from perception.skeleton import posec3d
from perception.skeleton.openmmlab import stack
from perception.skeleton.posec3d import PoseC3D
from perception.skeleton.runtimes import mmaction2
from tests.perception.openmmlab.poses import people, pipeline, theirs

pytest.importorskip("mmaction", reason="needs the extra openmmlab")
torch = pytest.importorskip("torch", reason="needs the extra openmmlab")

TOLERANCE = 1e-4
KEYPOINT = "slowonly_r50_8xb16-u48-240e_ntu60-xsub-keypoint"
LIMB = "slowonly_r50_8xb16-u48-240e_ntu60-xsub-limb"


def built(config: str, **changed: Any) -> tuple[Any, Any]:
    """mmaction2's own model of a config that it ships, with random weights, and its settings."""
    stack.load("mmaction.models.recognizers", "A test")
    from mmaction.registry import MODELS
    from mmengine.config import Config
    from mmengine.registry import DefaultScope

    from perception.skeleton.openmmlab.config_file import ConfigFile

    settings = Config.fromfile(str(ConfigFile.named(config, "mmaction").path))
    settings.merge_from_dict(changed)
    torch.manual_seed(0)
    with DefaultScope.overwrite_default_scope("mmaction"):
        model = MODELS.build(settings.model).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm3d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.uniform_(module.bias, -0.3, 0.3)
            torch.nn.init.uniform_(module.running_mean, -0.3, 0.3)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    torch.nn.init.normal_(model.cls_head.fc_cls.weight, std=0.5)
    return model, settings


def saved(path: Path, model: Any, **meta: Any) -> str:
    torch.save({"state_dict": model.state_dict(), "meta": meta}, path)
    return str(path)


@pytest.mark.parametrize("config", [KEYPOINT, LIMB])
def test_the_published_networks_say_the_same_through_our_door(tmp_path: Path, config: str) -> None:
    model, settings = built(config)
    checkpoint = saved(tmp_path / "random.pth", model)
    options = mmaction2.Options(config=config, checkpoint=checkpoint, clips=1)
    ours = PoseC3D(mmaction2.build(options))
    keypoints, scores = people(2, 150, seed=3)

    transforms = copy.deepcopy(settings.test_pipeline)
    transforms[0]["num_clips"] = 1
    views = torch.from_numpy(theirs(transforms, keypoints, scores))
    assert views.shape == (2, 17, 48, 64, 64)
    from mmaction.structures import ActionDataSample

    with torch.no_grad():
        data = {"inputs": [views], "data_samples": [ActionDataSample()]}
        expected = model.test_step(data)[0].pred_score.numpy()
    got = ours.classify(keypoints, scores, (480, 640))
    assert got.shape == (60,)
    assert expected.max() > 2 / 60
    assert np.abs(got - expected).max() <= TOLERANCE


def test_the_whole_test_pipeline_of_the_config_is_served(tmp_path: Path) -> None:
    model, _ = built(KEYPOINT)
    runtime = mmaction2.build(mmaction2.Options(checkpoint=saved(tmp_path / "a.pth", model)))
    assert (runtime.settings["clips"], runtime.settings["double"]) == (10, True)
    assert runtime.average == "prob"
    keypoints, scores = people(1, 60, seed=1)
    count = 0
    for volume in runtime.recipe.volumes(keypoints, scores, (480, 640), mirror=False):
        assert volume.shape == (17, 48, 64, 64)
        count += 1
    assert count == 20


CONFIG = """
model = dict(
    type='Recognizer3D',
    backbone=dict(type='ResNet3dSlowOnly', depth=50, pretrained=None, in_channels=17,
        base_channels=4, num_stages=3, out_indices=(2,), stage_blocks=(1, 1, 1),
        conv1_stride_s=1, pool1_stride_s=1, inflate=(0, 1, 1), spatial_strides=(2, 2, 2),
        temporal_strides=(1, 1, 2), dilations=(1, 1, 1)),
    cls_head=dict(type='I3DHead', in_channels=64, num_classes=CLASSES, average_clips='prob'))
test_pipeline = PIPELINE
"""


WITHOUT_SCALE = [{k: v for k, v in each.items() if k != "scale"} for each in pipeline(False)]
SIDES = {"left_limb": [0], "right_limb": [1]}
FEWER_LIMBS = [
    {**each, "skeletons": [[5, 7], [6, 8]], **SIDES} if "sigma" in each else each
    for each in pipeline(True, frames=8)
]


class Small:
    """A config of one's own with a small network, and its checkpoint."""

    def __init__(self, folder: Path, classes: int = 3, **meta: Any) -> None:
        transforms = pipeline(False, clips=2, frames=8)
        text = CONFIG.replace("CLASSES", str(classes)).replace("PIPELINE", repr(transforms))
        self.folder, self.config = folder, folder / "own.py"
        self.config.write_text(text)
        stack.load("mmaction.models.recognizers", "A test")
        from mmaction.registry import MODELS
        from mmengine.config import Config
        from mmengine.registry import DefaultScope

        torch.manual_seed(1)
        with DefaultScope.overwrite_default_scope("mmaction"):
            self.model = MODELS.build(Config.fromfile(str(self.config)).model).eval()
        torch.nn.init.normal_(self.model.cls_head.fc_cls.weight, std=2)
        self.checkpoint = saved(folder / "own.pth", self.model, **meta)

    def options(self, **changed: Any) -> mmaction2.Options:
        given = {"config": str(self.config), "checkpoint": self.checkpoint, "labels": ""}
        return mmaction2.Options(**{**given, **changed})

    def build(self, **changed: Any) -> PoseC3D:
        return PoseC3D(mmaction2.build(self.options(**changed)))


def test_the_classes_come_from_the_checkpoint(tmp_path: Path) -> None:
    meta = {"dataset_meta": {"classes": ["drink water", "juggle", "sit"]}}
    labels = Small(tmp_path, **meta).build().labels
    assert labels.names == ("drink water", "juggle", "sit")
    assert labels.phrases == ("drinks water", "does: juggle", "does: sit")


def test_the_classes_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("a\nb\nc\n")
    small = Small(tmp_path)
    own = small.build(labels=str(path))
    assert own.labels.names == ("a", "b", "c")
    before = own.settings
    path.write_text("a\nb\nd\n")
    assert small.build(labels=str(path)).settings != before


def test_a_checkpoint_without_classes_asks_for_them(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"names no classes\. Give labels: ntu60"):
        _ = Small(tmp_path).build().labels


def test_labels_that_do_not_fit_the_head_are_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"head of 3 outputs, and there are 60 labels \(ntu60\)"):
        Small(tmp_path).build(labels="ntu60")


def test_classes_of_the_checkpoint_that_do_not_fit_its_head_are_an_error(tmp_path: Path) -> None:
    own = Small(tmp_path, CLASSES=["a", "b"]).build()
    with pytest.raises(BadInput, match="head of 3 outputs, and there are 2 labels"):
        own.classify(*(each[0] for each in people(1, 20, 0)))


def test_keys_of_the_config_can_be_changed(tmp_path: Path) -> None:
    small = Small(tmp_path, classes=120)
    text = small.config.read_text().replace("num_classes=120", "num_classes=60")
    small.config.write_text(text)
    own = small.build(labels="ntu120", cfg_options={"model.cls_head.num_classes": 120})
    assert own.classify(*people(1, 20, 0)).shape == (120,)
    assert own.settings != small.build(labels="ntu60").settings


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"config": "slowonly_r50_8xb16-u48-240e_ntu60-xsub-keypiont"}, KEYPOINT),
        ({"config": "absent/own.py"}, "There is no config 'absent/own.py'"),
        ({"checkpoint": "absent.pth"}, "there is no such file"),
        ({"labels": "ntu61"}, "Did you mean 'ntu60'"),
        ({"labels": "absent.txt"}, "absent.txt"),
        ({"cfg_options": {"model.cls_head.type": "NoHead"}}, "cannot build the model"),
        ({"cfg_options": {"test_pipeline": [{"type": "Flip"}]}}, "the transform 'Flip'"),
        ({"cfg_options": {"test_pipeline": []}}, "no test_pipeline"),
        ({"cfg_options": {"test_pipeline": WITHOUT_SCALE}}, "own.py' lacks scale: two whole"),
        ({"cfg_options": {"model.cls_head": None}}, "cannot build the model"),
        ({"cfg_options": {"model.backbone.in_channels": 3}}, "does not fit the config"),
        ({"cfg_options": {"test_pipeline": FEWER_LIMBS}}, "volumes of [2, 8, 64, 64]"),
        ({"cfg_options": {"model.backbone.base_channels": 8}}, "does not fit the config"),
        ({"device": "gpu"}, "device 'gpu' is none of cpu, cuda, cuda:1 (a second graphics card)"),
        ({"device": "cuda:77"}, "device 'cuda:77' cannot be used"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    small = Small(tmp_path, CLASSES=["a", "b", "c"])
    with pytest.raises((UserError, WeightsError)) as caught:
        small.build(**changed).classify(*people(1, 20, 0))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_scores_that_are_no_numbers_are_never_given(tmp_path: Path) -> None:
    small = Small(tmp_path, CLASSES=["a", "b", "c"])
    small.model.cls_head.fc_cls.bias.data[1] = float("nan")
    saved(Path(small.checkpoint), small.model, CLASSES=["a", "b", "c"])
    with pytest.raises(WeightsError, match="no numbers"):
        small.build().classify(*people(1, 20, 0))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("frames", [1, 3, 8, 47, 60])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_clips_of_every_shape_give_finite_scores(tmp_path: Path, frames: int, count: int) -> None:
    own = Small(tmp_path, CLASSES=["a", "b", "c"]).build()
    keypoints, scores = people(count, frames, seed=frames)
    if frames > 10:
        keypoints[0, 5:9], scores[0, 5:9] = 0, 0
        keypoints[:, 10:] = keypoints[::-1, 10:]
    got = own.classify(keypoints, scores, (480, 640))
    assert np.isfinite(got).all()
    assert got.sum() == pytest.approx(1, abs=1e-5)
    nobody = own.classify(keypoints * 0, scores * 0)
    assert np.isfinite(nobody).all()


# --- our own weights in both runtimes ------------------------------------------------------------


SHARED = Path(perception.__file__).parents[2] / "shared" / "data"


def sequences() -> list[tuple[Any, Any]]:
    """The test subjects' actions through random cameras where the data set lies beside the
    checkout, else 20 generated sequences."""
    if not (SHARED / "mimed_actions").is_dir():
        return [(k[0], s[0]) for k, s in (people(1, 30 + seed, seed) for seed in range(20))]
    place = str(shipped("checkpoints") / "posec3d_mimed")
    sys.path.insert(0, place)
    try:
        import skeletons
    finally:
        sys.path.remove(place)
    rng = np.random.default_rng(0)
    found = []
    for clip in skeletons.load_parts(SHARED / "mimed_actions", SHARED / "jhmdb")["test"].actions[
        ::4
    ]:
        points = clip.points
        if points.shape[2] == 3:
            points = skeletons.project(points, skeletons.random_camera(rng))
        points = (points - points.min((0, 1))) / np.ptp(points, axis=(0, 1)).max() * 300 + 50
        scores = np.repeat(skeletons.LIVE_SCORES[None], len(points), axis=0)
        found.append((points.astype(np.float32), scores))
    return found


def ours_in_mmaction2() -> Any:
    """The network of ``posec3d_mimed.onnx``, batch normalisation unfolded, built by mmaction2."""
    training = pytest.importorskip("perception.skeleton.training.weights", reason="no training")
    start = training.read(shipped("checkpoints") / "posec3d_mimed" / "posec3d_mimed.onnx")
    stack.load("mmaction.models.recognizers", "A test")
    from mmaction.registry import MODELS
    from mmengine.registry import DefaultScope

    from perception.skeleton.training.network import with_17_joints

    classes = start.weights["cls_head.fc_cls.weight"].shape[0]
    with DefaultScope.overwrite_default_scope("mmaction"):
        model = MODELS.build(start.architecture.mmaction_config(classes))
    model.load_state_dict(with_17_joints(start.weights, start.architecture))
    return model.eval()


def test_our_weights_say_the_same_on_onnxruntime_and_in_mmaction2() -> None:
    model, runtime = ours_in_mmaction2(), posec3d.embedded()._runtime
    labels, found, worst = runtime.labels, [], 0.0
    for keypoints, scores in sequences():
        views = runtime.recipe.volumes(keypoints[None], scores[None], (480, 640), mirror=False)
        volume = next(views)
        got = runtime.logits(volume)
        with torch.no_grad():
            features, _ = model.extract_feat(torch.from_numpy(volume)[None, None], test_mode=True)
            want = model.cls_head(features)[0].numpy()
        worst = max(worst, float(np.abs(got - want).max()))
        assert (
            labels.top(labels.probabilities(got), 1)[0][0]
            == (labels.top(labels.probabilities(want), 1)[0][0])
        )
        found.append(int(np.argmax(got)))
    assert len(found) >= 20
    assert len(set(found)) > 1
    assert worst <= TOLERANCE
