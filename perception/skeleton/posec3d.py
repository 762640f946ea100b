"""Which action a skeleton clip shows: the ``ActionClassifier`` protocol and PoseC3D on onnxruntime.

PoseC3D: Duan et al., *Revisiting Skeleton-based Action Recognition*, CVPR 2022.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perception import weights
from perception.errors import BadInput, WeightsError
from perception.shipped import shipped
from perception.skeleton.heatmaps import HeatmapShape, clip_volume, mirrored

__all__ = ["ActionClassifier", "ActionLabels", "OnnxPoseC3D", "embedded"]

CHECKPOINT = "posec3d_mimed"

LEAST_SCORE = 0.1
"""Keypoints that score less are not drawn: training dims badly seen limbs down to a tenth and
drops lost ones (``checkpoints/posec3d_mimed/augmentation.py``)."""


@dataclass(frozen=True, slots=True, eq=False)
class ActionLabels:
    """What a network's outputs mean.

    Args:
        names: the served labels, e.g. ``"wave"``.
        phrases: what a person does, in words, e.g. ``"waves a hand"``; one per name.
        none: index of the label "no action" in ``names``; None when the network has none.
        groups: int [outputs], for each output of the network the index of the label it counts for.
        temperature: divides the logits; fitted on subjects that no other part of the data has.
        none_bias: added to the logits of "no action" first; fitted on the same subjects.
    """

    names: tuple[str, ...]
    phrases: tuple[str, ...]
    none: int | None
    groups: npt.NDArray[np.int64]
    temperature: float = 1.0
    none_bias: float = 0.0

    @classmethod
    def read(cls, path: Path) -> tuple[ActionLabels, HeatmapShape]:
        """The labels file beside the weights, and the shape of the volume that they take.

        Raises:
            WeightsError: the file is missing, or is no such file.
        """
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            labels: dict[str, Any] = document["labels"]
            names = tuple(labels)
            owner = {c: i for i, entry in enumerate(labels.values()) for c in entry["classes"]}
            groups = np.array([owner[c] for c in document["classes"]], dtype=np.int64)
            none = names.index(document["none"]) if document["none"] is not None else None
            phrases = tuple(str(entry["phrase"]) for entry in labels.values())
            fitted = float(document["temperature"]), float(document["none_bias"])
            return cls(names, phrases, none, groups, *fitted), HeatmapShape(**document["shape"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            detail = f"{type(error).__name__}: {error}"
            raise WeightsError(
                f"{str(path)!r} is not a labels file of PoseC3D ({detail})."
            ) from None

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with any of the above."""
        fitted = self.temperature, self.none_bias
        fields = (self.names, self.phrases, self.none, self.groups.tolist(), *fitted)
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:12]

    def probabilities(self, logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Softmax with bias and temperature, summed over the outputs of each label.

        Args:
            logits: [outputs].

        Returns:
            float32 [labels], summing to 1.
        """
        if self.none is not None:
            logits = logits + self.none_bias * (self.groups == self.none)
        scaled = np.exp((logits - logits.max()) / self.temperature)
        merged = np.bincount(self.groups, weights=scaled / scaled.sum(), minlength=len(self.names))
        return merged.astype(np.float32)

    def top(
        self, probabilities: npt.NDArray[np.float32], count: int = 5
    ) -> list[tuple[str, float]]:
        """The ``count`` most probable labels with their probabilities, best first."""
        order = np.argsort(-probabilities, kind="stable")[:count]
        return [(self.names[i], float(probabilities[i])) for i in order]


class ActionClassifier(Protocol):
    """Names the action of one person's skeleton clip. The model loads on first use."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest."""

    @property
    def labels(self) -> ActionLabels:
        """What it can say; known without loading the model."""

    def classify(
        self, keypoints: npt.NDArray[np.float32], scores: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Probabilities of the labels for one clip.

        Args:
            keypoints: [T, 17, 2] COCO-17 at equal steps of time, in pixels, y down.
            scores: [T, 17] in [0, 1].

        Returns:
            float32 [labels], summing to 1.

        Raises:
            BadInput: the shapes do not fit, or T is 0.
        """


class OnnxPoseC3D:
    """PoseC3D from an ONNX file ``[1, 17, frames, size, size] -> [1, outputs]`` on one thread.

    Args:
        model: the ONNX file.
        labels, shape: see ``ActionLabels.read``.
        mirror: also classify the clip's mirror image and average the logits (PoseC3D's test
            protocol); twice the time. Outputs that name a side must share one label.
    """

    def __init__(
        self,
        model: Path | None,
        labels: ActionLabels,
        shape: HeatmapShape,
        *,
        mirror: bool = False,
        checkpoint: str = CHECKPOINT,
    ) -> None:
        self._model, self._labels, self._shape = model, labels, shape
        self._mirror, self._checkpoint = mirror, checkpoint

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest."""
        return (self._checkpoint,)

    @property
    def labels(self) -> ActionLabels:
        """What it can say."""
        return self._labels

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = self._model or weights.path(self._checkpoint)
        session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        outputs = session.get_outputs()[0].shape[-1]
        if outputs != len(self._labels.groups):
            raise WeightsError(
                f"{str(model)!r} has {outputs} outputs, its labels file {len(self._labels.groups)}."
            )
        return session

    def classify(
        self, keypoints: npt.NDArray[np.float32], scores: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Probabilities of the labels for one clip; see ``ActionClassifier``."""
        keypoints = np.asarray(keypoints, dtype=np.float32)
        scores = np.asarray(scores, dtype=np.float32)
        if keypoints.shape != (len(keypoints), 17, 2) or scores.shape != keypoints.shape[:2]:
            raise BadInput(
                "A skeleton clip needs keypoints [T, 17, 2] and scores [T, 17], "
                f"not {list(keypoints.shape)} and {list(scores.shape)}."
            )
        if not len(keypoints):
            raise BadInput("A skeleton clip needs at least one frame.")
        scores = _drawn(scores)
        views: Sequence[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]
        views = [(keypoints, scores)]
        if self._mirror:
            views = [*views, mirrored(keypoints, scores)]
        logits = [
            self._session.run(None, {"heatmap": clip_volume(k, s, self._shape)[None]})[0][0]
            for k, s in views
        ]
        return self._labels.probabilities(np.mean(logits, axis=0, dtype=np.float32))


def _drawn(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scores in [0, 1] without eyes and ears (no training data have them) and without guesses."""
    scores = np.clip(scores, 0, 1)
    scores = np.where(scores < LEAST_SCORE, np.float32(0), scores)
    scores[:, 1:5] = 0
    return scores


def embedded(*, mirror: bool = False) -> OnnxPoseC3D:
    """The model trained here (``checkpoints/posec3d_mimed``); its weights load on first use.

    Raises:
        WeightsError: its labels file is missing from this installation.
    """
    labels, shape = ActionLabels.read(shipped("checkpoints") / CHECKPOINT / "labels.json")
    return OnnxPoseC3D(None, labels, shape, mirror=mirror)
