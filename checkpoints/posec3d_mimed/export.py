"""Export the averaged weights of a checkpoint to ONNX, on all 17 COCO joints.

`python export.py --checkpoint DIR/checkpoint.pth --out posec3d_mimed.onnx` writes the network,
compares it with torch on random heatmaps and prints size and sha256. With `--mmaction FILE` it also
writes a state dict that the network of `network.MMACTION_CONFIG` loads in mmaction2.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import torch
from network import ARCHITECTURE

from perception.skeleton.training.export import averaged, write_onnx


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, required=True, help="checkpoint.pth of train.py")
    parser.add_argument("--out", type=Path, required=True, help="the ONNX file to write")
    parser.add_argument("--mmaction", type=Path, help="also write a state dict for mmaction2 here")
    return parser.parse_args()


def main() -> None:
    """Entry point."""
    args = _arguments()
    torch.set_num_threads(1)
    weights = torch.load(args.checkpoint, weights_only=True)["average"]
    net = averaged(weights, ARCHITECTURE)
    error = write_onnx(net, args.out)
    if args.mmaction:
        torch.save({"state_dict": net.state_dict()}, args.mmaction)
    content = args.out.read_bytes()
    print(f"{args.out.name}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    print(f"largest difference to torch {error:.2g}")


if __name__ == "__main__":
    main()
