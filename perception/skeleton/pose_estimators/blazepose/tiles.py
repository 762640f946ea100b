"""Square windows over a picture, half-overlapping, in which the detector looks for persons.

The detector sees 224×224 pixels and finds bodies that fill a fifth to nine tenths of its window, so
that a whole wide picture at once misses everybody who is small.
"""

from __future__ import annotations

import math

from perception.skeleton.pose_estimators.blazepose.detector import Window
from perception.skeleton.pose_estimators.blazepose.region import Region

__all__ = ["AROUND", "around", "sweep"]


OVERLAP = 0.5
FINE_OVERLAP = 0.3
"""Shares of a window's side by which neighbours overlap. What is larger than the fine windows'
overlap lies whole in a coarse window."""


def sweep(width: int, height: int, fine_share: float) -> tuple[tuple[Window, ...], ...]:
    """Coarse and fine windows of a picture.

    Coarse are the whole picture and squares of its shorter side (of a quarter of the longer one,
    if that is more); fine are squares of ``fine_share`` of that side (none when it is 0).
    """
    whole = max(width, height)
    short = max(min(width, height), round(whole / 4))
    coarse = _grid(width, height, whole, OVERLAP)
    if whole >= 1.2 * short:
        coarse += _grid(width, height, short, OVERLAP)
    fine = _grid(width, height, round(short * fine_share), FINE_OVERLAP) if fine_share else ()
    return coarse, fine


def _grid(width: int, height: int, side: int, overlap: float) -> tuple[Window, ...]:
    side = max(1, side)
    return tuple(
        Window(left, top, left + side, top + side)
        for top in _starts(height, side, overlap)
        for left in _starts(width, side, overlap)
    )


def _starts(length: int, side: int, overlap: float) -> list[int]:
    """Where windows of ``side`` start so that they cover ``length``, overlapping at least so."""
    if side >= length:
        return [(length - side) // 2]
    steps = math.ceil((length - side) / (side * (1 - overlap)))
    return [round(step * (length - side) / steps) for step in range(steps + 1)]


AROUND = (1.5, 2.2)
"""Sides of the windows around a person, in sides of his region, in the order tried. Side views
want the smaller one, people at the picture's edge the larger one."""


def around(region: Region, share: float) -> Window:
    """The window of ``share`` times the region's side around its centre."""
    half = max(1, round(region.side * share / 2))
    x, y = round(region.x), round(region.y)
    return Window(x - half, y - half, x + half, y + half)
