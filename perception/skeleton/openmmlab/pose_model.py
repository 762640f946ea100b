"""A model of mmpose, with the preprocessing of its config, at work on one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput
from perception.skeleton.networks import NOBODY, Found
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
from perception.skeleton.pose import COCO_KEYPOINTS

__all__ = ["PoseModel"]

TOP_DOWN, ONE_STAGE = "TopdownPoseEstimator", "BottomupPoseEstimator"
"""Types of models in configs; mmpose counts one-stage models with those that work bottom-up."""


@dataclass(frozen=True, slots=True, eq=False)
class PoseModel:
    """A loaded model.

    Args:
        model: mmpose's.
        pipeline: its config's preprocessing of one picture.
        meta: of its keypoints, as mmpose has it.
        rows: which of its keypoints are COCO's 17, in COCO's order.
        is_top_down: whether it looks at a box at a time.
        threads: of torch, on the processor.
    """

    model: Any
    pipeline: Any
    meta: Mapping[str, Any]
    rows: Sequence[int]
    is_top_down: bool
    threads: int

    @classmethod
    def load(
        cls, config: ConfigFile, checkpoint: Path, device: str, threads: int, purpose: str
    ) -> PoseModel:
        """Build the config's model and give it the checkpoint's weights.

        Raises:
            UserError: the packages are not there; the config or the checkpoint cannot be read;
                they do not fit each other; the model does not tell COCO's keypoints.
            WeightsError: the checkpoint is damaged, or holds more than data.
        """
        stack.load("mmpose.apis", purpose)
        from mmengine.dataset import Compose
        from mmpose.models import build_pose_estimator
        from mmpose.utils import register_all_modules

        document = loading.load_checkpoint(checkpoint)
        with quiet(), in_scope("mmpose"), explained(config, "mmpose"):
            register_all_modules(init_default_scope=False)
            settings = read_config(config)
            is_top_down = _is_top_down(settings, config)
            model = build_pose_estimator(settings.model)
            pipeline = Compose(_test_pipeline(settings, config))
            meta = _meta(document, settings)
        fill(model, loading.state_dict(document, checkpoint), checkpoint, config)
        rows = _coco_rows(model, meta, config)
        model = on_device(model, device, "mmpose")
        return cls(model, pipeline, meta, rows, is_top_down, threads)

    def in_boxes(
        self, rgb: npt.NDArray[np.uint8], corners: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Top-down: keypoints [n, 17, 2] and scores [n, 17] for boxes [n, 4] in pixels of ``rgb``,
        n at least 1, all in one batch."""
        bgr = np.ascontiguousarray(rgb[..., ::-1])
        score = np.ones(1, dtype=np.float32)
        persons = [
            self.pipeline({"img": bgr, "bbox": box[None], "bbox_score": score, **self.meta})
            for box in corners
        ]
        found = [sample.pred_instances for sample in self._predict(persons)]
        keypoints = np.concatenate([_array(each.keypoints)[:, self.rows, :2] for each in found])
        scores = np.concatenate([_array(each.keypoint_scores)[:, self.rows] for each in found])
        return keypoints, scores

    def in_picture(self, rgb: npt.NDArray[np.uint8]) -> Found:
        """One-stage: everybody in a picture, uint8 [height, width, 3], with the model's own score
        or the mean of the keypoints'."""
        bgr = np.ascontiguousarray(rgb[..., ::-1])
        (sample,) = self._predict([self.pipeline({"img": bgr, **self.meta})])
        found = sample.pred_instances
        scores = _array(found.keypoint_scores)
        if not len(scores):
            return NOBODY
        persons = _array(found.bbox_scores) if "bbox_scores" in found else scores.mean(axis=1)
        return _array(found.keypoints)[:, self.rows, :2], scores[:, self.rows], persons

    def _predict(self, samples: Sequence[Any]) -> Any:
        import torch
        from mmengine.dataset import pseudo_collate

        with torch.no_grad(), on_threads(self.threads), quiet():
            return self.model.test_step(pseudo_collate(list(samples)))


def _array(values: Any) -> npt.NDArray[np.float32]:
    return np.asarray(values, dtype=np.float32)


def _is_top_down(settings: Any, config: ConfigFile) -> bool:
    kind = str(settings.model.get("type")).rpartition(".")[2]
    if kind not in (TOP_DOWN, ONE_STAGE):
        raise BadInput(
            f"The config {str(config.path)!r} has a model of the type {kind}; {TOP_DOWN} and "
            f"{ONE_STAGE} estimate poses in a picture."
        )
    return kind == TOP_DOWN


def _test_pipeline(settings: Any, config: ConfigFile) -> Any:
    dataset = (settings.get("test_dataloader") or {}).get("dataset") or {}
    while "pipeline" not in dataset and "dataset" in dataset:
        dataset = dataset["dataset"]
    found = dataset.get("pipeline") or settings.get("val_pipeline")
    if not found:
        raise BadInput(
            f"The config {str(config.path)!r} has no preprocessing of pictures: neither its "
            "test_dataloader has a pipeline nor is there a val_pipeline."
        )
    return found


def _meta(document: Mapping[str, Any], settings: Any) -> Mapping[str, Any]:
    """Names and symmetry of the keypoints: the checkpoint's word, else the config's, else COCO."""
    from mmpose.apis.inference import dataset_meta_from_config
    from mmpose.datasets.datasets.utils import parse_pose_metainfo

    meta = document.get("meta")
    meta = meta.get("dataset_meta") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or "keypoint_id2name" not in meta:
        meta = dataset_meta_from_config(settings, dataset_mode="train")
    if meta is None:
        meta = parse_pose_metainfo({"from_file": "configs/_base_/datasets/coco.py"})
    found: Mapping[str, Any] = meta
    return found


def _coco_rows(model: Any, meta: Mapping[str, Any], config: ConfigFile) -> Sequence[int]:
    names = [meta["keypoint_id2name"][row] for row in range(len(meta["keypoint_id2name"]))]
    given = (model.test_cfg or {}).get("output_keypoint_indices")
    names = names if given is None else [names[row] for row in given]
    missing = [name for name in COCO_KEYPOINTS if name not in names]
    if missing:
        raise BadInput(
            f"The model of the config {str(config.path)!r} tells the keypoints of "
            f"{meta.get('dataset_name')!r}, not COCO's 17: it lacks {', '.join(missing)}."
        )
    return [names.index(name) for name in COCO_KEYPOINTS]
