"""Labels, their merging, and the ONNX runtime of PoseC3D."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from perception.errors import BadInput, WeightsError
from perception.shipped import shipped
from perception.skeleton.heatmaps import HeatmapShape
from perception.skeleton.posec3d import ActionLabels, OnnxPoseC3D, embedded

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


def read(tmp_path: Path, **changed: Any) -> tuple[ActionLabels, HeatmapShape]:
    path = tmp_path / "labels.json"
    path.write_text(json.dumps({**DOCUMENT, **changed}))
    return ActionLabels.read(path)


def test_labels_are_read_with_phrases_and_shape(tmp_path: Path) -> None:
    labels, shape = read(tmp_path)
    assert labels.names == ("swipe", "sit", "none")
    assert labels.phrases == ("swipes", "sits down", "")
    assert labels.none == 2
    assert labels.groups.tolist() == [0, 0, 1, 2]
    assert shape == HeatmapShape(frames=8, size=16, sigma=0.6, padding=0.25)


@pytest.mark.parametrize(
    "changed",
    [{"classes": ["left", "unheard of"]}, {"none": "nothing"}, {"labels": []}, {"shape": {}}],
)
def test_a_wrong_labels_file_is_named(tmp_path: Path, changed: dict[str, Any]) -> None:
    with pytest.raises(WeightsError, match=r"labels\.json.* is not a labels file"):
        read(tmp_path, **changed)


def test_a_missing_labels_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"absent\.json"):
        ActionLabels.read(tmp_path / "absent.json")


def test_merged_outputs_add_up_after_the_temperature(tmp_path: Path) -> None:
    labels, _ = read(tmp_path)
    # with temperature 2: e^0.5, e^0.5, e^1, e^0
    got = labels.probabilities(np.array([1, 1, 2, 0], np.float32))
    parts = np.exp([0.5, 0.5, 1.0, 0.0])
    expected = np.array([parts[0] + parts[1], parts[2], parts[3]]) / parts.sum()
    assert got == pytest.approx(expected, rel=1e-6)
    assert [name for name, _ in labels.top(got, 2)] == ["swipe", "sit"]


def test_the_bias_favours_none_before_the_temperature(tmp_path: Path) -> None:
    labels, _ = read(tmp_path, none_bias=3.0)
    got = labels.probabilities(np.array([1, 1, 2, 0], np.float32))
    parts = np.exp([0.5, 0.5, 1.0, 1.5])
    assert got[2] == pytest.approx(parts[3] / parts.sum(), rel=1e-6)


def test_the_digest_follows_phrases_and_temperature(tmp_path: Path) -> None:
    digest = read(tmp_path)[0].digest
    assert read(tmp_path)[0].digest == digest
    assert read(tmp_path, temperature=1.9)[0].digest != digest
    assert read(tmp_path, none_bias=0.5)[0].digest != digest
    renamed = {**DOCUMENT["labels"], "sit": {"phrase": "takes a seat", "classes": ["sit"]}}
    assert read(tmp_path, labels=renamed)[0].digest != digest


def test_huge_logits_stay_finite(tmp_path: Path) -> None:
    labels, _ = read(tmp_path)
    assert labels.probabilities(np.array([5000, 0, 0, -5000], np.float32)).tolist() == [1, 0, 0]


def still() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    pose = rng.uniform(0, 100, (1, 17, 2)).astype(np.float32)
    return np.repeat(pose, 30, axis=0), np.ones((30, 17), np.float32)


@pytest.mark.parametrize(
    ("keypoints", "scores"),
    [((30, 17, 3), (30, 17)), ((30, 17, 2), (29, 17)), ((0, 17, 2), (0, 17)), ((17, 2), (17,))],
)
def test_wrong_shapes_are_named(
    tmp_path: Path, keypoints: tuple[int, ...], scores: tuple[int, ...]
) -> None:
    labels, shape = read(tmp_path)
    classifier = OnnxPoseC3D(tmp_path / "never read.onnx", labels, shape)
    with pytest.raises(BadInput, match="skeleton clip needs"):
        classifier.classify(np.zeros(keypoints, np.float32), np.zeros(scores, np.float32))


def test_the_shipped_labels_hang_together() -> None:
    labels = embedded().labels
    assert len(labels.names) == len(set(labels.names)) >= 37
    assert labels.none is not None
    assert all(phrase or i == labels.none for i, phrase in enumerate(labels.phrases))
    assert set(labels.groups) == set(range(len(labels.names)))


def embedded_files() -> Path:
    return shipped("checkpoints") / "posec3d_mimed"


def classifier(mirror: bool = False) -> OnnxPoseC3D:
    labels, shape = ActionLabels.read(embedded_files() / "labels.json")
    return OnnxPoseC3D(embedded_files() / "posec3d_mimed.onnx", labels, shape, mirror=mirror)


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
