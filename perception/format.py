"""The Format protocol: a timeline as a file of another tool, and a file of another tool as cues.

Times of a file are seconds to the millisecond. They are on the video's presentation clock; for a
tool whose player does not subtract ``video.start_s``, shift the timeline by it first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from perception import plugins
from perception.cue import LATEST_S, CueTimeline, Span
from perception.errors import BadInput, UnknownName
from perception.text_file import read_bytes

__all__ = [
    "FOLDER",
    "SHORTEST_S",
    "Annotation",
    "Format",
    "by_name",
    "by_suffix",
    "encodable",
    "lines_of",
    "milliseconds",
    "read",
    "row_name",
    "seconds",
    "shifted",
    "span_ms",
    "text_of",
    "track_of",
]

FOLDER = "perception.formats"

SHORTEST_S = 0.001
"""Formats that know no span without length are given the shortest that they can tell."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a file says of one span.

    Args:
        span: when.
        text: what.
        track: name of its tier, class or group; empty where the format has none.
        kind: of the cue; empty where the file does not tell.
        id: of the cue; empty where the file does not tell.
        confidence: in [0, 1]; 1 where the file does not tell.
        attributes: JSON values.
        video: name of the video file; empty where the file speaks of a single one.
    """

    span: Span
    text: str
    track: str = ""
    kind: str = ""
    id: str = ""
    confidence: float = 1.0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    video: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise BadInput(f"a confidence of {self.confidence} is outside [0, 1]")


class Format(Protocol):
    """A file format. Built by its plug-in file's ``build(options)``."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Ends of file names, the usual one first, e.g. ``(".vtt",)``."""

    @property
    def cannot_carry(self) -> tuple[str, ...]:
        """What of a timeline is lost in a file, each a few words."""

    def write(self, timeline: CueTimeline) -> bytes:
        """The content of a file.

        Raises:
            MissingExtra: the format's package is not installed.
        """

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """What a file says, in its order.

        Raises:
            BadInput: it is no such file; says the line, or the field, that is at fault.
            MissingExtra: the format's package is not installed.
        """


def by_name(name: str) -> str:
    """The format that somebody calls ``name``: its own name, or a suffix such as ``vtt``.

    Raises:
        UnknownName: there is none; lists what there is.
    """
    names = plugins.names(FOLDER)
    plain = name.strip().lower().lstrip(".").replace("-", "_")
    if plain in names:
        return plain
    found = [each for each, suffix in _suffixes() if suffix == f".{plain}"]
    if len(found) == 1:
        return found[0]
    raise UnknownName("format", name, names)


def by_suffix(path: Path) -> str:
    """The format of a file by the end of its name.

    Raises:
        BadInput: no format has that end, or several have; lists what there is.
    """
    name = path.name.lower()
    matching = [pair for pair in _suffixes() if name.endswith(pair[1])]
    longest = max((len(suffix) for _, suffix in matching), default=0)
    found = [each for each, suffix in matching if len(suffix) == longest]
    if len(found) == 1:
        return found[0]
    why = f"may be one of {', '.join(found)}" if found else "has the end of no format"
    known = ", ".join(f"{each} ({suffix})" for each, suffix in _suffixes())
    raise BadInput(f"{str(path)!r} {why}; name the format. Available: {known}.")


def read(format: Format, path: Path, name: str) -> tuple[Annotation, ...]:
    """What the file ``path`` of the format called ``name`` says.

    Raises:
        BadInput: it cannot be read, or is no such file; says where.
    """
    content = read_bytes(path, f"{name} file")
    try:
        return format.read(content)
    except BadInput as error:
        reason = str(error).rstrip(".")
        raise BadInput(f"{str(path)!r} does not read as {name}: {reason}.") from None


def shifted(timeline: CueTimeline, by_s: float) -> CueTimeline:
    """The timeline with every cue ``by_s`` seconds later."""
    tracks = []
    for track in timeline.tracks:
        cues = [
            replace(cue, span=Span(cue.span.start_s + by_s, cue.span.end_s + by_s))
            for cue in track.cues
        ]
        tracks.append(replace(track, cues=tuple(cues)))
    return replace(timeline, tracks=tuple(tracks))


def milliseconds(time_s: float) -> int:
    """The nearest millisecond.

    Raises:
        BadInput: no video has such a time.
    """
    if not abs(time_s) <= LATEST_S:
        raise BadInput(f"a time is at most {LATEST_S:g} s (63 years), not {time_s:g}")
    return round(time_s * 1000)


def seconds(time_s: float) -> float:
    """``time_s`` to the millisecond; raises as ``milliseconds``."""
    return milliseconds(time_s) / 1000


def span_ms(span: Span) -> tuple[int, int]:
    """Start and end in milliseconds, the end at least one after the start."""
    start = milliseconds(span.start_s)
    return start, max(milliseconds(span.end_s), start + milliseconds(SHORTEST_S))


_ROW = re.compile(r"(.+) \[row ([1-9]\d*)\]", re.DOTALL)


def row_name(track: str, row: int) -> str:
    """The tier of row 0, 1, … of a track whose cues overlap; no two tracks share one. A track that
    is called like a row says of its first that it is one: ``NAME [row 2] [row 1]``."""
    is_plain = row == 0 and _ROW.fullmatch(track) is None
    return track if is_plain else f"{track} [row {row + 1}]"


def track_of(tier: str, tiers: Collection[str]) -> str:
    """The track of which ``tier`` is a row; ``tier`` itself where ``tiers`` has no such track."""
    match = _ROW.fullmatch(tier)
    if match is None:
        return tier
    track = match[1]
    if match[2] == "1":
        return track if _ROW.fullmatch(track) else tier
    return track if track in tiers or row_name(track, 0) in tiers else tier


_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """``text`` with U+FFFD for half characters, which UTF-8 cannot hold."""
    return _SURROGATES.sub("\ufffd", text)


def text_of(content: bytes) -> str:
    """A file's text, which is UTF-8 with or without a byte order mark.

    Raises:
        BadInput: it is not; names the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(f"line {line}: it is not UTF-8 text ({error.reason})") from None


def lines_of(text: str) -> list[str]:
    """Lines as subtitle formats know them: ended by CR, LF or both and by nothing else."""
    return re.split("\r\n|\n|\r", text)


def _suffixes() -> Iterator[tuple[str, str]]:
    for name in plugins.names(FOLDER):
        plugin = plugins.take(FOLDER, name)
        for suffix in plugin.build(plugin.Options()).suffixes:
            yield name, suffix.lower()
