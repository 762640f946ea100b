"""Train as planned, and write what makes the network usable: ``posec3d.onnx``, ``labels.json``, the
card ``README.md``, ``results.json``. Needs the extra ``train``.

``checkpoint.pth`` holds the state meanwhile: the same call goes on where a killed one stood.
"""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from perception.errors import BadInput
from perception.shipped import shipped
from perception.skeleton.training import weights
from perception.skeleton.training.architecture import ARCHITECTURES, SLIM, Architecture
from perception.skeleton.training.batches import Batches, stacked
from perception.skeleton.training.calibration import Calibration
from perception.skeleton.training.card import card
from perception.skeleton.training.evaluation import calibrate, measure, sampled_views
from perception.skeleton.training.export import averaged, write_onnx
from perception.skeleton.training.fit import Recipe, Run, Told, fit, logits_of
from perception.skeleton.training.network import PoseC3D
from perception.skeleton.training.plan import EMBEDDED, NOTHING, Plan, Settings
from perception.whole import write_whole

__all__ = ["FILES", "Hearer", "begin", "initial", "learn", "train"]

FILES = ("posec3d.onnx", "labels.json", "README.md", "results.json")

FOLDED_VIEWS = 512
"""Examples whose statistics the batch normalisation of an ONNX is given."""

SAVE_EVERY_S = 60.0
LOOKED_AT = 200
"""Calibration spans that are looked at whenever the state is saved."""

MAY_CHANGE = ("minutes", "threads", "device", "traces")
"""Settings that may change from one call to the next; the rest make another run."""


@dataclass(frozen=True)
class Hearer:
    """Who is told how the training goes.

    Args:
        log: takes a line.
        progress: takes what is being done, how much of it is done, and how much there is.
    """

    log: Callable[[str], None]
    progress: Callable[[str, float, float], None]


def initial(settings: Settings) -> tuple[Architecture, weights.Start | None]:
    """The network and the weights that the training begins with; None = random ones.

    Raises:
        BadInput: the weights cannot be used, or are of another network than ``arch``.
    """
    if settings.init == NOTHING:
        return ARCHITECTURES[settings.arch or SLIM.name], None
    path = Path(settings.init).expanduser()
    if settings.init == EMBEDDED:
        path = shipped("checkpoints") / EMBEDDED / f"{EMBEDDED}.onnx"
    elif path.is_dir():
        path = path / "checkpoint.pth"
    start = weights.read(path)
    if settings.arch and settings.arch != start.architecture.name:
        raise BadInput(
            f"{settings.init!r} holds weights of the {start.architecture.name} network, and "
            f"--arch says {settings.arch}."
        )
    return start.architecture, start


def begin(plan: Plan, start: weights.Start | None, out: Path) -> Run:
    """The run, resumed where ``out`` holds its checkpoint.

    Raises:
        BadInput: ``out`` holds another run.
    """
    settings, path = plan.settings, out / "checkpoint.pth"
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    recipe = Recipe(
        minutes=settings.minutes,
        batch=settings.batch,
        learning_rate=settings.learning_rate or (3e-3 if start is None else 1e-3),
    )
    kept = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(settings).items()}
    kept["data_sha256"] = plan.digest
    resumed = path.exists()
    run = Run(
        plan.architecture,
        plan.classes,
        recipe,
        path,
        start=None if resumed or start is None else _fitted(start, plan),
        settings=kept,
        device=settings.device,
    )
    if resumed:
        run.resume({name: value for name, value in kept.items() if name not in MAY_CHANGE})
    return run


def _fitted(start: weights.Start, plan: Plan) -> Mapping[str, torch.Tensor]:
    """The weights to begin with, for the plan's classes and fit to be trained on."""
    if start.folded:
        source, rng = plan.examples(), np.random.default_rng(plan.settings.seed)
        points, scores, _ = stacked([source.draw(rng) for _ in range(FOLDED_VIEWS)])
        start = weights.unfolded(start, points, scores)
    return weights.with_head(start, plan.classes)


def train(plan: Plan, start: weights.Start | None, out: Path, hearer: Hearer) -> dict[str, Any]:
    """Train, export, calibrate, measure.

    Returns the held-out figures (see ``evaluation.measure``).

    Raises:
        BadInput: ``out`` holds another run.
        StorageError: ``out`` cannot be written.
    """
    run = begin(plan, start, out)
    if run.step:
        hearer.log(f"goes on from {run.elapsed_s / 60:.1f} of {plan.settings.minutes:g} minutes")
    learn(run, plan, hearer)
    hearer.log("exports, calibrates and measures, which --minutes leaves out")
    begun = time.monotonic()
    document = finish(run, plan, out, hearer)
    hearer.log(f"exported and measured in {(time.monotonic() - begun) / 60:.1f} minutes")
    return document


def learn(run: Run, plan: Plan, hearer: Hearer) -> None:
    """Train until the run's minutes are over, by the backend of the settings."""
    if run.elapsed_s >= run.total_s:
        return
    hearer.progress("starting", run.elapsed_s, run.total_s)
    spans = len(plan.part("train"))
    hearer.log(f"prepares examples out of {spans} labelled spans; a line a minute follows")
    told = Told(
        hearer.log,
        _look(plan),
        lambda elapsed_s: hearer.progress("training", min(elapsed_s, run.total_s), run.total_s),
        save_every_s=min(SAVE_EVERY_S, max(run.total_s / 10, 5.0)),
    )
    batches = Batches(plan.examples, plan.settings.batch, plan.settings.seed + run.step)
    try:
        if plan.settings.backend == "mmaction2":
            from perception.skeleton.training.mmaction_runner import fit_by_runner

            fit_by_runner(run, batches.take, told)
        else:
            fit(run, batches.take, told)
    except KeyboardInterrupt:
        run.save()
        raise
    finally:
        batches.close()


def _look(plan: Plan) -> Callable[[PoseC3D], str]:
    """Says how many calibration spans the network gets right."""
    if not plan.part("calibration"):
        return lambda _: ""
    points, scores, truth = sampled_views(plan, "calibration", LOOKED_AT)

    def report(net: PoseC3D) -> str:
        said = logits_of(net, points, scores, torch.bfloat16).argmax(axis=1)
        return f"calibration part: {(said == truth).mean():.3f} of {len(truth)} spans right"

    return report


def finish(run: Run, plan: Plan, out: Path, hearer: Hearer) -> dict[str, Any]:
    """Export the averaged weights, calibrate and measure them, and write the files."""
    hearer.progress("exporting", 0, 0)
    net = averaged(run.average.net.cpu().state_dict(), plan.architecture)
    onnx = out / FILES[0]
    write_onnx(net, onnx)
    judge = functools.partial(logits_of, run.average.net.to(plan.settings.device))
    hearer.progress("calibrating", 0, 0)
    calibration = calibrate(plan, judge)
    hearer.progress("measuring", 0, 0)
    results = measure(plan, calibration, judge)
    content = onnx.read_bytes()
    trained = {
        "steps": run.step,
        "batch": run.recipe.batch,
        "learning_rate": run.recipe.learning_rate,
        "seed": plan.settings.seed,
        "backend": plan.settings.backend,
        "device": plan.settings.device,
        "parameters": sum(p.numel() for p in net.parameters()),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "torch": torch.__version__,
        "version": version("cuelight"),
    }
    document = {"schema": 1, "plan": plan.document(), "trained": trained, "held_out": results}
    _write_json(out / "labels.json", labels(plan, calibration))
    _write_json(out / "results.json", document)
    write_whole(out / "README.md", card(plan, results, trained).encode())
    return document


def labels(plan: Plan, calibration: Calibration) -> dict[str, Any]:
    """The document of ``labels.json``, as ``ActionLabels.read`` takes it."""
    pairs = zip(plan.classes, plan.phrases, strict=True)
    return {
        "schema": 1,
        "model": "posec3d",
        "shape": asdict(plan.architecture.shape),
        "joints": list(plan.architecture.joints),
        "window_s": plan.settings.window_s,
        "temperature": calibration.temperature,
        "none_bias": calibration.none_bias,
        "none": plan.none,
        "classes": list(plan.classes),
        "labels": {name: {"phrase": phrase, "classes": [name]} for name, phrase in pairs},
    }


def _write_json(path: Path, document: Any) -> None:
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(path, f"{text}\n".encode())
