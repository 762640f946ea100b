"""A speech recognizer that keeps what its model writes, so that other limits of the guards are
measured on the same transcripts without hearing again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.audio.transcription import Segment, Transcript, Word
from perception.recognizers.speech import SpeechRecognizer
from perception.whole import write_whole

__all__ = ["KeepingRecognizer"]


class KeepingRecognizer(SpeechRecognizer):
    """The recognizer with a folder that holds a file for each piece of sound it transcribed.

    Args:
        recognizer: that hears.
        folder: made when first needed.
    """

    def __init__(self, recognizer: SpeechRecognizer, folder: Path) -> None:
        super().__init__(recognizer.options, recognizer.backend)
        self._folder = folder

    def transcriber(self) -> KeepingRecognizer:
        """Itself; the model loads for a sound that it has not heard before."""
        return self

    def transcribe(self, samples: npt.NDArray[np.float32], language: str | None) -> Transcript:
        """As the model did, or does now."""
        settings = json.dumps(
            [self.backend.version, self.backend.checkpoint_sha256, dict(self.backend.settings)]
        )
        key = hashlib.sha256(f"{settings} {language} ".encode() + samples.tobytes()).hexdigest()
        path = self._folder / f"{key}.json"
        if not path.is_file():
            transcript = super().transcriber().transcribe(samples, language)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(asdict(transcript), ensure_ascii=False).encode())
        return _read(json.loads(path.read_bytes()))


def _read(stored: dict[str, Any]) -> Transcript:
    segments = tuple(
        Segment(**{**segment, "words": tuple(Word(**word) for word in segment["words"])})
        for segment in stored["segments"]
    )
    return Transcript(**{**stored, "segments": segments})
