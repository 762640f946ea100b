"""What is written in the picture: captions, signs, titles, read once a second.

A backend finds lines and reads them once a second; a picture that did not change and a line that
looks as it did are not read again. Readings of one text at one place become a span. Its ends are
finer than the readings: between two of them small grey pictures are kept, and the text begins with
the first and ends with the last one that still looks like the reading's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from perception import plugins
from perception.cue import Source, VideoInfo
from perception.errors import BadInput
from perception.limits import check_limits
from perception.recognizer import Needs
from perception.text.backend import BACKENDS, TextBackend, TextReader
from perception.text.reading import TextRules
from perception.text.session import TextSession, Watching

__all__ = ["Options", "ScreenTextRecognizer", "build"]

KIND = "screen_text"

VERSION = "2"
"""Raised whenever the same readings would give other cues."""

RECYCLE_AFTER = 1000
"""Pictures searched after which the models are loaded anew, so that what a library may leak stays
bounded; loading takes as long as one to five searches."""

_LIMITS = {
    "rate_hz": (0.001, 1000),
    "look_rate_hz": (0.001, 1000),
    "max_side_px": (1, 8192),
    "same_picture": (0, 255),
    "same_place": (-1, 1),
}


@dataclass(frozen=True, slots=True)
class Options:
    """How screen text is read.

    Raises:
        BadInput: a number lies outside its limits, or ``look_rate_hz`` is below ``rate_hz``.
    """

    rate_hz: float = 1.0
    """Readings a second (the paper reads 1 frame a second)."""
    look_rate_hz: float = 10.0
    """Pictures a second in which the ends of a text are looked for: ends are right to 1 / this."""
    max_side_px: int = 960
    """Lines are read in the picture scaled down to this longer side, in pixels."""
    same_picture: float = 8.0
    """A picture none of whose 8×8-pixel cells differs more, in grey levels of 255, shows the same
    texts; likewise a line."""
    same_place: float = 0.7
    """Normalised cross-correlation from which on a place still shows the text that was read."""
    rules: TextRules = field(default_factory=TextRules)
    """Which readings count as text."""
    backend: str = "rapidocr"
    """A name in ``perception.text.backends``."""
    backends: Mapping[str, Any] = plugins.options_of(BACKENDS)
    """Name -> its ``Options``, among them the languages; the defaults of one that is not named."""

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The screen text recognizer's ")
        if self.look_rate_hz < self.rate_hz:
            raise BadInput(
                f"The screen text recognizer's look_rate_hz ({self.look_rate_hz:g}) must be at "
                f"least its rate_hz ({self.rate_hz:g})."
            )


def build(options: Options) -> ScreenTextRecognizer:
    """The recognizer; nothing is loaded yet.

    Raises:
        UnknownName: there is no such backend.
        UserError: what the backend says of its options.
    """
    return ScreenTextRecognizer(options, plugins.build(BACKENDS, options.backend, options.backends))


class ScreenTextRecognizer:
    """The recognizer of the kind ``screen_text``; the models load in the first ``start``."""

    kind = KIND

    def __init__(self, options: Options, backend: TextBackend) -> None:
        self.options, self.backend = options, backend
        self._reader: TextReader | None = None
        self._searches = 0

    @property
    def needs(self) -> Needs:
        """Pictures at ``look_rate_hz``."""
        return Needs(self.options.look_rate_hz, self.options.max_side_px)

    @property
    def weights(self) -> tuple[str, ...]:
        """The backend's checkpoints; none where its package brings the models."""
        return self.backend.checkpoints

    @property
    def source(self) -> Source:
        """Versions, models and settings."""
        settings = {
            **asdict(self.options),
            "backends": {self.options.backend: dict(self.backend.settings)},
        }
        return Source(
            name=KIND,
            version=f"{self.backend.version}, spans {VERSION}",
            checkpoint_sha256=self.backend.checkpoint_sha256,
            settings=settings,
        )

    def start(self, video: VideoInfo) -> TextSession:
        """Begin on a video.

        Raises:
            UserError, WeightsError: the backend cannot be loaded.
        """
        if self._reader is None and video.has_video:
            self._reader = self.backend.load()
        options = self.options
        watching = Watching(
            source=self.source,
            reads=self.backend.reads,
            rate_hz=options.rate_hz,
            look_rate_hz=options.look_rate_hz,
            same_picture=options.same_picture,
            same_place=options.same_place,
            rules=options.rules,
        )
        return TextSession(watching, video, self._fresh_reader)

    def _fresh_reader(self) -> TextReader:
        """The reader for one more picture."""
        self._searches += 1
        if self._reader is None or self._searches % RECYCLE_AFTER == 0:
            self._reader = None
            self._reader = self.backend.load()
        return self._reader
