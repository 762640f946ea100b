"""Readings of single pictures become texts with a beginning and an end."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from perception.text.reading import Box, Corners, Reading

__all__ = ["Matching", "ShownText", "box_iou", "is_similar", "match"]


@dataclass(eq=False)
class ShownText:
    """A text that was read at one place, once or more often without a break.

    Args:
        start_s: presentation time of the first picture that is known to show it.
        last_s: of the last one.
        latest: the newest reading.
        end_s: when it had gone; None while it is there.
    """

    start_s: float
    last_s: float
    latest: Reading
    end_s: float | None = None
    seen: list[tuple[float, Corners]] = field(default_factory=list)
    """Times and places at which it was read or still stood."""
    _readings: dict[str, list[float]] = field(default_factory=dict)

    readings: int = 0
    """How often it was read."""
    text: str = ""
    """The reading that differs least from all of them: what most say, where most say the same."""
    _votes: dict[str, list[float]] = field(default_factory=dict)
    """Reading -> how often, sum of the confidence."""

    def add(self, reading: Reading) -> None:
        """Count a reading."""
        self.latest = reading
        self.readings += 1
        vote = self._votes.setdefault(reading.text, [0, 0.0])
        vote[0] += 1
        vote[1] += reading.confidence
        if len(self._votes) > MOST_VARIANTS:
            others = [text for text in self._votes if text != reading.text]
            del self._votes[min(others, key=lambda text: self._votes[text])]
        self.text = min(self._votes, key=self._distance)

    @property
    def confidence(self) -> float:
        """Mean of the readings that say ``text``."""
        count, total = self._votes[self.text]
        return total / count

    def _distance(self, text: str) -> tuple[float, float]:
        away = sum(count * _edits(text, other) for other, (count, _) in self._votes.items())
        return away, -self._votes[text][1]


@dataclass(frozen=True, slots=True)
class Matching:
    """Which readings continue which texts."""

    continued: tuple[tuple[ShownText, Reading], ...]
    new: tuple[Reading, ...]
    missing: tuple[ShownText, ...]


MOST_VARIANTS = 16
"""Different readings of one text that are remembered."""

NEAR_IOU = 0.3
"""Boxes that overlap more are one place."""

REACH = 0.25
"""An identical text (of four letters or more) may move this share of the picture's longer side
between two readings: signs in a pan, titles that scroll."""


def match(
    texts: Sequence[ShownText],
    readings: Sequence[Reading],
    longer_side_px: int,
    looks_alike: Callable[[ShownText], bool],
) -> Matching:
    """Assign each reading to at most one text: similar text at the same place, best first.

    ``looks_alike`` tells whether the place of a text still looks as it did when it was read; then
    a reading there may differ more, for it is a misreading of the same.
    """
    candidates = []
    for row, text in enumerate(texts):
        near = [
            (column, reading)
            for column, reading in enumerate(readings)
            if _away_px(text, reading) <= REACH * longer_side_px
        ]
        for column, reading in near:
            score = _score(text, reading, looks_alike)
            if score is not None:
                candidates.append((score, row, column))
    rows: set[int] = set()
    columns: set[int] = set()
    continued = []
    for _, row, column in sorted(candidates, reverse=True):
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            continued.append((texts[row], readings[column]))
    return Matching(
        continued=tuple(continued),
        new=tuple(r for column, r in enumerate(readings) if column not in columns),
        missing=tuple(text for row, text in enumerate(texts) if row not in rows),
    )


def _score(
    text: ShownText, reading: Reading, looks_alike: Callable[[ShownText], bool]
) -> tuple[bool, float, float] | None:
    """(identical, IoU, minus the distance): greater is better; None = not the same text."""
    here, there = text.latest.box, reading.box
    earlier = (text.latest.text, text.text)
    overlap, away_px = box_iou(here, there), _away_px(text, reading)
    folded = _folded(reading.text)
    known = any(folded == _folded(other) for other in earlier)
    score = (known, overlap, -away_px)
    if overlap < NEAR_IOU and away_px > max(here[3] - here[1], there[3] - there[1]):
        return score if known and len(folded) >= _FORGIVING else None
    if known or any(is_similar(reading.text, other) for other in earlier):
        return score
    misread = any(is_similar(reading.text, other, _MISREAD) for other in earlier)
    return score if misread and overlap >= NEAR_IOU and looks_alike(text) else None


def _away_px(text: ShownText, reading: Reading) -> float:
    return math.dist(_centre(text.latest.box), _centre(reading.box))


_FORGIVING = 4
"""Letters from which on one wrong letter is forgiven: "cat" and "hat" are two captions."""

_FLICKER = 0.1
"""Share of wrong letters that is forgiven: one in every ten or part of ten."""

_MISREAD = 0.4
"""The same for a place that looks as it did."""


def is_similar(one: str, other: str, wrong: float = _FLICKER) -> bool:
    """Whether two readings are of one text: case, spaces and punctuation do not matter, nor does
    a share ``wrong`` of the letters (rounded up); another number is another text."""
    one, other = _folded(one), _folded(other)
    if one == other:
        return True
    longer = max(len(one), len(other))
    if min(len(one), len(other)) < _FORGIVING:
        return False
    digits, other_digits = (
        [character for character in text if character.isdigit()] for text in (one, other)
    )
    if len(digits) == len(other_digits) and digits != other_digits:
        return False
    return _edits(one, other) <= math.ceil(longer * wrong)


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def _edits(one: str, other: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def box_iou(one: Box, other: Box) -> float:
    """Intersection over union of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in (one, other))
    return width * height / (areas - width * height)


def _centre(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
