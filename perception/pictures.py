"""The pictures of a file: which one is shown when, upright and scaled as it is wanted."""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.cue import Span
from perception.media import Media
from perception.recognizer import Frame

__all__ = ["Pictures", "Wish", "upright_size"]

TIMES_ROUND_S = 0.001
"""An instant counts as inside a picture's interval when it misses it by less: Matroska rounds
timestamps to milliseconds."""

REORDER_FRAMES = 3
"""Decoded pictures held back so that times slightly out of order can be sorted."""

Turn = tuple[bool, bool, bool]
"""Swap the axes, then mirror left and right, then mirror top and bottom."""

QUARTER_TURNS: tuple[Turn, ...] = (
    (False, False, False),
    (True, False, True),
    (False, True, True),
    (True, True, False),
)
"""Counterclockwise by 0, 90, 180 and 270 degrees."""

MATRIX_CODECS = frozenset(
    {"av1", "h263", "h264", "hevc", "libdav1d", "mpeg2video", "mpeg4", "prores", "vp8", "vp9"}
)
"""Decoders whose side data may be read. PyAV 18 frees the metadata of side data twice, and dies of
it, where a decoder attaches some: the picture codecs do, with colour profiles and EXIF tags."""


class Wish:
    """The instants at which one consumer wants a picture.

    Args:
        index: of the consumer.
        first_from: the first instant at or after a time in seconds, None when there is none.
        max_side_px: 0 = full size.
        always: instants before the first and after the last picture get the nearest one.
    """

    def __init__(
        self,
        index: int,
        first_from: Callable[[float], float | None],
        max_side_px: int,
        *,
        always: bool = False,
    ) -> None:
        self.index, self.max_side_px, self.always = index, max_side_px, always
        self._first_from = first_from
        self.next_s = first_from(0.0)
        self.served = False

    @classmethod
    def at_rate(cls, index: int, rate_hz: float, max_side_px: int, span: Span | None) -> Wish:
        """Instants at the multiples of 1 / ``rate_hz`` inside ``span``."""
        first = 0 if span is None else math.ceil(round(span.start_s * rate_hz, 6))
        end_s = math.inf if span is None else span.end_s

        def first_from(time_s: float) -> float | None:
            number = max(first, math.floor(time_s * rate_hz) - 1)
            while number / rate_hz < time_s:
                number += 1
            return number / rate_hz if number / rate_hz < end_s else None

        return cls(index, first_from, max_side_px)

    @classmethod
    def at_times(cls, index: int, times_s: Sequence[float], max_side_px: int) -> Wish:
        """The instants ``times_s``, ascending; always served."""

        def first_from(time_s: float) -> float | None:
            place = bisect.bisect_left(times_s, time_s)
            return times_s[place] if place < len(times_s) else None

        return cls(index, first_from, max_side_px, always=True)

    def falls_in(self, start_s: float, end_s: float) -> bool:
        """Whether an instant lies in [start_s, end_s); forgets those before ``end_s``."""
        limit_s = end_s - TIMES_ROUND_S
        if self.next_s is None or self.next_s >= limit_s:
            return False
        inside = self._first_from(max(self.next_s, start_s - TIMES_ROUND_S))
        self.next_s = self._first_from(limit_s)
        return self.always or (inside is not None and inside < limit_s)


class Pictures:
    """Turns the packets of a file's video stream into the frames that the wishes fall on.

    A picture is shown from its own time until the next one's; the last for its duration. Times
    that go back by a few pictures are sorted; what still goes back is left out and counted as
    lost. A consumer whose instants all miss gets the last picture of the span.
    """

    def __init__(self, media: Media, wishes: Sequence[Wish], span: Span | None) -> None:
        self._media, self._stream, self._span = media, media.video, span
        self._wishes = wishes
        self._converter = Converter(media)
        self._order = itertools.count()
        self._sorting: list[tuple[float, int, Any]] = []
        self._shown: tuple[float, Any] | None = None
        self._newest_s = -math.inf
        self._interval_s = media.frame_interval_s
        self.done = False

    def push(self, packet: Any) -> Iterator[tuple[int, Frame]]:
        """Decode a packet (None at the end of the file) and give the frames that are wanted."""
        for frame in self._media.decode(self._stream, packet):
            heapq.heappush(self._sorting, (self._time_s(frame), next(self._order), frame))
            if len(self._sorting) > REORDER_FRAMES:
                yield from self._show()
            if self.done:
                return
        if packet is None:
            while self._sorting and not self.done:
                yield from self._show()
            yield from self._finish()

    def _time_s(self, frame: Any) -> float:
        ticks = frame.pts if frame.pts is not None else frame.dts
        if ticks is None:
            time_s = max(self._newest_s + self._interval_s, 0.0)
        else:
            time_s = self._media.seconds(ticks, self._stream)
        self._newest_s = time_s
        return time_s

    def _show(self) -> Iterator[tuple[int, Frame]]:
        time_s, _, frame = heapq.heappop(self._sorting)
        if self._shown is not None:
            if time_s <= self._shown[0]:
                if time_s < self._shown[0]:
                    self._media.lose("video frames whose times go back", time_s)
                return
            yield from self._give(*self._shown, time_s)
            if self._span is not None and time_s >= self._span.end_s:
                yield from self._finish()
                return
        self._shown = time_s, frame

    def _give(self, time_s: float, frame: Any, end_s: float) -> Iterator[tuple[int, Frame]]:
        made: dict[int, Frame | None] = {}
        for wish in self._wishes:
            if wish.falls_in(time_s, end_s):
                wish.served = True
                side = wish.max_side_px
                if side not in made:
                    made[side] = self._converter.convert(frame, time_s, side, end_s)
                if (shown := made[side]) is not None:
                    yield wish.index, shown
        self.done = all(wish.next_s is None and wish.served for wish in self._wishes)

    def _finish(self) -> Iterator[tuple[int, Frame]]:
        if self._shown is not None and not self.done:
            time_s, frame = self._shown
            duration_s = float((frame.duration or 0) * self._stream.time_base)
            end_s = time_s + (duration_s or self._interval_s)
            yield from self._give(time_s, frame, end_s)
            inside = self._span is None or Span(max(0.0, time_s), max(0.0, end_s)).overlaps(
                self._span
            )
            for wish in self._wishes:
                left = wish.always and wish.next_s is not None
                if left or (inside and not wish.served):
                    last = self._converter.convert(frame, time_s, wish.max_side_px, end_s)
                    if last is not None:
                        yield wish.index, last
        self._shown, self.done = None, True


class Converter:
    """Scales decoded pictures and turns them upright.

    All pictures of a file have the size of its header as their measure, so that coordinates stay
    comparable where the resolution changes in mid-stream. Pixels that are not square are made so.
    """

    def __init__(self, media: Media) -> None:
        from av.video.reformatter import VideoReformatter

        self._media, self._stream = media, media.video
        self._reformatters: dict[int, Any] = {}
        self._turns: dict[int, Turn] = {}
        self._new_reformatter = VideoReformatter

    def convert(self, frame: Any, time_s: float, max_side_px: int, end_s: float) -> Frame | None:
        """The upright RGB picture, shown until ``end_s``, no side longer than ``max_side_px`` (0 =
        full size); None, and counted as lost, where the pixel format cannot be converted."""
        import av

        full = max(_full_size(self._media, frame))
        side = min(full, max_side_px) if max_side_px > 0 else full
        width, height = _square_pixels(self._stream, frame.width, frame.height)
        factor = side / max(width, height)
        reformatter = self._reformatters.setdefault(max_side_px, self._new_reformatter())
        try:
            scaled = reformatter.reformat(
                frame,
                width=max(1, round(width * factor)),
                height=max(1, round(height * factor)),
                format="rgb24",
                interpolation="AREA",
                threads=1,
            )
        except (av.error.FFmpegError, ValueError):
            self._media.lose(f"video frames in {frame.format.name} pixels", time_s)
            return None
        rgb = _turned(scaled.to_ndarray(), self._turn(frame))
        rgb.flags.writeable = False
        return Frame(time_s, rgb, full / side, end_s - time_s)

    def _turn(self, frame: Any) -> Turn:
        rotation = frame.rotation
        if rotation not in self._turns:
            self._turns[rotation] = _turn(frame, self._stream.codec_context.name)
        return self._turns[rotation]


def upright_size(media: Media, frame: Any) -> tuple[int, int]:
    """Width and height in pixels of the full-size upright picture."""
    width, height = _full_size(media, frame)
    swapped = _turn(frame, media.video.codec_context.name)[0]
    return (height, width) if swapped else (width, height)


def _full_size(media: Media, frame: Any) -> tuple[int, int]:
    width, height = media.video_size if all(media.video_size) else (frame.width, frame.height)
    return _square_pixels(media.video, width, height)


def _square_pixels(stream: Any, width: int, height: int) -> tuple[int, int]:
    aspect = stream.sample_aspect_ratio
    return (max(1, round(width * aspect)) if aspect else width), height


def _turn(frame: Any, codec: str) -> Turn:
    """The nearest quarter turn, mirrored or not, of the picture's display matrix.

    The matrix maps a pixel (x, y) to (a x + c y, b x + d y), y downwards (FFmpeg
    ``libavutil/display.h``; ISO/IEC 14496-12, 8.3.2). For codecs outside of ``MATRIX_CODECS`` only
    the angle is known, counterclockwise.
    """
    if codec in MATRIX_CODECS:
        with suppress(KeyError, ValueError):
            data = bytes(frame.side_data["DISPLAYMATRIX"])
            a, b, _, c, d, *_ = np.frombuffer(data, np.int32).tolist()
            if abs(a) + abs(d) >= abs(b) + abs(c):
                return False, a < 0, d < 0
            return True, c < 0, b < 0
    return QUARTER_TURNS[round(frame.rotation / 90) % 4]


def _turned(rgb: npt.NDArray[np.uint8], turn: Turn) -> npt.NDArray[np.uint8]:
    swap, mirror_x, mirror_y = turn
    if swap:
        rgb = rgb.transpose(1, 0, 2)
    if mirror_x:
        rgb = rgb[:, ::-1]
    if mirror_y:
        rgb = rgb[::-1]
    return np.ascontiguousarray(rgb)
