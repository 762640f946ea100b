"""Pose estimators around a network: one that looks at a person's box at a time (top-down), or one
that sees everybody at once (one-stage)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput
from perception.recognizer import Frame
from perception.skeleton.boxes import Boxes, BoxSource, BoxStream, FileBoxes
from perception.skeleton.pose import PersonPose

__all__ = ["NOBODY", "Found", "NetworkEstimator", "PoseNetwork"]

Found = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]
"""Keypoints [n, 17, 2] in pixels of the picture that was looked at, their scores [n, 17], and the
persons' scores [n]. A person with a keypoint that is no number is left out."""


NOBODY: Found = (
    np.zeros((0, 17, 2), dtype=np.float32),
    np.zeros((0, 17), dtype=np.float32),
    np.zeros(0, dtype=np.float32),
)


class PoseNetwork(Protocol):
    """A network with its pre- and postprocessing. Loads on first use."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What decides its poses beside those weights: the sha256 of a file, never its name."""

    @property
    def needs_boxes(self) -> bool:
        """Whether it looks at one person's box at a time. Loads it."""

    def in_boxes(
        self, rgb: npt.NDArray[np.uint8], corners: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Top-down: keypoints [n, 17, 2] and scores [n, 17] for boxes [n, 4] in pixels of ``rgb``,
        n at least 1."""

    def in_picture(self, rgb: npt.NDArray[np.uint8]) -> Found:
        """One-stage: everybody in a picture, uint8 [height, width, 3]."""


class NetworkEstimator:
    """A ``PoseEstimator``. Where the source of boxes finds nobody, the network is not asked."""

    def __init__(self, network: PoseNetwork, boxes: BoxSource) -> None:
        self._network, self._boxes = network, boxes

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The weights of the source of boxes, then the network's. Whether a network needs boxes is
        not known before it is loaded, so that a one-stage one has both too."""
        return (*self._boxes.checkpoints, *self._network.checkpoints)

    @property
    def settings(self) -> Mapping[str, object]:
        """The network's and the boxes'."""
        return {**self._network.settings, "boxes": dict(self._boxes.settings)}

    def estimate(self, frame: Frame) -> Sequence[PersonPose]:
        """Everybody in one picture by itself; empty when there is nobody."""
        return self._estimate(frame, self._boxes)

    def stream(self) -> NetworkStream:
        """A new stream for the frames of one video."""
        return NetworkStream(self, self._boxes.stream())

    def _estimate(self, frame: Frame, boxes: BoxStream) -> Sequence[PersonPose]:
        rgb = np.ascontiguousarray(frame.rgb)
        if self._network.needs_boxes:
            found = self._in_boxes(rgb, boxes.find(frame), frame.scale)
        elif isinstance(self._boxes, FileBoxes):
            raise BadInput(
                "This model finds the persons itself: boxes.file is of no use to it. Leave it out, "
                "or take a top-down model (HRNet, RTMPose)."
            )
        else:
            found = self._network.in_picture(rgb)
        return tuple(
            PersonPose(
                np.asarray(keypoints * frame.scale, dtype=np.float32),
                np.clip(np.nan_to_num(scores), 0, 1).astype(np.float32),
                float(np.clip(score, 0, 1)),
            )
            for keypoints, scores, score in zip(*found, strict=True)
            if np.isfinite(keypoints).all()
        )

    def _in_boxes(self, rgb: npt.NDArray[np.uint8], boxes: Boxes, scale: float) -> Found:
        if not len(boxes.corners):
            return NOBODY
        keypoints, scores = self._network.in_boxes(rgb, boxes.corners / np.float32(scale))
        return keypoints, scores, boxes.scores


class NetworkStream:
    """The frames of one video."""

    def __init__(self, estimator: NetworkEstimator, boxes: BoxStream) -> None:
        self._estimator, self._boxes = estimator, boxes

    def estimate(self, frame: Frame) -> Sequence[PersonPose]:
        """Everybody in the next frame; empty when there is nobody."""
        return self._estimator._estimate(frame, self._boxes)
