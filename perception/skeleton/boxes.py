"""Where the persons of a picture are, for pose estimators that look at one person at a time.

The boxes come from the embedded BlazePose, or from a file of the user's (``boxes_file.py``). Nobody
is an empty list, never the whole picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput
from perception.limits import check_limits
from perception.recognizer import Frame
from perception.skeleton.boxes_file import BoxesFile
from perception.skeleton.pose import PersonPose, PoseStream, visible_box
from perception.skeleton.pose_estimators import blazepose

__all__ = ["BoxOptions", "BoxSource", "BoxStream", "Boxes", "FileBoxes", "box_source"]

MARGIN = 0.07
"""What a box has on every side beyond the seen joints, as a share of its longer side. The top of
the head lies 0.064 of a person's height above the eyes, the soles 0.039 under the ankles, and 0.897
between the two (Drillis and Contini 1966, in Winter, Biomechanics and Motor Control of Human
Movement)."""


_LIMITS = {"within_s": (0, 60), "max_people": (1, 100)}


class Boxes(NamedTuple):
    """The persons of one picture.

    Args:
        corners: float32 [n, 4] left, top, right, bottom in pixels of the upright full-size picture.
        scores: float32 [n] in [0, 1].
    """

    corners: npt.NDArray[np.float32]
    scores: npt.NDArray[np.float32]


class BoxStream(Protocol):
    """A source of boxes at work on the frames of one video, in order of time."""

    def find(self, frame: Frame) -> Boxes:
        """Everybody in the next frame."""


class BoxSource(Protocol):
    """Tells where the persons are."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What decides its boxes beside those weights: the sha256 of a file, never its name."""

    def find(self, frame: Frame) -> Boxes:
        """Everybody in one picture by itself."""

    def stream(self) -> BoxStream:
        """A new stream for the frames of one video."""


@dataclass(frozen=True, slots=True)
class BoxOptions:
    """Where the boxes come from.

    Args:
        file: a CSV file of boxes (docs/formats.md); empty = the embedded detector finds them.
        within_s: a frame takes the boxes of the file's nearest time, if that is no farther.
        max_people: at most so many are followed by the embedded detector.
    """

    file: str = ""
    within_s: float = 0.1
    max_people: int = 6

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The boxes' ")


def box_source(options: BoxOptions) -> BoxSource:
    """The source that ``options`` describe; models load on first use.

    Raises:
        BadInput: the boxes file cannot be read, or has a fault; names the line.
    """
    if options.file:
        return FileBoxes(BoxesFile.read(Path(options.file).expanduser()), options.within_s)
    return EmbeddedBoxes(options.max_people)


class FileBoxes:
    """Boxes of a file, by time."""

    checkpoints: tuple[str, ...] = ()

    def __init__(self, file: BoxesFile, within_s: float) -> None:
        self._file, self._within_s = file, within_s

    @property
    def settings(self) -> Mapping[str, object]:
        """The file's content, and for whom its boxes are taken."""
        return {"file_sha256": self._file.sha256, "within_s": self._within_s}

    def find(self, frame: Frame) -> Boxes:
        """Everybody whom the file has at the frame's time.

        Raises:
            BadInput: a box lies outside of the picture; names the line.
        """
        width, height = _size(frame)
        rows = self._file.near(frame.time_s, self._within_s)
        for row in rows:
            left, top, right, bottom = row.corners
            if left >= width or top >= height or right <= 0 or bottom <= 0:
                raise BadInput(
                    f"The boxes file {self._file.name!r}, line {row.line}: the box lies outside of "
                    f"the picture, which has {width:.0f}×{height:.0f} pixels."
                )
        corners = np.array([row.corners for row in rows], dtype=np.float32).reshape(-1, 4)
        scores = np.array([row.score for row in rows], dtype=np.float32)
        return Boxes(_inside(corners, frame), scores)

    def stream(self) -> FileBoxes:
        """Itself: it has no memory."""
        return self


class EmbeddedBoxes:
    """Boxes around the persons that BlazePose finds."""

    checkpoints = blazepose.CHECKPOINTS

    def __init__(self, max_people: int) -> None:
        self._blazepose = blazepose.build(blazepose.Options(max_people=max_people))

    @property
    def settings(self) -> Mapping[str, object]:
        """BlazePose's."""
        return self._blazepose.settings

    def find(self, frame: Frame) -> Boxes:
        """Everybody in one picture by itself."""
        return around(self._blazepose.estimate(frame), frame)

    def stream(self) -> _Following:
        """A new stream, in which people are followed from frame to frame."""
        return _Following(self._blazepose.stream())


class _Following:
    def __init__(self, poses: PoseStream) -> None:
        self._poses = poses

    def find(self, frame: Frame) -> Boxes:
        return around(self._poses.estimate(frame), frame)


def around(poses: Sequence[PersonPose], frame: Frame) -> Boxes:
    """Boxes around the seen joints with ``MARGIN``, cut to the picture; who has no seen joint in
    the picture is left out."""
    keypoints = np.array([pose.keypoints for pose in poses], dtype=np.float32).reshape(-1, 17, 2)
    scores = np.array([pose.scores for pose in poses], dtype=np.float32).reshape(-1, 17)
    corners = visible_box(keypoints, scores)
    margin = MARGIN * (corners[:, 2:] - corners[:, :2]).max(axis=1, initial=0.0)[:, None]
    corners = _inside(np.hstack([corners[:, :2] - margin, corners[:, 2:] + margin]), frame)
    kept = (corners[:, 2:] > corners[:, :2]).all(axis=1)
    found = np.array([pose.score for pose in poses], dtype=np.float32)
    return Boxes(corners[kept], found[kept])


def _size(frame: Frame) -> tuple[float, float]:
    """Width and height of the upright full-size picture."""
    height, width = frame.rgb.shape[:2]
    return width * frame.scale, height * frame.scale


def _inside(corners: npt.NDArray[np.float32], frame: Frame) -> npt.NDArray[np.float32]:
    width, height = _size(frame)
    high = np.array([width, height, width, height], dtype=np.float32)
    return np.clip(corners, np.float32(0), high)
