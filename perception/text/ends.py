"""When a text came and went, finer than it is read."""

from __future__ import annotations

from collections import deque

from perception.text.reading import Box
from perception.text.sameness import Grey, likeness

__all__ = ["PicturesBetween"]

MOST_PICTURES = 64
"""Kept between two readings at most; at 5 pictures a second there are 4."""


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

    def looks_alike(self, template: Grey, picture: Grey, box: Box) -> bool:
        """Whether ``box`` of ``picture`` still looks like ``template``, cut out there before."""
        return likeness(template, picture, box) >= self._alike

    def start(self, template: Grey, box: Box, time_s: float) -> float:
        """Time of the first picture from which on the place looks alike without a break until
        ``time_s``, when it was read."""
        for earlier_s, picture in reversed(self._pictures):
            if not self.looks_alike(template, picture, box):
                break
            time_s = earlier_s
        return time_s

    def end(self, template: Grey, box: Box, last_s: float, gone_s: float) -> tuple[float, float]:
        """Times of the last picture that looks alike and of the one after it.

        Args:
            template: the place when it was read last, at ``last_s``.
            box: the place.
            last_s: when it was known to be there.
            gone_s: when it was known to have gone.
        """
        for later_s, picture in self._pictures:
            if not self.looks_alike(template, picture, box):
                return last_s, later_s
            last_s = later_s
        return last_s, gone_s
