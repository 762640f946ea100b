"""What all backends that run Whisper share: their options, and which weights they run."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from perception.audio.speech_model import SpeechModel
from perception.errors import BadInput
from perception.limits import THREADS, check_limits

__all__ = ["WhisperBackend", "WhisperOptions"]

_DEVICE = re.compile(r"cpu|cuda(:\d+)?")


@dataclass(frozen=True, slots=True)
class WhisperOptions:
    """How Whisper hears."""

    checkpoint: str = ""
    """Name in the checkpoints' manifest, or the path (with a slash) of weights of one's own."""
    beam_size: int = 5
    """Width of the beam search (Whisper paper, section 4.5); 1 = greedy, saves 5 % of the time."""
    device: str = "cpu"
    """``cpu``, ``cuda``, or ``cuda:1`` for the second GPU."""
    threads: int = 1
    """CPU threads; 1 is best beside other models. No part of the result."""

    def __post_init__(self) -> None:
        owner = "The speech backend's "
        check_limits(self, {"beam_size": (1, 20), "threads": THREADS}, owner)
        if not _DEVICE.fullmatch(self.device):
            raise BadInput(
                f"{owner}device is {self.device!r}; give cpu, cuda, or cuda:1 for the second GPU."
            )


class WhisperBackend:
    """The part of a ``SpeechBackend`` that does not depend on the library.

    Args:
        package: the library's distribution.
        options: of the backend.
        ending: of the file that holds its weights, see ``SpeechModel``.

    Raises:
        UnknownName: the manifest has no speech model of that name for this backend.
        BadInput: there is no such file or folder.
    """

    def __init__(self, package: str, options: WhisperOptions, ending: str) -> None:
        self.options = options
        self.model = SpeechModel(options.checkpoint, ending)
        self._package = package

    @property
    def version(self) -> str:
        """``PACKAGE VERSION``, or that it is not installed."""
        try:
            return f"{self._package} {version(self._package)}"
        except PackageNotFoundError:
            return f"{self._package} not installed"

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The checkpoint, if the manifest has it."""
        return self.model.checkpoints

    @property
    def checkpoint_sha256(self) -> str:
        """Of the weights."""
        return self.model.sha256

    @property
    def languages(self) -> Collection[str]:
        """What the weights may know."""
        return self.model.languages

    @property
    def settings(self) -> Mapping[str, object]:
        """All options but the threads."""
        return {
            "checkpoint": self.options.checkpoint,
            "beam_size": self.options.beam_size,
            "device": self.options.device,
        }
