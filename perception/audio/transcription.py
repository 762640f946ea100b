"""What a speech-to-text model says about one piece of sound, before anything is believed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from perception.recognizer import AUDIO_RATE_HZ

__all__ = [
    "WINDOW_S",
    "Segment",
    "Transcriber",
    "Transcript",
    "Word",
    "most_tokens",
    "stamps",
]

WINDOW_S = 30.0
"""What Whisper hears at once (paper, section 2.2)."""

_STAMP_S = 0.02
"""From one of Whisper's time tokens to the next (paper, section 2.3)."""

_FRAME_S = 0.01
"""From one column of Whisper's spectrogram to the next (paper, section 2.2)."""

_TOKENS_PER_S = 16
"""Of speech at most, counted by Whisper's tokenizer: English 4, Japanese 4, Hindi 16, at 5 to 8
syllables a second (Pellegrino et al. 2011, table 1)."""

_MORE_TOKENS = 16
"""For the time tokens, and for a short piece that is spoken fast."""

_WINDOW_TOKENS = 224
"""In one window at most: half of the text context, as in OpenAI's decoder (``sample_len``)."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its punctuation.

    Args:
        start_s, end_s: seconds; from the start of the piece as a transcriber returns it. A word
            that the model could not place ends no later than it starts.
        text: with the space in front that the model wrote, if any.
        probability: mean over the word's tokens, in [0, 1].
        interpolated: whether the times are not the model's, but laid between its neighbours'.
    """

    start_s: float
    end_s: float
    text: str
    probability: float
    interpolated: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """Words decoded together.

    Args:
        avg_logprob: mean natural log probability of the tokens, 0 at most.
        no_speech_prob: the model's probability that its window holds no speech.
        stamped_start_s, stamped_end_s: the times that the model itself wrote around the text, on
            the clock of the words; None where it wrote none.
    """

    words: tuple[Word, ...]
    avg_logprob: float
    no_speech_prob: float
    stamped_start_s: float | None = None
    stamped_end_s: float | None = None

    @property
    def text(self) -> str:
        """The words with the model's own spacing."""
        return "".join(word.text for word in self.words).strip()


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


def most_tokens(samples: int) -> int:
    """How many tokens, time tokens included, so many samples of speech can have in one window."""
    spoken = math.ceil(samples / AUDIO_RATE_HZ * _TOKENS_PER_S) + _MORE_TOKENS
    return min(spoken, _WINDOW_TOKENS)


def stamps(
    tokens: Sequence[int], first_stamp: int, first_frame: int
) -> tuple[float | None, float | None]:
    """Start and end that the model wrote around a segment, in seconds from the piece's start.

    Args:
        tokens: of the segment, its time tokens included.
        first_stamp: the token that means the start of the window.
        first_frame: column of the spectrogram at which the window begins (Whisper's ``seek``).
    """

    def read(token: int) -> float | None:
        if token < first_stamp:
            return None
        return first_frame * _FRAME_S + (token - first_stamp) * _STAMP_S

    return (read(tokens[0]), read(tokens[-1])) if tokens else (None, None)
