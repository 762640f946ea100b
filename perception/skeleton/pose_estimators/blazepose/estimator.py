"""Detector and landmark model together, for one picture or for the pictures of one video."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property

import numpy as np
import numpy.typing as npt

from perception import weights
from perception.recognizer import Frame
from perception.skeleton.pose import PersonPose
from perception.skeleton.pose_estimators.blazepose import CHECKPOINTS, Options
from perception.skeleton.pose_estimators.blazepose.detector import Detector, Window
from perception.skeleton.pose_estimators.blazepose.following import Following
from perception.skeleton.pose_estimators.blazepose.landmarks import Landmarker, Landmarks
from perception.skeleton.pose_estimators.blazepose.tiles import sweep

__all__ = ["BlazePose", "BlazePoseStream"]

NEW_SCENE = 30.0
"""Mean difference of two pictures' thumbnails, in grey levels of 255, that counts as a cut."""

COARSE_PER_FINE = 2
"""Coarse windows that a sweep looks at for each fine one."""

REST_EVERY = 4
"""While somebody is followed, every fourth picture is not swept: that saves a twentieth of the
time, and newcomers wait for half a second at most."""

_THUMBNAIL = (32, 18)


class BlazePose:
    """Finds everybody in a picture. One instance serves one thread at a time."""

    checkpoints = CHECKPOINTS

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    def settings(self) -> Mapping[str, object]:
        """Its options."""
        return asdict(self.options)

    @cached_property
    def detector(self) -> Detector:
        """The person detector, loaded on first use."""
        return Detector(weights.path(CHECKPOINTS[0]), self.options.threads)

    @cached_property
    def landmarker(self) -> Landmarker:
        """The landmark model, loaded on first use."""
        return Landmarker(weights.path(CHECKPOINTS[1]), self.options.threads)

    def estimate(self, frame: Frame) -> Sequence[PersonPose]:
        """Everybody in one picture by itself; empty when there is nobody."""
        return self.stream().estimate(frame)

    def stream(self) -> BlazePoseStream:
        """A new stream for the frames of one video."""
        return BlazePoseStream(self)


class BlazePoseStream:
    """The pictures of one video. The first one, and every one after a cut, is swept whole by the
    detector; the others ``windows_per_frame`` windows at a time."""

    def __init__(self, models: BlazePose) -> None:
        self._models = models
        self._following = Following(models.detector, models.landmarker, models.options)
        self._thumbnail: npt.NDArray[np.float32] | None = None
        self._pictures = 0
        self._looked = 0

    def estimate(self, frame: Frame) -> Sequence[PersonPose]:
        """Everybody in the next picture; empty when there is nobody."""
        rgb = np.ascontiguousarray(frame.rgb)
        coarse, fine = sweep(rgb.shape[1], rgb.shape[0], self._models.options.fine_share)
        self._pictures += 1
        if self._is_new_scene(rgb):
            self._following.forget()
            windows: Sequence[Window] = coarse + fine
        elif self._following.is_busy and self._pictures % REST_EVERY == 0:
            windows = ()
        else:
            windows = self._next_windows(coarse, fine)
        bodies = self._following.update(rgb, windows)
        return tuple(_pose(body, score, frame.scale) for body, score in bodies)

    def _next_windows(self, coarse: Sequence[Window], fine: Sequence[Window]) -> list[Window]:
        """The sweep's next windows: ``COARSE_PER_FINE`` coarse ones, a fine one, and so on."""
        out = []
        for _ in range(self._models.options.windows_per_frame):
            round_, step = divmod(self._looked, COARSE_PER_FINE + 1)
            if step == COARSE_PER_FINE and fine:
                out.append(fine[round_ % len(fine)])
            else:
                out.append(coarse[(round_ * COARSE_PER_FINE + step) % len(coarse)])
            self._looked += 1
        return out

    def _is_new_scene(self, rgb: npt.NDArray[np.uint8]) -> bool:
        import cv2

        last = self._thumbnail
        coarse = np.ascontiguousarray(rgb[::4, ::4])
        small = cv2.resize(coarse, _THUMBNAIL, interpolation=cv2.INTER_AREA)
        self._thumbnail = small.astype(np.float32)
        return last is None or float(np.abs(self._thumbnail - last).mean()) > NEW_SCENE


def _pose(body: Landmarks, score: float, scale: float) -> PersonPose:
    keypoint_scores = body.presence * body.visibility
    return PersonPose((body.keypoints * scale).astype(np.float32), keypoint_scores, score)
