"""Whisper in CTranslate2 (faster-whisper), int8 on the CPU: the embedded backend."""

from __future__ import annotations

import importlib
import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.audio.speech_model import SpeechModel
from perception.audio.transcription import Segment, Transcript, Word, most_tokens, stamps
from perception.audio.whisper_backend import WhisperBackend, WhisperOptions
from perception.errors import BadInput, UnknownName, UnsupportedPlatform
from perception.limits import usable_threads

__all__ = ["FasterWhisper", "FasterWhisperTranscriber", "Options", "build"]

PACKAGE = "faster-whisper"

_PROMPT_TOKENS = 4
"""What a prompt has at most: start, language, task, no timestamps."""

_COMPUTE_TYPES = {"cpu": "int8", "cuda": "float16"}
"""As faster-whisper's README runs them."""


@dataclass(frozen=True, slots=True)
class Options(WhisperOptions):
    """How faster-whisper hears."""

    checkpoint: str = "whisper_base"
    """Name in the checkpoints' manifest: ``whisper_base`` reads 99 languages, ``whisper_tiny_en``
    is the fast preset for English (half the time); or the path of a folder in CTranslate2's
    format."""


class FasterWhisper(WhisperBackend):
    """The backend; the model loads in ``load``."""

    def __init__(self, options: Options) -> None:
        super().__init__(PACKAGE, options, "model.bin")

    def require(self) -> None:
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
                f"imported here ({error}). Install them with: pip install {PACKAGE}; where "
                "CTranslate2 has no build for this machine, leave speech out "
                "(--only action --only screen_text)."
            ) from error
        ctranslate2.set_log_level(logging.ERROR)
        logging.getLogger("faster_whisper").setLevel(logging.ERROR)

    def load(self) -> FasterWhisperTranscriber:
        """Load the model.

        Raises:
            UnsupportedPlatform: as ``require``.
            BadInput: there is no such GPU, or the user's own weights cannot be loaded.
            WeightsError: the checkpoint cannot be had.
        """
        self.require()
        return FasterWhisperTranscriber(self.model, self.options)


class FasterWhisperTranscriber:
    """A Whisper checkpoint in CTranslate2's format, loaded."""

    def __init__(self, model: SpeechModel, options: WhisperOptions) -> None:
        from faster_whisper import WhisperModel

        kind, _, index = options.device.partition(":")
        self._beam_size = options.beam_size
        try:
            self._model: Any = WhisperModel(
                str(model.path()),
                device=kind,
                device_index=int(index or 0),
                compute_type=_COMPUTE_TYPES[kind],
                cpu_threads=usable_threads(options.threads),
                num_workers=1,
            )
        except (RuntimeError, ValueError) as error:
            raise BadInput(
                f"faster-whisper cannot load {options.checkpoint!r} on {options.device}: {error}."
            ) from error
        self._first_stamp = 1 + self._model.hf_tokenizer.token_to_id("<|notimestamps|>")
        self._encode = self._model.encode
        self._model.encode = self._encoded
        self._known: tuple[Any, Any] | None = None

    def transcribe(self, samples: npt.NDArray[np.float32], language: str | None) -> Transcript:
        """Transcribe float32 [n] at 16 kHz; the language is detected when None.

        No temperature but 0 (the fall-back takes 10-22 s for 20 s of music and invents words), no
        conditioning on the text before (it carries loops on), no thresholds: who reads the
        transcript judges it. A loop ends after as many tokens as speech of that length can have;
        CTranslate2 makes half as many as ``max_new_tokens`` and the prompt are together (measured:
        224 tokens of a loop at 448).

        Raises:
            UnknownName: the model does not know the language.
        """
        known = self._model.supported_languages
        if language is not None and language not in known:
            raise UnknownName("language of this speech model", language, known)
        probability = 1.0
        if language is None and self._model.model.is_multilingual:
            language, probability = self._detected(samples)
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
            max_new_tokens=2 * most_tokens(len(samples)) - _PROMPT_TOKENS,
        )
        return Transcript(
            segments=tuple(self._segment(segment) for segment in segments if segment.words),
            language=str(info.language),
            language_probability=probability,
        )

    def _detected(self, samples: npt.NDArray[np.float32]) -> tuple[str, float]:
        """The language of the first 30 s and its probability.

        As faster-whisper tells it, which would encode the same sound once more to transcribe it:
        half of the time that a short piece takes.
        """
        from faster_whisper.audio import pad_or_trim

        frames = self._model.feature_extractor(samples)[:, :-1]
        features = pad_or_trim(frames[:, : self._model.feature_extractor.nb_max_frames])
        encoded = self._encode(features)
        self._known = features, encoded
        token, probability = self._model.model.detect_language(encoded)[0][0]
        return token[2:-2], float(probability)

    def _encoded(self, features: npt.NDArray[np.float32]) -> Any:
        """The encoder's output, once more where ``features`` were the last to be encoded."""
        known, self._known = self._known, None
        if known is not None and np.array_equal(known[0], features):
            return known[1]
        return self._encode(features)

    def _segment(self, segment: Any) -> Segment:
        begin_s, end_s = stamps(segment.tokens, self._first_stamp, segment.seek)
        return Segment(
            words=tuple(
                Word(float(word.start), float(word.end), str(word.word), float(word.probability))
                for word in segment.words
            ),
            avg_logprob=min(0.0, float(segment.avg_logprob)),
            no_speech_prob=float(segment.no_speech_prob),
            stamped_start_s=begin_s,
            stamped_end_s=end_s,
        )


def build(options: Options) -> FasterWhisper:
    """The backend; nothing is loaded yet.

    Raises:
        UnknownName: the manifest has no CTranslate2 speech model of that name.
        BadInput: there is no such folder.
    """
    return FasterWhisper(options)
