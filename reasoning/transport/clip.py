"""Sampled frames as a small video file, for servers that take a video and not its pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from fractions import Fraction

from perception.recognizer import Frame
from reasoning.transport.jpeg import resized

__all__ = ["clip", "clip_url"]

_TICKS_PER_S = 90_000
"""MPEG's system clock: times are kept to 11 microseconds."""

_QUALITY = {"crf": "10", "bf": "0", "preset": "fast"}
"""Visually lossless H.264 whose frames lie in the file as they are shown."""

_EVEN_PX = 2
"""H.264 with 4:2:0 colour has no odd sides."""


def clip_url(frames: Sequence[Frame], side_px: int, keep_aspect: bool) -> str:
    """``data:video/mp4;base64,…`` of ``clip``."""
    encoded = clip(frames, side_px, keep_aspect)
    return "data:video/mp4;base64," + base64.b64encode(encoded).decode("ascii")


def clip(frames: Sequence[Frame], side_px: int, keep_aspect: bool) -> bytes:
    """An MP4 that holds exactly ``frames``, each at its own presentation time, and no sound.

    Its average rate is theirs, which is what a server that counts frames instead of reading their
    times goes by; such a server takes the first frame for time 0.

    Args:
        frames: one or more of one size, in order of time.
        side_px, keep_aspect: as for ``reasoning.transport.jpeg.resized``; sides become even.
    """
    import av

    pictures = [resized(frame, side_px, keep_aspect, _EVEN_PX) for frame in frames]
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=_rate_hz(frames), options=_QUALITY)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, _TICKS_PER_S)
        for frame, picture in zip(frames, pictures, strict=True):
            shown = av.VideoFrame.from_ndarray(picture, format="rgb24")
            shown.time_base = Fraction(1, _TICKS_PER_S)
            shown.pts = round(frame.time_s * _TICKS_PER_S)
            container.mux(stream.encode(shown))
        container.mux(stream.encode(None))
    return file.getvalue()


def _rate_hz(frames: Sequence[Frame]) -> Fraction:
    """The mean rate; 1 for a single frame."""
    lasted_s = frames[-1].time_s - frames[0].time_s
    if lasted_s <= 0:
        return Fraction(1)
    return Fraction((len(frames) - 1) / lasted_s).limit_denominator(_TICKS_PER_S)
