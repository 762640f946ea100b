"""One TFLite model, run by ``ai-edge-litert``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.errors import UnsupportedPlatform

__all__ = ["TfliteModel", "sigmoid"]


class TfliteModel:
    """A model with one input, reduced to the outputs that are asked for.

    Args:
        path: the ``.tflite`` file.
        outputs: shapes of the wished outputs without the batch axis; each names one output.
        threads: of the interpreter.

    Raises:
        UnsupportedPlatform: ``ai-edge-litert`` has no build for this machine.
    """

    def __init__(self, path: Path, outputs: Sequence[tuple[int, ...]], threads: int) -> None:
        try:
            from ai_edge_litert.interpreter import Interpreter
        except ImportError as error:
            raise UnsupportedPlatform(
                f"Pose estimation needs the package ai-edge-litert, which does not load here "
                f"({error}). It has builds for Linux x86-64 and aarch64, macOS arm64 and Windows; "
                f"try: pip install ai-edge-litert"
            ) from None
        content = _pruned(path.read_bytes(), outputs)
        with _no_native_log():
            self._interpreter = Interpreter(model_content=content, num_threads=threads)
            self._interpreter.allocate_tensors()
        self._input = self._interpreter.get_input_details()[0]["index"]
        details = self._interpreter.get_output_details()
        index_of = {tuple(int(n) for n in each["shape"][1:]): each["index"] for each in details}
        self._outputs = [index_of[shape] for shape in outputs]

    def __call__(self, picture: npt.NDArray[np.float32]) -> list[npt.NDArray[np.float32]]:
        """The wished outputs in their order, without the batch axis.

        Args:
            picture: float32 [1, height, width, 3].
        """
        self._interpreter.set_tensor(self._input, picture)
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(index)[0] for index in self._outputs]


@contextlib.contextmanager
def _no_native_log() -> Iterator[None]:
    """Keep the runtime's own "INFO: Created … delegate", which has no switch, off stderr."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _pruned(content: bytes, outputs: Sequence[tuple[int, ...]]) -> bytes:
    """The same model without the operators on which no wished output rests.

    Saves a third of the landmark model's time, its segmentation mask (14.1 to 9.3 ms a call on one
    thread); the remaining outputs are the same bit by bit. Without the schema that ai-edge-litert
    ships the model stays whole.
    """
    try:
        import flatbuffers  # type: ignore[import-untyped]
        from ai_edge_litert import schema_py_generated as schema
    except ImportError:
        return content
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    graph.outputs = [i for i in graph.outputs if tuple(graph.tensors[i].shape[1:]) in outputs]
    needed = {int(index) for index in graph.outputs}
    kept: list[Any] = []
    for operator in reversed(graph.operators):
        if needed.intersection(int(index) for index in operator.outputs):
            kept.append(operator)
            needed.update(int(index) for index in operator.inputs)
    graph.operators = kept[::-1]
    model.signatureDefs = None
    builder = flatbuffers.Builder(len(content))
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def sigmoid(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """1 / (1 + exp(-x)) without overflow."""
    share: npt.NDArray[np.float32] = (0.5 * (1 + np.tanh(0.5 * logits))).astype(np.float32)
    return share
