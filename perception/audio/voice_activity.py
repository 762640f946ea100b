"""Silero VAD over a stream: one probability of speech per window, without the past in memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.recognizer import AUDIO_RATE_HZ

__all__ = ["WINDOW", "WINDOW_S", "SileroVoiceActivity"]

WINDOW = 512
"""Samples per probability; what Silero VAD takes at 16 kHz."""

WINDOW_S = WINDOW / AUDIO_RATE_HZ
"""Seconds per probability: 0.032."""

_CONTEXT = 64
"""Samples of the window before that the model sees too (Silero VAD v5 and later, at 16 kHz)."""


@cache
def _silero() -> Any:
    """The ONNX session of the Silero model that faster-whisper carries (one thread)."""
    from faster_whisper.vad import get_vad_model

    return get_vad_model().session


class SileroVoiceActivity:
    """Probabilities of speech for consecutive windows; the recurrent state goes on between calls.

    The same as ``faster_whisper.vad.SileroVADModel`` over the whole waveform, in pieces.
    """

    def __init__(self) -> None:
        self._hidden = np.zeros((1, 1, 128), np.float32)
        self._cell = np.zeros((1, 1, 128), np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def __call__(self, windows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Take float32 [n, ``WINDOW``], the next n windows; return float32 [n] in [0, 1]."""
        if len(windows) == 0:
            return np.zeros(0, np.float32)
        contexts = np.vstack([self._context, windows[:-1, -_CONTEXT:]])
        self._context = windows[-1, -_CONTEXT:].copy()
        probabilities, self._hidden, self._cell = _silero().run(
            None,
            {
                "input": np.hstack([contexts, windows]).astype(np.float32, copy=False),
                "h": self._hidden,
                "c": self._cell,
            },
        )
        return np.asarray(probabilities, np.float32).reshape(-1)
