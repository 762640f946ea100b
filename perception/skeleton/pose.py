"""Poses of persons in one picture: ``PersonPose`` and the ``PoseEstimator`` protocol.

Keypoints are COCO-17 (Lin et al. 2014, "Microsoft COCO"), in pixels of the upright full-size
picture, x to the right and y down. An estimator is a plug-in file of ``pose_estimators/``::

    stream = estimator.stream()
    for frame in frames:  # one video, in order of time
        poses = stream.estimate(frame)  # nobody = empty
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput
from perception.recognizer import Frame

__all__ = [
    "COCO_KEYPOINTS",
    "COCO_SIGMAS",
    "COCO_SKELETON",
    "MAX_SIDE_PX",
    "RATE_HZ",
    "PersonPose",
    "PoseEstimator",
    "PoseStream",
    "visible_box",
]

COCO_KEYPOINTS = (
    "nose",
    "left_eye",
    "right_eye",
    "left_ear",
    "right_ear",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
    "left_hip",
    "right_hip",
    "left_knee",
    "right_knee",
    "left_ankle",
    "right_ankle",
)
"""Names in order; left and right are the person's own."""

COCO_SKELETON = (
    (0, 1),
    (0, 2),
    (1, 3),
    (2, 4),
    (5, 6),
    (5, 7),
    (7, 9),
    (6, 8),
    (8, 10),
    (5, 11),
    (6, 12),
    (11, 12),
    (11, 13),
    (13, 15),
    (12, 14),
    (14, 16),
)
"""Pairs of keypoints that are drawn as a line."""

COCO_SIGMAS: npt.NDArray[np.float32] = np.array(
    [26, 25, 25, 35, 35, 79, 79, 72, 72, 62, 62, 107, 107, 87, 87, 89, 89], dtype=np.float32
) / np.float32(1000)
"""Spread of human annotators per keypoint, relative to the root of the person's area
(COCO keypoint evaluation, ``cocoeval.py``: ``kpt_oks_sigmas``)."""

RATE_HZ = 15.0
"""Frames a second that poses are wanted at. For the two people of the sample BlazePose then takes
0.57 s of CPU a second, on one thread; at 10 it follows both as well, but has fewer poses of the
leap than an action needs."""

MAX_SIDE_PX = 1280
"""Longest side of the pictures that poses are wanted from. BlazePose then finds people from a sixth
to a fifth of the picture's height (120 to 160 pixels); from 640 it finds no smaller share and has
half the pixels for their joints, from 320 it loses the sample's man in his leap."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonPose:
    """One person in one picture.

    Args:
        keypoints: float32 [17, 2], x and y in pixels of the upright full-size picture; a joint
            outside the picture or hidden holds the estimator's guess.
        scores: float32 [17] in [0, 1], how sure each keypoint is.
        score: in [0, 1], how sure it is that this is a person.

    Raises:
        BadInput: an array has another shape.
    """

    keypoints: npt.NDArray[np.float32]
    scores: npt.NDArray[np.float32]
    score: float

    def __post_init__(self) -> None:
        if self.keypoints.shape != (17, 2) or self.scores.shape != (17,):
            raise BadInput(
                f"A pose needs keypoints [17, 2] and scores [17], "
                f"not {list(self.keypoints.shape)} and {list(self.scores.shape)}."
            )


class PoseStream(Protocol):
    """An estimator at work on the frames of one video. Its memory does not grow."""

    def estimate(self, frame: Frame) -> Sequence[PersonPose]:
        """Everybody in the next frame; empty when there is nobody. May rest on earlier frames."""


class PoseEstimator(Protocol):
    """Finds everybody's keypoints. Built by its plug-in file's ``build(options)``; models load on
    first use."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest, in the order in which they run."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What decides its poses beside those weights: its options, and the sha256 of files of the
        user's own. Plain JSON values, known without loading a model."""

    def estimate(self, frame: Frame) -> Sequence[PersonPose]:
        """Everybody in one picture by itself; empty when there is nobody.

        The same picture gives the same poses whatever was estimated before it.
        """

    def stream(self) -> PoseStream:
        """A new stream for the frames of one video; an estimator without memory returns itself."""


def visible_box(
    keypoints: npt.NDArray[np.float32], scores: npt.NDArray[np.float32], min_score: float = 0.3
) -> npt.NDArray[np.float32]:
    """Boxes around the keypoints that score at least ``min_score`` (all of them if none does).

    Args:
        keypoints: [..., 17, 2].
        scores: [..., 17].

    Returns:
        float32 [..., 4]: left, top, right, bottom in the same pixels.
    """
    seen = scores >= min_score
    seen = (seen | ~seen.any(axis=-1, keepdims=True))[..., None]
    low = np.where(seen, keypoints, np.inf).min(axis=-2)
    high = np.where(seen, keypoints, -np.inf).max(axis=-2)
    return np.concatenate([low, high], axis=-1).astype(np.float32)
