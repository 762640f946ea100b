"""The data: public 3D and 2D skeleton sequences, their split by subject, and the cameras that look
at them.

`actions` is the folder with mimed_actions_3d.npz, `jhmdb` the one with GT_train_1.pkl and
GT_test_1.pkl (see README.md for where they come from and on which terms). Axes of the 3D sequences:
metres, X to the camera's right, Y up, Z to the camera.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence as Many
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from vocabulary import NONE, OF_RAW

from perception.skeleton.training.architecture import LIVE_JOINTS

Floats = NDArray[np.float32]
Rng = np.random.Generator

LIVE = np.array(LIVE_JOINTS)
LIVE_SCORES = np.zeros(17, np.float32)
LIVE_SCORES[LIVE] = 1
_FROM_KINECT = np.array([0, 4, 8, 5, 9, 6, 10, 12, 16, 13, 17, 14, 18])
_FROM_JHMDB = np.array([2, 4, 3, 8, 7, 12, 11, 6, 5, 10, 9, 14, 13])

TEST_SUBJECTS = {"utd": {6, 8}, "msr": {6, 8, 10}, "utk": {8, 9, 10}, "flo": {8, 9, 10}}
CALIBRATION_SUBJECTS = {"utd": {4}, "msr": {4}, "utk": {7}, "flo": {7}}
"""All other subjects train. JHMDB: its official split 1; the last eighth of every class's training
clips calibrates."""

PARTS = ("train", "calibration", "test")
FPS = {"utd": 30.0, "msr": 15.0, "utk": 15.0, "flo": 0.0, "jhm": 30.0}
"""0 = unknown. HMDB51, from which JHMDB takes its clips, is normalised to 30 frames a second."""

GAP_TRAVEL_M = 0.4
"""UTKinect's gaps in which the hips move further are walks from one place to the next, not
"nothing"."""


SHORTEST_GAP = 8

GAP_EDGE = 8
"""Frames (half a second) that are cut off both ends of a gap: the recorded intervals are tight, and
the rest of the action before, or the beginning of the next one, lies there."""


@dataclass(frozen=True)
class Clip:
    """One recorded action. `points` is `[T, 17, 3]` in metres or `[T, 17, 2]` in image units (y
    down)."""

    points: Floats
    label: int
    source: str
    raw: str
    fps: float
    subject: int = 0


@dataclass
class Part:
    """The clips of the subjects of one part of the split.

    Attributes:
        actions: one action each.
        gaps: nothing is done; edges cut off (`GAP_EDGE`).
        whole_gaps: the gaps as they were recorded.
    """

    actions: list[Clip] = field(default_factory=list)
    gaps: list[Clip] = field(default_factory=list)
    whole_gaps: list[Clip] = field(default_factory=list)


def load_parts(actions: Path, jhmdb: Path) -> dict[str, Part]:
    """Read both data sets and split them by subject into train, calibration and test."""
    parts = {name: Part() for name in PARTS}
    data = np.load(actions / "mimed_actions_3d.npz")
    xyz, offset, edges = data["xyz"], data["offset"], _gap_edges(data["name"])
    for i, (source, raw, subject) in enumerate(
        zip(data["dataset"], data["label"], data["subject"], strict=True)
    ):
        source, raw, subject = str(source), str(raw), int(subject)
        joints = xyz[offset[i] : offset[i + 1]]
        points = np.zeros((len(joints), 17, 3), np.float32)
        points[:, LIVE] = np.nan_to_num(joints[:, _FROM_KINECT])
        part = parts[part_of(source, subject)]
        clip = Clip(points, OF_RAW.get((source, raw), NONE), source, raw, FPS[source], subject)
        if raw != "none_gap":
            part.actions.append(clip)
            continue
        part.whole_gaps += _quiet(clip, 0, 0)
        part.gaps += _quiet(clip, *edges[str(data["name"][i])])
    _load_jhmdb(jhmdb, parts)
    return parts


def _quiet(gap: Clip, before: int, after: int) -> list[Clip]:
    """The gap without its edges; nothing where too little is left, or where somebody walks off."""
    points = gap.points[before : len(gap.points) - after]
    if len(points) < SHORTEST_GAP:
        return []
    travel = np.ptp(points[:, [11, 12]].mean(axis=1), axis=0).max()
    return [replace(gap, points=points)] if travel <= GAP_TRAVEL_M else []


def _gap_edges(names: NDArray[np.str_]) -> dict[str, tuple[int, int]]:
    """Frames to cut off both ends of every gap chunk, by name (`clip_gapN_START`)."""
    starts: dict[str, list[int]] = {}
    for name in map(str, names):
        gap, mark, start = name.rpartition("_")
        if "_gap" in gap and mark:
            starts.setdefault(gap, []).append(int(start))
    return {
        f"{gap}_{start}": (
            GAP_EDGE if start == min(chunks) else 0,
            GAP_EDGE if start == max(chunks) else 0,
        )
        for gap, chunks in starts.items()
        for start in chunks
    }


def part_of(source: str, subject: int) -> str:
    """Name of the part that a subject of a data set belongs to."""
    if subject in TEST_SUBJECTS[source]:
        return "test"
    return "calibration" if subject in CALIBRATION_SUBJECTS[source] else "train"


def _load_jhmdb(folder: Path, parts: dict[str, Part]) -> None:
    for name in ("train", "test"):
        with (folder / f"GT_{name}_1.pkl").open("rb") as file:
            data = pickle.load(file)
        labels = np.array(data["label"])
        for i, (pose, raw) in enumerate(zip(data["pose"], data["label"], strict=True)):
            points = np.zeros((len(pose), 17, 2), np.float32)
            points[:, LIVE] = np.asarray(pose)[:, _FROM_JHMDB]
            same = np.flatnonzero(labels == raw)
            held_out = name == "train" and np.searchsorted(same, i) >= len(same) - len(same) // 8
            part = parts["calibration" if held_out else name]
            part.actions.append(Clip(points, OF_RAW["jhm", raw], "jhm", raw, FPS["jhm"]))


@dataclass(frozen=True)
class Camera:
    """Where the camera stands (degrees, metres) and how the estimator's joints differ from
    Kinect's.

    Attributes:
        nose: metres from Kinect's head centre forward to the nose.
        hip_width: factor on Kinect's narrow hips.
        hip_drop: metres that the hips are lowered along the trunk.
        forward: metres that the person advances in the direction it faces during the clip (walking
            in place becomes walking).
        pan: camera's own drift during the clip, in metres at the person's distance.
    """

    yaw: float = 0.0
    pitch: float = 5.0
    distance: float = 3.0
    nose: float = 0.06
    hip_width: float = 1.3
    hip_drop: float = 0.03
    forward: float = 0.0
    pan: tuple[float, float] = (0.0, 0.0)


def random_camera(
    rng: Rng, forward: float = 0.0, widest: float = 80.0, behind: float = 0.0
) -> Camera:
    """A camera within `widest` degrees of the front (with chance `behind`: anywhere round the
    person)."""
    yaw = rng.uniform(-180, 180) if rng.random() < behind else rng.uniform(-widest, widest)
    pan = (
        (float(rng.normal(0, 0.25)), float(rng.normal(0, 0.08)))
        if rng.random() < 0.2
        else (0.0, 0.0)
    )
    return Camera(
        yaw=float(yaw),
        pitch=rng.uniform(-15, 30),
        distance=rng.uniform(1.8, 6) + abs(forward) / 2,
        nose=rng.uniform(0, 0.11),
        hip_width=rng.uniform(1.0, 1.7),
        hip_drop=rng.uniform(0, 0.08),
        forward=forward,
        pan=pan,
    )


def project(points: Floats, camera: Camera) -> Floats:
    """`[T, 17, 3]` metres -> `[T, 17, 2]` image units, y down, as seen by a pinhole camera."""
    points = points.copy()
    left, right = points[:, 11].copy(), points[:, 12].copy()
    hips = (left + right) / 2
    trunk = (points[:, 5] + points[:, 6]) / 2 - hips
    facing = np.cross(points[:, 5] - points[:, 6], trunk)
    facing /= np.linalg.norm(facing, axis=1, keepdims=True) + 1e-6
    trunk /= np.linalg.norm(trunk, axis=1, keepdims=True) + 1e-6
    points[:, 0] += camera.nose * facing
    points[:, 11] = hips + (left - hips) * camera.hip_width - camera.hip_drop * trunk
    points[:, 12] = hips + (right - hips) * camera.hip_width - camera.hip_drop * trunk
    passed = np.linspace(-0.5, 0.5, len(points), dtype=np.float32)[:, None, None]
    centred = points - hips.mean(axis=0)
    if camera.forward:
        ahead = facing.mean(axis=0) * np.array([1, 0, 1], np.float32)
        centred = centred + passed * camera.forward * (ahead / (np.linalg.norm(ahead) + 1e-6))
    seen = centred @ _rotation(camera.yaw, camera.pitch).T
    depth = np.maximum(camera.distance - seen[..., 2], 0.5)
    flat = np.stack([seen[..., 0] / depth, -seen[..., 1] / depth], axis=-1)
    return np.asarray(flat + passed * np.asarray(camera.pan) / camera.distance, dtype=np.float32)


def _rotation(yaw: float, pitch: float) -> Floats:
    a, b = math.radians(yaw), math.radians(pitch)
    around = np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
    over = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
    return np.asarray(over @ around, dtype=np.float32)


def pick(clips: Many[Clip], rng: Rng) -> Clip:
    """A random clip."""
    return clips[int(rng.integers(len(clips)))]
