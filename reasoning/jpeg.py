"""Frames as JPEG, in the form that chat servers take."""

from __future__ import annotations

import base64

from perception.errors import CuelightError
from perception.recognizer import Frame

__all__ = ["data_url"]


def data_url(frame: Frame, side_px: int, quality: int, keep_aspect: bool) -> str:
    """``data:image/jpeg;base64,…`` of ``frame.rgb`` [height, width, 3].

    Args:
        side_px: the picture becomes side_px × side_px, as in MimeQA's Appendix C.2; 0 = its own
            size.
        quality: 1 to 100.
        keep_aspect: the longer side becomes ``side_px`` instead, if it is longer.
    """
    import cv2

    height, width = frame.rgb.shape[:2]
    size = (side_px, side_px) if side_px else (width, height)
    if side_px and keep_aspect:
        scale = min(1.0, side_px / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
    picture = frame.rgb
    if size != (width, height):
        shrinks = size[0] * size[1] < width * height
        how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
        picture = cv2.resize(picture, size, interpolation=how)
    bgr = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    fine, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not fine:
        raise CuelightError(f"The frame at {frame.time_s:.2f} s could not be made a JPEG.")
    return "data:image/jpeg;base64," + base64.b64encode(encoded.tobytes()).decode("ascii")
