"""Timelines of a few cues, and the formats with what each does to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from perception import plugins
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from perception.errors import MissingPackage
from perception.format import FOLDER, Format, milliseconds

VIDEO = VideoInfo("clip.mp4", "ab" * 32, 0.0, 60.0, 640, 360, 25.0)

HOSTILE = (
    "<script>alert('x')</script> & \"quoted\" 'single'",
    "00:00:01.000 --> 00:00:02.000\n00:00:01,000 --> 00:00:02,000",
    "first\n\n2\n00:00:03,000 --> 00:00:04,000\nsecond",
    "]]></ANNOTATION_VALUE><!-- \\\\ --> &amp; &#10;",
    'a "tier" with ""quotes""\nand intervals [1]: text = "x"',
    '=HYPERLINK("http://example.org"), ;\t\'',
    "שלום \u202eעולם\u202c مرحبا 画面 👩\u200d🚀 e\u0301",
    "  spaces and\ttabs  ",
    "{\\an8}<i>tags</i> {b} \u2060--\u2060> <\u2060i>",
    "NOTE no comment",
)


def built(name: str, **options: Any) -> Format:
    plugin = plugins.take(FOLDER, name)
    format: Format = plugin.build(plugin.Options(**options))
    return format


def needed(name: str) -> None:
    """Skip where the format's package is missing."""
    try:
        built(name).write(CueTimeline(VIDEO))
    except MissingPackage as missing:
        pytest.skip(f"needs the extra {getattr(missing, 'extra', missing.package)}")


def timeline(*tracks: CueTrack) -> CueTimeline:
    return CueTimeline(VIDEO, tracks)


def track(name: str, *cues: tuple[float, float, str]) -> CueTrack:
    return CueTrack(
        name,
        name,
        Source(name, "1"),
        tuple(Cue(f"{name}-{n}", Span(a, b), text, 0.75) for n, (a, b, text) in enumerate(cues)),
    )


@dataclass(frozen=True)
class Trip:
    """What comes back of a cue."""

    track: str
    start_ms: int
    end_ms: int
    text: str


def expected(name: str, timeline: CueTimeline) -> list[Trip]:
    """What a format gives back of a timeline, by what it says that it cannot carry."""
    lost = built(name).cannot_carry
    tracks_lost = "which track a cue is of" in lost or (
        name == "webvtt" and len(timeline.tracks) == 1
    )
    made = []
    for each, cue in timeline.cues():
        start, end = milliseconds(cue.span.start_s), milliseconds(cue.span.end_s)
        if "spans shorter than 1 ms" in lost:
            end = max(end, start + 1)
        text = cue.text
        if "cues without text" in lost and not text:
            continue
        if "null characters" in lost:
            text = text.replace("\0", "\ufffd")
        if "carriage returns" in lost:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "control characters other than line breaks and tabs" in lost:
            text = "".join(
                "\ufffd" if (ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" else c
                for c in text
            )
        made.append(Trip("" if tracks_lost else each.id, start, end, text))
    return ordered(made)


def came_back(name: str, timeline: CueTimeline) -> list[Trip]:
    format = built(name)
    return ordered(
        [
            Trip(
                each.track,
                milliseconds(each.span.start_s),
                milliseconds(each.span.end_s),
                each.text,
            )
            for each in format.read(format.write(timeline))
        ]
    )


def ordered(trips: list[Trip]) -> list[Trip]:
    return sorted(trips, key=lambda each: (each.track, each.start_ms, each.end_ms, each.text))
