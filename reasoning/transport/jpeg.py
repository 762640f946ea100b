"""Frames as JPEG, in the form that chat servers take."""

from __future__ import annotations

import base64

import numpy as np
import numpy.typing as npt

from perception.errors import CuelightError
from perception.recognizer import Frame

__all__ = ["data_url", "jpeg", "resized"]


def data_url(frame: Frame, side_px: int, quality: int, keep_aspect: bool) -> str:
    """``data:image/jpeg;base64,…`` of the frame, with ``jpeg``'s arguments."""
    encoded = jpeg(frame, side_px, quality, keep_aspect)
    return "data:image/jpeg;base64," + base64.b64encode(encoded).decode("ascii")


def jpeg(frame: Frame, side_px: int, quality: int, keep_aspect: bool) -> bytes:
    """The bytes of a JPEG file.

    Args:
        side_px, keep_aspect: of ``resized``.
        quality: 1 to 100.
    """
    import cv2

    bgr = cv2.cvtColor(resized(frame, side_px, keep_aspect), cv2.COLOR_RGB2BGR)
    fine, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not fine:
        raise CuelightError(f"The frame at {frame.time_s:.2f} s could not be made a JPEG.")
    return encoded.tobytes()


def resized(
    frame: Frame, side_px: int, keep_aspect: bool, multiple_px: int = 1
) -> npt.NDArray[np.uint8]:
    """``frame.rgb`` uint8 [height, width, 3] in the size in which it goes out.

    Args:
        side_px: the picture becomes side_px × side_px, as in MimeQA's Appendix C.2; 0 = its own
            size.
        keep_aspect: the longer side becomes ``side_px`` instead, if it is longer.
        multiple_px: both sides are rounded to a multiple of it.
    """
    import cv2

    height, width = frame.rgb.shape[:2]
    wanted = (float(side_px), float(side_px)) if side_px else (float(width), float(height))
    if side_px and keep_aspect:
        scale = min(1.0, side_px / max(height, width))
        wanted = (width * scale, height * scale)
    size = tuple(max(1, round(side / multiple_px)) * multiple_px for side in wanted)
    if size == (width, height):
        return frame.rgb
    shrinks = size[0] * size[1] < width * height
    how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    picture: npt.NDArray[np.uint8] = cv2.resize(frame.rgb, size, interpolation=how)
    return picture
