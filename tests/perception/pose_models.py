"""Models of poses that need no download: ONNX files in the form of RTMPose and RTMO whose poses are
known functions of the picture, and models of mmpose with random weights."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from perception.recognizer import Frame

RTMPOSE = "rtmpose-t_8xb256-420e_coco-256x192"
HRNET = "td-hm_hrnet-w32_8xb64-210e_coco-256x192"
RTMO = "rtmo-s_8xb32-600e_coco-640x640"
"""Names of configs that mmpose ships."""

WIDTH, HEIGHT = 192, 256
"""Of RTMPose's crops."""

SIDE = 640
"""Of RTMO's picture."""


def needs_rtmlib() -> None:
    for package, extra in (("onnx", "train"), ("rtmlib", "openmmlab")):
        pytest.importorskip(package, reason=f"needs the extra {extra} ({package})")


def needs_mmpose() -> None:
    if importlib.util.find_spec("mmpose") is None:
        pytest.skip("needs the extra openmmlab")


def brightest_simcc(
    path: Path, keypoints: int = 17, size: Sequence[Any] = (HEIGHT, WIDTH), named: bool = False
) -> Path:
    """An RTMPose whose keypoint k is the brightest pixel of colour k % 3 (red, green, blue).

    simcc_x [1, k, 2 · 192] are the columns' highest values, each twice (SimCC has two bins a
    pixel), simcc_y [1, k, 2 · 256] the rows'. With ``named`` the file calls its batch and k by
    names, as mmdeploy exports them.
    """
    from onnx import helper

    pick = np.eye(3, dtype=np.float32)[np.arange(keypoints) % 3].reshape(keypoints, 3, 1, 1)
    nodes = [helper.make_node("Conv", ["input", "pick"], ["planes"])]
    for axis, name, bins in ((2, "simcc_x", WIDTH), (3, "simcc_y", HEIGHT)):
        nodes += [
            helper.make_node("ReduceMax", ["planes"], [f"{name}_1"], axes=[axis], keepdims=0),
            helper.make_node("Unsqueeze", [f"{name}_1", "last"], [f"{name}_2"]),
            helper.make_node("Expand", [f"{name}_2", "twice"], [f"{name}_3"]),
            *shaped(f"{name}_3", name, (1, keypoints, 2 * bins), named),
        ]
    nodes += [
        constant("pick", pick),
        constant("last", np.array([3], np.int64)),
        constant("twice", np.array([1, 1, 1, 2], np.int64)),
    ]
    batch, many = ("batch", "MatMulsimcc_x_dim_1") if named else (1, keypoints)
    outputs = {"simcc_x": [batch, many, 2 * WIDTH], "simcc_y": [batch, many, 2 * HEIGHT]}
    return saved(path, nodes, [batch, 3, *size], outputs)


def brightest_rtmo(path: Path, named: bool = False) -> Path:
    """An RTMO that sees three persons: at the brightest pixel of blue, of green and of red.

    Person c is as sure as his pixel is brighter than the grey beside the picture: 0 at 114, 1 at
    255. His keypoint k lies k pixels to the right of it and c below, the box reaches 20 around.
    With ``named`` the file calls batch, persons and keypoints by names.
    """
    from onnx import helper

    def make(kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:
        return helper.make_node(kind, inputs, [output], **attributes)

    below, right = np.mgrid[0:3, 0:17].astype(np.float32)
    offsets = np.stack([right, below], axis=-1)[None]
    nodes = [
        make("Reshape", ["input", "flat"], "pixels"),
        make("ReduceMax", ["pixels"], "highest", axes=[2], keepdims=1),
        make("Sub", ["highest", "grey"], "brighter"),
        make("Div", ["brighter", "range"], "scores"),
        make("ArgMax", ["pixels"], "index", axis=2, keepdims=1),
        make("Mod", ["index", "side"], "x"),
        make("Div", ["index", "side"], "y"),
        make("Concat", ["x", "y"], "whole", axis=2),
        make("Cast", ["whole"], "at", to=1),
        make("Sub", ["at", "reach"], "low"),
        make("Add", ["at", "reach"], "high"),
        make("Concat", ["low", "high", "scores"], "dets", axis=2),
        make("Unsqueeze", ["at", "second"], "at_1"),
        make("Add", ["at_1", "offsets"], "joints"),
        make("Unsqueeze", ["scores", "second"], "scores_1"),
        make("Expand", ["scores_1", "each"], "joint_scores"),
        make("Concat", ["joints", "joint_scores"], "persons", axis=3),
        *shaped("persons", "keypoints", (1, 3, 17, 3), named),
        constant("flat", np.array([1, 3, SIDE * SIDE], np.int64)),
        constant("grey", np.array(114, np.float32)),
        constant("range", np.array(255 - 114, np.float32)),
        constant("side", np.array(SIDE, np.int64)),
        constant("reach", np.array(20, np.float32)),
        constant("second", np.array([2], np.int64)),
        constant("offsets", offsets),
        constant("each", np.array([1, 3, 17, 1], np.int64)),
    ]
    batch, persons, many = ("batch", "persons", "keypoints_dim_2") if named else (1, 3, 17)
    outputs = {"dets": [batch, persons, 5], "keypoints": [batch, persons, many, 3]}
    return saved(path, nodes, [batch, 3, SIDE, SIDE], outputs)


def shaped(values: str, output: str, shape: Sequence[int], named: bool) -> list[Any]:
    """Nodes that give ``values`` a shape; with ``named`` nobody can tell it before they run, for it
    is read out of numbers that a zero of the picture's is added to."""
    from onnx import helper

    sizes = [constant(f"{output}_sizes", np.array(shape, np.int64))]
    if named:
        sizes += [
            helper.make_node("ReduceMin", ["input"], [f"{output}_least"], keepdims=0),
            constant(f"{output}_zero", np.array(0, np.float32)),
            helper.make_node("Mul", [f"{output}_least", f"{output}_zero"], [f"{output}_none"]),
            helper.make_node("Cast", [f"{output}_none"], [f"{output}_added"], to=7),
            helper.make_node("Add", [f"{output}_sizes", f"{output}_added"], [f"{output}_found"]),
        ]
    return [*sizes, helper.make_node("Reshape", [values, sizes[-1].output[0]], [output])]


def constant(name: str, value: Any) -> Any:
    from onnx import helper, numpy_helper

    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value, name))


def saved(
    path: Path, nodes: list[Any], shape: Sequence[Any], outputs: dict[str, Sequence[Any]]
) -> Path:
    """Write the model; constants go before what uses them."""
    import onnx
    from onnx import TensorProto, helper

    nodes = sorted(nodes, key=lambda node: node.op_type != "Constant")
    graph = helper.make_graph(
        nodes,
        "known",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, list(shape))],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, list(of))
            for name, of in outputs.items()
        ],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))
    return path


def random_model(config: str) -> Any:
    """mmpose's model of a config, with random weights that are the same every time."""
    from perception.skeleton.openmmlab import stack

    stack.load("mmpose.apis", "The test")
    import torch
    from mmpose.apis import init_model

    from perception.skeleton.openmmlab.config_file import ConfigFile

    torch.manual_seed(0)
    return init_model(str(ConfigFile.named(config, "mmpose").path), device="cpu")


def three_lights(width: int = 640, height: int = 400) -> npt.NDArray[np.uint8]:
    """A red pixel at (250, 120), a green one at (300, 200), a blue one at (350, 290)."""
    rgb = np.zeros((height, width, 3), np.uint8)
    rgb[120, 250, 0] = rgb[200, 300, 1] = rgb[290, 350, 2] = 255
    return rgb


def grain(seed: int = 0) -> Frame:
    rng = np.random.default_rng(seed)
    return Frame(0.0, rng.integers(0, 256, (360, 640, 3), dtype=np.uint8))


def boxes_file(folder: Path, *corners: tuple[float, float, float, float], at_s: float = 0.0) -> str:
    """A file of boxes at one time, scored 0.9, 0.8 and so on."""
    lines = ["time_s,left,top,right,bottom,score"]
    for index, each in enumerate(corners):
        lines.append(f"{at_s},{','.join(map(str, each))},{0.9 - index / 10:.1f}")
    path = folder / f"boxes_{abs(hash((corners, at_s)))}.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)
