"""The nouns that every room speaks: ``Span``, ``Cue``, ``CueTrack``, ``CueTimeline``.

Time is seconds (float) on the video's presentation clock: the container's start is subtracted, so
that the first instant is 0. Everything is frozen; JSON (``NAME.cues.json``) round-trips exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from perception.errors import BadInput
from perception.text_file import read_text

__all__ = [
    "LATEST_S",
    "SCHEMA",
    "Cue",
    "CueTimeline",
    "CueTrack",
    "IdOrder",
    "Origin",
    "Source",
    "Span",
    "Status",
    "VideoInfo",
    "id_order",
]

SCHEMA = "cuelight.cues/1"

LATEST_S = 2e9
"""No video goes on for 63 years. It is twice the end of a part that is left open
(``perception.perceive.FOREVER_S``), to which margins may be added."""


IdOrder = tuple[tuple[str | tuple[int, str], ...], str]
"""What ``id_order`` gives."""

_NUMBER = re.compile("([0-9]+)")


def id_order(id: str) -> IdOrder:
    """What ids are sorted by: numbers in them as numbers, ``"sign-2"`` before ``"sign-10"``."""
    parts: list[str | tuple[int, str]] = []
    for place, part in enumerate(_NUMBER.split(id)):
        number = part.lstrip("0")
        parts.append((len(number), number) if place % 2 else part)
    return tuple(parts), id


class Origin(StrEnum):
    """Who made a track."""

    RECOGNIZER = "recognizer"
    HUMAN = "human"
    CONTROL = "control"


class Status(StrEnum):
    """How far a recognizer got."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """Something is missing; the notes say what."""
    NO_SIGNAL = "no_signal"
    """There was nothing to recognise: no audio stream, no person; the notes say which."""
    FAILED = "failed"
    """The recognizer stopped on an error; the notes say which."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The half-open interval [start_s, end_s) in seconds; ``LATEST_S >= end_s >= start_s >= 0``.

    Raises:
        BadInput: a time is not finite or too late, or they are in another order.
    """

    start_s: float
    end_s: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start_s) and math.isfinite(self.end_s)):
            raise BadInput(
                f"A span needs finite times in seconds, not {self.start_s}-{self.end_s}."
            )
        if self.start_s < 0 or self.end_s < self.start_s:
            raise BadInput(
                f"A span starts at 0 s or later and ends no earlier than it starts, "
                f"not {self.start_s}-{self.end_s} s."
            )
        if self.end_s > LATEST_S:
            raise BadInput(
                f"A span ends {LATEST_S:g} s (63 years) after the start of its video at the "
                f"latest, not at {self.end_s:g} s; times are seconds."
            )

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.end_s - self.start_s

    def overlaps(self, other: Span) -> bool:
        """Whether the two share an instant (a span of no length counts as its one instant)."""
        if self.duration_s == 0 or other.duration_s == 0:
            return self.start_s <= other.end_s and other.start_s <= self.end_s
        return self.start_s < other.end_s and other.start_s < self.end_s

    def clamped(self, limit: Span) -> Span:
        """This span cut to ``limit``; where they do not meet, the nearest instant of ``limit``."""
        start_s = min(max(self.start_s, limit.start_s), limit.end_s)
        return Span(start_s, max(start_s, min(self.end_s, limit.end_s)))


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing perceived.

    Args:
        id: unique within its timeline, e.g. ``"action-3"``.
        span: when.
        text: what, in words that a person or a VideoLLM understands.
        confidence: in [0, 1].
        attributes: JSON values that belong to the kind, e.g. ``{"person": 1, "top": [...]}``.

    Raises:
        BadInput: the id is empty, or the confidence lies outside [0, 1].
    """

    id: str
    span: Span
    text: str
    confidence: float
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id:
            raise BadInput("A cue needs an id.")
        if not 0 <= self.confidence <= 1:
            raise BadInput(f"Cue {self.id!r} has confidence {self.confidence}, outside [0, 1].")

    @property
    def order(self) -> tuple[Span, IdOrder]:
        """What cues are sorted by: time, then id."""
        return self.span, id_order(self.id)


@dataclass(frozen=True, slots=True)
class Source:
    """What made a track: enough to make it again."""

    name: str
    """Recognizer or annotator, e.g. ``"action"``."""
    version: str = ""
    checkpoint_sha256: str = ""
    """Of the weights; several are joined by ``+`` in the order of the recognizer's models."""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CueTrack:
    """All cues of one kind from one source, in order of time and, at the same time, of their ids.

    Args:
        id: unique within the timeline, e.g. ``"action"``.
        kind: ``"action"``, ``"screen_text"``, ``"speech"`` or another recognizer's name.

    Raises:
        BadInput: a cue's id is there twice.
    """

    id: str
    kind: str
    source: Source
    cues: tuple[Cue, ...] = ()
    origin: Origin = Origin.RECOGNIZER
    status: Status = Status.COMPLETE
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cues", tuple(sorted(self.cues, key=lambda cue: cue.order)))
        twice = _repeated([cue.id for cue in self.cues])
        if twice:
            raise BadInput(f"Track {self.id!r} has the cue id {twice!r} more than once.")


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What a video file holds.

    Args:
        name: file name without folder.
        sha256: of the file's bytes.
        start_s: presentation time of the container's first instant, which players do not
            subtract and every other time in Cuelight has subtracted.
        duration_s: from the first instant to the end of the last frame or audio sample.
        width, height: pixels of the upright picture (rotation applied); 0 without video.
        rate_hz: average frame rate; 0 without video.
        has_video, has_audio: which streams there are to decode.

    Raises:
        BadInput: a number is negative or not finite, or the duration more than ``LATEST_S``;
            ``start_s`` may be negative.
    """

    name: str
    sha256: str
    start_s: float
    duration_s: float
    width: int
    height: int
    rate_hz: float
    has_video: bool = True
    has_audio: bool = True

    def __post_init__(self) -> None:
        for name in ("duration_s", "width", "height", "rate_hz"):
            if not 0 <= getattr(self, name) < math.inf:
                raise BadInput(
                    f"The {name} of a video is 0 or more and finite, not {getattr(self, name)}."
                )
        if self.duration_s > LATEST_S:
            raise BadInput(
                f"The duration_s of a video is at most {LATEST_S:g} s (63 years), not "
                f"{self.duration_s:g}."
            )
        if not math.isfinite(self.start_s):
            raise BadInput(f"The start_s of a video is finite, not {self.start_s}.")


@dataclass(frozen=True, slots=True)
class CueTimeline:
    """All tracks of one video.

    Args:
        video: what they are of.
        tracks: ids differ, and so do those of all cues.
        traces_sha256: of the ``NAME.traces.npz`` that was written with it; empty = not told.

    Raises:
        BadInput: an id is there twice.
    """

    video: VideoInfo
    tracks: tuple[CueTrack, ...] = ()
    traces_sha256: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tracks", tuple(self.tracks))
        twice = _repeated([track.id for track in self.tracks])
        if twice:
            raise BadInput(f"The timeline has the track id {twice!r} more than once.")
        twice = _repeated([cue.id for _, cue in self.cues()])
        if twice:
            raise BadInput(f"The timeline has the cue id {twice!r} more than once.")

    def cues(self) -> Iterator[tuple[CueTrack, Cue]]:
        """Every cue with its track, track by track, in order of time within each."""
        for track in self.tracks:
            for cue in track.cues:
                yield track, cue

    def track(self, id: str) -> CueTrack | None:
        """The track of that id, or None."""
        return next((track for track in self.tracks if track.id == id), None)

    def between(self, span: Span) -> CueTimeline:
        """The same timeline with only the cues that touch ``span``; nothing is cut or shifted."""
        tracks = (
            replace(track, cues=tuple(cue for cue in track.cues if cue.span.overlaps(span)))
            for track in self.tracks
        )
        return replace(self, tracks=tuple(tracks))

    def _repr_html_(self) -> str:
        """How a notebook shows it: small, and with all that came from the video escaped."""
        from perception import notebook

        return notebook.html(self)

    def to_json(self) -> str:
        """The text of a ``.cues.json`` file.

        Raises:
            BadInput: an attribute or a setting is a number that is not finite.
        """
        from perception import timeline_json

        return timeline_json.write(self)

    @classmethod
    def from_json(cls, text: str, where: str = "the text") -> CueTimeline:
        """Read what ``to_json`` wrote; ``where`` names the file in error messages.

        Raises:
            BadInput: not JSON, another schema, or a missing or ill-typed field.
        """
        from perception import timeline_json

        return timeline_json.read(text, where)

    @classmethod
    def read(cls, path: Path | str) -> CueTimeline:
        """Read a ``.cues.json`` file.

        Raises:
            BadInput: it cannot be read or is not a timeline.
        """
        try:
            return cls.from_json(read_text(Path(path), "timeline"), repr(str(path)))
        except BadInput as error:
            if Path(path).suffix == ".json":
                raise
            raise BadInput(
                f"{error} A timeline is a NAME.cues.json, which cuelight perceive makes of a video."
            ) from None


def _repeated(ids: list[str]) -> str | None:
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            return id
        seen.add(id)
    return None
