"""The Recognizer protocol: what turns decoded frames or sound into one cue track.

``perceive.py`` is the only decoder. It asks every recognizer what it ``needs``, decodes once, and
feeds each session its own batches in order of time::

    session = recognizer.start(video)
    for batch in ...:
        session.feed(batch)
    track, traces = session.finish()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from perception.cue import CueTrack, Source, VideoInfo
from perception.errors import BadInput

__all__ = [
    "AUDIO_RATE_HZ",
    "AudioChunk",
    "Batch",
    "Frame",
    "Needs",
    "Recognition",
    "Recognizer",
    "Session",
    "Traces",
]

AUDIO_RATE_HZ = 16_000
"""All audio is handed over as mono float32 at this rate, the one that Whisper and Silero take."""

MAX_RATE_HZ = 1e6
"""A thousand times the fastest cameras in shops."""

Traces = Mapping[str, npt.NDArray[np.generic]]
"""Arrays that are drawn or reused but are no cues; names are ``<track id>/<what>``."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One upright picture.

    Args:
        time_s: presentation time on the video's clock.
        rgb: uint8 [height, width, 3].
        scale: pixels of the full-size upright picture per pixel of ``rgb``; multiply coordinates
            found in ``rgb`` by it.
        duration_s: until the next picture of the video takes its place; 0 = not known.
    """

    time_s: float
    rgb: npt.NDArray[np.uint8]
    scale: float = 1.0
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class AudioChunk:
    """Consecutive samples: float32 [n] in [-1, 1] at ``AUDIO_RATE_HZ``, first at ``start_s``."""

    start_s: float
    samples: npt.NDArray[np.float32]


Batch = Sequence[Frame] | AudioChunk


@dataclass(frozen=True, slots=True)
class Needs:
    """What a recognizer wants to be fed.

    Args:
        frame_rate_hz: frames a second, by presentation time, at most ``MAX_RATE_HZ``; 0 = no
            frames.
        max_side_px: frames are scaled down so that no side is longer; 0 = as they are.
        audio: whether it wants the sound.

    Raises:
        BadInput: a rate or a size that no recognizer can have.
    """

    frame_rate_hz: float = 0.0
    max_side_px: int = 0
    audio: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.frame_rate_hz <= MAX_RATE_HZ:
            raise BadInput(
                f"A recognizer takes 0 to {MAX_RATE_HZ:g} frames a second, not "
                f"{self.frame_rate_hz:g}."
            )
        if self.max_side_px < 0:
            raise BadInput(
                f"A picture's longer side is 1 pixel or more (0 = as it is), not "
                f"{self.max_side_px}."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Recognition:
    """What a session found."""

    track: CueTrack
    traces: Traces = field(default_factory=dict)


class Session(Protocol):
    """One recognizer at work on one video. Its memory must not grow with the pictures seen."""

    def feed(self, batch: Batch) -> None:
        """Take the next frames or the next audio chunk, in order of time."""

    def finish(self) -> Recognition:
        """Close the books. Called once, also when nothing was fed."""


class Recognizer(Protocol):
    """A cue kind. Built by its plug-in file's ``build(options)``; models load in ``start``."""

    @property
    def kind(self) -> str:
        """Name of the cue kind and id of the track, e.g. ``"action"``."""

    @property
    def needs(self) -> Needs:
        """What to feed."""

    @property
    def source(self) -> Source:
        """Recognizer, version, checkpoint sha256 and settings. Part of the cache key, therefore
        known without loading a model."""

    @property
    def weights(self) -> tuple[str, ...]:
        """Manifest names of the checkpoints that ``start`` will load, to be fetched beforehand."""

    def start(self, video: VideoInfo) -> Session:
        """Begin on a video. Loads the models on first use.

        Raises:
            WeightsError: a checkpoint is missing and cannot be fetched.
            MissingExtra: a package is missing.
        """
