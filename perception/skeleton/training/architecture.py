"""The two PoseC3D networks that are trained here, in the terms of mmaction2's ResNet3dSlowOnly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perception.skeleton.heatmaps import KEYPOINTS, HeatmapShape

__all__ = ["ARCHITECTURES", "FULL", "LIVE_JOINTS", "SLIM", "Architecture"]

LIVE_JOINTS = (0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
"""COCO joints but for eyes and ears, which the embedded model's data do not have."""


@dataclass(frozen=True)
class Architecture:
    """A PoseC3D network; the fields are named as in mmaction2 where it has them.

    Attributes:
        name: ``--arch`` on the command line.
        shape: of the volume that it takes.
        joints: COCO joints that training draws; the exported network takes all 17.
        base_channels: channels after the first convolution; eight times as many features come out
            of three stages, four times as many again out of the bottlenecks.
        stage_blocks: bottlenecks in each stage.
        conv1_kernel, conv1_stride: time, height, width.
        with_pool1: whether a 3x3 maximum with stride 1 follows the first convolution.
        spatial_strides, temporal_strides, inflate: of each stage.
        dropout: before the last layer.
    """

    name: str
    shape: HeatmapShape
    joints: tuple[int, ...]
    base_channels: int
    stage_blocks: tuple[int, int, int]
    conv1_kernel: tuple[int, int, int]
    conv1_stride: tuple[int, int, int]
    with_pool1: bool
    spatial_strides: tuple[int, int, int]
    temporal_strides: tuple[int, int, int] = (1, 1, 2)
    inflate: tuple[int, int, int] = (0, 1, 1)
    dropout: float = 0.4

    @property
    def features(self) -> int:
        """Channels that the backbone gives."""
        return self.base_channels * 16

    def mmaction_config(self, classes: int | None = None) -> dict[str, Any]:
        """The same network, on all 17 joints, as mmaction2 builds it (``MODELS.build``)."""
        head = {"type": "I3DHead", "in_channels": self.features, "average_clips": "prob"}
        return {
            "type": "Recognizer3D",
            "backbone": {
                "type": "ResNet3dSlowOnly",
                "depth": 50,
                "pretrained": None,
                "in_channels": KEYPOINTS,
                "base_channels": self.base_channels,
                "num_stages": 3,
                "out_indices": (2,),
                "stage_blocks": self.stage_blocks,
                "conv1_kernel": self.conv1_kernel,
                "conv1_stride_t": self.conv1_stride[0],
                "conv1_stride_s": self.conv1_stride[1],
                "pool1_stride_s": 1,
                "with_pool1": self.with_pool1,
                "inflate": self.inflate,
                "spatial_strides": self.spatial_strides,
                "temporal_strides": self.temporal_strides,
                "dilations": (1, 1, 1),
            },
            "cls_head": head if classes is None else {**head, "num_classes": classes},
        }


SLIM = Architecture(
    name="slim",
    shape=HeatmapShape(frames=20, size=40, sigma=0.6, padding=0.25),
    joints=LIVE_JOINTS,
    base_channels=16,
    stage_blocks=(2, 2, 2),
    conv1_kernel=(3, 5, 5),
    conv1_stride=(2, 2, 2),
    with_pool1=False,
    spatial_strides=(1, 2, 2),
)
"""The embedded model's: 0.3 million parameters, 13 ms a window on one thread."""

FULL = Architecture(
    name="full",
    shape=HeatmapShape(frames=48, size=56, sigma=0.6, padding=0.25),
    joints=tuple(range(KEYPOINTS)),
    base_channels=32,
    stage_blocks=(4, 6, 3),
    conv1_kernel=(1, 7, 7),
    conv1_stride=(1, 1, 1),
    with_pool1=True,
    spatial_strides=(2, 2, 2),
    dropout=0.5,
)
"""SlowOnly-R50 of the paper: mmaction2's ``slowonly_r50_8xb16-u48-240e_ntu60-xsub-keypoint``, at
the size that it trains with."""

ARCHITECTURES = {each.name: each for each in (SLIM, FULL)}
