"""``NAME.review.json``: a person's verdicts on cues, and corrections of them, by cue id.

::

    {"schema": "cuelight.review/1", "video": {"name": "clip.mp4", "sha256": "…"},
     "cues": {"action-3": {"verdict": "right"},
              "speech-1": {"verdict": "wrong", "text": "Jump!", "start_s": 1.2, "end_s": 2.0},
              "screen_text-2": {"watermark": true}}}

Every key of a cue may be left out; others than these are kept. ``cuelight calibrate`` reads the
verdicts, and ``cuelight text-split`` the corrections of screen text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from perception import strict_json
from perception.cue import Cue, CueTimeline, CueTrack, Span, VideoInfo
from perception.errors import BadInput
from perception.strict_json import Fields
from perception.text_file import read_text

__all__ = [
    "SCHEMA",
    "Correction",
    "Review",
    "check_video",
    "of",
    "parse",
    "read",
    "reviewed",
    "reviewed_track",
]

SCHEMA = "cuelight.review/1"
VERDICTS = ("right", "wrong")
_KEYS = ("verdict", "text", "start_s", "end_s", "watermark")


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says of a cue.

    Args:
        verdict: ``"right"``, ``"wrong"``, or empty.
        text: what it should say, None = as it is.
        start_s, end_s: when it is, None = as it is.
        watermark: whether the text is one, None = not told.
        others: what else stands there, a note of somebody's; it is kept.
    """

    verdict: str = ""
    text: str | None = None
    start_s: float | None = None
    end_s: float | None = None
    watermark: bool | None = None
    others: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON, without what is not told."""
        told = {name: getattr(self, name) for name in _KEYS}
        said = {name: value for name, value in told.items() if value is not None and value != ""}
        return said | dict(self.others)

    def applied(self, cue: Cue) -> Cue:
        """``cue`` with the corrected text, ends and mark.

        Raises:
            BadInput: it would end before it starts.
        """
        start_s = cue.span.start_s if self.start_s is None else self.start_s
        end_s = cue.span.end_s if self.end_s is None else self.end_s
        attributes = dict(cue.attributes)
        if self.watermark is not None:
            attributes["watermark"] = self.watermark
        text = cue.text if self.text is None else self.text
        return replace(cue, span=Span(start_s, end_s), text=text, attributes=attributes)


@dataclass(frozen=True, slots=True)
class Review:
    """A person's corrections of the timeline of one video.

    Args:
        video, sha256: name and checksum of the video; empty where the file does not tell.
        cues: by id.
    """

    video: str = ""
    sha256: str = ""
    cues: Mapping[str, Correction] = field(default_factory=dict)

    def to_json(self) -> str:
        """The text of a ``.review.json`` file."""
        document = {
            "schema": SCHEMA,
            "video": {"name": self.video, "sha256": self.sha256},
            "cues": {id: each.document() for id, each in self.cues.items()},
        }
        return strict_json.dumps(document) + "\n"


def parse(text: str, where: str = "the text") -> Review:
    """Read what ``Review.to_json`` wrote, or the page's script.

    Raises:
        BadInput: it is no review; ``where`` names the file.
    """
    try:
        fields = Fields(strict_json.loads(text))
        if (schema := fields.text("schema")) != SCHEMA:
            raise BadInput(f"its schema is {schema!r}, not {SCHEMA!r}")
        video = Fields(fields.mapping("video", {}), "video")
        raw, cues = fields.mapping("cues"), fields.fields("cues")
        found = {id: _correction(cues.fields(id), raw[id]) for id in raw}
        return Review(video.text("name", ""), video.text("sha256", ""), found)
    except BadInput as error:
        raise BadInput(f"{where} is not a reviewed timeline: {str(error).rstrip('.')}.") from None


def read(path: Path) -> Review:
    """Read a ``.review.json`` file.

    Raises:
        BadInput: it cannot be read or is no review.
    """
    return parse(read_text(path, "review"), repr(str(path)))


def of(path: Path, info: VideoInfo) -> Review | None:
    """The review at ``path``, None where there is no file.

    Raises:
        BadInput: it is no review, or one of another video.
    """
    if not path.is_file():
        return None
    found = read(path)
    try:
        check_video(found, info, repr(str(path)))
    except BadInput as error:
        raise BadInput(f"{str(error).rstrip('.')}; move it away.") from None
    return found


def check_video(found: Review, info: VideoInfo, where: str) -> None:
    """That ``found`` is about the video, as far as both tell.

    Raises:
        BadInput: it is about another; ``where`` names what holds the review.
    """
    if found.sha256 and info.sha256 and found.sha256 != info.sha256:
        raise BadInput(
            f"{where} is the review of another video ({found.video or 'no name'}, sha256 "
            f"{found.sha256[:12]}) than {info.name!r}, {info.sha256[:12]}."
        )


def reviewed(timeline: CueTimeline, review: Review) -> CueTimeline:
    """The timeline as the person corrected it, see ``reviewed_track``."""
    tracks = tuple(reviewed_track(track, review) for track in timeline.tracks)
    return replace(timeline, tracks=tracks)


def reviewed_track(track: CueTrack, review: Review) -> CueTrack:
    """The track as the person corrected it: cues found wrong without a better text are gone, what
    was corrected says so in its attribute ``reviewed``; what nobody looked at stays.

    Raises:
        BadInput: a corrected cue would end before it starts.
    """
    cues = (_reviewed(cue, review.cues.get(cue.id)) for cue in track.cues)
    return replace(track, cues=tuple(cue for cue in cues if cue is not None))


def _reviewed(cue: Cue, correction: Correction | None) -> Cue | None:
    if correction is None:
        return cue
    if correction.verdict == "wrong" and correction.text is None:
        return None
    corrected = correction.applied(cue)
    return replace(corrected, attributes={**corrected.attributes, "reviewed": True})


def _correction(fields: Fields, told: Mapping[str, Any]) -> Correction:
    verdict = fields.text("verdict", "")
    if verdict and verdict not in VERDICTS:
        raise BadInput(
            f"{fields.where}.verdict is {verdict!r}; available: {', '.join(VERDICTS)}, or none"
        )
    return Correction(
        verdict=verdict,
        text=fields.text("text") if "text" in told else None,
        start_s=fields.number("start_s") if "start_s" in told else None,
        end_s=fields.number("end_s") if "end_s" in told else None,
        watermark=fields.flag("watermark") if "watermark" in told else None,
        others={name: value for name, value in told.items() if name not in _KEYS},
    )
