"""Which action a skeleton clip shows: the ``ActionClassifier`` protocol and PoseC3D.

PoseC3D: Duan et al., *Revisiting Skeleton-based Action Recognition*, CVPR 2022. The network runs in
one of ``runtimes/``; checks, preprocessing and probabilities are here, once for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perception import plugins
from perception.errors import BadInput
from perception.skeleton.action_labels import ActionLabels
from perception.skeleton.heatmaps import KEYPOINTS, Floats
from perception.skeleton.runtime import Runtime

__all__ = ["RUNTIMES", "ActionClassifier", "ActionLabels", "PoseC3D", "embedded"]

RUNTIMES = "perception.skeleton.runtimes"


class ActionClassifier(Protocol):
    """Names the action of a skeleton clip. The model loads on first use."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Plain values that change whenever the same poses would get other probabilities."""

    @property
    def labels(self) -> ActionLabels:
        """What it can say."""

    def classify(
        self,
        keypoints: npt.NDArray[np.float32],
        scores: npt.NDArray[np.float32],
        picture: tuple[int, int] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Probabilities of the labels for one clip.

        Args:
            keypoints: [T, 17, 2] or [people, T, 17, 2]: COCO-17 at equal steps of time, in pixels,
                y down.
            scores: [T, 17] or [people, T, 17] in [0, 1]; 0 where somebody is not seen.
            picture: height and width of the picture in pixels; None = as far as the joints reach.

        Returns:
            float32 [labels], summing to 1.

        Raises:
            BadInput: the shapes do not fit, or T is 0.
        """


class PoseC3D:
    """PoseC3D in any runtime.

    Args:
        runtime: the network.
        mirror: also classify the clip's mirror image and average: twice the time. Outputs that name
            a side must share one label.
    """

    def __init__(self, runtime: Runtime, *, mirror: bool = False) -> None:
        self._runtime, self._mirror = runtime, mirror

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest."""
        return self._runtime.checkpoints

    @property
    def settings(self) -> Mapping[str, Any]:
        """The runtime's."""
        return self._runtime.settings

    @property
    def labels(self) -> ActionLabels:
        """What it can say."""
        return self._runtime.labels

    def classify(
        self,
        keypoints: npt.NDArray[np.float32],
        scores: npt.NDArray[np.float32],
        picture: tuple[int, int] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Probabilities [labels] for one clip; arguments as of ``ActionClassifier``.

        Raises:
            BadInput: the arrays have other shapes, or there is no frame.
        """
        points, seen = _checked(keypoints, scores)
        if picture is None:
            reach = np.maximum(points.reshape(-1, 2).max(axis=0), 1)
            picture = int(np.ceil(reach[1])), int(np.ceil(reach[0]))
        volumes = self._runtime.recipe.volumes(points, seen, picture, mirror=self._mirror)
        logits = np.stack([self._runtime.logits(volume) for volume in volumes])
        labels = self._runtime.labels
        if self._runtime.average == "score":
            return labels.probabilities(logits.mean(axis=0, dtype=np.float32))
        each = [labels.probabilities(one) for one in logits]
        return np.asarray(np.mean(each, axis=0), dtype=np.float32)


def _checked(keypoints: Any, scores: Any) -> tuple[Floats, Floats]:
    """[people, T, 17, 2] and [people, T, 17] in [0, 1]; unseen joints at 0, 0 with score 0."""
    points = np.asarray(keypoints, dtype=np.float32)
    seen = np.asarray(scores, dtype=np.float32)
    if points.ndim not in {3, 4} or points.shape != (*seen.shape[:-1], KEYPOINTS, 2):
        raise BadInput(
            "A skeleton clip needs keypoints [T, 17, 2] and scores [T, 17], or several people's "
            f"with one more axis in front, not {list(points.shape)} and {list(seen.shape)}."
        )
    if not seen.size:
        raise BadInput("A skeleton clip needs at least one frame.")
    if points.ndim == 3:
        points, seen = points[None], seen[None]
    known = np.isfinite(points).all(axis=-1) & (seen > 0)
    return np.where(known[..., None], points, 0), np.where(known, np.minimum(seen, 1), 0)


def embedded(*, mirror: bool = False) -> PoseC3D:
    """The model trained here (``checkpoints/posec3d_mimed``); its weights load on first use.

    Raises:
        WeightsError: its labels file is missing from this installation.
    """
    return PoseC3D(plugins.build(RUNTIMES, "onnx", {}), mirror=mirror)
