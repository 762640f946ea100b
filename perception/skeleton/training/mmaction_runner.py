"""The same training by mmaction2: its Recognizer3D, its loss and its Runner, on our weights.

Examples, learning rate, average of the weights, clock and checkpoint are those of ``fit``, so that
both give the same files. mmaction2's model holds the very tensors of the run's network. Needs the
extra ``openmmlab``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from perception.errors import BadInput
from perception.skeleton.openmmlab import stack
from perception.skeleton.openmmlab.models import in_scope, quiet
from perception.skeleton.training.batches import Batch
from perception.skeleton.training.fit import Clock, Run, Told
from perception.skeleton.training.network import heatmap_batch

__all__ = ["fit_by_runner"]

PURPOSE = "Training with mmaction2"

ENDLESS = 10**9
"""Iterations that are never reached: the clock ends the training."""


class HeatmapBatches(IterableDataset[Any]):
    """Batches as mmaction2's models take them: `inputs`, one `[1, joints, T, size, size]` an
    example, and `data_samples` with the labels."""

    def __init__(self, run: Run, take: Callable[[], Batch]) -> None:
        self._run, self._take = run, take

    def __iter__(self) -> Iterator[dict[str, Any]]:
        from mmaction.structures import ActionDataSample

        while True:
            points, scores, labels = (torch.from_numpy(each) for each in self._take())
            volumes = heatmap_batch(points, scores, self._run.architecture, torch.float32)
            yield {
                "inputs": list(volumes.contiguous()[:, None]),
                "data_samples": [ActionDataSample().set_gt_label(label) for label in labels],
            }


def fit_by_runner(run: Run, take: Callable[[], Batch], told: Told) -> None:
    """``fit.fit``, with mmengine's Runner.

    Raises:
        MissingExtra: OpenMMLab's packages are not installed; says both commands.
        BadInput: the run is on the processor, and the Runner would choose a graphics card.
    """
    stack.load("mmaction.models.recognizers", PURPOSE)
    from mmengine.device import get_device
    from mmengine.optim import OptimWrapper
    from mmengine.runner import Runner

    if get_device() != run.device:
        raise BadInput(
            f"mmaction2's Runner would train on {get_device()}, not on {run.device}; leave out "
            "--device, or give --backend torch."
        )
    clock = Clock(run, told)
    with tempfile.TemporaryDirectory() as folder, quiet(), in_scope("mmaction"):
        Runner(
            model=_model(run),
            work_dir=folder,
            train_dataloader=DataLoader(HeatmapBatches(run, take), batch_size=None),
            train_cfg={"type": "IterBasedTrainLoop", "max_iters": ENDLESS},
            optim_wrapper=OptimWrapper(run.optimiser, clip_grad={"max_norm": 5.0}),
            default_hooks=dict.fromkeys(("logger", "checkpoint", "sampler_seed")),
            custom_hooks=[_hook(run, clock)],
            log_processor={"by_epoch": False},
            log_level="ERROR",
            default_scope="mmaction",
            experiment_name="posec3d",
        ).train()
    clock.end()


def _model(run: Run) -> Any:
    """mmaction2's model of the run's network, on the same tensors."""
    from mmaction.registry import MODELS

    config = run.architecture.mmaction_config(len(run.classes))
    config["backbone"]["in_channels"] = len(run.architecture.joints)
    config["cls_head"]["dropout_ratio"] = run.net.cls_head.dropout.p
    config["cls_head"]["label_smooth_eps"] = run.recipe.label_smoothing
    model = MODELS.build(config)
    theirs: dict[str, nn.Module] = dict(model.named_modules())
    for name, ours in run.net.named_modules():
        for key, parameter in ours.named_parameters(recurse=False):
            setattr(theirs[name], key, parameter)
        for key, buffer in ours.named_buffers(recurse=False):
            setattr(theirs[name], key, buffer)
    return model


def _hook(run: Run, clock: Clock) -> Any:
    """Keeps the run's rate, average and clock while the Runner trains."""
    from mmengine.hooks import Hook

    class KeepTime(Hook):
        priority = "VERY_LOW"

        def before_train_iter(self, *_: Any, **__: Any) -> None:
            run.set_rate()

        def after_train_iter(
            self, runner: Any, batch_idx: int, data_batch: Any, outputs: Any
        ) -> None:
            run.stepped()
            count = len(data_batch["data_samples"])
            right = round(float(outputs["top1_acc"]) * count)
            clock.step(float(outputs["loss"]) * count, right, count)
            runner.train_loop.stop_training = not clock.ticks

    return KeepTime()
