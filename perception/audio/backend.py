"""The SpeechBackend protocol: a library that turns a piece of sound into words with times.

A backend is a file of ``backends/``. It is built from its ``Options`` without loading anything, so
that what it would hear with is known before: that is part of the cache key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from perception.audio.transcription import Transcriber

__all__ = ["BACKENDS", "SpeechBackend"]

BACKENDS = "perception.audio.backends"


class SpeechBackend(Protocol):
    """What a backend file's ``build(options)`` gives; nothing is loaded yet."""

    @property
    def version(self) -> str:
        """``PACKAGE VERSION`` of the library, or that it is not installed."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Manifest names of its weights; none where they are a file of the user's own."""

    @property
    def checkpoint_sha256(self) -> str:
        """sha256 of the weights."""

    @property
    def languages(self) -> Collection[str]:
        """Whisper's codes of the languages that the weights may know."""

    @property
    def settings(self) -> Mapping[str, object]:
        """The options that decide what is heard; plain JSON values."""

    def require(self) -> None:
        """See that the library can be used here.

        Raises:
            MissingExtra: the package is not installed.
            UnsupportedPlatform: it cannot be imported here.
        """

    def load(self) -> Transcriber:
        """Load the model.

        Raises:
            MissingExtra, UnsupportedPlatform: as ``require``.
            BadInput: there is no such device here, or the user's own weights cannot be read.
            WeightsError: weights of the manifest cannot be had.
        """
