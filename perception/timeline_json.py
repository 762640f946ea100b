"""A ``CueTimeline`` as the text of a ``.cues.json`` file, and back."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import Any, TypeVar

from perception import strict_json
from perception.cue import (
    SCHEMA,
    Cue,
    CueTimeline,
    CueTrack,
    Origin,
    Source,
    Span,
    Status,
    VideoInfo,
)
from perception.errors import BadInput
from perception.strict_json import Fields

__all__ = ["read", "write"]

Choice = TypeVar("Choice", bound=StrEnum)


def write(timeline: CueTimeline) -> str:
    """The text of a timeline.

    Raises:
        BadInput: an attribute or a setting is a number that is not finite.
    """
    document = {
        "schema": SCHEMA,
        "video": asdict(timeline.video),
        **({"traces_sha256": timeline.traces_sha256} if timeline.traces_sha256 else {}),
        "tracks": [_track_to_dict(track) for track in timeline.tracks],
    }
    return strict_json.dumps(document) + "\n"


def read(text: str, where: str) -> CueTimeline:
    """The timeline of a text; ``where`` names the file in error messages.

    Raises:
        BadInput: not JSON, another schema, or a missing or ill-typed field.
    """
    try:
        document = Fields(strict_json.loads(text))
        schema = document.text("schema")
        if schema != SCHEMA:
            raise BadInput(f"it has the schema {schema!r}; this version reads {SCHEMA!r}")
        video = _video_from(document.fields("video"))
        tracks = tuple(map(_track_from, document.each("tracks")))
        return CueTimeline(video, tracks, document.text("traces_sha256", ""))
    except BadInput as error:
        reason = str(error).rstrip(".")
        raise BadInput(f"{where} is not a cue timeline ({SCHEMA!r}): {reason}.") from None


def _track_to_dict(track: CueTrack) -> dict[str, Any]:
    return {
        "id": track.id,
        "kind": track.kind,
        "origin": track.origin,
        "status": track.status,
        "notes": list(track.notes),
        "source": asdict(track.source),
        "cues": [
            {
                "id": cue.id,
                "start_s": cue.span.start_s,
                "end_s": cue.span.end_s,
                "text": cue.text,
                "confidence": cue.confidence,
                "attributes": dict(cue.attributes),
            }
            for cue in track.cues
        ],
    }


def _video_from(fields: Fields) -> VideoInfo:
    return VideoInfo(
        name=fields.text("name"),
        sha256=fields.text("sha256"),
        start_s=fields.number("start_s"),
        duration_s=fields.number("duration_s"),
        width=fields.whole("width"),
        height=fields.whole("height"),
        rate_hz=fields.number("rate_hz"),
        has_video=fields.flag("has_video", True),
        has_audio=fields.flag("has_audio", True),
    )


def _track_from(fields: Fields) -> CueTrack:
    source = fields.fields("source")
    return CueTrack(
        id=fields.text("id"),
        kind=fields.text("kind"),
        source=Source(
            name=source.text("name"),
            version=source.text("version", ""),
            checkpoint_sha256=source.text("checkpoint_sha256", ""),
            settings=source.mapping("settings", {}),
        ),
        cues=tuple(map(_cue_from, fields.each("cues"))),
        origin=_one_of(Origin, fields.text("origin")),
        status=_one_of(Status, fields.text("status")),
        notes=fields.texts("notes"),
    )


def _cue_from(fields: Fields) -> Cue:
    return Cue(
        id=fields.text("id"),
        span=Span(fields.number("start_s"), fields.number("end_s")),
        text=fields.text("text"),
        confidence=fields.number("confidence"),
        attributes=fields.mapping("attributes"),
    )


def _one_of(choices: type[Choice], value: str) -> Choice:
    try:
        return choices(value)
    except ValueError:
        known = ", ".join(repr(str(choice)) for choice in choices)
        raise BadInput(f"{value!r} is none of {known}") from None
