"""RTMPose and RTMO from ONNX files, by rtmlib on onnxruntime (no torch).

RTMPose (Jiang et al. 2023, arXiv:2303.07399) looks at a person's box at a time, RTMO (Lu et al.
2024, arXiv:2312.07526) sees everybody at once; which of them a file is, its outputs tell.

Of rtmlib only the steps of its two model classes are used, not what wraps them. Called as a whole,
``RTMPose`` takes the picture for a person where there is no box, ``RTMO`` makes a person of zeros
where it has found nobody (and up to 0.0.15 takes the joints of another one where scores fall under
the threshold), and a path that does not exist is downloaded.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput, MissingPackage
from perception.limits import THREADS, check_limits, usable_threads
from perception.skeleton.boxes import BoxOptions, box_source
from perception.skeleton.given_weights import GivenWeights, why_no_weights
from perception.skeleton.networks import NOBODY, Found, NetworkEstimator

__all__ = ["Options", "build"]

INSTALL = "pip install --no-deps rtmlib==0.0.15"
"""Without its requirements: it wants two builds of OpenCV that overwrite the one that is here."""

COCO_FIRST = (17, 26, 133)
"""Numbers of keypoints of which the first 17 are COCO's: COCO, Halpe-26, COCO-WholeBody."""

DEVICES = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}

_LIMITS = {"least_score": (0, 1), "overlap": (0, 1), "threads": THREADS}


@dataclass(frozen=True, slots=True)
class Options:
    """How poses are estimated.

    Args:
        model: a name in the manifest, or the path of an ONNX file of RTMPose or RTMO as mmdeploy
            exports them.
        device: ``cpu``, or ``cuda`` or ``cuda:1`` where onnxruntime-gpu is installed.
        least_score: RTMO's score under which nobody is there, in [0, 1].
        overlap: RTMO: of two boxes that share more (intersection over union) one is dropped.
        threads: of onnxruntime, on the processor.
        boxes: RTMPose: where the persons' boxes come from.

    Raises:
        BadInput: a number lies outside its limits, or there is no such device.
    """

    model: str = "rtmpose_m_body7_onnx"
    device: str = "cpu"
    least_score: float = 0.3
    overlap: float = 0.45
    threads: int = 1
    boxes: BoxOptions = field(default_factory=BoxOptions)

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "rtmlib's ")
        if self.device.partition(":")[0] not in DEVICES:
            raise BadInput(f"rtmlib's device must be cpu, cuda or cuda:N, not {self.device!r}.")


def build(options: Options) -> NetworkEstimator:
    """The estimator; its models load on first use.

    Raises:
        MissingPackage: rtmlib is not installed.
        BadInput: there is no model of that name, or the boxes file has a fault.
    """
    if importlib.util.find_spec("rtmlib") is None:
        raise MissingPackage("rtmlib", INSTALL, "The pose estimator rtmlib")
    weights = GivenWeights.named(options.model, ".onnx", "The model of the pose estimator rtmlib")
    return NetworkEstimator(Rtmlib(options, weights), box_source(options.boxes))


class _Model(NamedTuple):
    """What is known of a file.

    Args:
        tool: rtmlib's ``RTMPose`` or ``RTMO``.
        is_top_down: whether it is RTMPose.
    """

    tool: Any
    is_top_down: bool


class Rtmlib:
    """A ``PoseNetwork``. One instance serves one thread at a time."""

    def __init__(self, options: Options, weights: GivenWeights) -> None:
        self._options, self._weights = options, weights

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The model's name in the manifest, if it has one."""
        return self._weights.checkpoints

    @property
    def settings(self) -> Mapping[str, object]:
        """What pins the model, and the options that decide poses."""
        return {
            **self._weights.settings,
            "least_score": self._options.least_score,
            "overlap": self._options.overlap,
        }

    @property
    def needs_boxes(self) -> bool:
        """Whether it is RTMPose."""
        return self._model.is_top_down

    @cached_property
    def _model(self) -> _Model:
        from rtmlib import RTMO, RTMPose

        path, device = self._weights.path(), self._options.device
        if device != "cpu":
            _check_device(device)
        session = _session(path, usable_threads(self._options.threads))
        is_top_down, size = _kind(path, session)
        with contextlib.redirect_stdout(io.StringIO()):
            tool = (RTMPose if is_top_down else RTMO)(
                str(path), size, backend="onnxruntime", device=device
            )
        if device == "cpu":
            tool.session = session  # rtmlib's own takes every core
        return _Model(tool, is_top_down)

    def in_boxes(
        self, rgb: npt.NDArray[np.uint8], corners: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """RTMPose. Its mean and deviation are those of red, green and blue in this order, as in
        mmpose; rtmlib itself does not turn OpenCV's pictures round."""
        tool = self._model.tool
        keypoints, scores = [], []
        for box in corners:
            crop, centre, scale = tool.preprocess(rgb, box)
            found, sure = tool.postprocess(tool.inference(crop), centre, scale)
            keypoints.append(found[0, :17])
            scores.append(sure[0, :17])
        return np.array(keypoints, dtype=np.float32), np.array(scores, dtype=np.float32)

    def in_picture(self, rgb: npt.NDArray[np.uint8]) -> Found:
        """RTMO. It has learned from blue, green and red in this order, as mmpose decodes them."""
        from rtmlib.tools.object_detection.post_processings import nms

        tool, options = self._model.tool, self._options
        if min(rgb.shape[:2]) * tool.model_input_size[0] < max(rgb.shape[:2]):
            return NOBODY
        padded, ratio = tool.preprocess(np.ascontiguousarray(rgb[..., ::-1]))
        detections, poses = (np.asarray(each[0]) for each in tool.inference(padded))
        sure = detections[:, 4] >= options.least_score
        detections, poses = detections[sure], poses[sure][:, :17]
        kept = nms(detections[:, :4] / ratio, detections[:, 4], options.overlap)
        kept = np.array(kept, dtype=np.intp)
        return poses[kept, :, :2] / ratio, poses[kept, :, 2], detections[kept, 4]


def _session(path: Path, threads: int) -> Any:
    """The file on the processor.

    Raises:
        BadInput: it is no ONNX file.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        reason = why_no_weights(path) or str(error).splitlines()[0]
        raise BadInput(f"{str(path)!r} is no ONNX file that can be run: {reason}") from None


def _kind(path: Path, session: Any) -> tuple[bool, tuple[int, int]]:
    """Whether a file is RTMPose (else RTMO), and its input's size as rtmlib wants it: width and
    height of RTMPose, height and width of RTMO.

    Raises:
        BadInput: it is neither of the two.
    """
    inputs = [each.shape for each in session.get_inputs()]
    outputs = [each.shape for each in session.get_outputs()]
    ranks = [len(shape) for shape in outputs]
    if len(inputs) == 1 and len(inputs[0]) == 4 and ranks in ([3, 3], [3, 4]):
        height, width = inputs[0][2:]
        axis = 1 if ranks == [3, 3] else 2
        if not isinstance(height, int) or not isinstance(width, int):
            raise BadInput(f"{str(path)!r} takes pictures of any size; export it with a fixed one.")
        keypoints = outputs[1][axis]
        if not isinstance(keypoints, int):
            keypoints = _tried(path, session, height, width)[1].shape[axis]
        if keypoints not in COCO_FIRST:
            raise BadInput(
                f"{str(path)!r} has {keypoints} keypoints. Needed are COCO's 17, or a set that "
                "begins with them (Halpe-26, COCO-WholeBody)."
            )
        return (True, (width, height)) if ranks == [3, 3] else (False, (height, width))
    raise BadInput(
        f"{str(path)!r} is neither RTMPose (one picture to simcc_x and simcc_y) nor RTMO (one "
        f"picture to dets and keypoints): it has inputs {inputs} and outputs {outputs}."
    )


def _tried(path: Path, session: Any, height: int, width: int) -> Any:
    """What comes of a picture of zeros: it has the sizes that a file calls by a name, as mmdeploy
    exports them.

    Raises:
        BadInput: the file cannot be run.
    """
    picture = np.zeros((1, 3, height, width), dtype=np.float32)
    try:
        return session.run(None, {session.get_inputs()[0].name: picture})
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"{str(path)!r} cannot be run on a picture: {reason}") from None


def _check_device(device: str) -> None:
    """See that the device is there: onnxruntime would fall back to the CPU without an error."""
    import onnxruntime

    there = onnxruntime.get_available_providers()
    if DEVICES[device.partition(":")[0]] not in there:
        raise BadInput(
            f"rtmlib's device is {device!r}, but this onnxruntime runs on {', '.join(there)} only; "
            "install onnxruntime-gpu in place of onnxruntime, or take cpu."
        )
