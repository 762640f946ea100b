"""The sample clip: a real film with a caption and a spoken line of our own laid over it.

Two people are filmed by Sports2D's authors (BSD-3-Clause): a man on a flat roof does two jumping
jacks, walks to the edge and leaps off; below, a woman walks by. The film has neither words nor
sound, so that ``compose`` burns in ``CAPTION`` and lays ``LINE`` under it: every kind of cue has
something to find, at times that are known exactly.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perception import weights
from perception.cue import Span
from perception.errors import StorageError
from perception.shipped import shipped
from perception.weights import OnProgress
from perception.whole import whole_file

if TYPE_CHECKING:
    import av

__all__ = ["CAPTION", "CAPTION_SPAN", "LINE", "LINE_SPAN", "SIZE", "compose"]

CAPTION = "ROOF JUMP CLUB"
"""Text burnt in, in the upper right, where nobody comes by."""

CAPTION_SPAN = Span(1.0, 4.0)
"""The caption is on every frame whose time lies in it, and on no other."""

LINE = "He is warming up before the big jump."
"""Text spoken; ``checkpoints/sample/speak.py`` made the sound."""

LINE_SPAN = Span(2.6, 4.74)
"""From the first to the last audible instant of the line."""

SIZE = (1280, 720)
"""Width and height. The film's 1768×994 cost twice the decoding, and the same people are found."""

_LINE_STARTS_S = 2.6
_AUDIO_RATE_HZ = 48_000
_AUDIO_FRAME = 1024
"""Samples in a frame of AAC."""

_ENCODER = {"preset": "veryfast", "tune": "fastdecode", "crf": "20", "threads": "2"}
"""A fixed number of threads, because x264's bytes depend on it."""

_BOX = (720, 40, 520, 96)
"""Left, top, width and height of the caption's plate, all even."""

_BOX_ALPHA, _BOX_LUMA, _TEXT_LUMA, _NEUTRAL = 0.8, 20, 235, 128
_TEXT_SCALE, _TEXT_THICKNESS = 1.7, 4


def compose(out: Path | None = None, on_progress: OnProgress = weights.silent) -> Path:
    """Write the sample clip to ``out``, whole or not at all; a second time it is only copied.

    Args:
        out: a file; ``sample.mp4`` in Cuelight's cache folder when None.
        on_progress: told about the film's bytes when it has to be fetched.

    Returns:
        Where the clip is.

    Raises:
        WeightsError: the film cannot be fetched.
        StorageError: the place cannot be written.
    """
    cached = weights.cache_folder() / "sample" / _recipe() / "sample.mp4"
    if not cached.is_file():
        film = weights.path("sports2d_demo", on_progress)
        try:
            with whole_file(cached) as file:
                _write(film, file)
        except StorageError:
            if out is None:
                raise
            with whole_file(out) as file:
                _write(film, file)
            return out
    if out is None:
        return cached
    with cached.open("rb") as source, whole_file(out) as file:
        shutil.copyfileobj(source, file)
    return out


def _recipe() -> str:
    """First digits of the sha256 of all that decides what the clip looks like."""
    import av
    import cv2

    line = hashlib.sha256(_line_path().read_bytes()).hexdigest()
    settings = [CAPTION, CAPTION_SPAN.start_s, CAPTION_SPAN.end_s, _LINE_STARTS_S, SIZE, _ENCODER]
    drawing = [_BOX, _BOX_ALPHA, _BOX_LUMA, _TEXT_LUMA, _TEXT_SCALE, _TEXT_THICKNESS]
    parts = [
        weights.sha256("sports2d_demo"),
        line,
        av.__version__,
        cv2.__version__,
        settings,
        drawing,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _line_path() -> Path:
    return shipped("checkpoints") / "sample" / "line.flac"


def _write(film: Path, file: Any) -> None:
    import av

    with av.open(str(film)) as source, av.open(file, "w", format="mp4") as target:
        shown = source.streams.video[0]
        pictures = target.add_stream("libx264", rate=shown.average_rate, options=_ENCODER)
        pictures.width, pictures.height = SIZE
        pictures.pix_fmt = "yuv420p"
        pictures.max_b_frames = 0
        pictures.codec_context.time_base = shown.time_base
        sound = target.add_stream("aac", rate=_AUDIO_RATE_HZ, layout="mono")
        sounds = _sound_frames(float(shown.duration * shown.time_base))
        waiting = next(sounds, None)
        for frame in source.decode(shown):
            target.mux(pictures.encode(_captioned(frame)))
            while waiting is not None and waiting.time <= frame.time:
                target.mux(sound.encode(waiting))
                waiting = next(sounds, None)
        while waiting is not None:
            target.mux(sound.encode(waiting))
            waiting = next(sounds, None)
        target.mux(pictures.encode(None))
        target.mux(sound.encode(None))


def _captioned(frame: av.VideoFrame) -> av.VideoFrame:
    """The frame at ``SIZE`` with its own time, and the caption where it is due."""
    import av

    small = frame.reformat(*SIZE, format="yuv420p", interpolation="AREA")
    if CAPTION_SPAN.start_s <= frame.time < CAPTION_SPAN.end_s:
        planes = small.to_ndarray()
        _draw_caption(planes)
        drawn = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        drawn.colorspace, drawn.color_range = small.colorspace, small.color_range
        small = drawn
    small.pts, small.time_base = frame.pts, frame.time_base
    small.pict_type = av.video.frame.PictureType.NONE
    return small


def _draw_caption(planes: npt.NDArray[np.uint8]) -> None:
    """Blend plate and text into ``planes`` in place.

    Args:
        planes: uint8 [height · 3/2, width], YUV 4:2:0 as PyAV lays it out: luma, then both
            chroma planes at half the size, their rows two to a row of the array.
    """
    import cv2

    width, height = SIZE
    left, top, wide, high = _BOX
    plate = np.full((high, wide), _BOX_LUMA, np.uint8)
    font = cv2.FONT_HERSHEY_DUPLEX
    (text_wide, text_high), _ = cv2.getTextSize(CAPTION, font, _TEXT_SCALE, _TEXT_THICKNESS)
    corner = ((wide - text_wide) // 2, (high + text_high) // 2)
    cv2.putText(plate, CAPTION, corner, font, _TEXT_SCALE, _TEXT_LUMA, _TEXT_THICKNESS, cv2.LINE_AA)
    luma = planes[top : top + high, left : left + wide]
    alpha = np.where(plate > _BOX_LUMA, 1.0, _BOX_ALPHA)
    luma[:] = np.rint(alpha * plate + (1 - alpha) * luma)
    chroma = planes[height:].reshape(2, height // 2, width // 2)
    part = chroma[:, top // 2 : (top + high) // 2, left // 2 : (left + wide) // 2]
    part[:] = np.rint(_BOX_ALPHA * _NEUTRAL + (1 - _BOX_ALPHA) * part)


def _sound_frames(duration_s: float) -> Iterator[av.AudioFrame]:
    """Silence with the line in it, for ``duration_s`` seconds."""
    import av

    with av.open(str(_line_path())) as container:
        resampler = av.AudioResampler("fltp", "mono", _AUDIO_RATE_HZ)
        decoded = [*container.decode(audio=0), None]
        line = np.concatenate(
            [part.to_ndarray()[0] for frame in decoded for part in resampler.resample(frame)]
        )
    samples = np.zeros(round(duration_s * _AUDIO_RATE_HZ), np.float32)
    start = round(_LINE_STARTS_S * _AUDIO_RATE_HZ)
    samples[start : start + len(line)] = line[: len(samples) - start]
    for first in range(0, len(samples), _AUDIO_FRAME):
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples[None, first : first + _AUDIO_FRAME]), "fltp", "mono"
        )
        frame.rate, frame.pts = _AUDIO_RATE_HZ, first
        frame.time_base = Fraction(1, _AUDIO_RATE_HZ)
        yield frame
