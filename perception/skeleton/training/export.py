"""A checkpoint's averaged weights as ONNX, on all 17 COCO joints. Needs the extra ``train``."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from perception.errors import CuelightError
from perception.skeleton.heatmaps import KEYPOINTS
from perception.skeleton.training.architecture import Architecture
from perception.skeleton.training.network import PoseC3D, with_17_joints
from perception.whole import write_whole

__all__ = ["TOLERANCE", "averaged", "difference", "write_onnx"]

TOLERANCE = 1e-4
"""Largest difference of a logit between torch and onnxruntime that counts as equal (float32 sums in
another order)."""


def averaged(weights: Mapping[str, Tensor], architecture: Architecture) -> PoseC3D:
    """The network on all 17 joints with the averaged weights, ready to infer."""
    classes = weights["cls_head.fc_cls.weight"].shape[0]
    net = PoseC3D(architecture, classes, joints=KEYPOINTS)
    net.load_state_dict(with_17_joints(weights, architecture))
    net.eval()
    return net


def write_onnx(net: PoseC3D, path: Path) -> float:
    """Write the network, whole or not at all, and compare it with torch on random heatmaps.

    Returns the largest difference of a logit.

    Raises:
        CuelightError: onnxruntime's logits differ by more than ``TOLERANCE``.
        StorageError: the disk is full or read-only.
    """
    shape = net.architecture.shape
    example = torch.zeros(1, KEYPOINTS, shape.frames, shape.size, shape.size)
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            net,
            (example,),
            content,
            input_names=["heatmap"],
            output_names=["logits"],
            dynamic_axes={"heatmap": {0: "clips"}, "logits": {0: "clips"}},
            opset_version=17,
            dynamo=False,
            do_constant_folding=True,
        )
    error = difference(net, content.getvalue())
    if error > TOLERANCE:
        raise CuelightError(f"onnxruntime differs from torch by {error:.2g} in a logit.")
    write_whole(path, content.getvalue())
    return error


def difference(net: PoseC3D, onnx: bytes, count: int = 4) -> float:
    """Largest difference of a logit between torch and onnxruntime on `count` random volumes."""
    import onnxruntime

    shape = net.architecture.shape
    volumes = np.random.default_rng(0).random(
        (count, KEYPOINTS, shape.frames, shape.size, shape.size), dtype=np.float32
    )
    volumes *= volumes > 0.98
    session = onnxruntime.InferenceSession(onnx, providers=["CPUExecutionProvider"])
    with torch.no_grad():
        expected = net(torch.from_numpy(volumes)).numpy()
    return float(np.abs(session.run(None, {"heatmap": volumes})[0] - expected).max())
