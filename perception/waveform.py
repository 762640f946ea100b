"""The outline of the sound, for drawing: its extremes fifty times a second.

As traces (see ``traces.py``)::

    speech/waveform/rate    float64 [1]    peaks a second
    speech/waveform/start   float64 [1]    seconds
    speech/waveform/peaks   int8 [n, 2]    least and greatest sample, 127 = full scale
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk, Traces
from perception.traces import group

__all__ = ["PEAK_RATE_HZ", "Waveform", "WaveformPeaks", "read_waveform"]

PEAK_RATE_HZ = 50
"""Finer than a pixel in a timeline that shows half a minute."""


@dataclass(frozen=True, slots=True, eq=False)
class Waveform:
    """The outline of the sound.

    Args:
        start_s: time of the first peak's first sample.
        rate_hz: peaks a second.
        peaks: float32 [n, 2] in [-1, 1]: least and greatest sample of each stretch.
    """

    start_s: float
    rate_hz: float
    peaks: npt.NDArray[np.float32]


class WaveformPeaks:
    """Gathers the outline of the sound from its chunks; memory is 100 bytes a second.

    Where chunks leave a gap there is silence.
    """

    _STRETCH = AUDIO_RATE_HZ // PEAK_RATE_HZ

    def __init__(self) -> None:
        self._start_s: float | None = None
        self._rest: npt.NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._peaks: list[npt.NDArray[np.int8]] = []
        self._samples = 0

    def feed(self, chunk: AudioChunk) -> None:
        """Take the next samples, in order of time."""
        if self._start_s is None:
            self._start_s = chunk.start_s
        expected = round((chunk.start_s - self._start_s) * AUDIO_RATE_HZ)
        gap = max(0, expected - self._samples)
        if gap < self._STRETCH:
            gap = 0
        samples = np.concatenate([self._rest, np.zeros(gap, dtype=np.float32), chunk.samples])
        self._samples += gap + len(chunk.samples)
        whole = len(samples) - len(samples) % self._STRETCH
        self._take(samples[:whole].reshape(-1, self._STRETCH))
        self._rest = samples[whole:]

    def traces(self, track_id: str) -> dict[str, npt.NDArray[np.generic]]:
        """The outline as traces: peaks a second float64 [1], time of the first in seconds float64
        [1], and lowest and highest sample of each int8 [m, 2]; empty when there was no sound."""
        if self._start_s is None:
            return {}
        rest = [_extremes(self._rest[None])] if len(self._rest) else []
        peaks = [*self._peaks, *rest] or [np.zeros((0, 2), dtype=np.int8)]
        prefix = f"{track_id}/waveform"
        return {
            f"{prefix}/rate": np.array([PEAK_RATE_HZ], dtype=np.float64),
            f"{prefix}/start": np.array([self._start_s], dtype=np.float64),
            f"{prefix}/peaks": np.concatenate(peaks),
        }

    def _take(self, stretches: npt.NDArray[np.float32]) -> None:
        if len(stretches):
            self._peaks.append(_extremes(stretches))


def _extremes(stretches: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    pair = np.stack([stretches.min(axis=1), stretches.max(axis=1)], axis=1)
    outline: npt.NDArray[np.int8] = np.round(np.clip(pair, -1, 1) * 127).astype(np.int8)
    return outline


def read_waveform(track_id: str, traces: Traces) -> Waveform | None:
    """The outline that ``WaveformPeaks`` stored under ``track_id``, or None.

    Raises:
        BadInput: an array is missing or ill-shaped.
    """
    prefix = f"{track_id}/waveform"
    fields = group(traces, prefix, ("rate", "start", "peaks"), same_length=False)
    if fields is None:
        return None
    rate, start, peaks = (fields[name] for name in ("rate", "start", "peaks"))
    if not (rate.shape == start.shape == (1,) and peaks.ndim == 2 and peaks.shape[1] == 2):
        raise BadInput(
            f"The traces {prefix}/* need the shapes rate [1], start [1] and peaks [n, 2], not "
            f"{list(rate.shape)}, {list(start.shape)} and {list(peaks.shape)}."
        )
    outline = peaks.astype(np.float32) / np.float32(127)
    return Waveform(float(start[0]), float(rate[0]), outline)
