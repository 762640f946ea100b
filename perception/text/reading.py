"""One line of text read in one picture, and which readings are believed to be text."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from perception.limits import check_limits
from perception.text.backend import Box, Corners, box_of

__all__ = ["Reading", "TextRules", "is_text"]

_LIMITS = {
    "least_confidence": (0, 1),
    "least_characters": (0, 1000),
    "short_characters": (0, 1000),
    "short_confidence": (0, 1),
}


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One line of text in one picture.

    Args:
        text: what it says.
        confidence: in [0, 1].
        corners: where.
        is_new: False where the line looks as it did and the earlier reading was taken over.
        is_cut: whether it touches the picture's border, so that letters may be missing.
    """

    text: str
    confidence: float
    corners: Corners
    is_new: bool = True
    is_cut: bool = False

    @property
    def box(self) -> Box:
        """The upright bounding box."""
        return box_of(self.corners)


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
