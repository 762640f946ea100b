"""Whether a text was laid over the picture or stands in the scene, where geometry tells.

An overlay stays where it is while the camera pans or the film cuts, lets what moves behind it shine
through between its letters, or rolls straight along an axis. A scene text moves with what is
filmed, moves by itself as a shirt does, or stands aslant. Where none of this happens, as with a
level sign before a camera that stands still, nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from perception.text.backend import Corners
from perception.text.camera import moved_between
from perception.text.ends import Look, Place
from perception.text.sameness import Grey, best_match

__all__ = ["Evidence", "Layer", "is_textured"]


class Layer(StrEnum):
    """Where a text is."""

    OVERLAY = "overlay"
    """Laid over the picture: caption, subtitle, credits, logo."""
    SCENE = "scene"
    """In what is filmed: sign, shirt, banner."""


MOVE_SHARE = 0.015
"""Of the picture's longer side: a smaller movement is no evidence."""

STILL_PX = 3.0
"""Boxes of a text that stands still differ by so much from reading to reading."""

SLANT_DEG = 4.0
"""Boxes of level lines are found level within 2 degrees."""

LONG = 2.5
"""A line's direction can be measured where it is so many times longer than high."""

SHINE_LEVELS, SHINE_SHARE, SHINE_LIKENESS = 30, 0.12, 0.6
"""What moves behind letters changes so many of the pixels around them by so many grey levels of
255, while the place still looks alike."""

TEXTURE = 10.0
"""Standard deviation in grey levels of surroundings whose motion can be told from the text's."""


def is_textured(picture: Grey, corners: list[Corners]) -> bool:
    """Whether there is anything but these lines in the picture, which a camera's motion moves."""
    mask = np.ones(picture.shape, np.bool_)
    for each in corners:
        (x0, y0), (x1, y1) = each.min(axis=0), each.max(axis=0)
        mask[max(0, int(y0)) : int(y1) + 1, max(0, int(x0)) : int(x1) + 1] = False
    around = picture[mask]
    return around.size > 0 and float(around.std()) >= TEXTURE


@dataclass(slots=True, eq=False)
class Evidence:
    """What speaks for either layer, counted in readings."""

    overlay: int = 0
    scene: int = 0
    slanted: int = 0
    measured: int = 0
    straight: int = 0
    """Steps by itself along an axis of the picture, always the same way."""
    astray: int = 0
    """Other steps by itself."""
    _heading: tuple[bool | None, bool | None] | None = None

    def add_line(self, corners: Corners) -> None:
        """Count a box that was found."""
        (x0, y0), (x1, y1) = corners[0], corners[1]
        length, height = math.dist(corners[0], corners[1]), math.dist(corners[1], corners[2])
        if max(length, height) < LONG * min(length, height):
            return
        self.measured += 1
        degrees = math.degrees(math.atan2(y1 - y0, x1 - x0)) % 90
        self.slanted += min(degrees, 90 - degrees) > SLANT_DEG

    def add_step(
        self, step: tuple[float, float], before: Place, look: Look, *, is_textured: bool
    ) -> None:
        """Count what happened to a text since it was seen ``before``: it moved by ``step`` pixels
        to where it is in ``look``."""
        least_px, moved_px = MOVE_SHARE * max(look.picture.shape), math.hypot(*step)
        camera = moved_between(before.view, look.view) if is_textured else None
        pan_px = 0.0 if camera is None else math.hypot(*camera)
        if look.view.cuts > before.view.cuts:
            self.overlay += moved_px <= STILL_PX
        elif camera is not None and max(moved_px, pan_px) >= least_px:
            if math.dist(step, camera) <= max(0.3 * pan_px, STILL_PX):
                self.scene += 1
            elif moved_px <= max(0.15 * pan_px, STILL_PX):
                self.overlay += 1
            else:
                self._add_own_step(step)
        elif moved_px >= least_px:
            self._add_own_step(step)
        elif max(moved_px, pan_px) <= STILL_PX:
            self.overlay += _shines_through(before, look)

    def _add_own_step(self, step: tuple[float, float]) -> None:
        is_straight = self._is_straight(step)
        self.straight += is_straight
        self.astray += not is_straight

    def _is_straight(self, step: tuple[float, float]) -> bool:
        x, y = step
        heading = (x > 0, None) if abs(x) > abs(y) else (None, y > 0)
        self._heading = self._heading or heading
        is_level = min(abs(x), abs(y)) <= max(1.0, 0.05 * max(abs(x), abs(y)))
        return is_level and heading == self._heading

    @property
    def layer(self) -> Layer | None:
        """Where the text is; None where nothing tells, or as much for one as for the other."""
        rolls = self.straight >= 2 and self.astray == 0
        overlay = self.overlay + (self.straight if rolls else 0)
        scene = self.scene + self.astray + (self.measured if self._is_slanted else 0)
        if overlay == scene:
            return None
        return Layer.OVERLAY if overlay > scene else Layer.SCENE

    @property
    def _is_slanted(self) -> bool:
        return 2 * self.slanted > self.measured


def _shines_through(before: Place, look: Look) -> bool:
    here, alike = best_match(before.template, look.picture, before.box)
    if alike < SHINE_LIKENESS:
        return False
    differences = np.abs(here.astype(np.int16) - before.template.astype(np.int16))
    return float((differences > SHINE_LEVELS).mean()) >= SHINE_SHARE
