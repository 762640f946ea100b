"""When landmarks are a person's body, and when two of them are one and the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perception.skeleton.pose_estimators.blazepose.landmarks import Landmarks

__all__ = ["is_body", "is_same_body", "seen_joints"]

JOINT_PRESENCE = 0.5
"""Presence and visibility product from which a joint counts as seen."""

MIN_JOINTS = 5
"""Joints that must be seen."""

MIN_TORSO = 0.08
"""Least distance from shoulders to hips as a share of the region's side."""

SAME_DISTANCE = 0.15
"""Mean distance of joints, as a share of the smaller body's diagonal, under which two are one."""


def seen_joints(body: Landmarks) -> int:
    """How many of the 17 joints are seen."""
    return int((body.visibility * body.presence >= JOINT_PRESENCE).sum())


def is_body(body: Landmarks) -> bool:
    """Whether enough joints are seen and the trunk has the size that its region promises."""
    shoulders, hips = body.keypoints[5:7].mean(axis=0), body.keypoints[11:13].mean(axis=0)
    trunk = float(np.hypot(*(shoulders - hips)))
    return bool(seen_joints(body) >= MIN_JOINTS and trunk >= MIN_TORSO * body.region.side)


def _diagonal(keypoints: npt.NDArray[np.float32]) -> float:
    return float(np.hypot(*np.ptp(keypoints, axis=0)))


def is_same_body(one: Landmarks, other: Landmarks) -> bool:
    """Whether both are the same person seen twice."""
    distance = float(np.linalg.norm(one.keypoints - other.keypoints, axis=1).mean())
    size = min(_diagonal(one.keypoints), _diagonal(other.keypoints))
    return distance < SAME_DISTANCE * size
