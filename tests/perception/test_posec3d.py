"""Labels, their merging, and PoseC3D in the runtime onnx."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from perception.errors import BadInput, UnknownName, WeightsError
from perception.shipped import shipped
from perception.skeleton.action_labels import ActionLabels, shipped_labels
from perception.skeleton.heatmaps import HeatmapShape
from perception.skeleton.posec3d import PoseC3D, embedded
from perception.skeleton.runtimes import onnx

Floats = npt.NDArray[np.float32]

DOCUMENT: dict[str, Any] = {
    "shape": {"frames": 8, "size": 16},
    "temperature": 2.0,
    "none_bias": 0.0,
    "none": "none",
    "classes": ["left", "right", "sit", "none"],
    "labels": {
        "swipe": {"phrase": "swipes", "classes": ["left", "right"]},
        "sit": {"phrase": "sits down", "classes": ["sit"]},
        "none": {"phrase": "", "classes": ["none"]},
    },
}


def written(tmp_path: Path, **changed: Any) -> Path:
    path = tmp_path / "labels.json"
    path.write_text(json.dumps({**DOCUMENT, **changed}))
    return path


def read(tmp_path: Path, **changed: Any) -> ActionLabels:
    return ActionLabels.read(written(tmp_path, **changed))


def runtime(labels: Path) -> onnx.OnnxRuntime:
    return onnx.build(onnx.Options(labels=str(labels)))


def test_labels_are_read_with_phrases_and_shape(tmp_path: Path) -> None:
    labels, recipe = read(tmp_path), runtime(written(tmp_path)).recipe
    assert labels.names == ("swipe", "sit", "none")
    assert labels.phrases == ("swipes", "sits down", "")
    assert labels.none == 2
    assert labels.groups.tolist() == [0, 0, 1, 2]
    assert recipe.shape == HeatmapShape(frames=8, size=16, sigma=0.6, padding=0.25)
    assert recipe.joints == (0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
    assert runtime(written(tmp_path, joints=[0, 1])).recipe.joints == (0, 1)


@pytest.mark.parametrize(
    "changed",
    [{"classes": ["left", "unheard of"]}, {"none": "nothing"}, {"labels": []}, {"shape": {}}],
)
def test_a_wrong_labels_file_is_named(tmp_path: Path, changed: dict[str, Any]) -> None:
    with pytest.raises(WeightsError, match=r"labels\.json.* is not a labels file"):
        runtime(written(tmp_path, **changed))


def test_joints_that_do_not_exist_are_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"joints \[0, 17\]"):
        runtime(written(tmp_path, joints=[0, 17]))


def test_a_missing_labels_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"absent\.json"):
        ActionLabels.read(tmp_path / "absent.json")


def test_merged_outputs_add_up_after_the_temperature(tmp_path: Path) -> None:
    labels = read(tmp_path)
    # with temperature 2: e^0.5, e^0.5, e^1, e^0
    got = labels.probabilities(np.array([1, 1, 2, 0], np.float32))
    parts = np.exp([0.5, 0.5, 1.0, 0.0])
    expected = np.array([parts[0] + parts[1], parts[2], parts[3]]) / parts.sum()
    assert got == pytest.approx(expected, rel=1e-6)
    assert [name for name, _ in labels.top(got, 2)] == ["swipe", "sit"]


def test_the_bias_favours_none_before_the_temperature(tmp_path: Path) -> None:
    labels = read(tmp_path, none_bias=3.0)
    got = labels.probabilities(np.array([1, 1, 2, 0], np.float32))
    parts = np.exp([0.5, 0.5, 1.0, 1.5])
    assert got[2] == pytest.approx(parts[3] / parts.sum(), rel=1e-6)


def test_the_digest_follows_phrases_and_temperature(tmp_path: Path) -> None:
    digest = read(tmp_path).digest
    assert read(tmp_path).digest == digest
    assert read(tmp_path, temperature=1.9).digest != digest
    assert read(tmp_path, none_bias=0.5).digest != digest
    renamed = {**DOCUMENT["labels"], "sit": {"phrase": "takes a seat", "classes": ["sit"]}}
    assert read(tmp_path, labels=renamed).digest != digest


def test_huge_logits_stay_finite(tmp_path: Path) -> None:
    labels = read(tmp_path)
    assert labels.probabilities(np.array([5000, 0, 0, -5000], np.float32)).tolist() == [1, 0, 0]


def still() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    pose = rng.uniform(0, 100, (1, 17, 2)).astype(np.float32)
    return np.repeat(pose, 30, axis=0), np.ones((30, 17), np.float32)


@pytest.mark.parametrize(
    ("keypoints", "scores"),
    [
        ((30, 17, 3), (30, 17)),
        ((30, 17, 2), (29, 17)),
        ((0, 17, 2), (0, 17)),
        ((17, 2), (17,)),
        ((2, 30, 17, 2), (30, 17)),
        ((0, 30, 17, 2), (0, 30, 17)),
    ],
)
def test_wrong_shapes_are_named(keypoints: tuple[int, ...], scores: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match="skeleton clip needs"):
        embedded().classify(np.zeros(keypoints, np.float32), np.zeros(scores, np.float32))


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ("posec3d_mimd", UnknownName, "Did you mean 'posec3d_mimed'"),
        ("no/such.onnx", BadInput, r"no/such\.onnx.*there is no such file"),
        (".", BadInput, r"has \d+ \.onnx files"),
    ],
)
def test_a_network_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, error: type[Exception], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=said):
        onnx.build(onnx.Options(checkpoint=given))


def test_a_network_that_does_not_fit_its_labels_is_told(tmp_path: Path) -> None:
    keypoints, scores = still()
    with pytest.raises(WeightsError, match=r"takes volumes of \[17, 20, 40, 40\].*\[17, 8, 16"):
        PoseC3D(runtime(written(tmp_path))).classify(keypoints, scores)
    shape = {"frames": 20, "size": 40}
    with pytest.raises(WeightsError, match="has 45 outputs, its labels file 4"):
        PoseC3D(runtime(written(tmp_path, shape=shape))).classify(keypoints, scores)


def test_a_file_that_is_no_network_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.onnx").write_bytes(b"nothing of the kind")
    written(tmp_path)
    classifier = PoseC3D(onnx.build(onnx.Options(checkpoint=str(tmp_path))))
    assert classifier.checkpoints == ()
    with pytest.raises(WeightsError, match=r"mine\.onnx.* is no network"):
        classifier.classify(*still())


def test_a_network_of_ones_own_runs_from_its_folder(tmp_path: Path) -> None:
    for name in ("posec3d_mimed.onnx", "labels.json"):
        (tmp_path / name).write_bytes((embedded_files() / name).read_bytes())
    own = PoseC3D(onnx.build(onnx.Options(checkpoint=str(tmp_path))))
    assert np.array_equal(own.classify(*still()), classifier().classify(*still()))
    assert own.settings["weights_sha256"]
    assert own.settings != classifier().settings


def test_class_names_a_line_each_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("Drink water.\n\n juggle clubs \n")
    labels = ActionLabels.read(path)
    assert labels.names == ("Drink water.", "juggle clubs")
    assert labels.phrases == ("drinks water", "does: juggle clubs")
    assert (labels.none, labels.outputs) == (None, 2)
    path.write_text("wave\nwave\n")
    with pytest.raises(WeightsError, match="names 'wave' twice"):
        ActionLabels.read(path)
    path.write_text("\n")
    with pytest.raises(WeightsError, match="is empty"):
        ActionLabels.read(path)


def test_ntus_classes_are_shipped_in_their_order() -> None:
    sixty, all_of_them = shipped_labels("ntu60"), shipped_labels("ntu120")
    assert (sixty.outputs, all_of_them.outputs) == (60, 120)
    assert sixty.names == all_of_them.names[:60]
    assert (sixty.names[0], sixty.phrases[0]) == ("drink water", "drinks water")
    assert sixty.names[49] == "punching/slapping other person"
    assert all_of_them.names[119] == "finger-guessing game (playing rock-paper-scissors)"
    assert len(set(all_of_them.phrases)) == 120
    assert all_of_them.groups.tolist() == list(range(120))
    with pytest.raises(UnknownName, match="Did you mean 'ntu60'"):
        shipped_labels("ntu_60")


def test_the_shipped_labels_hang_together() -> None:
    labels = embedded().labels
    assert len(labels.names) == len(set(labels.names)) >= 37
    assert labels.none is not None
    assert all(phrase or i == labels.none for i, phrase in enumerate(labels.phrases))
    assert set(labels.groups) == set(range(len(labels.names)))


def embedded_files() -> Path:
    return shipped("checkpoints") / "posec3d_mimed"


def classifier(mirror: bool = False) -> PoseC3D:
    return embedded(mirror=mirror)


def test_the_embedded_network_gives_probabilities() -> None:
    probabilities = classifier().classify(*still())
    assert probabilities.shape == (len(embedded().labels.names),)
    assert probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_unit_and_place_of_the_picture_do_not_matter() -> None:
    keypoints, scores = still()
    here = classifier().classify(keypoints, scores)
    there = classifier().classify(keypoints * 7 + [300, 40], scores)
    assert here == pytest.approx(there, abs=1e-3)


def test_eyes_and_ears_do_not_matter() -> None:
    keypoints, scores = still()
    moved = keypoints.copy()
    moved[:, 1:5] += 500
    assert np.array_equal(
        classifier().classify(keypoints, scores), classifier().classify(moved, scores)
    )


def test_averaged_with_its_mirror_a_clip_and_its_mirror_image_are_one() -> None:
    keypoints, scores = still()
    order = [0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15]
    flipped = (keypoints * [-1, 1])[:, order]
    both = classifier(mirror=True)
    assert both.classify(keypoints, scores) == pytest.approx(
        both.classify(flipped, scores), abs=1e-5
    )


def jumping_jacks(seconds: float = 2.0) -> tuple[Floats, Floats]:
    """Somebody from the front: arms from down to overhead, legs apart and together, twice."""
    frames = round(seconds * 15)
    opened = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(frames) / 15)
    arm, leg = np.radians(10 + 150 * opened), np.radians(3 + 22 * opened)
    keypoints = np.zeros((frames, 17, 2), np.float32)
    keypoints[:, 0] = (0, -70)
    for side, sign in ((0, 1), (1, -1)):
        shoulder, hip = np.array([sign * 18, -50]), np.array([sign * 10, 0])
        down = np.stack([sign * np.sin(arm), np.cos(arm)], axis=1)
        out = np.stack([sign * np.sin(leg), np.cos(leg)], axis=1)
        keypoints[:, 5 + side], keypoints[:, 11 + side] = shoulder, hip
        keypoints[:, 7 + side] = shoulder + 28 * down
        keypoints[:, 9 + side] = shoulder + 52 * down
        keypoints[:, 13 + side] = hip + 42 * out
        keypoints[:, 15 + side] = hip + 82 * out
    return keypoints * 2 + 300, np.ones((frames, 17), np.float32)


def test_the_embedded_network_knows_jumping_jacks_and_standing() -> None:
    network = classifier()
    keypoints, scores = jumping_jacks()
    assert network.labels.top(network.classify(keypoints, scores), 1)[0][0] == "jumping jack"
    standing = np.repeat(keypoints[:1], 30, axis=0)
    assert network.labels.top(network.classify(standing, scores), 1)[0][0] == "none"


def test_joints_that_are_no_numbers_are_not_seen() -> None:
    keypoints, scores = still()
    lost, unseen = keypoints.copy(), scores.copy()
    lost[3:9, 9], unseen[3:9, 9] = np.nan, 0
    with_hole = classifier().classify(lost, scores)
    assert np.array_equal(with_hole, classifier().classify(keypoints, unseen))
    assert np.isfinite(with_hole).all()


def test_two_people_are_one_clip_in_any_order() -> None:
    keypoints, scores = jumping_jacks()
    both = np.stack([keypoints, keypoints + 150]), np.stack([scores, scores])
    swapped = both[0][::-1], both[1][::-1]
    got = classifier().classify(*both)
    assert got == pytest.approx(classifier().classify(*swapped), abs=1e-6)
    nobody = np.stack([keypoints, np.zeros_like(keypoints)]), np.stack([scores, scores * 0])
    alone = classifier().classify(keypoints, scores)
    assert classifier().classify(*nobody) == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("frames", [1, 2, 19, 20, 21, 150])
def test_clips_of_every_length_give_probabilities(frames: int) -> None:
    keypoints, scores = jumping_jacks(frames / 15)
    scores[::3] = 0
    got = classifier().classify(keypoints, scores)
    assert np.isfinite(got).all()
    assert got.sum() == pytest.approx(1, abs=1e-5)
