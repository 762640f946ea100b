"""PoseC3D networks that were trained here, on onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from perception import weights
from perception.errors import BadInput, WeightsError
from perception.limits import THREADS, check_limits, usable_threads
from perception.shipped import shipped
from perception.skeleton.action_labels import ActionLabels, read_document
from perception.skeleton.given_weights import GivenWeights, why_no_weights
from perception.skeleton.heatmaps import KEYPOINTS, Floats, HeatmapShape, clip_volume, mirrored

__all__ = ["Options", "build"]

_LIMITS = {"threads": THREADS}

_LEAST_SCORE = 0.1
"""Keypoints that score less are not drawn: training dims badly seen limbs down to a tenth and drops
lost ones (``perception/skeleton/training/augmentation.py``)."""

_JOINTS = (0, *range(5, 17))
"""Drawn where a labels file does not name its ``joints``: all but eyes and ears, which the embedded
model's data do not have."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which network.

    Args:
        checkpoint: a name in the manifest, or the path of an ``.onnx`` that ``cuelight train``
            wrote, or of its folder.
        labels: path of its ``labels.json``; empty = the file beside the network.
        threads: of onnxruntime.
    """

    checkpoint: str = "posec3d_mimed"
    labels: str = ""
    threads: int = 1

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The runtime onnx's ")


@dataclass(frozen=True, slots=True)
class TrainedHere:
    """How networks that were trained here are fed: ``clip_volume`` of the joints they know."""

    shape: HeatmapShape
    joints: tuple[int, ...]

    def volumes(
        self, keypoints: Floats, scores: Floats, picture: tuple[int, int], *, mirror: bool
    ) -> Iterator[Floats]:
        """The clip, then the clip in a mirror; see ``Recipe``."""
        drawn = np.zeros_like(scores)
        drawn[..., self.joints] = scores[..., self.joints]
        drawn[drawn < _LEAST_SCORE] = 0
        yield clip_volume(keypoints, drawn, self.shape)
        if mirror:
            yield clip_volume(*mirrored(keypoints, drawn), self.shape)


class OnnxRuntime:
    """An ONNX file ``[1, 17, frames, size, size] -> [1, outputs]`` and its labels.json."""

    average: Literal["score", "prob"] = "score"

    def __init__(self, options: Options) -> None:
        """Read the labels.

        Raises:
            BadInput: a file that was given does not exist.
            WeightsError: the labels file is missing or is none.
        """
        self._options = options
        self._weights = GivenWeights.named(
            _file(options.checkpoint), ".onnx", "The checkpoint of the action runtime onnx"
        )
        folder = self._weights.own.parent if self._weights.own else _shipped(options.checkpoint)
        path = Path(options.labels).expanduser() if options.labels else folder / "labels.json"
        document = read_document(path)
        self.labels = ActionLabels.of_document(document, path)
        self.recipe = TrainedHere(_shape(document, path), _joints(document, path))

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Its name in the manifest, if it has one."""
        return self._weights.checkpoints

    @property
    def settings(self) -> Mapping[str, Any]:
        """The file that was given, the labels with their temperature, and what is drawn."""
        drawn = {"labels": self.labels.digest, "joints": list(self.recipe.joints)}
        return {**self._weights.settings, **drawn}

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        path = self._weights.path()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = usable_threads(self._options.threads)
        options.inter_op_num_threads = 1
        try:
            session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            reason = why_no_weights(path) or " ".join(str(error).split())[:200]
            raise WeightsError(f"{str(path)!r} is no network of onnxruntime ({reason}).") from None
        shape = self.recipe.shape
        takes, wanted = session.get_inputs()[0].shape[1:], [shape.frames, shape.size, shape.size]
        gives = session.get_outputs()[0].shape[-1]
        if takes != [KEYPOINTS, *wanted]:
            raise WeightsError(
                f"{str(path)!r} takes volumes of {takes}, its labels file says "
                f"{[KEYPOINTS, *wanted]}."
            )
        if gives != self.labels.outputs:
            raise WeightsError(
                f"{str(path)!r} has {gives} outputs, its labels file {self.labels.outputs}."
            )
        return session

    def logits(self, volume: Floats) -> Floats:
        """Of one volume; see ``Runtime``."""
        session = self._session
        answer = session.run(None, {session.get_inputs()[0].name: volume[None]})
        return np.asarray(answer[0][0], dtype=np.float32)


def build(options: Options) -> OnnxRuntime:
    """The runtime; its network loads on first use.

    Raises:
        BadInput: a file that was given does not exist.
        WeightsError: the labels file is missing or is none.
    """
    return OnnxRuntime(options)


def _file(checkpoint: str) -> str:
    """The one network in a folder; what else was given as it is."""
    folder = Path(checkpoint).expanduser()
    if checkpoint in weights.checkpoints() or not folder.is_dir():
        return checkpoint
    found = sorted(folder.glob("*.onnx"))
    if len(found) != 1:
        raise BadInput(
            f"The folder {checkpoint!r} has {len(found)} .onnx files; give the path of one."
        )
    return str(found[0])


def _shipped(name: str) -> Path:
    return shipped("checkpoints") / weights.checkpoint(name).name


def _shape(document: Mapping[str, Any], path: Path) -> HeatmapShape:
    try:
        return HeatmapShape(**document["shape"])
    except (KeyError, TypeError) as error:
        raise WeightsError(
            f"{str(path)!r} is not a labels file of PoseC3D ({type(error).__name__}: {error})."
        ) from None


def _joints(document: Mapping[str, Any], path: Path) -> tuple[int, ...]:
    joints = document.get("joints", _JOINTS)
    if not isinstance(joints, list | tuple) or not set(joints) <= set(range(KEYPOINTS)):
        raise WeightsError(
            f"{str(path)!r} says to draw the joints {joints!r}; they are numbers from 0 to 16."
        )
    return tuple(joints)
