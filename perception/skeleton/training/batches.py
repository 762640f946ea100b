"""Batches of examples, made by a process of their own while the network learns from the last one.

That process imports no torch. It waits until its batch is taken, so that memory does not grow, and
ends by itself when the one that started it does, however that ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perception.errors import CuelightError
from perception.skeleton.training.augmentation import Example

__all__ = ["Batch", "Batches", "Examples", "stacked"]

Batch = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]
"""Points `[B, frames, 17, 2]`, scores `[B, frames, 17]`, labels `[B]`."""


_GONE = (BrokenPipeError, ConnectionResetError)
"""What is raised when the other process has ended."""


class Examples(Protocol):
    """An endless source of training examples."""

    def draw(self, rng: np.random.Generator) -> Example:
        """The next one."""


def stacked(examples: list[Example]) -> Batch:
    """Examples as one batch."""
    points = np.stack([e.points for e in examples])
    return points, np.stack([e.scores for e in examples]), np.array([e.label for e in examples])


class Batches:
    """Batches of `size`, to be closed after use.

    Args:
        source: called in the other process; must be picklable (a function of a module, or a
            ``functools.partial`` of one).
        size: examples in each batch.
        seed: of the generator that all draws come from.
    """

    def __init__(self, source: Callable[[], Examples], size: int, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._maker, other = context.Pipe()
        self._process = context.Process(target=_make, args=(other,), daemon=True)
        self._process.start()
        other.close()
        with contextlib.suppress(*_GONE):
            self._maker.send((source, size, seed))

    def take(self) -> Batch:
        """The next batch.

        Raises:
            CuelightError: the other process ended.
        """
        try:
            batch: Batch = self._maker.recv()
        except (EOFError, *_GONE):
            raise CuelightError(
                "The process that makes the training examples ended; see its error above."
            ) from None
        return batch

    def close(self) -> None:
        """End the other process."""
        self._maker.close()
        self._process.terminate()
        self._process.join()


def _make(taker: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, size, seed = taker.recv()
    rng = np.random.default_rng(seed)
    examples = source()
    with contextlib.suppress(*_GONE):
        while True:
            taker.send(stacked([examples.draw(rng) for _ in range(size)]))
