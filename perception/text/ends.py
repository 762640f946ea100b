"""When a text came and went, finer than it is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perception.text.reading import Box
from perception.text.sameness import Grey, crop, likeness
from perception.text.spans import box_iou

__all__ = ["PicturesBetween", "Place", "overlapping"]

MOST_PICTURES = 64
"""Kept between two readings at most; at 5 pictures a second there are 4."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """How a text looked where it was read: the part of a grey picture inside ``box``."""

    template: Grey
    box: Box

    @classmethod
    def of(cls, picture: Grey, box: Box) -> Place:
        """Cut out of ``picture``."""
        return cls(crop(picture, box).copy(), box)

    def likeness(self, picture: Grey) -> float:
        """How alike the same place of ``picture`` is, in [-1, 1]."""
        return likeness(self.template, picture, self.box)


def overlapping(place: Place, others: Iterable[Place]) -> list[Place]:
    """Those of ``others`` that share a pixel with ``place``."""
    return [other for other in others if box_iou(place.box, other.box) > 0]


class PicturesBetween:
    """The grey pictures since the last reading.

    Args:
        alike: normalised cross-correlation from which on a place shows the same text.
    """

    def __init__(self, alike: float) -> None:
        self._alike = alike
        self._pictures: deque[tuple[float, Grey]] = deque(maxlen=MOST_PICTURES)

    def keep(self, time_s: float, picture: Grey) -> None:
        """Add the next picture."""
        self._pictures.append((time_s, picture))

    def drop_newest(self) -> None:
        """Forget the picture added last, if there is one."""
        if self._pictures:
            self._pictures.pop()

    def clear(self) -> None:
        """Forget all pictures."""
        self._pictures.clear()

    def looks_alike(self, place: Place, picture: Grey) -> bool:
        """Whether the place still looks as it did."""
        return place.likeness(picture) >= self._alike

    def start(self, place: Place, rivals: Sequence[Place], time_s: float) -> float:
        """When a text came.

        Args:
            place: the text when it was read first, at ``time_s``.
            rivals: texts that stood there before.
            time_s: when it was known to be there.

        Returns:
            Time of the first picture from which on the place looks alike without a break, and
            more so than like any rival.
        """
        for earlier_s, picture in reversed(self._pictures):
            if not self._shows(place, rivals, picture):
                break
            time_s = earlier_s
        return time_s

    def end(
        self, place: Place, rivals: Sequence[Place], last_s: float, gone_s: float
    ) -> tuple[float, float]:
        """When a text went.

        Args:
            place: the text when it was read last, at ``last_s``.
            rivals: texts that stand there now.
            last_s: when it was known to be there.
            gone_s: when it was known to have gone.

        Returns:
            Times of the last picture that looks alike and of the one after it.
        """
        for later_s, picture in self._pictures:
            if not self._shows(place, rivals, picture):
                return last_s, later_s
            last_s = later_s
        return last_s, gone_s

    def _shows(self, place: Place, rivals: Sequence[Place], picture: Grey) -> bool:
        score = place.likeness(picture)
        return score >= self._alike and all(rival.likeness(picture) < score for rival in rivals)
