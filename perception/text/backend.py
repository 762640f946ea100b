"""The TextBackend protocol: a library that finds and reads lines of text in one picture.

A backend is a file of ``backends/``. It is built from its ``Options`` without loading anything, so
that what it would read with is known before: that is part of the cache key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["BACKENDS", "Box", "Corners", "TextBackend", "TextReader", "box_of"]

BACKENDS = "perception.text.backends"

Corners = npt.NDArray[np.float32]
"""[4, 2] pixels (x, y) of the picture, clockwise from the upper left of the text."""

Box = tuple[float, float, float, float]
"""Upright bounding box: x0, y0, x1, y1 in pixels of the picture."""


class TextReader(Protocol):
    """A model that finds lines of text and reads them, loaded."""

    def find(self, rgb: npt.NDArray[np.uint8]) -> list[Corners]:
        """The lines of text in uint8 [height, width, 3], from top to bottom."""

    def read(self, rgb: npt.NDArray[np.uint8], corners: Corners) -> tuple[str, float]:
        """The text of one line, letters in the order in which they are spelt ("" when none, or in
        no language that was asked for), and the confidence in [0, 1]."""


class TextBackend(Protocol):
    """What a backend file's ``build(options)`` gives; nothing is loaded yet."""

    @property
    def reads(self) -> str:
        """What it reads, in words: ``"English"``, ``"Chinese, Japanese and ..."``."""

    @property
    def version(self) -> str:
        """``PACKAGE VERSION`` of the library, or that it is not installed."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Manifest names of its weights; none where its package brings them."""

    @property
    def checkpoint_sha256(self) -> str:
        """sha256 of the weights, several joined by ``+``; empty when they are not there."""

    @property
    def settings(self) -> Mapping[str, object]:
        """The options that decide what is read; plain JSON values."""

    def load(self) -> TextReader:
        """Load the models.

        Raises:
            MissingExtra: the package is not installed.
            UnsupportedPlatform: it cannot be used here.
            BadInput: weights of the user's own are missing or damaged.
            WeightsError: weights of the manifest cannot be had.
        """


def box_of(corners: Corners) -> Box:
    """Upright bounding box of [n, 2] points."""
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)
