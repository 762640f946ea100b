"""Cuts a stream of sound into pieces that hold speech, never inside speech while it can be helped.

A piece is *contiguous* sound, therefore a time in it plus its start is a true time; the silence in
it is short. Only the current piece is in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perception.audio.voice_activity import WINDOW, WINDOW_S
from perception.cue import Span
from perception.errors import BadInput
from perception.limits import check_limits
from perception.recognizer import AUDIO_RATE_HZ

__all__ = ["CutRules", "Piece", "PieceCutter", "Samples", "VoiceActivity"]

Samples = npt.NDArray[np.float32]

VoiceActivity = Callable[[Samples], Samples]
"""float32 [n, WINDOW] -> float32 [n] probabilities of speech; called window after window."""

_LONGEST_S = 30.0
"""The window of Whisper (paper, section 2.2)."""

_LEAST_ROOM_S = 1.0

_LIMITS = {
    "threshold": (0, 1),
    "threshold_gap": (0, 1),
    "pause_s": (0, _LONGEST_S),
    "shortest_s": (0, _LONGEST_S),
    "padding_s": (0, _LONGEST_S / 2),
    "join_s": (0, _LONGEST_S),
    "longest_s": (_LEAST_ROOM_S, _LONGEST_S),
    "floor": (0, 1),
}


@dataclass(frozen=True, slots=True)
class CutRules:
    """When speech begins, ends and is cut."""

    threshold: float = 0.5
    """Probability at which speech begins (Silero VAD's default)."""
    threshold_gap: float = 0.15
    """Speech may end at ``threshold`` less this (Silero VAD's default)."""
    pause_s: float = 0.3
    """Seconds under the lower threshold that end a stretch of speech."""
    shortest_s: float = 0.1
    """Shorter stretches are clicks and not speech."""
    padding_s: float = 0.4
    """Sound kept on either side of a piece (faster-whisper's VAD default)."""
    join_s: float = 2.0
    """Stretches nearer than this share a piece."""
    longest_s: float = _LONGEST_S
    """Length of a piece at most: the window of Whisper."""
    floor: float = 0.001
    """Windows whose root mean square is lower are silence (-60 dB of full scale)."""

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The speech recognizer's cut.")
        if self.longest_s < 2 * self.padding_s + _LEAST_ROOM_S:
            raise BadInput(
                f"The speech recognizer's cut.longest_s is {self.longest_s}; give at least twice "
                f"padding_s ({self.padding_s}) and {_LEAST_ROOM_S:g} s for the speech between."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Contiguous sound that holds speech.

    Args:
        start_s: time of the first sample.
        samples: float32 [n].
        voiced: where the speech is, on the same clock as ``start_s``.
    """

    start_s: float
    samples: Samples
    voiced: tuple[Span, ...]

    @property
    def end_s(self) -> float:
        """Time after the last sample."""
        return self.start_s + len(self.samples) / AUDIO_RATE_HZ


class PieceCutter:
    """Feed it sound without gaps; it hands out the pieces as they become complete."""

    def __init__(self, activity: VoiceActivity, start_s: float, rules: CutRules) -> None:
        self._activity = activity
        self._start_s = start_s
        self._rules = rules
        self._buffer: Samples = np.zeros(0, np.float32)
        self._first = 0
        """Index (from the start) of the first sample in the buffer."""
        self._window = 0
        """Index of the next window to judge."""
        self._taken = 0
        """Index of the first sample that no piece has taken."""
        self._closed: list[tuple[int, int]] = []
        """Stretches [first window, window after the last) of the current piece."""
        self._open: int | None = None
        """First window of the stretch that goes on."""
        self._quiet: int | None = None
        """First window of the pause within that stretch."""
        self._probabilities: list[float] = []
        """Of the windows since ``_open``."""

    @property
    def end_s(self) -> float:
        """Time after the last sample fed."""
        return self._start_s + (self._first + len(self._buffer)) / AUDIO_RATE_HZ

    def feed(self, samples: Samples) -> list[Piece]:
        """Take the next samples, float32 [n]; return the pieces that they complete."""
        self._buffer = np.concatenate([self._buffer, samples])
        pieces: list[Piece] = []
        offset = self._window * WINDOW - self._first
        ready = (len(self._buffer) - offset) // WINDOW
        windows = self._buffer[offset : offset + ready * WINDOW].reshape(ready, WINDOW)
        for probability in self._judge(windows):
            pieces.extend(self._step(probability))
            self._window += 1
        self._forget()
        return pieces

    def flush(self) -> list[Piece]:
        """End of the stream: the pieces that are still open."""
        end = self._first + len(self._buffer)
        rest = end - self._window * WINDOW
        pieces = self.feed(np.zeros(WINDOW - rest, np.float32)) if rest else []
        if self._open is not None:
            self._close(self._quiet if self._quiet is not None else self._window)
        self._buffer = self._buffer[: end - self._first]
        return pieces + self._emit()

    def _judge(self, windows: Samples) -> list[float]:
        loudness = np.sqrt(np.square(windows).mean(axis=1))
        return [
            float(probability) if loud >= self._rules.floor else 0.0
            for probability, loud in zip(self._activity(windows), loudness, strict=True)
        ]

    def _step(self, probability: float) -> list[Piece]:
        rules = self._rules
        if self._open is None:
            if probability >= rules.threshold:
                self._open, self._quiet, self._probabilities = self._window, None, [probability]
            elif self._closed and self._since(self._closed[-1][1]) >= rules.join_s:
                return self._emit()
            else:
                return []
        else:
            self._probabilities.append(probability)
            if probability >= rules.threshold:
                self._quiet = None
            elif self._quiet is None and probability < rules.threshold - rules.threshold_gap:
                self._quiet = self._window
            if self._quiet is not None and self._since(self._quiet) >= rules.pause_s:
                self._close(self._quiet)
        return self._cut_when_long()

    def _since(self, window: int) -> float:
        return (self._window - window) * WINDOW_S

    def _close(self, end: int) -> None:
        """The open stretch ends before window ``end``."""
        if self._open is not None and (end - self._open) * WINDOW_S >= self._rules.shortest_s:
            self._closed.append((self._open, end))
        self._open = self._quiet = None

    def _cut_when_long(self) -> list[Piece]:
        room_s = self._rules.longest_s - 2 * self._rules.padding_s
        if self._open is None:
            return []
        first = self._closed[0][0] if self._closed else self._open
        if self._since(first) < room_s:
            return []
        if self._closed:
            return self._emit()
        half = len(self._probabilities) // 2
        kept = half + int(np.argmin(self._probabilities[half:]))
        cut = self._open + kept
        self._closed.append((self._open, cut))
        self._open, self._probabilities = cut, self._probabilities[kept:]
        if self._quiet is not None:
            self._quiet = max(self._quiet, cut)
        return self._emit()

    def _emit(self) -> list[Piece]:
        """The closed stretches as one piece, padded as far as the neighbours leave room."""
        if not self._closed:
            return []
        padding = round(self._rules.padding_s * AUDIO_RATE_HZ)
        limit = self._first + len(self._buffer) if self._open is None else self._open * WINDOW
        first = max(self._closed[0][0] * WINDOW - padding, self._taken, self._first)
        last = min(self._closed[-1][1] * WINDOW + padding, limit)
        voiced = tuple(
            Span(self._time(begin * WINDOW), self._time(min(end * WINDOW, last)))
            for begin, end in self._closed
        )
        samples = self._buffer[first - self._first : last - self._first].copy()
        self._closed, self._taken = [], last
        return [Piece(self._time(first), samples, voiced)]

    def _time(self, index: int) -> float:
        return self._start_s + index / AUDIO_RATE_HZ

    def _forget(self) -> None:
        """Drop the samples that no piece can need any more."""
        if self._closed:
            oldest = self._closed[0][0]
        else:
            oldest = self._window if self._open is None else self._open
        keep = max(oldest * WINDOW - round(self._rules.padding_s * AUDIO_RATE_HZ), self._taken)
        if keep > self._first:
            self._buffer = self._buffer[keep - self._first :].copy()
            self._first = keep
