"""Poses of people who walk about, and mmaction2's own test pipeline to run on them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from perception.skeleton.openmmlab import stack

LEFT, RIGHT = [1, 3, 5, 7, 9, 11, 13, 15], [2, 4, 6, 8, 10, 12, 14, 16]
SKELETON = [[0, 5], [0, 6], [5, 7], [7, 9], [6, 8], [8, 10], [5, 11], [11, 13], [13, 15]]
SKELETON += [[6, 12], [12, 14], [14, 16], [0, 1], [0, 2], [1, 3], [2, 4], [11, 12]]
LIMBS = {
    "skeletons": SKELETON,
    "left_limb": [0, 2, 3, 6, 7, 8, 12, 14],
    "right_limb": [1, 4, 5, 9, 10, 11, 13, 15],
}


def pipeline(limb: bool, clips: int = 10, frames: int = 48, **compact: Any) -> list[dict[str, Any]]:
    """The test pipelines of slowonly_r50_8xb16-u48-240e_ntu60-xsub-keypoint and -limb."""
    sides = {"left_kp": LEFT, "right_kp": RIGHT}
    target = {"sigma": 0.6, "use_score": True, "with_kp": not limb, "with_limb": limb}
    square: list[dict[str, Any]] = [{"type": "Resize", "scale": (64, 64), "keep_ratio": False}]
    if limb:
        square = [{"type": "Resize", "scale": (-1, 64)}, {"type": "CenterCrop", "crop_size": 64}]
        target |= LIMBS
    sampling = {"clip_len": frames, "num_clips": clips, "test_mode": True}
    return [
        {"type": "UniformSampleFrames", **sampling},
        {"type": "PoseDecode"},
        {"type": "PoseCompact", "hw_ratio": 1.0, "allow_imgpad": True, **compact},
        *square,
        {"type": "GeneratePoseTarget", "double": True, **target, **sides},
        {"type": "FormatShape", "input_format": "NCTHW_Heatmap"},
        {"type": "PackActionInputs"},
    ]


def people(count: int, frames: int, seed: int) -> tuple[Any, Any]:
    """People who walk about, some joints and some frames unseen."""
    rng = np.random.default_rng(seed)
    start = rng.uniform([60, 60], [500, 380], (count, 1, 1, 2))
    steps = rng.normal(0, 4, (count, frames, 1, 2)).cumsum(1)
    keypoints = start + steps + rng.uniform(-50, 50, (count, 1, 17, 2))
    keypoints = (keypoints + rng.normal(0, 2, keypoints.shape)).astype(np.float32)
    scores = rng.uniform(0.2, 1, keypoints.shape[:3]).astype(np.float32)
    unseen = rng.random(scores.shape) < 0.1
    unseen[:, rng.random(frames) < 0.1] = True
    if count > 1:
        unseen[-1, : frames // 2] = True
    keypoints[unseen], scores[unseen] = 0, 0
    return keypoints, scores


def theirs(transforms: list[dict[str, Any]], keypoints: Any, scores: Any) -> Any:
    """What mmaction2 makes of the poses: float32 [views, channels, frames, height, width]."""
    compose = stack.load("mmengine.dataset", "A test").Compose
    stack.load("mmaction.datasets.transforms", "A test")
    from mmengine.registry import DefaultScope

    annotation = {
        "frame_dict": "",
        "label": -1,
        "img_shape": (480, 640),
        "original_shape": (480, 640),
        "start_index": 0,
        "modality": "Pose",
        "total_frames": keypoints.shape[1],
        "keypoint": keypoints.copy(),
        "keypoint_score": scores.copy(),
    }
    state = np.random.get_state()
    with DefaultScope.overwrite_default_scope("mmaction"):
        packed = compose(copy.deepcopy(transforms))(annotation)
    np.random.set_state(state)
    return packed["inputs"].numpy()
