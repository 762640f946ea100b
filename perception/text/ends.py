"""When a text came and went, finer than it is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perception.text.backend import Box
from perception.text.camera import View, moved_between
from perception.text.sameness import Grey, crop, likeness

__all__ = ["Look", "PicturesBetween", "Place", "box_iou", "overlapping", "shifted"]

MOST_PICTURES = 64
"""Kept between two readings at most; at 10 pictures a second there are 9."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One picture as it is looked at between readings.

    Args:
        time_s: its presentation time.
        until_s: presentation time of the video's next picture.
        picture: grey.
        view: where the camera looks.
    """

    time_s: float
    until_s: float
    picture: Grey
    view: View


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """How and where a text looked when it was seen.

    Args:
        template: the part of the grey picture inside ``box``.
        box: where it stood.
        time_s, view: of that picture.
        velocity: of its motion in pixels a second; (0, 0) where it stood still or was seen once.
    """

    template: Grey
    box: Box
    time_s: float
    view: View
    velocity: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, look: Look, box: Box, velocity: tuple[float, float] = (0.0, 0.0)) -> Place:
        """Cut out of the picture of ``look``."""
        return cls(crop(look.picture, box).copy(), box, look.time_s, look.view, velocity)

    def expected(self, look: Look) -> list[Box]:
        """Where the text may stand in another picture: as before, moved with the camera, moved on
        as it moved."""
        boxes = [self.box]
        camera = moved_between(self.view, look.view)
        if camera is not None and camera != (0.0, 0.0):
            boxes.append(shifted(self.box, *camera))
        if self.velocity != (0.0, 0.0):
            step_s = look.time_s - self.time_s
            boxes.append(shifted(self.box, self.velocity[0] * step_s, self.velocity[1] * step_s))
        return boxes

    def likeness(self, look: Look) -> float:
        """How alike the likeliest of the expected places is, in [-1, 1]."""
        return max(likeness(self.template, look.picture, box) for box in self.expected(look))


def shifted(box: Box, x_px: float, y_px: float) -> Box:
    """``box`` moved."""
    return box[0] + x_px, box[1] + y_px, box[2] + x_px, box[3] + y_px


def box_iou(one: Box, other: Box) -> float:
    """Intersection over union of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in (one, other))
    return width * height / (areas - width * height)


def overlapping(place: Place, others: Iterable[Place]) -> list[Place]:
    """Those of ``others`` that share a pixel with ``place``."""
    return [other for other in others if box_iou(place.box, other.box) > 0]


class PicturesBetween:
    """The pictures since the last reading.

    Args:
        alike: normalised cross-correlation from which on a place shows the same text.
    """

    def __init__(self, alike: float) -> None:
        self._alike = alike
        self._looks: deque[Look] = deque(maxlen=MOST_PICTURES)

    def keep(self, look: Look) -> None:
        """Add the next picture."""
        self._looks.append(look)

    def drop_newest(self) -> None:
        """Forget the picture added last, if there is one."""
        if self._looks:
            self._looks.pop()

    def clear(self) -> None:
        """Forget all pictures."""
        self._looks.clear()

    def looks_alike(self, place: Place, look: Look) -> bool:
        """Whether the place still looks as it did."""
        return place.likeness(look) >= self._alike

    def first(self, place: Place, rivals: Sequence[Place], look: Look) -> Look:
        """The first picture that shows a text which was read in ``look``: from it on the place
        looks alike without a break, and more so than like any of the ``rivals``, texts that stood
        there before."""
        for earlier in reversed(self._looks):
            if not self._shows(place, rivals, earlier):
                break
            look = earlier
        return look

    def last(self, place: Place, rivals: Sequence[Place]) -> Look | None:
        """The last picture that shows a text which was seen at the last reading and has gone: until
        it the place looks alike, and more so than like any of the ``rivals``, texts that stand
        there now. None when there is no such picture."""
        last = None
        for later in self._looks:
            if not self._shows(place, rivals, later):
                break
            last = later
        return last

    def _shows(self, place: Place, rivals: Sequence[Place], look: Look) -> bool:
        score = place.likeness(look)
        return score >= self._alike and all(rival.likeness(look) < score for rival in rivals)
