"""A training run and its state on disk. Needs the extra ``train``.

The learning rate follows the clock (warm-up, then a cosine down to 0.5 %), so that a run ends when
it was told to. The average of the weights (EMA) is what is kept; a run that was killed goes on
where its checkpoint stands.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from perception.errors import BadInput
from perception.skeleton.openmmlab.loading import load_checkpoint
from perception.skeleton.training.architecture import Architecture
from perception.skeleton.training.batches import Batch
from perception.skeleton.training.network import PoseC3D, heatmap_batch
from perception.whole import whole_file

__all__ = ["Clock", "Recipe", "Run", "Told", "fit", "logits_of"]

WARM_UP, FLOOR = 0.05, 0.005


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Args:
        minutes: wall time of the whole run.
        batch: examples a step.
        learning_rate: peak of AdamW's rate.
        weight_decay: of the matrices; vectors have none.
        label_smoothing: see Szegedy et al., CVPR 2016.
        dropout: before the last layer; the architecture's when None.
    """

    minutes: float = 75.0
    batch: int = 32
    learning_rate: float = 3e-3
    weight_decay: float = 0.03
    label_smoothing: float = 0.05
    dropout: float | None = None


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
        """Take in the network's weights after `step` steps."""
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
    """A network in training: its weights, their average, the optimiser, and how far it is.

    Args:
        architecture, classes, recipe: what is trained, for what, and how.
        path: where its checkpoint lies.
        start: weights to begin with.
        settings: kept in the checkpoint under ``args``: what a reader should know of the run.
        device: ``cpu`` or ``cuda``.
    """

    def __init__(
        self,
        architecture: Architecture,
        classes: Sequence[str],
        recipe: Recipe,
        path: Path,
        *,
        start: Mapping[str, Tensor] | None = None,
        settings: Mapping[str, Any] | None = None,
        device: str = "cpu",
    ) -> None:
        self.architecture, self.classes, self.recipe = architecture, tuple(classes), recipe
        self.path, self.settings, self.device = path, dict(settings or {}), device
        self.net = PoseC3D(architecture, len(classes), dropout=recipe.dropout).to(
            device, memory_format=torch.channels_last_3d
        )
        if start is not None:
            self.net.load_state_dict(start)
        self.average = Average(self.net)
        matrices = [p for p in self.net.parameters() if p.ndim > 1]
        vectors = [p for p in self.net.parameters() if p.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": recipe.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=recipe.learning_rate)
        self.step = 0
        self.elapsed_s = 0.0

    @property
    def total_s(self) -> float:
        """Wall time that the whole run takes."""
        return self.recipe.minutes * 60

    def resume(self, same: Mapping[str, Any] | None = None) -> None:
        """Go on where the checkpoint stands.

        Args:
            same: settings that it must have been made with.

        Raises:
            BadInput: there is none, it is another network's, or it was made with other settings.
            WeightsError: it is damaged.
        """
        state = load_checkpoint(self.path)
        made = state.get("args", {})
        other = [name for name, value in (same or {}).items() if made.get(name) != value]
        if other:
            raise BadInput(
                f"{str(self.path)!r} belongs to another run; it differs in {', '.join(other)}. "
                "Choose another folder, or remove it to begin anew."
            )
        if tuple(state.get("classes", ())) != self.classes:
            raise BadInput(f"{str(self.path)!r} was trained for other classes; it cannot go on.")
        try:
            self.net.load_state_dict(state["net"])
            self.average.net.load_state_dict(state["average"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.step, self.elapsed_s = state["step"], state["elapsed_s"]
        except (KeyError, RuntimeError, ValueError) as error:
            detail = str(error).partition("\n")[0]
            raise BadInput(
                f"{str(self.path)!r} is another network's checkpoint: {detail}"
            ) from None

    def save(self) -> None:
        """Write the checkpoint, whole or not at all.

        Raises:
            StorageError: the disk is full or read-only.
        """
        state = {
            "net": self.net.state_dict(),
            "average": self.average.net.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "elapsed_s": self.elapsed_s,
            "classes": list(self.classes),
            "architecture": self.architecture.name,
            "args": self.settings,
        }
        with whole_file(self.path) as file:
            torch.save(state, file)

    def set_rate(self) -> None:
        """Give the optimiser the learning rate of now."""
        rate = rate_at(min(self.elapsed_s / self.total_s, 1.0), self.recipe.learning_rate)
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def stepped(self) -> None:
        """Take in what the optimiser did to the weights."""
        self.step += 1
        self.average.update(self.step)

    def learn(self, batch: Batch) -> tuple[float, int]:
        """One step; returns the summed loss and the number of right answers."""
        self.set_rate()
        points, scores, labels = (torch.from_numpy(a).to(self.device) for a in batch)
        volume = heatmap_batch(points, scores, self.architecture, torch.bfloat16)
        with torch.autocast(self.device, torch.bfloat16):
            features = self.net.backbone(volume)
        logits = self.net.cls_head(features)
        loss = functional.cross_entropy(logits, labels, label_smoothing=self.recipe.label_smoothing)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.stepped()
        return loss.item() * len(labels), int((logits.argmax(1) == labels).sum())


@torch.no_grad()
def logits_of(
    net: PoseC3D,
    points: NDArray[np.float32],
    scores: NDArray[np.float32],
    dtype: torch.dtype = torch.float32,
) -> NDArray[np.float32]:
    """`[N, classes]` of views `[N, frames, 17, 2]` in heatmap pixels and `[N, frames, 17]`, 32 at a
    time; ``dtype`` bfloat16 is for a look while training."""
    net.eval()
    device = next(net.parameters()).device
    out = [np.zeros((0, net.cls_head.fc_cls.out_features), np.float32)]
    for i in range(0, len(points), 32):
        keypoints, heights = (torch.from_numpy(a[i : i + 32]).to(device) for a in (points, scores))
        volume = heatmap_batch(keypoints, heights, net.architecture, dtype)
        with torch.autocast(device.type, dtype, enabled=dtype is not torch.float32):
            features = net.backbone(volume)
        out.append(net.cls_head(features).cpu().numpy())
    return np.concatenate(out)


@dataclass(frozen=True)
class Told:
    """What ``fit`` tells while it works.

    Args:
        log: takes a line.
        report: says how good the averaged network is, nothing where it cannot tell; asked whenever
            the state is saved.
        progress: takes the seconds that were trained, often.
        line_every_s, save_every_s: from one line, and one checkpoint, to the next.
    """

    log: Callable[[str], None]
    report: Callable[[PoseC3D], str]
    progress: Callable[[float], None] = lambda _: None
    line_every_s: float = 60.0
    save_every_s: float = 240.0


class Clock:
    """Ends a run in time; meanwhile tells how it goes and saves its state."""

    def __init__(self, run: Run, told: Told) -> None:
        self._run, self._told = run, told
        self._begun = time.monotonic() - run.elapsed_s
        self._last_line = run.elapsed_s
        self._next_save = run.elapsed_s + told.save_every_s
        self._loss, self._right, self._count = 0.0, 0, 0

    @property
    def ticks(self) -> bool:
        """Whether there is time left."""
        return self._run.elapsed_s < self._run.total_s

    def step(self, loss: float, right: int, count: int) -> None:
        """A step was made on `count` examples, with this summed loss and so many right answers."""
        run, told = self._run, self._told
        self._loss, self._right = self._loss + loss, self._right + right
        self._count += count
        run.elapsed_s = time.monotonic() - self._begun
        told.progress(run.elapsed_s)
        if (since := run.elapsed_s - self._last_line) > told.line_every_s:
            rate = run.optimiser.param_groups[0]["lr"]
            when = f"{run.elapsed_s / 60:.1f} min step {run.step} rate {rate:.5f}"
            loss, accuracy = self._loss / self._count, self._right / self._count
            speed = self._count / since
            told.log(f"{when} loss {loss:.3f} accuracy {accuracy:.3f} ({speed:.0f} examples/s)")
            self._loss, self._right, self._count = 0.0, 0, 0
            self._last_line = run.elapsed_s
        if self.ticks and run.elapsed_s > self._next_save:
            run.save()
            if report := told.report(run.average.net):
                told.log(report)
            self._next_save = run.elapsed_s + told.save_every_s

    def end(self) -> None:
        """Save the state and tell what came out."""
        run, told = self._run, self._told
        run.save()
        made = f"finished: {run.step} steps of {run.recipe.batch}"
        told.log("; ".join(filter(None, [made, told.report(run.average.net)])))


def fit(run: Run, take: Callable[[], Batch], told: Told) -> None:
    """Train until the run's minutes are over; its state is saved meanwhile and at the end."""
    clock = Clock(run, told)
    run.net.train()
    while clock.ticks:
        batch = take()
        loss, right = run.learn(batch)
        clock.step(loss, right, len(batch[2]))
    clock.end()
