"""The BlazePose person detector on square windows of a picture.

Bazarevsky et al. 2020, "BlazePose: On-device Real-time Body Pose tracking"; the anchors and the
decoding follow MediaPipe's ``pose_detection_cpu.pbtxt``: 224×224 input in [-1, 1], 2254 anchors,
each with a face box and four points, of which the first two are the middle of the hips and a point
on the circle around the whole body.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perception.skeleton.pose_estimators.blazepose.region import Region
from perception.skeleton.pose_estimators.blazepose.tflite import TfliteModel, sigmoid

__all__ = ["Detection", "Detector", "Window", "anchor_centres", "merged"]

INPUT_PX = 224
STRIDES = (8, 16, 32, 32, 32)
"""MediaPipe's ``ssd_anchors_calculator`` options for pose detection; two anchors each."""

MERGE_IOU = 0.3
"""``min_suppression_threshold`` of MediaPipe's weighted non-maximum suppression."""


class Window(NamedTuple):
    """A rectangle of the picture in whole pixels; parts outside the picture count as black."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """A person found by the detector.

    Args:
        box: [4] face box as left, top, right, bottom, in pixels of the picture.
        points: [2, 2] middle of the hips, point on the circle around the body.
        score: in [0, 1].
    """

    box: npt.NDArray[np.float32]
    points: npt.NDArray[np.float32]
    score: float

    @property
    def region(self) -> Region:
        """The square from which the landmark model works."""
        return Region.around(self.points[0], self.points[1])


def anchor_centres() -> npt.NDArray[np.float32]:
    """[2254, 2] centres x, y of the anchors in units of the input's side."""
    grids = []
    for stride in STRIDES:
        cells = INPUT_PX // stride
        y, x = np.mgrid[0:cells, 0:cells]
        centres = (np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5) / cells
        grids.append((stride, centres))
    out = []
    for stride in dict.fromkeys(STRIDES):
        same = [centres for other, centres in grids if other == stride]
        out.append(np.repeat(same[0], 2 * len(same), axis=0))
    return np.concatenate(out).astype(np.float32)


class Detector:
    """Finds persons in a window of a picture.

    Args:
        path: ``pose_detection.tflite``.
    """

    def __init__(self, path: Path, threads: int = 1) -> None:
        self._model = TfliteModel(path, [(2254, 12), (2254, 1)], threads)
        self._anchors = anchor_centres()

    def detect(
        self, rgb: npt.NDArray[np.uint8], window: Window, min_score: float
    ) -> list[Detection]:
        """Persons in ``window`` that score at least ``min_score``, several per person (``merged``
        makes one of them), in pixels of ``rgb``, uint8 [height, width, 3]."""
        picture, per_pixel, offset = _letterboxed(rgb, window)
        raw, logits = self._model(picture)
        scores = sigmoid(logits[:, 0])
        kept = np.flatnonzero(scores >= min_score)
        values = raw[kept].reshape(-1, 6, 2) / INPUT_PX
        anchors = self._anchors[kept]
        centre, half = values[:, 0] + anchors, values[:, 1] / 2
        points = values[:, 2:4] + anchors[:, None]
        corners = np.stack([centre - half, centre + half], axis=1)
        found = np.concatenate([corners, points], axis=1)
        found = ((found * INPUT_PX - offset) / per_pixel + window[:2]).astype(np.float32)
        return [
            Detection(box_and_points[:2].reshape(4), box_and_points[2:], float(scores[index]))
            for box_and_points, index in zip(found, kept, strict=True)
        ]


def _letterboxed(
    rgb: npt.NDArray[np.uint8], window: Window
) -> tuple[npt.NDArray[np.float32], float, npt.NDArray[np.float32]]:
    """The window in the middle of a black square, the scale and the offset of its corner."""
    import cv2

    height, width = rgb.shape[:2]
    left, top = max(window.left, 0), max(window.top, 0)
    right, bottom = min(window.right, width), min(window.bottom, height)
    side = max(window.right - window.left, window.bottom - window.top)
    per_pixel = INPUT_PX / side
    padding = (
        np.array([side, side]) - [window.right - window.left, window.bottom - window.top]
    ) / 2
    offset = np.round(padding * per_pixel).astype(np.float32)
    picture = np.full((1, INPUT_PX, INPUT_PX, 3), -1, dtype=np.float32)
    if right <= left or bottom <= top:
        return picture, per_pixel, offset
    x0, y0 = (
        round(float(v))
        for v in offset + per_pixel * np.array([left - window.left, top - window.top])
    )
    x1 = min(INPUT_PX, x0 + max(1, round((right - left) * per_pixel)))
    y1 = min(INPUT_PX, y0 + max(1, round((bottom - top) * per_pixel)))
    shrink = cv2.INTER_AREA if per_pixel < 1 else cv2.INTER_LINEAR
    crop = cv2.resize(rgb[top:bottom, left:right], (x1 - x0, y1 - y0), interpolation=shrink)
    picture[0, y0:y1, x0:x1] = crop / np.float32(127.5) - 1
    return picture, per_pixel, offset


def _overlap(
    box: npt.NDArray[np.float32], boxes: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Intersection over union of one box with several ([n, 4])."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=1)
    area = np.prod(box[2:] - box[:2]) + np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return np.asarray(shared / (area - shared + 1e-9), dtype=np.float32)


def merged(detections: list[Detection]) -> list[Detection]:
    """One detection a person: overlapping ones are averaged by score, best first."""
    if not detections:
        return []
    boxes = np.stack([d.box for d in detections])
    points = np.stack([d.points for d in detections])
    scores = np.array([d.score for d in detections])
    order = np.argsort(-scores, kind="stable")
    out = []
    while len(order):
        same = _overlap(boxes[order[0]], boxes[order]) >= MERGE_IOU
        same[0] = True
        group = order[same]
        weights = (scores[group] / scores[group].sum()).astype(np.float32)
        out.append(
            Detection(
                np.tensordot(weights, boxes[group], 1),
                np.tensordot(weights, points[group], 1),
                float(scores[order[0]]),
            )
        )
        order = order[~same]
    return out
