"""Weights to begin a training with: of our ONNX, of a checkpoint of ours, of mmaction2's. Needs the
extra ``train``.

An ONNX has its batch normalisation folded into the convolutions. ``unfolded`` takes it out again,
so that the network in training mode computes what the ONNX computes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from perception.errors import BadInput
from perception.skeleton.given_weights import why_no_weights
from perception.skeleton.openmmlab.loading import class_names, load_checkpoint, state_dict
from perception.skeleton.training.architecture import ARCHITECTURES, Architecture
from perception.skeleton.training.network import FIRST, ConvModule, PoseC3D, heatmap_batch
from perception.text_file import looked_in

__all__ = ["HEAD", "Start", "read", "unfolded", "with_head"]

HEAD = ("cls_head.fc_cls.weight", "cls_head.fc_cls.bias")


@dataclass(frozen=True, eq=False)
class Start:
    """Weights of a network.

    Attributes:
        architecture: whose.
        weights: state dict on the joints that the architecture draws.
        classes: what its outputs mean; empty when the file does not tell.
        folded: whether batch normalisation is folded in (see ``unfolded``).
    """

    architecture: Architecture
    weights: dict[str, Tensor]
    classes: tuple[str, ...]
    folded: bool = False


def read(path: Path) -> Start:
    """Weights from an ``.onnx`` of ours, or from a ``.pth`` of ours or of mmaction2.

    Raises:
        BadInput: the file is missing, or holds another network.
        WeightsError: it is damaged, or holds more than data.
    """
    if not path.is_file():
        raise BadInput(f"There are no weights {str(path)!r}{looked_in(path)} to begin with.")
    if path.suffix == ".onnx":
        return _from_onnx(path)
    document = load_checkpoint(path)
    weights = document["average"] if "average" in document else state_dict(document, path)
    architecture = _whose(weights, path)
    first = weights[FIRST]
    if first.shape[1] != len(architecture.joints):
        weights[FIRST] = first[:, list(architecture.joints)]
    classes = tuple(map(str, document.get("classes", ()))) or class_names(document)
    needed = _names(architecture)
    return Start(architecture, {name: weights[name] for name in needed}, classes)


def _names(architecture: Architecture) -> dict[str, torch.Size]:
    """Names and shapes of a network's weights, but for the head's number of classes."""
    with torch.device("meta"):
        return {k: v.shape for k, v in PoseC3D(architecture, 1).state_dict().items()}


def _whose(weights: Mapping[str, Tensor], path: Path) -> Architecture:
    """The architecture that fits; eyes and ears may be there or not."""
    for architecture in ARCHITECTURES.values():
        names = _names(architecture)
        if not names.keys() <= weights.keys():
            continue
        same = all(
            weights[name].shape == shape
            for name, shape in names.items()
            if name != FIRST and name not in HEAD
        )
        fits = weights[FIRST].shape[1] in (17, len(architecture.joints))
        if same and fits and weights[FIRST].shape[2:] == names[FIRST][2:]:
            return architecture
    raise BadInput(
        f"{str(path)!r} holds no network that can be trained here; known are "
        f"{', '.join(ARCHITECTURES)} PoseC3D on keypoints (see docs/training.md)."
    )


def _from_onnx(path: Path) -> Start:
    """The weights of an ONNX that ``export`` wrote; classes from the labels.json beside it."""
    import onnx
    from onnx import numpy_helper

    try:
        graph = onnx.load(path).graph
        arrays = {i.name: numpy_helper.to_array(i).copy() for i in graph.initializer}
        same = [node for node in graph.node if node.op_type == "Identity"]
        arrays |= {node.output[0]: arrays[node.input[0]] for node in same}
        folded = {
            _module(node.name): tuple(arrays[name] for name in node.input[1:3])
            for node in graph.node
            if node.op_type == "Conv"
        }
        head = [arrays[n] for node in graph.node if node.op_type == "Gemm" for n in node.input[1:3]]
    except Exception as error:
        detail = str(error).partition("\n")[0][:200]
        reason = why_no_weights(path) or detail
        raise BadInput(f"{str(path)!r} is no ONNX of a PoseC3D of ours: {reason}") from None
    for architecture in ARCHITECTURES.values():
        net = PoseC3D(architecture, len(head[1]) if len(head) == 2 else 1).eval()
        if _filled(net, folded, head):
            return Start(architecture, net.state_dict(), _classes(path), folded=True)
    raise BadInput(f"{str(path)!r} is no ONNX of a PoseC3D that was exported here.")


def _module(node: str) -> str:
    """``/backbone/layer1/layer1.0/conv1/conv/Conv`` -> ``backbone.layer1.0.conv1``: the exporter
    repeats the name of a container before that of its member."""
    parts = [part for part in node.strip("/").split("/") if part not in ("conv", "Conv")]
    pairs = zip(parts, [*parts[1:], ""], strict=True)
    return ".".join(part for part, following in pairs if not following.startswith(f"{part}."))


@torch.no_grad()
def _filled(
    net: PoseC3D, folded: Mapping[str, Sequence[NDArray[Any]]], head: Sequence[NDArray[Any]]
) -> bool:
    """Whether the convolutions and the head fit the network; they are in it then, with a batch
    normalisation that does nothing."""
    modules = {name: each for name, each in net.named_modules() if isinstance(each, ConvModule)}
    if modules.keys() != folded.keys() or len(head) != 2:
        return False
    for name, module in modules.items():
        weight, bias = map(torch.from_numpy, folded[name])
        if weight.shape[1] == 17 and module.conv.weight.shape[1] != 17:
            weight = weight[:, list(net.architecture.joints)]
        if weight.shape != module.conv.weight.shape:
            return False
        module.conv.weight.copy_(weight)
        module.bn.weight.fill_(1)
        module.bn.bias.copy_(bias)
        module.bn.running_mean.zero_()
        module.bn.running_var.fill_(1 - module.bn.eps)
    net.cls_head.fc_cls.weight.copy_(torch.from_numpy(head[0]))
    net.cls_head.fc_cls.bias.copy_(torch.from_numpy(head[1]))
    return True


def _classes(path: Path) -> tuple[str, ...]:
    try:
        document = json.loads((path.parent / "labels.json").read_text(encoding="utf-8"))
        return tuple(map(str, document["classes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return ()


@torch.no_grad()
def unfolded(start: Start, points: NDArray[np.float32], scores: NDArray[np.float32]) -> Start:
    """The same network with a batch normalisation that has the statistics of the given examples.

    Running mean and variance become those of the convolutions' outputs, scale and shift undo them:
    the network computes what it did, in training mode too.

    Args:
        start: weights; returned as they are when nothing is folded.
        points, scores: views `[N, frames, 17, 2]` in heatmap pixels and `[N, frames, 17]`, a few
            hundred like those of the training.
    """
    if not start.folded:
        return start
    net = PoseC3D(start.architecture, start.weights[HEAD[1]].shape[0]).eval()
    net.load_state_dict(start.weights)
    for module, (mean, variance) in _statistics(net, points, scores).items():
        module.bn.running_mean.copy_(mean)
        module.bn.running_var.copy_(variance)
        module.bn.weight.copy_((variance + module.bn.eps).sqrt())
        module.bn.bias.add_(mean)
    return replace(start, weights=net.state_dict(), folded=False)


def _statistics(
    net: PoseC3D, points: NDArray[np.float32], scores: NDArray[np.float32]
) -> dict[ConvModule, tuple[Tensor, Tensor]]:
    """Mean and variance of each channel of each convolution's output over the views."""
    sums: dict[ConvModule, list[Tensor]] = {}

    def add(module: ConvModule, out: Tensor) -> None:
        flat = out.transpose(0, 1).flatten(1).double()
        here = [torch.tensor(flat.shape[1]), flat.sum(1), flat.square().sum(1)]
        before = sums.get(module, [torch.zeros(())] * 3)
        sums[module] = [a + b for a, b in zip(before, here, strict=True)]

    hooks = [
        module.conv.register_forward_hook(lambda _, __, out, module=module: add(module, out))
        for module in net.modules()
        if isinstance(module, ConvModule)
    ]
    for i in range(0, len(points), 16):
        keypoints, heights = (torch.from_numpy(a[i : i + 16]) for a in (points, scores))
        net(heatmap_batch(keypoints, heights, net.architecture, torch.float32))
    for hook in hooks:
        hook.remove()
    means = {module: total / count for module, (count, total, _) in sums.items()}
    return {
        module: (
            means[module].float(),
            (squares / count - means[module].square()).clamp(min=0).float(),
        )
        for module, (count, _, squares) in sums.items()
    }


def with_head(start: Start, classes: Sequence[str]) -> dict[str, Tensor]:
    """The weights with an output for each of `classes`: the start's own where it has one of that
    name, else a new one."""
    known = start.classes
    if tuple(classes) == known:
        return start.weights
    fresh = PoseC3D(start.architecture, len(classes)).state_dict()
    weights = {**start.weights, **{name: fresh[name] for name in HEAD}}
    for index, name in enumerate(classes):
        if name in known and known.index(name) < len(start.weights[HEAD[1]]):
            for part in HEAD:
                weights[part][index] = start.weights[part][known.index(name)]
    return weights
