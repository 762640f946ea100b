"""PoseC3D networks of mmaction2: any config and checkpoint that take heatmaps of COCO's joints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from perception.errors import BadInput, WeightsError
from perception.limits import THREADS, check_limits, usable_threads
from perception.skeleton.action_labels import ActionLabels, shipped_labels
from perception.skeleton.given_weights import GivenWeights
from perception.skeleton.heatmaps import Floats
from perception.skeleton.mmaction_pipeline import read_pipeline
from perception.skeleton.mmaction_transforms import TestPipeline
from perception.skeleton.openmmlab import loading, stack
from perception.skeleton.openmmlab.config_file import ConfigFile
from perception.skeleton.openmmlab.models import (
    explained,
    fill,
    in_scope,
    on_device,
    on_threads,
    quiet,
    read_config,
)

__all__ = ["Options", "build"]

PURPOSE = "The action runtime mmaction2"

_LIMITS = {"clips": (0, 100), "threads": THREADS}


@dataclass(frozen=True, slots=True)
class Options:
    """Which network, and how it is looked through.

    Args:
        config: name of a config that mmaction2 ships, or the path of one.
        checkpoint: a name in the manifest, or the path of a ``.pth`` that fits the config.
        labels: ``ntu60``, ``ntu120``, or the path of a file: ``.json`` as beside our weights, or
            text with one class name a line; empty = the checkpoint names its classes itself.
        cfg_options: keys of the config to be changed, by their paths, e.g.
            ``{"model.cls_head.num_classes": 120}`` (mmaction2's ``--cfg-options``).
        clips: looks at different frames of a window; 0 = as many as the config's test pipeline.
        double: whether each is also seen in a mirror; None = as the config says.
        device: as torch names it: ``cpu``, ``cuda``, ``cuda:1``.
        threads: of torch, on the processor.
    """

    config: str = "slowonly_r50_8xb16-u48-240e_ntu60-xsub-keypoint"
    checkpoint: str = "posec3d_ntu60_keypoint"
    labels: str = "ntu60"
    cfg_options: Mapping[str, Any] = field(default_factory=dict)
    clips: int = 0
    double: bool | None = None
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The runtime mmaction2's ")


def build(options: Options) -> MMAction2:
    """The runtime; its network loads on first use.

    Raises:
        MissingExtra: OpenMMLab's packages are not installed; says both commands.
        UnsupportedPlatform: they do not run here.
        UserError: the config, the checkpoint or the labels cannot be used; says why.
    """
    stack.load("mmengine.config", PURPOSE)
    config = ConfigFile.named(options.config, "mmaction")
    with explained(config, "mmaction2"):
        settings = read_config(config)
        settings.merge_from_dict(dict(options.cfg_options))
        outputs = settings.model.cls_head.get("num_classes")
        transforms = _test_pipeline(settings, config)
        recipe = read_pipeline(transforms, f"the config {str(config.path)!r}")
    recipe = replace(recipe, clips=options.clips or recipe.clips)
    if options.double is not None:
        recipe = replace(recipe, double=options.double)
    weights = GivenWeights.named(
        options.checkpoint, ".pth", "The checkpoint of the action runtime mmaction2"
    )
    runtime = MMAction2(options, config, settings, Published(recipe), weights)
    if options.labels:
        runtime.check_head(outputs)
    return runtime


@dataclass(frozen=True, slots=True)
class Published:
    """How networks of mmaction2 are fed: by the test pipeline of their config."""

    pipeline: TestPipeline

    def volumes(
        self, keypoints: Floats, scores: Floats, picture: tuple[int, int], *, mirror: bool
    ) -> Iterator[Floats]:
        """All clips, and all in a mirror where the config or ``mirror`` says so."""
        pipeline = replace(self.pipeline, double=self.pipeline.double or mirror)
        return pipeline.volumes(keypoints, scores, picture)


class MMAction2:
    """A network of mmaction2. One instance serves one thread at a time."""

    def __init__(
        self,
        options: Options,
        config: ConfigFile,
        settings: Any,
        recipe: Published,
        weights: GivenWeights,
    ) -> None:
        self.recipe = recipe
        self._options, self._config, self._settings = options, config, settings
        self._weights = weights

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The checkpoint's name in the manifest, if it has one."""
        return self._weights.checkpoints

    @property
    def settings(self) -> Mapping[str, Any]:
        """What pins config, checkpoint and labels. Labels that the checkpoint names are pinned by
        the checkpoint."""
        changed = json.dumps(dict(self._options.cfg_options), sort_keys=True, default=str)
        pipeline = self.recipe.pipeline
        return {
            "config_sha256": self._config.sha256,
            "cfg_options": hashlib.sha256(changed.encode()).hexdigest()[:12],
            **self._weights.settings,
            "labels": self.labels.digest if self._options.labels else "the checkpoint's",
            "clips": pipeline.clips,
            "double": pipeline.double,
        }

    @cached_property
    def average(self) -> Literal["score", "prob"]:
        """``average_clips`` of the config's head; logits where it names none."""
        how = self._settings.model.cls_head.get("average_clips")
        return "prob" if how == "prob" else "score"

    @cached_property
    def labels(self) -> ActionLabels:
        """From the option, else from the checkpoint's metadata.

        Raises:
            BadInput: neither names them.
        """
        given = self._options.labels
        if given:
            path = Path(given).expanduser()
            return ActionLabels.read(path) if path.suffix else shipped_labels(given)
        names = loading.class_names(self._document)
        if not names:
            raise BadInput(
                f"The checkpoint {self._options.checkpoint!r} names no classes. Give labels: "
                "ntu60, ntu120, or the path of a file with one class name a line."
            )
        return ActionLabels.of_classes(names)

    def check_head(self, outputs: int | None) -> None:
        """See that the labels are as many as a head's outputs.

        Raises:
            BadInput: they are not.
        """
        if outputs is not None and outputs != self.labels.outputs:
            raise BadInput(
                f"The config {str(self._config.path)!r} has a head of {outputs} outputs, and there "
                f"are {self.labels.outputs} labels ({self._options.labels or 'the checkpoint'!s}). "
                "Give labels that fit, or set the head's with cfg_options: "
                f"{{model.cls_head.num_classes: {self.labels.outputs}}}."
            )

    @cached_property
    def _document(self) -> dict[str, Any]:
        stack.load("mmengine.config", PURPOSE)
        return loading.load_checkpoint(self._weights.path())

    @cached_property
    def _model(self) -> Any:
        recognizers = stack.load("mmaction.models.recognizers", PURPOSE)
        from mmaction.registry import MODELS

        with quiet(), in_scope("mmaction"), explained(self._config, "mmaction2"):
            model = MODELS.build(self._settings.model)
            if not isinstance(model, recognizers.Recognizer3D):
                raise BadInput(
                    f"The config {str(self._config.path)!r} has a model of the type "
                    f"{type(model).__name__}; PoseC3D is a Recognizer3D."
                )
            if getattr(model.data_preprocessor, "_enable_normalize", False):
                raise BadInput(
                    f"The config {str(self._config.path)!r} normalises its input (mean, std of the "
                    "data_preprocessor), which heatmaps are not made for."
                )
        path = self._weights.path()
        fill(model, loading.state_dict(self._document, path), path, self._config)
        self.check_head(model.cls_head.num_classes)
        return on_device(model, self._options.device, "mmaction2")

    def logits(self, volume: Floats) -> Floats:
        """Of one volume; see ``Runtime``."""
        import torch

        model = self._model
        device = next(model.parameters()).device
        with torch.no_grad(), on_threads(usable_threads(self._options.threads)), quiet():
            inputs = torch.from_numpy(np.ascontiguousarray(volume))[None, None].to(device)
            try:
                features, settings = model.extract_feat(inputs, test_mode=True)
                logits = model.cls_head(features, **settings)
            except RuntimeError as error:
                reason = " ".join(str(error).split())[:200]
                raise BadInput(
                    f"The network of the config {str(self._config.path)!r} cannot take volumes of "
                    f"{list(volume.shape)} from its test pipeline: {reason}."
                ) from None
        found: Floats = logits[0].float().cpu().numpy()
        if not np.isfinite(found).all():
            raise WeightsError(
                f"The checkpoint {self._options.checkpoint!r} gives scores that are no numbers."
            )
        return found


def _test_pipeline(settings: Any, config: ConfigFile) -> Any:
    """The transforms of the test data; of the validation data where there is no test."""
    for loader in ("test_dataloader", "val_dataloader"):
        dataset = (settings.get(loader) or {}).get("dataset") or {}
        while "pipeline" not in dataset and "dataset" in dataset:
            dataset = dataset["dataset"]
        if dataset.get("pipeline"):
            return dataset["pipeline"]
    for name in ("test_pipeline", "val_pipeline"):
        if settings.get(name):
            return settings[name]
    raise BadInput(
        f"The config {str(config.path)!r} has no test_pipeline: neither its test_dataloader nor "
        "its val_dataloader has transforms."
    )
