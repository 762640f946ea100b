"""PoseC3D (mmaction2's Recognizer3D: ResNet3dSlowOnly and I3DHead) in plain torch, with mmaction2's
parameter names: a state dict of one loads in the other (``with_17_joints`` for the slim one).

Duan et al., *Revisiting Skeleton-based Action Recognition*, CVPR 2022. Needs the extra ``train``.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from perception.skeleton.heatmaps import KEYPOINTS, LOWEST_SCORE
from perception.skeleton.training.architecture import Architecture

__all__ = ["ConvModule", "PoseC3D", "heatmap_batch", "with_17_joints"]

FIRST = "backbone.conv1.conv.weight"


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
        """`[B, in, T, H, W]` -> `[B, out, T', H', W']`."""
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
        """`[B, in, T, H, W]` -> `[B, 4 * planes, T', H', W']`."""
        identity = volume if self.downsample is None else self.downsample(volume)
        out: Tensor = self.conv3(self.conv2(self.conv1(volume))) + identity
        return torch.relu_(out)


class ResNet3dSlowOnly(nn.Module):
    """`[B, joints, T, H, W]` -> `[B, features, T', H', W']`."""

    def __init__(self, architecture: Architecture, joints: int) -> None:
        super().__init__()
        base = architecture.base_channels
        self.conv1 = ConvModule(joints, base, architecture.conv1_kernel, architecture.conv1_stride)
        self.maxpool = (
            nn.MaxPool3d((1, 3, 3), stride=1, padding=(0, 1, 1))
            if architecture.with_pool1
            else nn.Identity()
        )
        channels, self.stages = base, len(architecture.stage_blocks)
        for stage, count in enumerate(architecture.stage_blocks):
            planes, blocks = base * 2**stage, []
            first = architecture.temporal_strides[stage], architecture.spatial_strides[stage]
            for block in range(count):
                strides = first if block == 0 else (1, 1)
                inflate = bool(architecture.inflate[stage])
                blocks.append(Bottleneck3d(channels, planes, strides, inflate, block == 0))
                channels = planes * 4
            self.add_module(f"layer{stage + 1}", nn.Sequential(*blocks))

    def forward(self, volume: Tensor) -> Tensor:
        """See the class."""
        out: Tensor = self.maxpool(self.conv1(volume))
        for stage in range(self.stages):
            out = getattr(self, f"layer{stage + 1}")(out)
        return out


class I3DHead(nn.Module):
    """Global average, dropout, linear."""

    def __init__(self, features: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.fc_cls = nn.Linear(features, classes)
        nn.init.normal_(self.fc_cls.weight, std=0.01)
        nn.init.zeros_(self.fc_cls.bias)

    def forward(self, features: Tensor) -> Tensor:
        """`[B, features, T, H, W]` -> `[B, classes]`."""
        out: Tensor = self.fc_cls(self.dropout(features.float().mean((2, 3, 4))))
        return out


class PoseC3D(nn.Module):
    """`[B, joints, T, H, W]` heatmaps -> `[B, classes]` logits.

    Args:
        architecture: the network.
        classes: outputs.
        joints: channels; those that the architecture draws when None.
        dropout: instead of the architecture's.
    """

    def __init__(
        self,
        architecture: Architecture,
        classes: int,
        joints: int | None = None,
        dropout: float | None = None,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.backbone = ResNet3dSlowOnly(architecture, joints or len(architecture.joints))
        share = architecture.dropout if dropout is None else dropout
        self.cls_head = I3DHead(architecture.features, classes, share)

    def forward(self, volume: Tensor) -> Tensor:
        """See the class."""
        out: Tensor = self.cls_head(self.backbone(volume))
        return out


def with_17_joints(state: Mapping[str, Tensor], architecture: Architecture) -> dict[str, Tensor]:
    """State dict of a network on the architecture's joints -> the equivalent one on all 17 (zero
    weights for those that are not drawn)."""
    narrow = state[FIRST]
    wide = narrow.new_zeros(narrow.shape[0], KEYPOINTS, *narrow.shape[2:])
    wide[:, list(architecture.joints)] = narrow
    return {**state, FIRST: wide}


def heatmap_batch(
    keypoints: Tensor, scores: Tensor, architecture: Architecture, dtype: torch.dtype
) -> Tensor:
    """`perception.skeleton.heatmaps.pose_target` for a batch, the architecture's joints only.

    Args:
        keypoints: `[B, T, 17, 2]` in heatmap pixels.
        scores: `[B, T, 17]`.

    Returns `[B, joints, T, size, size]` in channels-last layout.
    """
    size, sigma = architecture.shape.size, architecture.shape.sigma
    drawn = torch.tensor(architecture.joints, device=keypoints.device)
    keypoints, scores = keypoints[:, :, drawn], scores[:, :, drawn]
    grid = torch.arange(size, dtype=torch.float32, device=keypoints.device).view(1, 1, size, 1)

    def gaussians(centres: Tensor) -> Tensor:
        centres = centres.unsqueeze(2)
        first = torch.clamp(torch.trunc(centres - 3 * sigma), min=0)
        last = torch.clamp(torch.trunc(centres + 3 * sigma) + 1, max=size)
        bell = torch.exp(-((grid - centres) ** 2) / (2 * sigma**2))
        return bell * ((grid >= first) & (grid < last))

    heights = torch.where(scores < LOWEST_SCORE, torch.zeros_like(scores), scores).unsqueeze(2)
    rows = (gaussians(keypoints[..., 1]) * heights).to(dtype)
    columns = gaussians(keypoints[..., 0]).to(dtype)
    return (rows.unsqueeze(3) * columns.unsqueeze(2)).permute(0, 4, 1, 2, 3)
