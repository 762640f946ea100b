"""Readings of single pictures become texts with a beginning and an end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from perception.text.backend import Box, Corners
from perception.text.ends import Look, Place, box_iou
from perception.text.layers import Evidence
from perception.text.reading import Reading
from perception.text.similarity import (
    FORGIVING,
    MISREAD,
    edits,
    folded,
    is_beginning,
    is_piece,
    is_similar,
)

__all__ = ["Matching", "ShownText", "is_piece_of", "match"]

MOST_VARIANTS = 16
"""Different readings of one text that are remembered."""

SAME_PX = 2.0
"""Boxes whose corners differ by less are one box that is found a little differently."""


@dataclass(eq=False)
class ShownText:
    """A text that was read at one place, once or more often without a break.

    Args:
        start_s: presentation time of the first picture that is known to show it.
        latest: the newest reading.
        place: how and where it looked when it was seen last.
    """

    start_s: float
    latest: Reading
    place: Place
    last_s: float = 0.0
    """Presentation time of the last picture that is known to show it."""
    end_s: float = 0.0
    """When that picture made way for the next one."""
    is_over: bool = False
    missed: int = 0
    """Readings in a row that did not find it."""
    readings: int = 0
    """How often its letters were read."""
    seen: list[tuple[float, Corners]] = field(default_factory=list)
    """Where it stood: at the first and the last picture of every stretch in which it stood still,
    at every sighting while it moved."""
    evidence: Evidence = field(default_factory=Evidence)
    _votes: dict[str, list[float]] = field(default_factory=dict)
    """Reading -> at how many instants it stood, sum of the confidence."""
    _is_cut: bool = True
    """Whether all readings so far touch the picture's border."""

    def add(self, reading: Reading) -> None:
        """Count what it says at one more instant; once it was whole, not where it is cut off."""
        self.latest = reading
        self.readings += reading.is_new
        if self._is_cut and not reading.is_cut:
            self._votes.clear()
            self._is_cut = False
        elif reading.is_cut and not self._is_cut:
            return
        vote = self._votes.setdefault(reading.text, [0, 0.0])
        vote[0] += 1
        vote[1] += reading.confidence
        if len(self._votes) > MOST_VARIANTS:
            others = [text for text in self._votes if text != reading.text]
            del self._votes[min(others, key=lambda text: self._votes[text])]

    def end(self) -> None:
        """It has gone: how it looked need not be remembered."""
        self.is_over = True
        self.place = replace(self.place, template=self.place.template[:0].copy())

    def see(self, look: Look, corners: Corners) -> None:
        """Note that it is in the picture of ``look``, at ``corners``."""
        self.last_s, self.end_s, self.missed = look.time_s, look.until_s, 0
        if self.seen and float(np.abs(self.seen[-1][1] - corners).max()) < SAME_PX:
            corners = self.seen[-1][1]
            if len(self.seen) > 1 and self.seen[-2][1] is corners:
                self.seen.pop()
        self.seen.append((look.time_s, corners))

    @property
    def text(self) -> str:
        """The majority's reading, in its most frequent spelling.

        Readings that differ in case, spaces and punctuation agree. Between equal majorities the
        one that differs least from all readings is taken, then the surer one.
        """
        agreeing = self._majority()
        return max(agreeing, key=lambda text: self._votes[text])

    @property
    def confidence(self) -> float:
        """Mean of the readings that agree with ``text``."""
        counts, sums = zip(*(self._votes[text] for text in self._majority()), strict=True)
        return float(sum(sums) / sum(counts))

    def _majority(self) -> list[str]:
        groups: dict[str, list[str]] = {}
        for text in self._votes:
            groups.setdefault(folded(text), []).append(text)
        counts = {key: sum(self._votes[text][0] for text in groups[key]) for key in groups}
        most = [key for key, count in counts.items() if count == max(counts.values())]

        def rank(key: str) -> tuple[float, float]:
            away = sum(count * edits(key, other) for other, count in counts.items())
            return -away, sum(self._votes[text][1] for text in groups[key])

        return groups[most[0] if len(most) == 1 else max(most, key=rank)]


@dataclass(frozen=True, slots=True)
class Matching:
    """Which readings continue which texts."""

    continued: tuple[tuple[ShownText, Reading], ...]
    new: tuple[Reading, ...]
    missing: tuple[ShownText, ...]


NEAR_IOU = 0.3
"""Boxes that overlap more are one place."""

REACH = 0.25
"""An identical text (of four letters or more) may move this share of the picture's longer side
between two readings: signs in a pan, titles that scroll."""

SAME_LOOK = 0.9
"""Correlation from which on even a short text is the same, whatever was read."""

INSIDE = 0.8
"""Share of a box that lies in another one of which it is a part."""


def match(
    texts: Sequence[ShownText],
    readings: Sequence[Reading],
    look: Look,
    likeness: Callable[[ShownText], float],
    alike: float,
) -> Matching:
    """Assign each reading to at most one text: similar text at the expected place, best first.

    ``likeness`` tells how alike a text's place looks to when it was seen; from ``alike`` on a
    reading there may differ more, for it is a misreading of the same.
    """
    candidates = []
    for row, text in enumerate(texts):
        for column, reading in enumerate(readings):
            score = _score(text, reading, look, likeness, alike)
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


def is_piece_of(reading: Reading, text: ShownText) -> bool:
    """Whether ``reading`` is a piece of ``text``, of some of its letters, inside its box."""
    here, whole = reading.box, text.place.box
    width = min(here[2], whole[2]) - max(here[0], whole[0])
    height = min(here[3], whole[3]) - max(here[1], whole[1])
    area = (here[2] - here[0]) * (here[3] - here[1])
    if min(width, height) <= 0 or width * height < INSIDE * area:
        return False
    letters, all_letters = folded(reading.text), folded(text.text)
    return len(letters) < len(all_letters) and letters in all_letters


def _score(
    text: ShownText,
    reading: Reading,
    look: Look,
    likeness: Callable[[ShownText], float],
    alike: float,
) -> tuple[bool, float, float] | None:
    """(identical, IoU, minus the distance): greater is better; None = not the same text."""
    expected, there = text.place.expected(look), reading.box
    away_px = min(_away_px(box, there) for box in expected)
    if away_px > REACH * max(look.picture.shape):
        return None
    overlap = max(box_iou(box, there) for box in expected)
    earlier = (text.latest.text, text.text)
    plain = folded(reading.text)
    is_known = any(plain == folded(other) for other in earlier)
    score = (is_known, overlap, -away_px)
    if _is_in_motion(text.latest, reading) or (
        _is_typed(text.latest, reading) and likeness(text) >= alike
    ):
        return score
    if overlap < NEAR_IOU and away_px > max(_height(expected[0]), _height(there)):
        return score if is_known and len(plain) >= FORGIVING else None
    if is_known or any(is_similar(reading.text, other) for other in earlier):
        return score
    if overlap < NEAR_IOU:
        return None
    if any(is_similar(reading.text, other, MISREAD) for other in earlier):
        return score if likeness(text) >= alike else None
    if any(is_similar(reading.text, other, MISREAD, 2) for other in earlier):
        return score if likeness(text) >= SAME_LOOK else None
    return None


def _is_in_motion(earlier: Reading, later: Reading) -> bool:
    """Whether two readings are pieces of one line that comes into the picture or leaves it."""
    is_cut = earlier.is_cut or later.is_cut
    return is_cut and _is_level(earlier, later) and is_piece(earlier.text, later.text)


def _is_typed(earlier: Reading, later: Reading) -> bool:
    """Whether a line goes on where it stopped, as one does that is typed letter by letter."""
    here, there, height = earlier.box, later.box, _height(earlier.box)
    is_aligned = abs(here[0] - there[0]) <= height / 2 or abs(here[2] - there[2]) <= height / 2
    return is_aligned and _is_level(earlier, later) and is_beginning(earlier.text, later.text)


def _is_level(one: Reading, other: Reading) -> bool:
    """Whether two readings stand on one line."""
    height = max(_height(one.box), _height(other.box))
    return abs(_centre(one.box)[1] - _centre(other.box)[1]) <= height / 2


def _away_px(one: Box, other: Box) -> float:
    return math.dist(_centre(one), _centre(other))


def _centre(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _height(box: Box) -> float:
    return box[3] - box[1]
