"""VGG Image Annotator 3 (``via_project_*.json``), with which MimeQA was annotated.

A cue is a temporal segment with two attributes: its track, by which the tool draws a row for each,
and its text. Read are all temporal segments of a project, of any attributes: a choice among several
values is the track where a text stands beside it, and else the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from perception import strict_json
from perception.cue import Cue, CueTimeline, Span
from perception.errors import BadInput
from perception.format import Annotation, seconds, span_ms, text_of
from perception.strict_json import Fields

__all__ = ["Options", "build"]

_SEGMENT = "FILE1_Z2_XY0"
"""VIA's name of what belongs to a part of the time of one file."""

_TEXT, _CHECKBOX, _RADIO, _SELECT = 1, 2, 3, 4
_CHOICES = (_CHECKBOX, _RADIO, _SELECT)
_VIDEO_FILE, _LOCAL, _BY_URL = 4, 1, 2
_TRACK_NAME = "TEMPORAL-SEGMENTS"
"""The attribute that VIA makes by itself, and by whose values it draws rows."""


@dataclass(frozen=True)
class Options:
    """How the tool finds the video."""

    source: str = ""
    """Address of the video; empty = VIA asks for the file."""


class Via:
    """Reads and writes projects."""

    suffixes = (".via.json", ".json")
    cannot_carry = ("confidence", "attributes", "cue kinds", "spans shorter than 1 ms")

    def __init__(self, options: Options) -> None:
        self._options = options

    def write(self, timeline: CueTimeline) -> bytes:
        """A project of one video."""
        names = {str(number): track.id for number, track in enumerate(timeline.tracks, start=1)}
        numbers = {name: number for number, name in names.items()}
        source = self._options.source
        document = {
            "project": {
                "pid": "__VIA_PROJECT_ID__",
                "rev": "__VIA_PROJECT_REV_ID__",
                "rev_timestamp": "__VIA_PROJECT_REV_TIMESTAMP__",
                "pname": timeline.video.name,
                "creator": "cuelight",
                "created": 0,
                "data_format_version": "3.1.1",
                "vid_list": ["1"],
            },
            "config": _CONFIG,
            "attribute": {
                "1": _attribute(_TRACK_NAME, _SELECT, names),
                "2": _attribute("text", _TEXT, {}),
            },
            "file": {
                "1": {
                    "fid": "1",
                    "fname": timeline.video.name,
                    "type": _VIDEO_FILE,
                    "loc": _BY_URL if source else _LOCAL,
                    "src": source,
                }
            },
            "view": {"1": {"fid_list": ["1"]}},
            "metadata": {
                f"1_{cue.id}": _segment(cue, numbers[track.id]) for track, cue in timeline.cues()
            },
        }
        return strict_json.dumps(document).encode()

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The temporal segments of all videos, in order of time."""
        project = Fields(strict_json.loads(text_of(content)))
        files = _video_names(project)
        attributes = {
            id: fields
            for id, fields in project.fields("attribute").items()
            if fields.text("anchor_id") == _SEGMENT
        }
        found = _annotations(project.fields("metadata"), attributes, files)
        return tuple(sorted(found, key=lambda each: (each.video, each.span)))


def build(options: Options) -> Via:
    """The format."""
    return Via(options)


_CONFIG = {
    "file": {"loc_prefix": {"1": "", "2": "", "3": "", "4": ""}},
    "ui": {
        "file_content_align": "center",
        "file_metadata_editor_visible": True,
        "spatial_metadata_editor_visible": True,
        "temporal_segment_metadata_editor_visible": True,
        "spatial_region_label_attribute_id": "",
        "gtimeline_visible_row_count": "4",
    },
}


def _attribute(name: str, type: int, options: Mapping[str, str]) -> dict[str, Any]:
    return {
        "aname": name,
        "anchor_id": _SEGMENT,
        "type": type,
        "desc": "",
        "options": dict(options),
        "default_option_id": "",
    }


def _segment(cue: Cue, track: str) -> dict[str, Any]:
    times_s = [time_ms / 1000 for time_ms in span_ms(cue.span)]
    return {"vid": "1", "flg": 0, "z": times_s, "xy": [], "av": {"1": track, "2": cue.text}}


def _video_names(project: Fields) -> dict[str, str]:
    """View -> name of its first file."""
    files = project.fields("file")
    names = {}
    for view, fields in project.fields("view").items():
        listed = fields.array("fid_list")
        if listed:
            names[view] = files.fields(str(listed[0])).text("fname")
    return names


def _annotations(
    metadata: Fields, attributes: Mapping[str, Fields], videos: Mapping[str, str]
) -> Iterator[Annotation]:
    for id, fields in metadata.items():
        times = fields.numbers("z")
        if len(times) != 2 or fields.array("xy"):
            continue
        try:
            span = Span(*map(seconds, times))
        except BadInput as error:
            raise BadInput(f"metadata.{id}.z: {error}") from None
        given = fields.fields("av")
        texts, choices = [], []
        for name, attribute in attributes.items():
            if not given.has(name):
                continue
            value = given.text(name)
            if attribute.whole("type") in _CHOICES:
                choices.append(attribute.fields("options").text(value, value))
            else:
                texts.append(value)
        view = fields.text("vid")
        yield Annotation(
            span,
            ", ".join(filter(None, texts or choices)),
            track=", ".join(filter(None, choices)) if texts else "",
            id=id,
            video=videos.get(view, ""),
        )
