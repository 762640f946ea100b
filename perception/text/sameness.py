"""Whether a picture, or a place in it, looks as it did before. All on grey pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perception.text.backend import Box

__all__ = ["Grey", "best_match", "crop", "greatest_change", "grey", "likeness"]

Grey = npt.NDArray[np.uint8]
"""[height, width]."""

CELL_PX = 8
"""Side of the cells over which differences are averaged: about the width of a small letter."""

SHIFT_PX = 4
"""A line may have moved this far in either direction and still be the same."""

_FLAT = 2.0
"""Standard deviation in grey levels under which a place holds nothing to recognise."""


def grey(rgb: npt.NDArray[np.uint8]) -> Grey:
    """Luma of uint8 [height, width, 3]."""
    import cv2

    picture: Grey = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), np.uint8)
    return picture


def crop(picture: Grey, box: Box, margin_px: int = 0) -> Grey:
    """The part of ``picture`` inside ``box`` and ``margin_px`` around it, as far as there is."""
    x0, y0 = (max(0, int(value) - margin_px) for value in box[:2])
    x1, y1 = (max(0, int(value) + 1 + margin_px) for value in box[2:])
    return picture[y0:y1, x0:x1]


def greatest_change(one: Grey, other: Grey) -> float:
    """Mean absolute difference in grey levels of the cell that changed most; 255 if the sizes
    differ."""
    import cv2

    if one.shape != other.shape or one.size == 0:
        return 255.0
    difference = cv2.absdiff(one, other)
    height, width = (max(1, round(side / CELL_PX)) for side in one.shape)
    cells = cv2.resize(difference, (width, height), interpolation=cv2.INTER_AREA)
    return float(cells.max())


def likeness(template: Grey, picture: Grey, box: Box) -> float:
    """Normalised cross-correlation in [-1, 1] of ``template``, cut out at ``box`` of an earlier
    picture, with the best place in this one within ``SHIFT_PX``; 0 where there is no contrast."""
    return best_match(template, picture, box)[1]


def best_match(template: Grey, picture: Grey, box: Box) -> tuple[Grey, float]:
    """The part of ``picture`` around ``box`` that is most like ``template``, and how alike it is.

    Like ``likeness``; the part is as large as the template, and empty where there is none.
    """
    import cv2

    around = crop(picture, box, SHIFT_PX)
    fits = all(a >= t > 0 for a, t in zip(around.shape, template.shape, strict=True))
    if not fits or template.std() < _FLAT or around.std() < _FLAT:
        return around[:0], 0.0
    scores = cv2.matchTemplate(around, template, cv2.TM_CCOEFF_NORMED)
    scores = np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)
    _, best, _, (x, y) = cv2.minMaxLoc(scores)
    height, width = template.shape
    return around[y : y + height, x : x + width], min(1.0, float(best))
