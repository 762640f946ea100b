"""Export the averaged weights of a checkpoint to ONNX, on all 17 COCO joints.

`python export.py --checkpoint DIR/checkpoint.pth --out posec3d_mimed.onnx` writes the network,
compares it with torch on random heatmaps and prints size and sha256. With `--mmaction FILE` it also
writes a state dict that the network of `network.MMACTION_CONFIG` loads in mmaction2.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from augmentation import SHAPE
from network import PoseC3D, with_17_joints
from vocabulary import CLASSES

TOLERANCE = 1e-4
"""Largest difference of a logit between torch and onnxruntime that counts as equal (float32 sums in
another order)."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, required=True, help="checkpoint.pth of train.py")
    parser.add_argument("--out", type=Path, required=True, help="the ONNX file to write")
    parser.add_argument("--mmaction", type=Path, help="also write a state dict for mmaction2 here")
    return parser.parse_args()


def averaged(checkpoint: Path) -> PoseC3D:
    """The network on all 17 joints with the averaged weights, ready to infer."""
    state = torch.load(checkpoint, weights_only=True)
    net = PoseC3D(len(CLASSES), joints=17)
    net.load_state_dict(with_17_joints(state["average"]))
    return net.eval()


def write_onnx(net: PoseC3D, path: Path) -> None:
    """Write the network whole or not at all."""
    example = torch.zeros(1, 17, SHAPE.frames, SHAPE.size, SHAPE.size)
    beside = path.with_suffix(".tmp")
    torch.onnx.export(
        net,
        (example,),
        str(beside),
        input_names=["heatmap"],
        output_names=["logits"],
        dynamic_axes={"heatmap": {0: "clips"}, "logits": {0: "clips"}},
        opset_version=17,
        dynamo=False,
        do_constant_folding=True,
    )
    beside.replace(path)


def difference(net: PoseC3D, path: Path) -> float:
    """Largest difference of a logit between torch and onnxruntime on eight random volumes."""
    volumes = np.random.default_rng(0).random(
        (8, 17, SHAPE.frames, SHAPE.size, SHAPE.size), dtype=np.float32
    )
    volumes *= volumes > 0.98
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with torch.no_grad():
        expected = net(torch.from_numpy(volumes)).numpy()
    return float(np.abs(session.run(None, {"heatmap": volumes})[0] - expected).max())


def main() -> None:
    """Entry point."""
    args = _arguments()
    torch.set_num_threads(1)
    net = averaged(args.checkpoint)
    write_onnx(net, args.out)
    error = difference(net, args.out)
    if error > TOLERANCE:
        raise SystemExit(f"onnxruntime differs from torch by {error:.2g} in a logit")
    if args.mmaction:
        torch.save({"state_dict": net.state_dict()}, args.mmaction)
    content = args.out.read_bytes()
    print(f"{args.out.name}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    print(f"largest difference to torch {error:.2g}")


if __name__ == "__main__":
    main()
