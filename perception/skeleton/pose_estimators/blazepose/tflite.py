"""One TFLite model, run by ``ai-edge-litert``."""

from __future__ import annotations

import contextlib
import functools
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perception.errors import UnsupportedPlatform

__all__ = ["TfliteModel", "sigmoid"]


class TfliteModel:
    """A model with one input, reduced to the outputs that are asked for.

    Threads may call it at the same time; it loads as many interpreters as are at work at once.

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
        self._outputs = tuple(outputs)
        self._content = _pruned(path.read_bytes(), outputs)
        self._new = functools.partial(Interpreter, model_content=self._content, num_threads=threads)
        self._idle = [self._loaded()]

    def _loaded(self) -> _Loaded:
        with _no_native_log():
            interpreter = self._new()
            interpreter.allocate_tensors()
        details = interpreter.get_output_details()
        index_of = {tuple(int(n) for n in each["shape"][1:]): each["index"] for each in details}
        return _Loaded(
            interpreter,
            interpreter.get_input_details()[0]["index"],
            [index_of[shape] for shape in self._outputs],
        )

    def __call__(self, picture: npt.NDArray[np.float32]) -> list[npt.NDArray[np.float32]]:
        """The wished outputs in their order, without the batch axis.

        Args:
            picture: float32 [1, height, width, 3].
        """
        try:
            model = self._idle.pop()
        except IndexError:
            model = self._loaded()
        try:
            model.interpreter.set_tensor(model.input, picture)
            model.interpreter.invoke()
            return [model.interpreter.get_tensor(index)[0] for index in model.outputs]
        finally:
            self._idle.append(model)


class _Loaded(NamedTuple):
    """An interpreter and its tensors' indices."""

    interpreter: Any
    input: int
    outputs: list[int]


_STDERR = threading.Lock()


@contextlib.contextmanager
def _no_native_log() -> Iterator[None]:
    """Keep the runtime's own "INFO: Created … delegate", which has no switch, off stderr."""
    with _STDERR:
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
        from ai_edge_litert import schema_py_generated as schema
    except ImportError:
        return content
    edited = bytearray(content)
    model = schema.Model.GetRootAs(edited, 0)
    graph = model.Subgraphs(0)
    wished = [
        index
        for index in graph.OutputsAsNumpy().tolist()
        if tuple(graph.Tensors(index).ShapeAsNumpy().tolist()[1:]) in outputs
    ]
    needed, kept = set(wished), []
    for position in reversed(range(graph.OperatorsLength())):
        operator = graph.Operators(position)
        if needed.intersection(operator.OutputsAsNumpy().tolist()):
            kept.append(position)
            needed.update(operator.InputsAsNumpy().tolist())
    operators = _vector(graph, _OPERATORS)
    offsets = [at + _uint32(edited, at) for at in (operators + 4 * i for i in reversed(kept))]
    _rewrite(edited, operators, [to - operators - 4 * i for i, to in enumerate(offsets)])
    _rewrite(edited, _vector(graph, _OUTPUTS), wished)
    if model._tab.Offset(_SIGNATURES):
        fields = model._tab.Pos - struct.unpack_from("<i", edited, model._tab.Pos)[0]
        struct.pack_into("<H", edited, fields + _SIGNATURES, 0)
    return bytes(edited)


_OUTPUTS, _OPERATORS, _SIGNATURES = 8, 10, 18
"""Where FlatBuffers keeps these fields in the tables SubGraph and Model (schema version 3): 4 bytes
and 2 for each field before."""


def _vector(table: Any, field: int) -> int:
    """Where the first element of a vector lies; its length lies in the 4 bytes before."""
    return int(table._tab.Vector(table._tab.Offset(field)))


def _uint32(content: bytearray, at: int) -> int:
    return int(struct.unpack_from("<I", content, at)[0])


def _rewrite(content: bytearray, vector: int, values: Sequence[int]) -> None:
    """Shorten a vector of 32-bit numbers to ``values``."""
    struct.pack_into(f"<I{len(values)}i", content, vector - 4, len(values), *values)


def sigmoid(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """1 / (1 + exp(-x)) of each, without overflow."""
    share: npt.NDArray[np.float32] = (0.5 * (1 + np.tanh(0.5 * logits))).astype(np.float32)
    return share
