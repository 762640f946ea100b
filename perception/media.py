"""One media file at work: its streams, its clock, its packets, and what is lost on the way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from perception.container import (
    bytes_missing,
    choose_stream,
    nothing_to_decode,
    open_container,
    open_file,
    reason,
    undecodable_kinds,
)
from perception.errors import UnreadableVideo
from perception.holes import Holes

__all__ = ["Media"]

HEADER_KEEPS_DURATION = ("mov", "matroska", "avi", "asf", "wav", "w64", "flac")
"""Containers whose header states a duration; for the others FFmpeg estimates one. Matroska counts
it from zero on its clock, not from the first instant."""

FIRST_PACKETS = 100
"""Where FFmpeg finds no start time in a short file, the earliest of this many packets is it."""

BROKEN_OFF_S = 1.0
"""A file that ends this much before the duration in its header is said to break off."""

READ_ERRORS = 32
"""Read errors in a row after which the rest of a file is given up."""

DEFAULT_RATE_HZ = 25.0
"""For files without timestamps and without a rate, FFmpeg's own default for raw streams."""

_MOST_RATE_HZ = 2000
"""Of pictures, as high-speed cameras take them."""

UNDECODABLE_PACKETS = 1000
"""Packets that may fail before a stream counts as one that cannot be decoded: a recording that
starts between two keyframes loses up to a few hundred."""

DECODER_THREADS = 1
"""Of each decoder. A 1768×994 VP9 clip takes 105 ms of processor time a second with one thread and
122-143 ms with two, frame- or slice-wise, for 15 % less wall time where the second core is idle."""

SEEK_MARGINS_S = (1.0, 10.0)
"""How long before the wished instant to start decoding. One second warms up the audio decoders
and skips the pictures after an open keyframe that refer to ones before it."""

SOUND_MAY_LAG_S = 5.0
"""How far ahead of the sound the pictures may lie in a file; after that there is no sound."""


class Media:
    """An open file; use it as a context manager.

    Args:
        path: the file.
        on_notice: told once about everything that is lost.

    Attributes:
        video, audio: the PyAV streams to decode, or None. Cover art is not video; of several
            streams the one flagged as default is taken, else the first.
        streams: those of the two that there are.
        video_size: width and height in pixels that the header states, as stored; (0, 0) without.
        start: presentation time of the container's first instant, in seconds.

    Raises:
        UnreadableVideo: no container that is known, or neither video nor audio that is.
    """

    video: Any
    audio: Any

    def __init__(self, path: Path, on_notice: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._on_notice = on_notice
        self._lost: dict[str, tuple[int, float]] = {}
        self._holes = Holes()
        self._read_error = ""
        self._last_end_s = 0.0
        self._open()
        self.start = self._first_instant()
        size = self.video and self.video.codec_context
        self.video_size = (size.width, size.height) if size else (0, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        self._file = open_file(self.path)
        try:
            self._container = open_container(self.path, self._file)
        except UnreadableVideo:
            self._file.close()
            raise
        self.video = choose_stream(self._container, "video")
        self.audio = choose_stream(self._container, "audio")
        if self.video is self.audio is None:
            message = nothing_to_decode(self.path, self._container)
            self.close()
            raise UnreadableVideo(message)
        self.streams = [stream for stream in (self.video, self.audio) if stream is not None]
        for stream in self.streams:
            stream.codec_context.thread_count = DECODER_THREADS

    def close(self) -> None:
        """Give the file back."""
        self._container.close()
        self._file.close()

    @property
    def format(self) -> str:
        """FFmpeg's name of the container, e.g. ``"matroska,webm"``."""
        return str(self._container.format.name)

    def _first_instant(self) -> Fraction:
        if self._container.start_time is None:
            starts = [packet.pts * packet.time_base for packet in self._first_packets()]
            self.rewind()
            return min(starts, default=Fraction(0))
        rounded = Fraction(self._container.start_time, 1_000_000)
        starts = [
            stream.start_time * stream.time_base
            for stream in self._container.streams
            if stream.start_time is not None
        ]
        exact = [start for start in starts if abs(start - rounded) <= Fraction(1, 1_000_000)]
        return min(exact, default=rounded)

    def _first_packets(self) -> list[Any]:
        import av

        with suppress(av.error.FFmpegError):
            packets = itertools.islice(self._container.demux(*self.streams), FIRST_PACKETS)
            return [packet for packet in packets if packet.pts is not None]
        return []

    @property
    def header_duration_s(self) -> float | None:
        """The duration that the container's header states, if it is one that does."""
        duration, kind = self._container.duration, self.format.split(",")[0]
        if kind not in HEADER_KEEPS_DURATION or not duration:
            return None
        end_s = duration / 1e6 - (float(self.start) if kind == "matroska" else 0.0)
        return end_s if end_s > 0 else None

    @property
    def frame_interval_s(self) -> float:
        """The usual time between two pictures, for those that do not tell their duration."""
        return 1 / (self.rate_hz or DEFAULT_RATE_HZ)

    @property
    def rate_hz(self) -> float:
        """Pictures a second as the file tells it; 0 where it tells none that can be. Some copies
        tell the ticks of their clock (15,360)."""
        told = [float(rate or 0) for rate in (self.video.average_rate, self.video.guessed_rate)]
        return next((rate for rate in told if 0 < rate <= _MOST_RATE_HZ), 0.0)

    def seconds(self, ticks: int, stream: Any) -> float:
        """A timestamp of ``stream`` on the video's clock."""
        return float(ticks * stream.time_base - self.start)

    def packets(self) -> Iterator[Any]:
        """The packets of both streams in the file's order, up to its end or where it breaks."""
        import av

        errors = 0
        while errors < READ_ERRORS:
            try:
                for packet in self._container.demux(*self.streams):
                    errors = 0
                    if packet.size and not packet.is_discard:
                        self._see(packet)
                    if packet.size:
                        yield packet
                return
            except IndexError:
                return  # PyAV 18's way to end where a damaged file has announced a new stream
            except (av.error.FFmpegError, OSError) as error:
                errors += 1
                self._read_error = reason(error)

    def _see(self, packet: Any) -> None:
        end_s = self._packet_end_s(packet)
        self._last_end_s = max(self._last_end_s, end_s)
        if packet.pts is not None and packet.stream is self.audio:
            self._holes.see_sound(self.seconds(packet.pts, packet.stream), end_s)
        elif packet.pts is not None:
            self._holes.see_picture(self.seconds(packet.pts, packet.stream))

    def _packet_end_s(self, packet: Any) -> float:
        ticks = packet.pts if packet.pts is not None else packet.dts
        if ticks is None:
            return self._last_end_s
        end_s = self.seconds(ticks + (packet.duration or 0), packet.stream)
        if not packet.duration and packet.stream is self.video:
            end_s += self.frame_interval_s
        return end_s

    def decode(self, stream: Any, packet: Any) -> list[Any]:
        """The frames of a packet (None: those still inside the decoder); failures are counted."""
        import av

        try:
            return list(stream.decode(packet))
        except (av.error.FFmpegError, ValueError):
            self.lose(f"{stream.type} packets that cannot be decoded", self._last_end_s)
            return []

    def lose(self, what: str, time_s: float) -> None:
        """Count something lost at ``time_s``, to be told of at the end."""
        count, first_s = self._lost.get(what, (0, time_s))
        self._lost[what] = count + 1, first_s

    def seek(self, time_s: float) -> None:
        """Go to where decoding must start for everything from ``time_s`` on to be complete."""
        import av

        self._holes = Holes()
        lead = self.video or self.audio
        for margin_s in SEEK_MARGINS_S:
            if time_s <= margin_s:
                break
            ticks = int((Fraction(time_s - margin_s) + self.start) / lead.time_base)
            try:
                self._container.seek(ticks, stream=lead)
                if self._starts_before(time_s):
                    self._container.seek(ticks, stream=lead)
                    return
            except IndexError:
                return  # PyAV 18's way to end where a damaged file has announced a new stream
            except (av.error.FFmpegError, OSError):
                break
        self.rewind()

    def _starts_before(self, time_s: float) -> bool:
        """Whether decoding from here gives both streams complete from ``time_s`` on."""
        missing = {stream.index for stream in self.streams}
        lead = (self.video or self.audio).index
        for packet in self.packets():
            if packet.pts is None:
                continue
            begin_s = self.seconds(packet.pts, packet.stream)
            if packet.stream.index not in missing:
                if begin_s > time_s + SOUND_MAY_LAG_S:
                    return True
                continue
            if packet.stream is self.video and not packet.is_keyframe:
                if begin_s > time_s:
                    return False
                continue
            own_start = packet.stream.start_time
            late = own_start is not None and packet.pts <= own_start
            if begin_s > time_s and not late:
                return False
            missing.remove(packet.stream.index)
            if not missing:
                return True
        return lead not in missing

    def rewind(self) -> None:
        """Go to the start of the file, whatever its container can."""
        self.close()
        self._open()

    def end_s(self) -> float:
        """The end of the last packet that is there; leaves the file at its end."""
        header_s = self.header_duration_s
        if header_s is not None and self.format.startswith(("mov", "matroska")):
            self.seek(max(0.0, header_s - 5))
            self._last_end_s = 0.0
            for _ in self.packets():
                pass
            if self._last_end_s >= header_s - 0.5:
                near = self._last_end_s - header_s < 0.1
                return min(header_s, self._last_end_s) if near else self._last_end_s
        self.rewind()
        self._last_end_s = 0.0
        for _ in self.packets():
            pass
        return self._last_end_s

    def tell_losses(self, at_end: bool) -> None:
        """Send the notices; ``at_end``: the file was read to its end."""
        if self._on_notice is None:
            return
        for kind in undecodable_kinds(self._container):
            self._on_notice(f"This build of FFmpeg cannot decode the {kind} of the file.")
        for what, (count, first_s) in self._lost.items():
            self._on_notice(
                f"{what.capitalize()}: {count} left out, the first near {first_s:.1f} s."
            )
        for start_s, end_s in self._holes.found():
            self._on_notice(f"Nothing is stored between {start_s:.1f} s and {end_s:.1f} s.")
        header_s, promised = self.header_duration_s, ""
        if header_s is not None and self._last_end_s < header_s - BROKEN_OFF_S:
            promised = f"lasts {header_s:.1f} s"
        elif missing := bytes_missing(self._file):
            promised = f"has {missing} bytes more"
        end = f"{self._last_end_s:.1f} s"
        if at_end and promised:
            self._on_notice(f"The file breaks off at {end}; its header says that it {promised}.")
        elif self._read_error:
            self._on_notice(f"The file is damaged near {end} ({self._read_error}).")
