"""How the camera moves from picture to picture, and where it cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perception.text.sameness import Grey

__all__ = ["Camera", "View", "moved_between"]

SMALL_PX = 192
"""Longer side at which motion is measured: a pan of 1 % of the picture is 2 pixels there."""

EXPLAINED = 0.7
"""A shift is believed that leaves less than this share of the difference between two pictures."""

STANDS_CHANGE = 6.0
"""Mean difference in grey levels of 255 up to which a camera stands still where no shift explains
it: people move, captions come and go."""

CUT_CHANGE = 25.0
"""The same from which it is another shot: unrelated film pictures differ by 40 to 80."""

FLAT = 6.0
"""Standard deviation in grey levels under which a picture has nothing to measure motion by."""


@dataclass(frozen=True, slots=True)
class View:
    """Where the camera looks, from the first picture on.

    Args:
        x_px, y_px: how far what was filmed has moved in the picture, in its pixels.
        doubts: steps whose motion could not be measured.
        cuts: how many of these were cuts to another shot.
    """

    x_px: float = 0.0
    y_px: float = 0.0
    doubts: int = 0
    cuts: int = 0


def moved_between(one: View, other: View) -> tuple[float, float] | None:
    """How far what is filmed moved in the picture from the first to the second view, in pixels;
    None where that is not known."""
    if one.doubts != other.doubts:
        return None
    return other.x_px - one.x_px, other.y_px - one.y_px


class Camera:
    """Follows the camera over the pictures of a video, in order of time."""

    def __init__(self) -> None:
        self._before: npt.NDArray[np.float32] | None = None
        self._view = View()

    def see(self, picture: Grey) -> View:
        """The view of the next picture, measured against the one before."""
        import cv2

        scale = min(1.0, SMALL_PX / max(picture.shape))
        height, width = (max(2, round(side * scale)) for side in picture.shape)
        small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
        now = np.asarray(small, np.float32)
        before, self._before = self._before, now
        if before is not None:
            self._view = self._next(before, now, scale)
        return self._view

    def _next(
        self, before: npt.NDArray[np.float32], now: npt.NDArray[np.float32], scale: float
    ) -> View:
        view, change = self._view, _difference(before, now, 0, 0)
        if change < 0.5:
            return view
        if before.shape == now.shape and min(before.std(), now.std()) >= FLAT:
            for x, y in (_by_phase(before, now), _by_template(before, now)):
                if _difference(before, now, round(x), round(y)) < EXPLAINED * change:
                    x_px, y_px = view.x_px + x / scale, view.y_px + y / scale
                    return View(x_px, y_px, view.doubts, view.cuts)
        if change <= STANDS_CHANGE:
            return view
        return View(view.x_px, view.y_px, view.doubts + 1, view.cuts + (change >= CUT_CHANGE))


def _by_phase(before: npt.NDArray[np.float32], now: npt.NDArray[np.float32]) -> tuple[float, float]:
    """The shift that fits the edges best, by phase correlation.

    OpenCV multiplies the window into the pictures that it is given, therefore the copies.
    """
    import cv2

    window = cv2.createHanningWindow((now.shape[1], now.shape[0]), cv2.CV_32F)
    (x, y), _ = cv2.phaseCorrelate(before.copy(), now.copy(), window)
    return float(x), float(y)


def _by_template(
    before: npt.NDArray[np.float32], now: npt.NDArray[np.float32]
) -> tuple[float, float]:
    """The shift that fits the picture's middle best, which finds soft pictures too."""
    import cv2

    top, left = (side // 4 for side in before.shape)
    middle = before[top : before.shape[0] - top, left : before.shape[1] - left]
    _, _, _, (x, y) = cv2.minMaxLoc(cv2.matchTemplate(now, middle, cv2.TM_CCOEFF_NORMED))
    return float(x - left), float(y - top)


def _difference(
    before: npt.NDArray[np.float32], now: npt.NDArray[np.float32], x_px: int, y_px: int
) -> float:
    """Mean absolute difference where the pictures overlap once ``before`` is shifted; 255 where
    half of them or more does not."""
    height, width = now.shape
    if before.shape != now.shape or 2 * abs(x_px) >= width or 2 * abs(y_px) >= height:
        return 255.0
    here = now[max(0, y_px) : height + min(0, y_px), max(0, x_px) : width + min(0, x_px)]
    there = before[max(0, -y_px) : height + min(0, -y_px), max(0, -x_px) : width + min(0, -x_px)]
    return float(np.abs(here - there).mean())
