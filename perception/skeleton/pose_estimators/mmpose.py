"""Any 2D pose estimator of mmpose: a config and a checkpoint, top-down or one-stage, that tells the
17 keypoints of COCO (HRNet, RTMPose, SimCC, RTMO, associative embedding, ...).

A config of mmpose is Python code and is run: take configs only from whom you would run a program.
Checkpoints are read as data. mmpose's own ``inference_topdown`` is not used: without a box it takes
the whole picture for a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from perception.limits import THREADS, check_limits, usable_threads
from perception.skeleton.boxes import BoxOptions, box_source
from perception.skeleton.given_weights import GivenWeights
from perception.skeleton.networks import Found, NetworkEstimator
from perception.skeleton.openmmlab import stack

if TYPE_CHECKING:
    from perception.skeleton.openmmlab.config_file import ConfigFile
    from perception.skeleton.openmmlab.pose_model import PoseModel

__all__ = ["Options", "build"]

PURPOSE = "The pose estimator mmpose"

_LIMITS = {"persons_at_once": (1, 1024), "least_score": (0, 1), "threads": THREADS}


@dataclass(frozen=True, slots=True)
class Options:
    """How poses are estimated.

    Args:
        config: name of a config that mmpose ships, or the path of one.
        checkpoint: path of a .pth file that fits it, or a name in the manifest.
        device: as torch names it: ``cpu``, ``cuda``, ``cuda:1``.
        persons_at_once: top-down: so many boxes go through the network together.
        least_score: one-stage: score under which nobody is there, in [0, 1].
        threads: of torch, on the processor.
        boxes: top-down: where the persons' boxes come from.

    Raises:
        BadInput: a number lies outside its limits.
    """

    config: str = "td-hm_hrnet-w32_8xb64-210e_coco-256x192"
    checkpoint: str = "hrnet_w32_coco"
    device: str = "cpu"
    persons_at_once: int = 16
    least_score: float = 0.3
    threads: int = 1
    boxes: BoxOptions = field(default_factory=BoxOptions)

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "mmpose's ")


def build(options: Options) -> NetworkEstimator:
    """The estimator; its models load on first use.

    Raises:
        MissingExtra: OpenMMLab's packages are not installed.
        BadInput: there is no config or checkpoint of that name, or the boxes file has a fault.
    """
    stack.check(PURPOSE)
    from perception.skeleton.openmmlab.config_file import ConfigFile

    config = ConfigFile.named(options.config, "mmpose")
    weights = GivenWeights.named(
        options.checkpoint, ".pth", "The checkpoint of the pose estimator mmpose"
    )
    return NetworkEstimator(MMPose(options, config, weights), box_source(options.boxes))


class MMPose:
    """A ``PoseNetwork``. One instance serves one thread at a time."""

    def __init__(self, options: Options, config: ConfigFile, weights: GivenWeights) -> None:
        self._options, self._config, self._weights = options, config, weights

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The checkpoint's name in the manifest, if it has one."""
        return self._weights.checkpoints

    @property
    def settings(self) -> Mapping[str, object]:
        """What pins the config and the weights, and the options that decide poses."""
        return {
            "config_sha256": self._config.sha256,
            **self._weights.settings,
            "least_score": self._options.least_score,
        }

    @property
    def needs_boxes(self) -> bool:
        """Whether it is top-down."""
        return self._model.is_top_down

    @cached_property
    def _model(self) -> PoseModel:
        from perception.skeleton.openmmlab.pose_model import PoseModel

        threads = usable_threads(self._options.threads)
        return PoseModel.load(
            self._config, self._weights.path(), self._options.device, threads, PURPOSE
        )

    def in_boxes(
        self, rgb: npt.NDArray[np.uint8], corners: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Top-down; see ``PoseNetwork``."""
        step = self._options.persons_at_once
        parts = [
            self._model.in_boxes(rgb, corners[first : first + step])
            for first in range(0, len(corners), step)
        ]
        keypoints, scores = zip(*parts, strict=True)
        return np.concatenate(keypoints), np.concatenate(scores)

    def in_picture(self, rgb: npt.NDArray[np.uint8]) -> Found:
        """One-stage; see ``PoseNetwork``."""
        keypoints, scores, persons = self._model.in_picture(rgb)
        sure = persons >= self._options.least_score
        return keypoints[sure], scores[sure], persons[sure]
