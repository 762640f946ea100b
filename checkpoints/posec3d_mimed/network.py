"""PoseC3D (mmaction2's Recognizer3D: ResNet3dSlowOnly and I3DHead) in plain torch, with mmaction2's
parameter names.

`MMACTION_CONFIG` builds the same network in mmaction2, and the state dict loads there unchanged
after `with_17_joints`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

BASE_CHANNELS = 16
STAGE_BLOCKS = (2, 2, 2)
INFLATE = (0, 1, 1)
SPATIAL_STRIDES = (1, 2, 2)
TEMPORAL_STRIDES = (1, 1, 2)
CONV1_KERNEL = (3, 5, 5)
CONV1_STRIDE = (2, 2, 2)

LIVE_JOINTS = (0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
"""COCO joints that the data know; eyes and ears are never drawn, so training leaves their channels
out."""

MMACTION_CONFIG: dict[str, Any] = {
    "type": "Recognizer3D",
    "backbone": {
        "type": "ResNet3dSlowOnly",
        "depth": 50,
        "pretrained": None,
        "in_channels": 17,
        "base_channels": BASE_CHANNELS,
        "num_stages": 3,
        "out_indices": (2,),
        "stage_blocks": STAGE_BLOCKS,
        "conv1_kernel": CONV1_KERNEL,
        "conv1_stride_t": CONV1_STRIDE[0],
        "conv1_stride_s": CONV1_STRIDE[1],
        "with_pool1": False,
        "inflate": INFLATE,
        "spatial_strides": SPATIAL_STRIDES,
        "temporal_strides": TEMPORAL_STRIDES,
        "dilations": (1, 1, 1),
    },
    "cls_head": {"type": "I3DHead", "in_channels": BASE_CHANNELS * 16, "average_clips": "prob"},
}


class ConvModule(nn.Module):
    """Convolution, batch normalisation, optional ReLU; the names are mmcv's."""

    def __init__(
        self,
        channels_in: int,
        channels_out: int,
        kernel: tuple[int, int, int] = (1, 1, 1),
        stride: tuple[int, int, int] = (1, 1, 1),
        relu: bool = True,
    ) -> None:
        super().__init__()
        padding = (kernel[0] // 2, kernel[1] // 2, kernel[2] // 2)
        self.conv = nn.Conv3d(channels_in, channels_out, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm3d(channels_out)
        self.relu = relu
        nn.init.kaiming_normal_(self.conv.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, volume: Tensor) -> Tensor:
        out: Tensor = self.bn(self.conv(volume))
        return torch.relu_(out) if self.relu else out


class Bottleneck3d(nn.Module):
    """mmaction2's Bottleneck3d, style 'pytorch', inflate style '3x1x1'."""

    def __init__(
        self, channels_in: int, planes: int, strides: tuple[int, int], inflate: bool, project: bool
    ) -> None:
        super().__init__()
        stride = (strides[0], strides[1], strides[1])
        self.conv1 = ConvModule(channels_in, planes, (3, 1, 1) if inflate else (1, 1, 1))
        self.conv2 = ConvModule(planes, planes, (1, 3, 3), stride)
        self.conv3 = ConvModule(planes, planes * 4, relu=False)
        nn.init.zeros_(self.conv3.bn.weight)
        self.downsample = (
            ConvModule(channels_in, planes * 4, stride=stride, relu=False) if project else None
        )

    def forward(self, volume: Tensor) -> Tensor:
        identity = volume if self.downsample is None else self.downsample(volume)
        out: Tensor = self.conv3(self.conv2(self.conv1(volume))) + identity
        return torch.relu_(out)


class ResNet3dSlowOnly(nn.Module):
    """`[B, joints, T, H, W]` -> `[B, 16 * BASE_CHANNELS, T / 4, H / 8, W / 8]`."""

    def __init__(self, joints: int) -> None:
        super().__init__()
        self.conv1 = ConvModule(joints, BASE_CHANNELS, CONV1_KERNEL, CONV1_STRIDE)
        channels, self.stages = BASE_CHANNELS, len(STAGE_BLOCKS)
        for stage, count in enumerate(STAGE_BLOCKS):
            planes, blocks = BASE_CHANNELS * 2**stage, []
            for block in range(count):
                strides = (
                    (TEMPORAL_STRIDES[stage], SPATIAL_STRIDES[stage]) if block == 0 else (1, 1)
                )
                blocks.append(
                    Bottleneck3d(
                        channels, planes, strides, bool(INFLATE[stage]), project=block == 0
                    )
                )
                channels = planes * 4
            self.add_module(f"layer{stage + 1}", nn.Sequential(*blocks))

    def forward(self, volume: Tensor) -> Tensor:
        out: Tensor = self.conv1(volume)
        for stage in range(self.stages):
            out = getattr(self, f"layer{stage + 1}")(out)
        return out


class I3DHead(nn.Module):
    """Global average, dropout, linear."""

    def __init__(self, classes: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.fc_cls = nn.Linear(BASE_CHANNELS * 16, classes)
        nn.init.normal_(self.fc_cls.weight, std=0.01)
        nn.init.zeros_(self.fc_cls.bias)

    def forward(self, features: Tensor) -> Tensor:
        out: Tensor = self.fc_cls(self.dropout(features.float().mean((2, 3, 4))))
        return out


class PoseC3D(nn.Module):
    """`[B, joints, T, H, W]` heatmaps -> `[B, classes]` logits."""

    def __init__(self, classes: int, joints: int = len(LIVE_JOINTS), dropout: float = 0.4) -> None:
        super().__init__()
        self.backbone = ResNet3dSlowOnly(joints)
        self.cls_head = I3DHead(classes, dropout)

    def forward(self, volume: Tensor) -> Tensor:
        out: Tensor = self.cls_head(self.backbone(volume))
        return out


def with_17_joints(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """State dict of a network on the live joints -> the equivalent one on all 17 (zero weights for
    eyes and ears)."""
    narrow = state["backbone.conv1.conv.weight"]
    wide = narrow.new_zeros(narrow.shape[0], 17, *narrow.shape[2:])
    wide[:, list(LIVE_JOINTS)] = narrow
    return {**state, "backbone.conv1.conv.weight": wide}


def heatmap_batch(
    keypoints: Tensor, scores: Tensor, size: int, sigma: float, dtype: torch.dtype
) -> Tensor:
    """`perception.skeleton.heatmaps.pose_target` for a batch, live joints only.

    Args:
        keypoints: `[B, T, 17, 2]` in heatmap pixels.
        scores: `[B, T, 17]`.

    Returns `[B, live joints, T, size, size]` in channels-last layout.
    """
    live = torch.tensor(LIVE_JOINTS)
    keypoints, scores = keypoints[:, :, live], scores[:, :, live]
    grid = torch.arange(size, dtype=torch.float32).view(1, 1, size, 1)

    def gaussians(centres: Tensor) -> Tensor:
        centres = centres.unsqueeze(2)
        first = torch.clamp(torch.trunc(centres - 3 * sigma), min=0)
        last = torch.clamp(torch.trunc(centres + 3 * sigma) + 1, max=size)
        return torch.exp(-((grid - centres) ** 2) / (2 * sigma**2)) * (
            (grid >= first) & (grid < last)
        )

    heights = torch.where(scores < 1e-4, torch.zeros_like(scores), scores).unsqueeze(2)
    rows = (gaussians(keypoints[..., 1]) * heights).to(dtype)
    columns = gaussians(keypoints[..., 0]).to(dtype)
    return (rows.unsqueeze(3) * columns.unsqueeze(2)).permute(0, 4, 1, 2, 3)
