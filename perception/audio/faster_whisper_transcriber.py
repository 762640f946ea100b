"""Whisper in CTranslate2 (faster-whisper), int8 on the CPU."""

from __future__ import annotations

import importlib
import logging
import math
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.audio.transcription import Segment, Transcript, Word
from perception.errors import UnknownName, UnsupportedPlatform
from perception.recognizer import AUDIO_RATE_HZ

__all__ = ["PACKAGE", "FasterWhisperTranscriber", "package_version", "require_package"]

PACKAGE = "faster-whisper"

_TOKENS_PER_S = 16
"""Of speech at most, counted by Whisper's tokenizer: English 4, Japanese 4, Hindi 16, at 5 to 8
syllables a second (Pellegrino et al. 2011, table 1)."""

_MORE_TOKENS = 16
"""For the timestamps, and for a short piece that is spoken fast."""

_WINDOW_TOKENS = 224
"""In one window at most: half of the text context, as in OpenAI's decoder (``sample_len``)."""

_PROMPT_TOKENS = 4
"""What a prompt has at most: start, language, task, no timestamps."""


def package_version() -> str:
    """``faster-whisper VERSION``, or that it is not installed."""
    try:
        return f"{PACKAGE} {version(PACKAGE)}"
    except PackageNotFoundError:
        return f"{PACKAGE} not installed"


def require_package() -> None:
    """Import faster-whisper and CTranslate2, and make them quiet.

    Raises:
        UnsupportedPlatform: one of them cannot be imported here.
    """
    try:
        import faster_whisper  # noqa: F401

        ctranslate2 = importlib.import_module("ctranslate2")
    except (ImportError, OSError) as error:
        raise UnsupportedPlatform(
            f"Speech recognition needs the packages {PACKAGE} and ctranslate2, which cannot be "
            f"imported here ({error}). Install them with: pip install {PACKAGE}; where CTranslate2 "
            f"has no build for this machine, leave speech out (--only action --only screen_text)."
        ) from error
    ctranslate2.set_log_level(logging.ERROR)
    logging.getLogger("faster_whisper").setLevel(logging.ERROR)


class FasterWhisperTranscriber:
    """A Whisper checkpoint in CTranslate2's format.

    Args:
        folder: holds ``model.bin``, ``config.json``, ``tokenizer.json`` and the vocabulary.
        beam_size: width of the beam search; 1 = greedy.
        threads: CPU threads.
    """

    def __init__(self, folder: Path, beam_size: int, threads: int) -> None:
        require_package()
        from faster_whisper import WhisperModel

        self._beam_size = beam_size
        self._model: Any = WhisperModel(
            str(folder), device="cpu", compute_type="int8", cpu_threads=threads, num_workers=1
        )

    def transcribe(self, samples: npt.NDArray[np.float32], language: str | None) -> Transcript:
        """Transcribe float32 [n] at 16 kHz; the language is detected when None.

        No temperature but 0 (the fall-back takes 10-22 s for 20 s of music and invents words), no
        conditioning on the text before (it carries loops on), no thresholds: who reads the
        transcript judges it. A loop ends after as many tokens as speech of that length can have.

        Raises:
            UnknownName: the model does not know the language.
        """
        known = self._model.supported_languages
        if language is not None and language not in known:
            raise UnknownName("language of this speech model", language, known)
        segments, info = self._model.transcribe(
            samples,
            language=language,
            beam_size=self._beam_size,
            temperature=[0.0],
            condition_on_previous_text=False,
            word_timestamps=True,
            compression_ratio_threshold=None,
            log_prob_threshold=None,
            no_speech_threshold=None,
            max_new_tokens=_most_tokens(len(samples)),
        )
        return Transcript(
            segments=tuple(_segment(segment) for segment in segments),
            language=str(info.language),
            language_probability=float(info.language_probability),
        )


def _most_tokens(samples: int) -> int:
    """``max_new_tokens`` for a piece. CTranslate2 makes half as many tokens as it and the prompt
    are together (measured: 224 tokens of a loop at 448)."""
    spoken = math.ceil(samples / AUDIO_RATE_HZ * _TOKENS_PER_S) + _MORE_TOKENS
    return 2 * min(spoken, _WINDOW_TOKENS) - _PROMPT_TOKENS


def _segment(segment: Any) -> Segment:
    return Segment(
        words=tuple(
            Word(float(word.start), float(word.end), str(word.word), float(word.probability))
            for word in segment.words or ()
        ),
        avg_logprob=float(segment.avg_logprob),
        no_speech_prob=float(segment.no_speech_prob),
    )
