"""Train the action network: `python train.py --actions DIR --jhmdb DIR --out DIR --minutes 75
--seed 0`.

One process makes examples, this one trains, in bfloat16 on CPU. The learning rate follows the clock
(warm-up, then a cosine down to 0.5 %), so that a run ends when it was told to. The average of the
weights (EMA) is what is kept; `--resume` continues an interrupted run where its checkpoint stands.
"""

from __future__ import annotations

import argparse
import copy
import math
import multiprocessing
import sys
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np
import torch
from augmentation import SHAPE, Examples, view
from network import PoseC3D, heatmap_batch
from skeletons import load_parts, random_camera
from torch import Tensor, nn
from torch.nn import functional
from vocabulary import CLASSES

WARM_UP, FLOOR = 0.05, 0.005


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
    parser.add_argument("--start", type=Path, help="checkpoint.pth whose average to begin with")
    parser.add_argument("--resume", action="store_true", help="continue from OUT/checkpoint.pth")
    return parser.parse_args()


Batch = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]


def make_batches(queue: Queue[Batch], stop: Event, args: argparse.Namespace, seed: int) -> None:
    """Body of the process that makes examples."""
    rng = np.random.default_rng(seed)
    examples = Examples(load_parts(args.actions, args.jhmdb)["train"], args.none_share)
    while not stop.is_set():
        queue.put(examples.batch(args.batch, rng))


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
        self._points = torch.from_numpy(np.stack([p for p, _ in seen + cut]))
        self._scores = torch.from_numpy(np.stack([s for _, s in seen + cut]))
        self._labels = np.tile([c.label for c in clips], 2 * views)
        self._sources = np.tile([c.source for c in clips], views)

    def report(self, net: PoseC3D) -> str:
        logits = predict(net, self._points, self._scores)
        right = logits.argmax(axis=1) == self._labels
        whole, cut = np.split(right, 2)
        each = " ".join(
            f"{s} {whole[self._sources == s].mean():.3f}" for s in np.unique(self._sources)
        )
        return f"calibration part: top-1 {whole.mean():.3f} with 60 % {cut.mean():.3f} | {each}"


@torch.no_grad()
def predict(net: PoseC3D, points: Tensor, scores: Tensor) -> np.ndarray[Any, Any]:
    """`[N, classes]` logits in bfloat16 (validation only; evaluate.py uses float32)."""
    net.eval()
    out = []
    for i in range(0, len(points), 32):
        volume = heatmap_batch(
            points[i : i + 32], scores[i : i + 32], SHAPE.size, SHAPE.sigma, torch.bfloat16
        )
        with torch.autocast("cpu", torch.bfloat16):
            features = net.backbone(volume)
        out.append(net.cls_head(features))
    return torch.cat(out).numpy()


class Average:
    """Exponential moving average of a network's parameters and buffers."""

    def __init__(self, net: PoseC3D, limit: float = 0.998) -> None:
        self.net = copy.deepcopy(net)
        self._limit = limit
        pairs = list(zip(self.net.state_dict().values(), net.state_dict().values(), strict=True))
        self._floats = [p for p in pairs if p[0].dtype.is_floating_point]
        self._others = [p for p in pairs if not p[0].dtype.is_floating_point]

    @torch.no_grad()
    def update(self, step: int) -> None:
        keep = min(self._limit, (1 + step) / (10 + step))
        averaged = [a for a, _ in self._floats]
        torch._foreach_mul_(averaged, keep)
        torch._foreach_add_(averaged, [b for _, b in self._floats], alpha=1 - keep)
        for a, b in self._others:
            a.copy_(b)


def rate_at(done: float, peak: float) -> float:
    """Learning rate at a share `done` of the run."""
    if done < WARM_UP:
        return peak * max(done / WARM_UP, 0.02)
    return peak * (
        FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))
    )


class Run:
    """A training run and its state on disk."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.net = PoseC3D(len(CLASSES), dropout=args.dropout).to(
            memory_format=torch.channels_last_3d
        )
        if args.start:
            self.net.load_state_dict(torch.load(args.start, weights_only=True)["average"])
        self.average = Average(self.net)
        matrices = [p for p in self.net.parameters() if p.ndim > 1]
        vectors = [p for p in self.net.parameters() if p.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": args.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=args.learning_rate)
        self.step = 0
        self.elapsed_s = 0.0
        self.path = args.out / "checkpoint.pth"
        if args.resume:
            self._load()

    def _load(self) -> None:
        state = torch.load(self.path, weights_only=True)
        self.net.load_state_dict(state["net"])
        self.average.net.load_state_dict(state["average"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.elapsed_s = state["step"], state["elapsed_s"]

    def save(self) -> None:
        state = {
            "net": self.net.state_dict(),
            "average": self.average.net.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "elapsed_s": self.elapsed_s,
            "classes": list(CLASSES),
            "args": {k: str(v) if isinstance(v, Path) else v for k, v in vars(self.args).items()},
        }
        beside = self.path.with_suffix(".tmp")
        torch.save(state, beside)
        beside.replace(self.path)

    def learn(
        self, points: Tensor, scores: Tensor, labels: Tensor, rate: float
    ) -> tuple[float, int]:
        """One step; returns the summed loss and the number of right answers."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        volume = heatmap_batch(points, scores, SHAPE.size, SHAPE.sigma, torch.bfloat16)
        with torch.autocast("cpu", torch.bfloat16):
            features = self.net.backbone(volume)
        logits = self.net.cls_head(features)
        loss = functional.cross_entropy(logits, labels, label_smoothing=self.args.label_smoothing)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.step += 1
        self.average.update(self.step)
        return loss.item() * len(labels), int((logits.argmax(1) == labels).sum())


def fit(run: Run, queue: Queue[Batch], log: Any) -> None:
    """Train until the run's minutes are over, with a log line a minute and a checkpoint every
    four."""
    validation = Validation(run.args)
    begun, total_s = time.monotonic() - run.elapsed_s, run.args.minutes * 60
    next_line, next_save = run.elapsed_s + 60, run.elapsed_s + 240
    loss, right, count = 0.0, 0, 0
    run.net.train()
    while run.elapsed_s < total_s:
        rate = rate_at(run.elapsed_s / total_s, run.args.learning_rate)
        points, scores, labels = (torch.from_numpy(a) for a in queue.get())
        step_loss, step_right = run.learn(points, scores, labels, rate)
        loss, right, count = loss + step_loss, right + step_right, count + len(labels)
        run.elapsed_s = time.monotonic() - begun
        if run.elapsed_s > next_line:
            when = f"{run.elapsed_s / 60:.1f} min step {run.step} rate {rate:.5f}"
            how = f"loss {loss / count:.3f} accuracy {right / count:.3f}"
            log(f"{when} {how} ({count / 60:.0f} examples/s)")
            loss, right, count, next_line = 0.0, 0, 0, next_line + 60
        if run.elapsed_s > next_save:
            run.save()
            log(validation.report(run.average.net))
            next_save += 240
    run.save()
    log(f"finished: {run.step} steps of {run.args.batch}; {validation.report(run.average.net)}")


def main() -> None:
    """Entry point."""
    args = _arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    run = Run(args)
    context = multiprocessing.get_context("fork")
    queue: Queue[Batch] = context.Queue(8)
    stop = context.Event()
    maker = context.Process(
        target=make_batches, args=(queue, stop, args, args.seed + run.step), daemon=True
    )
    maker.start()
    with (args.out / "train.log").open("a" if args.resume else "w") as file:

        def log(line: str) -> None:
            print(line, file=file, flush=True)
            print(line, file=sys.stderr, flush=True)

        parameters = sum(p.numel() for p in run.net.parameters())
        log(f"torch {torch.__version__}, {parameters} parameters, {len(CLASSES)} classes, {SHAPE}")
        settings = {k: v for k, v in vars(args).items() if not isinstance(v, Path)}
        log(f"{settings}")
        fit(run, queue, log)
    stop.set()
    maker.terminate()


if __name__ == "__main__":
    main()
