"""The sound of a file as 16 kHz mono chunks with their true times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.cue import Span
from perception.media import Media
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk

__all__ = ["CHUNK_S", "GAP_S", "Sound"]

CHUNK_S = 2.0
"""Longest chunk that is handed over."""

GAP_S = 0.05
"""Timestamps that run this far from the count of samples begin a new chunk: coarser than the
rounding of any container (Matroska: 1 ms), finer than a syllable."""


class Sound:
    """Turns the packets of a file's audio stream into chunks.

    Within an unbroken run, chunks follow one another sample by sample. A gap in the timestamps
    ends the run, and the next chunk starts at its own later time (no silence is put in); samples
    whose time lies before what was already given are left out, and so is a run that turns out to
    be stamped too late before any of it was given; both are counted as lost.
    """

    def __init__(self, media: Media, span: Span | None) -> None:
        self._media, self._stream, self._span = media, media.audio, span
        self._resampler: Any = None
        self._source: tuple[str, str, int] | None = None
        self._start_s = self._expected_s = self._before_s = -math.inf
        self._given = 0
        self._waiting: list[npt.NDArray[np.float32]] = []
        self.done = False

    def push(self, packet: Any) -> Iterator[AudioChunk]:
        """Decode a packet (None at the end of the file) and give the chunks that are full."""
        for frame in self._media.decode(self._stream, packet):
            yield from self._take(frame)
            if self._span is not None and self._expected_s >= self._span.end_s:
                yield from self._close()
                self.done = True
                return
        if packet is None:
            yield from self._close()

    def _take(self, frame: Any) -> Iterator[AudioChunk]:
        import av

        rate = int(frame.sample_rate)
        if not rate or not frame.samples:
            return
        first_s = max(self._expected_s, 0.0)
        if frame.pts is not None:
            first_s = float(frame.pts * (frame.time_base or self._stream.time_base))
            first_s -= float(self._media.start)
        if first_s < self._expected_s - GAP_S:
            self._media.lose("audio frames whose times go back", first_s)
            if self._given or first_s < self._before_s - GAP_S:
                return
            self._waiting, self._resampler, self._source = [], None, None
            self._expected_s = self._before_s
        source = (frame.format.name, frame.layout.name, rate)
        if source != self._source or first_s > self._expected_s + GAP_S:
            yield from self._close()
            self._begin(source, first_s)
        self._expected_s += frame.samples / rate
        try:
            self._keep(frame)
        except (av.error.FFmpegError, ValueError):
            self._media.lose("audio frames that cannot be resampled", first_s)
        yield from self._full_chunks()

    def _begin(self, source: tuple[str, str, int], start_s: float) -> None:
        from av import AudioResampler

        self._resampler = AudioResampler(format="s32p", layout="mono", rate=AUDIO_RATE_HZ)
        self._source = source
        self._before_s = self._expected_s
        self._start_s = self._expected_s = start_s
        self._given = 0

    def _keep(self, frame: Any) -> None:
        for converted in self._resampler.resample(frame):
            samples = converted.to_ndarray()[0].astype(np.float32)
            self._waiting.append(samples / np.float32(2**31))

    def _full_chunks(self) -> Iterator[AudioChunk]:
        size = round(CHUNK_S * AUDIO_RATE_HZ)
        if sum(map(len, self._waiting)) < size:
            return
        samples = np.concatenate(self._waiting)
        whole = len(samples) - len(samples) % size
        self._waiting = [samples[whole:].copy()]
        for begin in range(0, whole, size):
            yield from self._chunk(samples[begin : begin + size])

    def _close(self) -> Iterator[AudioChunk]:
        if self._resampler is None:
            return
        self._keep(None)
        yield from self._full_chunks()
        if self._waiting:
            yield from self._chunk(np.concatenate(self._waiting))
        self._waiting, self._resampler = [], None

    def _chunk(self, samples: npt.NDArray[np.float32]) -> Iterator[AudioChunk]:
        start_s = self._start_s + self._given / AUDIO_RATE_HZ
        self._given += len(samples)
        if self._span is not None:
            skip = min(len(samples), max(0, _samples_before(self._span.start_s - start_s)))
            stop = max(skip, _samples_before(self._span.end_s - start_s))
            start_s, samples = start_s + skip / AUDIO_RATE_HZ, samples[skip:stop]
        if len(samples):
            yield AudioChunk(start_s, samples)


def _samples_before(seconds: float) -> int:
    return math.ceil(round(seconds * AUDIO_RATE_HZ, 3))
