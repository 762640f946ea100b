"""``NAME.review.json``: a person's verdicts on cues, and corrections of them, by cue id.

::

    {"schema": "cuelight.review/1", "video": {"name": "clip.mp4", "sha256": "…"},
     "cues": {"action-3": {"verdict": "right",
                           "of": {"text": "person 1 waves", "start_s": 0.5, "end_s": 2.5}},
              "speech-1": {"verdict": "wrong", "text": "Jump!", "start_s": 1.2, "end_s": 2.0},
              "screen_text-2": {"watermark": true}}}

Every key of a cue may be left out; others than these are kept. ``of`` is the cue as the recognizer
made it: where the cue of that id is another now, the correction is not applied, and stays in the
file. What was said of another cue of the id before is ``earlier``, a list of the same objects.
``cuelight calibrate`` reads the verdicts, and ``cuelight text-split`` the corrections of screen
text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fusion.quoting import visible
from perception import strict_json
from perception.cue import Cue, CueTimeline, CueTrack, Span, VideoInfo
from perception.errors import BadInput
from perception.strict_json import Fields
from perception.text_file import read_text

__all__ = [
    "SCHEMA",
    "Correction",
    "Of",
    "Review",
    "aside_words",
    "check_video",
    "corrected",
    "of",
    "parse",
    "read",
    "reviewed",
    "reviewed_track",
]

SCHEMA = "cuelight.review/1"
VERDICTS = ("right", "wrong")
_KEYS = ("verdict", "text", "start_s", "end_s", "watermark")
_KEPT = (*_KEYS, "of", "earlier")

_SAME_S = 0.005
"""How far the ends of one cue may lie apart: files of other tools tell milliseconds."""


@dataclass(frozen=True, slots=True)
class Of:
    """The cue that was reviewed, as the recognizer made it: its text, and seconds."""

    text: str
    start_s: float
    end_s: float

    def fits(self, cue: Cue) -> bool:
        """Whether ``cue`` is that one still: the text as it is seen, the ends within 5 ms."""
        apart_s = (self.start_s - cue.span.start_s, self.end_s - cue.span.end_s)
        return visible(self.text) == visible(cue.text) and max(map(abs, apart_s)) <= _SAME_S


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says of a cue.

    Args:
        verdict: ``"right"``, ``"wrong"``, or empty.
        text: what it should say, None = as it is.
        start_s, end_s: when it is, None = as it is.
        watermark: whether the text is one, None = not told.
        of: the cue that it speaks of; None = whichever has the id.
        earlier: what was said of other cues of the id.
        others: what else stands there, a note of somebody's; it is kept.
    """

    verdict: str = ""
    text: str | None = None
    start_s: float | None = None
    end_s: float | None = None
    watermark: bool | None = None
    of: Of | None = None
    earlier: tuple[Correction, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON, without what is not told."""
        told = {name: getattr(self, name) for name in _KEYS}
        said = {name: value for name, value in told.items() if value is not None and value != ""}
        if self.of is not None:
            said["of"] = asdict(self.of)
        if self.earlier:
            said["earlier"] = [each.document() for each in self.earlier]
        return said | dict(self.others)

    def each(self) -> tuple[Correction, ...]:
        """What is said of the cue, and of every earlier one of its id."""
        return (replace(self, earlier=()), *self.earlier)

    def fits(self, cue: Cue) -> bool:
        """Whether it speaks of ``cue``."""
        return self.of is None or self.of.fits(cue)

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

    def about(self, cue: Cue) -> Correction | None:
        """What is said of that very cue, None where nothing is."""
        said = self.cues.get(cue.id)
        return next((each for each in said.each() if each.fits(cue)), None) if said else None

    def aside(self, timeline: CueTimeline) -> Mapping[str, tuple[Correction, ...]]:
        """By id, the corrections of cues that are not, or no longer, in the timeline."""
        cues = {cue.id: cue for _, cue in timeline.cues()}
        found = {}
        for id, said in self.cues.items():
            used = self.about(cues[id]) if id in cues else None
            if left := tuple(each for each in said.each() if each != used):
                found[id] = left
        return found

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


def aside_words(name: str, count: int) -> str:
    """That ``count`` corrections of the file of that name are of no cue that is there."""
    what = "1 correction is of a cue that is" if count == 1 else f"{count} corrections are of cues"
    return (
        f"{name}: {what}{'' if count == 1 else ' that are'} not, or no longer, there; not used, "
        "and left in the file."
    )


def corrected(timeline: CueTimeline, review: Review) -> CueTimeline:
    """The timeline with the texts, ends and marks that a person gave; no cue is left out.

    Raises:
        BadInput: a corrected cue would end before it starts.
    """
    tracks = []
    for track in timeline.tracks:
        said = ((cue, review.about(cue)) for cue in track.cues)
        cues = tuple(cue if each is None else each.applied(cue) for cue, each in said)
        tracks.append(replace(track, cues=cues))
    return replace(timeline, tracks=tuple(tracks))


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
    cues = (_reviewed(cue, review.about(cue)) for cue in track.cues)
    return replace(track, cues=tuple(cue for cue in cues if cue is not None))


def _reviewed(cue: Cue, correction: Correction | None) -> Cue | None:
    if correction is None:
        return cue
    if correction.verdict == "wrong" and correction.text is None:
        return None
    better = correction.applied(cue)
    return replace(better, attributes={**better.attributes, "reviewed": True})


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
        of=_of(fields.fields("of")) if "of" in told else None,
        earlier=tuple(_earlier(fields, told)) if "earlier" in told else (),
        others={name: value for name, value in told.items() if name not in _KEPT},
    )


def _of(fields: Fields) -> Of:
    return Of(fields.text("text"), fields.number("start_s"), fields.number("end_s"))


def _earlier(fields: Fields, told: Mapping[str, Any]) -> Iterator[Correction]:
    for inner, raw in zip(fields.each("earlier"), told["earlier"], strict=True):
        if "earlier" in raw:
            raise BadInput(f"{inner.where}.earlier stands in what is earlier already")
        yield _correction(inner, raw)
