"""The BlazePose landmark model on a rotated square, refined by its heatmaps.

MediaPipe's ``pose_landmark_by_roi_cpu.pbtxt``: 256×256 input in [0, 1]; 39 points of x, y, z,
visibility and presence, of which 0-32 are the body and 33-34 give the next region; heatmaps
64×64×39; a presence flag.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perception.skeleton.pose_estimators.blazepose.region import Region
from perception.skeleton.pose_estimators.blazepose.tflite import TfliteModel, sigmoid

__all__ = ["COCO_FROM_BLAZEPOSE", "Landmarker", "Landmarks", "refined"]

INPUT_PX = 256
HEATMAP_PX = 64
KERNEL_PX = 7
MIN_PEAK = 0.5
"""``kernel_size`` and ``min_confidence_to_refine`` of MediaPipe's
``refine_landmarks_from_heatmap`` for poses."""

COCO_FROM_BLAZEPOSE = (0, 2, 5, 7, 8, 11, 12, 13, 14, 15, 16, 23, 24, 25, 26, 27, 28)
"""Index among BlazePose's 33 of each COCO-17 keypoint."""

_POINTS = 35


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """A body seen in a region.

    Args:
        keypoints: float32 [17, 2] COCO, in pixels of the picture.
        visibility, presence: float32 [17] in [0, 1]: not hidden, inside the crop.
        score: in [0, 1], that the region holds a person at all.
        region: where to look in the next picture.
    """

    keypoints: npt.NDArray[np.float32]
    visibility: npt.NDArray[np.float32]
    presence: npt.NDArray[np.float32]
    score: float
    region: Region


class Landmarker:
    """Finds the body's points in a region.

    Args:
        path: ``pose_landmark_full.tflite``.
    """

    def __init__(self, path: Path, threads: int = 1) -> None:
        outputs = [(195,), (1,), (HEATMAP_PX, HEATMAP_PX, 39)]
        self._model = TfliteModel(path, outputs, threads)

    def find(self, rgb: npt.NDArray[np.uint8], region: Region) -> Landmarks:
        """The body in ``region`` of ``rgb``, uint8 [height, width, 3]; its ``score`` tells whether
        to believe it."""
        import cv2

        to_picture = region.to_picture(INPUT_PX)
        crop = cv2.warpAffine(
            rgb,
            to_picture,
            (INPUT_PX, INPUT_PX),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_CONSTANT,
        )
        raw, flag, heatmaps = self._model((crop / np.float32(255))[None])
        points = raw.reshape(39, 5)[:_POINTS]
        crop_xy = refined(points[:, :2], heatmaps)
        xy = crop_xy @ to_picture[:, :2].T + to_picture[:, 2]
        coco = list(COCO_FROM_BLAZEPOSE)
        return Landmarks(
            keypoints=xy[coco].astype(np.float32),
            visibility=sigmoid(points[coco, 3]),
            presence=sigmoid(points[coco, 4]),
            score=float(np.clip(flag[0], 0, 1)),
            region=Region.around(xy[33], xy[34]),
        )


def refined(
    points: npt.NDArray[np.float32], logits: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Each point moved to the heatmap's centre of mass in the 7×7 cells around it, where the
    heatmap peaks at 0.5 or more.

    Args:
        points: [n, 2] in pixels of the crop.
        logits: of the heatmaps, [64, 64, n or more].
    """
    reach = KERNEL_PX // 2
    per_cell = INPUT_PX / HEATMAP_PX
    cells = np.floor(points / per_cell).astype(int)
    inside = ((cells >= 0) & (cells < HEATMAP_PX)).all(axis=1)
    steps = np.arange(-reach, reach + 1)
    x, y = cells[:, 0, None] + steps, cells[:, 1, None] + steps
    valid = ((y >= 0) & (y < HEATMAP_PX))[:, :, None] & ((x >= 0) & (x < HEATMAP_PX))[:, None, :]
    index = np.arange(len(points))[:, None, None]
    limit = HEATMAP_PX - 1
    patch = logits[np.clip(y, 0, limit)[:, :, None], np.clip(x, 0, limit)[:, None, :], index]
    patch = np.where(valid, sigmoid(patch), 0)
    mass = patch.sum(axis=(1, 2))
    moved = np.stack(
        [(patch * x[:, None, :]).sum(axis=(1, 2)), (patch * y[:, :, None]).sum(axis=(1, 2))], axis=1
    )
    moved = moved / np.maximum(mass, 1e-9)[:, None] * per_cell
    good = inside & (patch.max(axis=(1, 2)) >= MIN_PEAK)
    return np.where(good[:, None], moved, points).astype(np.float32)
