"""What a text reader finds in one picture, and which of it is believed to be text."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from perception.limits import check_limits

__all__ = ["Box", "Corners", "Reading", "TextReader", "TextRules", "box_of", "is_text"]

Corners = npt.NDArray[np.float32]
"""[4, 2] pixels (x, y) of the picture, clockwise from the upper left of the text."""

Box = tuple[float, float, float, float]
"""Upright bounding box: x0, y0, x1, y1 in pixels of the picture."""

_LIMITS = {
    "least_confidence": (0, 1),
    "least_characters": (0, 1000),
    "short_characters": (0, 1000),
    "short_confidence": (0, 1),
}


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One line of text in one picture; the confidence lies in [0, 1]."""

    text: str
    confidence: float
    corners: Corners

    @property
    def box(self) -> Box:
        """The upright bounding box."""
        return box_of(self.corners)


class TextReader(Protocol):
    """A model that finds lines of text and reads them, loaded."""

    def find(self, rgb: npt.NDArray[np.uint8]) -> list[Corners]:
        """The lines of text in uint8 [height, width, 3], in reading order."""

    def read(self, rgb: npt.NDArray[np.uint8], corners: Corners) -> tuple[str, float]:
        """The text of one line ("" when none) and the confidence in [0, 1]."""


@dataclass(frozen=True, slots=True)
class TextRules:
    """Which readings count as text. Text detectors find single glyphs in windows, hands and noise
    (scores 0.5-0.99 in real clips without text), longer words hardly ever."""

    least_confidence: float = 0.6
    """Readings that the reader is less sure of are dropped."""
    least_characters: int = 2
    """Letters and digits that a text has at least: a single glyph is no text."""
    short_characters: int = 3
    """Texts of up to so many letters and digits need ``short_confidence``, and so does a number."""
    short_confidence: float = 0.85
    """For short texts and numbers."""

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The screen text recognizer's rules.")


def is_text(text: str, confidence: float, rules: TextRules) -> bool:
    """Whether a reading is believed."""
    kinds = [unicodedata.category(character)[0] for character in text]
    characters = sum(kind in "LN" for kind in kinds)
    if characters < rules.least_characters:
        return False
    is_short = characters <= rules.short_characters or "L" not in kinds
    return confidence >= (rules.short_confidence if is_short else rules.least_confidence)


def box_of(corners: Corners) -> Box:
    """Upright bounding box of [n, 2] points."""
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)
