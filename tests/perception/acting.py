"""Made people who act: tracks of poses, and labelled spans in files as ``cuelight perceive`` and a
person would write them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perception import traces
from perception.skeleton.people import PersonTrack

Floats = npt.NDArray[np.float32]

RATE_HZ = 15.0
ACT_S = 2.0
"""Every act takes so long, and a second of standing follows."""


def standing() -> Floats:
    """[17, 2] somebody from the front, 180 pixels tall."""
    pose = np.zeros((17, 2), np.float32)
    pose[0] = (0, -70)
    pose[1:5] = [(-4, -74), (4, -74), (-8, -72), (8, -72)]
    for side, sign in ((0, 1), (1, -1)):
        pose[5 + side], pose[7 + side], pose[9 + side] = (
            (sign * 20, -50),
            (sign * 24, -25),
            (sign * 24, 2),
        )
        pose[11 + side], pose[13 + side], pose[15 + side] = (
            (sign * 12, 5),
            (sign * 12, 50),
            (sign * 12, 95),
        )
    return pose


def wave(phase: float, pose: Floats) -> None:
    """The left hand beside the head, to and fro."""
    pose[7], pose[9] = (45, -60), (45 + 25 * np.sin(4 * np.pi * phase), -95)


def squat(phase: float, pose: Floats) -> None:
    """Down and up."""
    deep = np.sin(np.pi * phase)
    pose[:13, 1] += 40 * deep
    pose[13:15, 0] *= 1 + deep
    pose[13:15, 1] += 12 * deep


def raise_arms(phase: float, pose: Floats) -> None:
    """Both arms from down to overhead and back."""
    angle = np.pi * np.sin(np.pi * phase)
    for side, sign in ((0, 1), (1, -1)):
        way = np.array([sign * np.sin(angle), np.cos(angle)], np.float32)
        pose[7 + side], pose[9 + side] = pose[5 + side] + 26 * way, pose[5 + side] + 52 * way


def stand(phase: float, pose: Floats) -> None:
    """Nothing."""


ACTS: dict[str, Callable[[float, Floats], None]] = {
    "wave": wave,
    "squat": squat,
    "raise arms": raise_arms,
    "none": stand,
}


def acting(acts: Sequence[str], seed: int = 0, person: int = 1) -> PersonTrack:
    """Somebody who does one act after the other, with an estimator's noise."""
    rng = np.random.default_rng(seed)
    size, place = rng.uniform(0.7, 2.0), rng.uniform(200, 600, 2)
    frames = []
    for act in acts:
        for i in range(int(ACT_S * RATE_HZ)):
            pose = standing()
            ACTS[act](i / (ACT_S * RATE_HZ), pose)
            frames.append(pose)
        frames += [standing()] * int(RATE_HZ)
    keypoints = np.stack(frames) * size + place + rng.normal(0, 1.0, (len(frames), 17, 2))
    return PersonTrack(
        id=person,
        times_s=np.arange(len(frames)) / RATE_HZ,
        keypoints=keypoints.astype(np.float32),
        scores=rng.uniform(0.6, 1.0, (len(frames), 17)).astype(np.float32),
        observed=np.ones(len(frames), np.bool_),
        score=0.9,
    )


def write_corpus(
    folder: Path,
    videos: int = 6,
    acts: Sequence[str] = ("wave", "squat", "raise arms"),
    times: int = 2,
) -> Path:
    """``videos`` traces files of one person each and ``labels.csv``; returns the CSV."""
    rows = []
    for number in range(videos):
        order = list(np.random.default_rng(number).permutation(list(acts) * times))
        track = acting(order, seed=number)
        traces.save(folder / f"clip{number}.traces.npz", traces.pose_traces("action", [track]))
        for i, act in enumerate(order):
            start_s = i * (ACT_S + 1)
            rows.append([f"clip{number}.mp4", 1, f"{start_s:.2f}", f"{start_s + ACT_S:.2f}", act])
    return write_labels(folder, rows)


def write_labels(
    folder: Path,
    rows: Sequence[Sequence[object]],
    columns: Sequence[str] = ("video", "person", "start_s", "end_s", "label"),
) -> Path:
    """``labels.csv`` with these lines."""
    path = folder / "labels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path
