"""What a speech-to-text model says about one piece of sound, before anything is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Segment", "Transcriber", "Transcript", "Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its punctuation.

    Args:
        start_s, end_s: seconds; from the start of the piece as a transcriber returns it.
        text: with the space in front that the model wrote, if any.
        probability: mean over the word's tokens, in [0, 1].
    """

    start_s: float
    end_s: float
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Segment:
    """Words decoded together.

    Args:
        avg_logprob: mean natural log probability of the tokens.
        no_speech_prob: the model's probability that its window holds no speech.
    """

    words: tuple[Word, ...]
    avg_logprob: float
    no_speech_prob: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """All segments of a piece; the language is an ISO 639-1 code as Whisper uses it."""

    segments: tuple[Segment, ...]
    language: str
    language_probability: float


class Transcriber(Protocol):
    """A speech-to-text model, loaded."""

    def transcribe(self, samples: npt.NDArray[np.float32], language: str | None) -> Transcript:
        """Transcribe float32 [n] at 16 kHz; the language is detected when None."""
