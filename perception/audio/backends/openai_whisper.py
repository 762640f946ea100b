"""OpenAI's own Whisper (torch), which MimeQA's authors used: the extra ``openai-whisper``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.audio.speech_model import SpeechModel
from perception.audio.transcription import Segment, Transcript, Word, most_tokens, stamps
from perception.audio.whisper_backend import WhisperBackend, WhisperOptions
from perception.errors import BadInput, MissingExtra, UnknownName, UnsupportedPlatform
from perception.limits import usable_threads

__all__ = ["OpenaiWhisper", "OpenaiWhisperTranscriber", "Options", "build"]

PACKAGE = "openai-whisper"


@dataclass(frozen=True, slots=True)
class Options(WhisperOptions):
    """How openai-whisper hears."""

    checkpoint: str = "openai_whisper_base"
    """Name in the checkpoints' manifest (``openai_whisper_`` and the model's name), or the path of
    a ``.pt`` file in OpenAI's format."""


class OpenaiWhisper(WhisperBackend):
    """The backend; the model loads in ``load``."""

    def __init__(self, options: Options) -> None:
        super().__init__(PACKAGE, options, ".pt")

    def require(self) -> None:
        """See that OpenAI's package is there: on the package index ``whisper`` is another one.

        Raises:
            MissingExtra: it is not installed.
            UnsupportedPlatform: it is installed and cannot be imported.
        """
        try:
            version(PACKAGE)
        except PackageNotFoundError as error:
            purpose = "The speech backend openai_whisper"
            raise MissingExtra(PACKAGE, "openai-whisper", purpose) from error
        try:
            whisper = importlib.import_module("whisper")
        except (ImportError, OSError) as error:
            raise UnsupportedPlatform(
                f"The package {PACKAGE} is installed and cannot be imported here ({error}). "
                "Choose the embedded backend: --set recognizers.speech.backend=faster_whisper"
            ) from error
        if not hasattr(whisper, "load_model"):
            raise UnsupportedPlatform(
                f"Another package called whisper ({whisper.__file__}) hides {PACKAGE}. "
                f"pip uninstall whisper && pip install --force-reinstall --no-deps {PACKAGE}"
            )

    def load(self) -> OpenaiWhisperTranscriber:
        """Load the model.

        Raises:
            MissingExtra, UnsupportedPlatform: as ``require``.
            BadInput: there is no such GPU, or the user's own weights cannot be loaded.
            WeightsError: the checkpoint cannot be had.
        """
        self.require()
        return OpenaiWhisperTranscriber(self.model, self.options)


class OpenaiWhisperTranscriber:
    """A Whisper checkpoint in OpenAI's format, loaded.

    Word times come from the attention heads that OpenAI found to follow the sound, which are known
    for the published models; a file is told to be one by its name, e.g. ``base.pt``.
    """

    def __init__(self, model: SpeechModel, options: WhisperOptions) -> None:
        import torch
        import whisper

        if options.device != "cpu" and not torch.cuda.is_available():
            raise BadInput(
                f"openai-whisper's device is {options.device!r} and torch finds no GPU here; "
                "give cpu."
            )
        self._options = options
        path = model.path()
        try:
            self._model: Any = whisper.load_model(str(path), device=options.device)
            heads = whisper._ALIGNMENT_HEADS.get(path.stem)
            if heads is not None:
                self._model.set_alignment_heads(heads)
        except Exception as error:
            raise BadInput(
                f"openai-whisper cannot load {str(path)!r} on {options.device}: {error}."
            ) from error

    def transcribe(self, samples: npt.NDArray[np.float32], language: str | None) -> Transcript:
        """Transcribe float32 [n] at 16 kHz; the language is detected when None.

        Decoded as ``faster_whisper`` does: temperature 0, no text carried on, no thresholds, and a
        loop ends after as many tokens as speech of that length can have.

        Raises:
            UnknownName: the model does not know the language.
        """
        import torch
        from whisper.tokenizer import get_tokenizer

        torch.set_num_threads(usable_threads(self._options.threads))
        code, probability = self._language(samples, language)
        multilingual, count = self._model.is_multilingual, self._model.num_languages
        first_stamp = get_tokenizer(multilingual, num_languages=count).timestamp_begin
        found = self._model.transcribe(
            samples,
            language=code,
            beam_size=self._options.beam_size,
            temperature=0.0,
            condition_on_previous_text=False,
            word_timestamps=True,
            compression_ratio_threshold=None,
            logprob_threshold=None,
            no_speech_threshold=None,
            fp16=self._options.device != "cpu",
            sample_len=most_tokens(len(samples)),
        )
        spoken = (segment for segment in found["segments"] if segment["words"])
        segments = tuple(_segment(segment, first_stamp) for segment in spoken)
        return Transcript(segments, code, probability)

    def _language(
        self, samples: npt.NDArray[np.float32], language: str | None
    ) -> tuple[str, float]:
        """The language asked for, else the one detected, with its probability."""
        import whisper
        from whisper.tokenizer import LANGUAGES

        model = self._model
        known = list(LANGUAGES)[: model.num_languages] if model.is_multilingual else ["en"]
        if language is not None and language not in known:
            raise UnknownName("language of this speech model", language, known)
        if language is not None or not model.is_multilingual:
            return language or "en", 1.0
        padded = whisper.pad_or_trim(samples)
        mel = whisper.log_mel_spectrogram(padded, model.dims.n_mels).to(model.device)
        _, probabilities = model.detect_language(mel)
        code = max(probabilities, key=probabilities.__getitem__)
        return str(code), float(probabilities[code])


def _segment(segment: Mapping[str, Any], first_stamp: int) -> Segment:
    begin_s, end_s = stamps(segment["tokens"], first_stamp, segment["seek"])
    return Segment(
        words=tuple(
            Word(
                float(word["start"]),
                float(word["end"]),
                str(word["word"]),
                float(word["probability"]),
            )
            for word in segment["words"]
        ),
        avg_logprob=min(0.0, float(segment["avg_logprob"])),
        no_speech_prob=float(segment["no_speech_prob"]),
        stamped_start_s=begin_s,
        stamped_end_s=end_s,
    )


def build(options: Options) -> OpenaiWhisper:
    """The backend; nothing is loaded yet.

    Raises:
        UnknownName: the manifest has no speech model of OpenAI's of that name.
        BadInput: there is no such file.
    """
    return OpenaiWhisper(options)
