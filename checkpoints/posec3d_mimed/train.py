"""Train the action network: `python train.py --actions DIR --jhmdb DIR --out DIR --minutes 75
--seed 0`.

One process makes examples, this one trains, in bfloat16 on CPU. The learning rate follows the clock
(warm-up, then a cosine down to 0.5 %), so that a run ends when it was told to. The average of the
weights (EMA) is what is kept; `--resume` continues an interrupted run where its checkpoint stands.
"""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path

import numpy as np
import torch
from augmentation import Examples, view
from network import ARCHITECTURE, SHAPE
from skeletons import load_parts, random_camera
from vocabulary import CLASSES

from perception.skeleton.training import weights
from perception.skeleton.training.batches import Batches, stacked
from perception.skeleton.training.fit import Recipe, Run, Told, fit, logits_of
from perception.skeleton.training.network import PoseC3D

FOLDED_VIEWS = 512
"""Examples whose statistics the batch normalisation of an ONNX is given."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--actions", type=Path, required=True, help="folder with mimed_actions_3d.npz"
    )
    parser.add_argument(
        "--jhmdb", type=Path, required=True, help="folder with GT_train_1.pkl and GT_test_1.pkl"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for checkpoint.pth and train.log"
    )
    parser.add_argument(
        "--minutes", type=float, default=75.0, help="wall time of the whole run (default: 75)"
    )
    parser.add_argument("--batch", type=int, default=32, help="examples a step (default: 32)")
    parser.add_argument(
        "--learning-rate", type=float, default=3e-3, help="peak of AdamW's rate (default: 0.003)"
    )
    parser.add_argument("--weight-decay", type=float, default=0.03)
    parser.add_argument("--label-smoothing", type=float, default=0.05)
    parser.add_argument("--dropout", type=float, default=0.4)
    parser.add_argument(
        "--none-share", type=float, default=0.15, help='share of "none" in a batch (default: 0.15)'
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="a checkpoint.pth or .onnx to begin with")
    parser.add_argument("--resume", action="store_true", help="continue from OUT/checkpoint.pth")
    return parser.parse_args()


def examples(actions: Path, jhmdb: Path, none_share: float) -> Examples:
    """The training part's examples."""
    return Examples(load_parts(actions, jhmdb)["train"], none_share)


class Validation:
    """Accuracy on the calibration part through fixed random cameras."""

    def __init__(self, args: argparse.Namespace, views: int = 3) -> None:
        clips = load_parts(args.actions, args.jhmdb)["calibration"].actions
        rng = np.random.default_rng(123)
        seen = [view(c.points, random_camera(rng)) for _ in range(views) for c in clips]
        cut = [
            view(c.points, random_camera(rng), keep=0.6, rng=rng)
            for _ in range(views)
            for c in clips
        ]
        self._points = np.stack([p for p, _ in seen + cut])
        self._scores = np.stack([s for _, s in seen + cut])
        self._labels = np.tile([c.label for c in clips], 2 * views)
        self._sources = np.tile([c.source for c in clips], views)

    def report(self, net: PoseC3D) -> str:
        logits = logits_of(net, self._points, self._scores, torch.bfloat16)
        right = logits.argmax(axis=1) == self._labels
        whole, cut = np.split(right, 2)
        each = " ".join(
            f"{s} {whole[self._sources == s].mean():.3f}" for s in np.unique(self._sources)
        )
        return f"calibration part: top-1 {whole.mean():.3f} with 60 % {cut.mean():.3f} | {each}"


def begun(args: argparse.Namespace) -> Run:
    """The run as the arguments want it: from nothing, from other weights, or resumed."""
    recipe = Recipe(
        args.minutes,
        args.batch,
        args.learning_rate,
        args.weight_decay,
        args.label_smoothing,
        args.dropout,
    )
    settings = {k: str(v) if isinstance(v, Path) else v for k, v in vars(args).items()}
    start = None
    if args.start:
        read = weights.read(args.start)
        if read.folded:
            source = examples(args.actions, args.jhmdb, args.none_share)
            rng = np.random.default_rng(args.seed)
            points, scores, _ = stacked([source.draw(rng) for _ in range(FOLDED_VIEWS)])
            read = weights.unfolded(read, points, scores)
        start = weights.with_head(read, CLASSES)
    path = args.out / "checkpoint.pth"
    run = Run(ARCHITECTURE, CLASSES, recipe, path, start=start, settings=settings)
    if args.resume:
        run.resume()
    return run


def main() -> None:
    """Entry point."""
    args = _arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    run = begun(args)
    source = functools.partial(examples, args.actions, args.jhmdb, args.none_share)
    batches = Batches(source, args.batch, args.seed + run.step)
    with (args.out / "train.log").open("a" if args.resume else "w") as file:

        def log(line: str) -> None:
            print(line, file=file, flush=True)
            print(line, file=sys.stderr, flush=True)

        parameters = sum(p.numel() for p in run.net.parameters())
        log(f"torch {torch.__version__}, {parameters} parameters, {len(CLASSES)} classes, {SHAPE}")
        settings = {k: v for k, v in vars(args).items() if not isinstance(v, Path)}
        log(f"{settings}")
        fit(run, batches.take, Told(log, Validation(args).report))
    batches.close()


if __name__ == "__main__":
    main()
