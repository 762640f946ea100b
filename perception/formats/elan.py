"""ELAN (``.eaf``, version 3.0), the annotation tool of linguists and gesture researchers.

A track is a tier; annotations of a tier may not overlap, so that a track whose cues do is spread
over tiers ``NAME``, ``NAME [row 2]`` …, which reading puts together again. Read are all tiers:
annotations that are aligned with the time, those that only refer to others, and subdivisions.
"""

from __future__ import annotations

import itertools
import mimetypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from perception.cue import CueTimeline, CueTrack, Span
from perception.errors import BadInput
from perception.format import Annotation, row_name, seconds, span_ms, track_of
from perception.rows import rows
from perception.xml_tree import Node, parse

__all__ = ["Options", "build"]

_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
_TYPE = "cues"
_UNIT = "milliseconds"
_ENDS = ("TIME_SLOT_REF1", "TIME_SLOT_REF2")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


@dataclass(frozen=True)
class Options:
    """None."""


class Elan:
    """Reads and writes ``.eaf``."""

    suffixes = (".eaf",)
    cannot_carry = (
        "confidence",
        "attributes",
        "cue kinds",
        "cue ids",
        "control characters other than line breaks and tabs",
        "spans shorter than 1 ms",
    )

    def write(self, timeline: CueTimeline) -> bytes:
        """A document with a tier for every track."""
        document = _Document()
        for track in timeline.tracks:
            document.add(track)
        return document.text(timeline.video.name).encode()

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The annotations of all tiers, tier by tier."""
        root = parse(content)
        if root.name != "ANNOTATION_DOCUMENT":
            raise BadInput(
                f"line {root.line}: it begins with ANNOTATION_DOCUMENT, not {root.name[:40]}"
            )
        return tuple(_Reading(root).annotations())


def build(options: Options) -> Elan:
    """The format."""
    del options
    return Elan()


class _Document:
    """Tiers and time slots as they grow."""

    def __init__(self) -> None:
        self._slots_ms: list[int] = []
        self._tiers: list[str] = []
        self._annotations = 0

    def add(self, track: CueTrack) -> None:
        spans = [(*span_ms(cue.span), cue.text) for cue in track.cues]
        for number, row in enumerate(rows(spans) or [[]]):
            name = _attribute(row_name(track.id, number))
            inside = "".join(self._annotation(*item) for item in row)
            self._tiers.append(
                f' <TIER LINGUISTIC_TYPE_REF="{_TYPE}" TIER_ID={name}>\n{inside} </TIER>\n'
            )

    def _annotation(self, start_ms: int, end_ms: int, text: str) -> str:
        self._annotations += 1
        first, last = self._slot(start_ms), self._slot(end_ms)
        value = escape(_writable(text), {"\r": "&#13;"})
        return (
            f'  <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{self._annotations}" '
            f'TIME_SLOT_REF1="{first}" TIME_SLOT_REF2="{last}">'
            f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE>"
            f"</ALIGNABLE_ANNOTATION></ANNOTATION>\n"
        )

    def _slot(self, time_ms: int) -> str:
        self._slots_ms.append(time_ms)
        return f"ts{len(self._slots_ms)}"

    def _time_order(self) -> str:
        named = sorted((time_ms, number) for number, time_ms in enumerate(self._slots_ms, start=1))
        return "".join(
            f'  <TIME_SLOT TIME_SLOT_ID="ts{number}" TIME_VALUE="{time_ms}"/>\n'
            for time_ms, number in named
        )

    def text(self, video: str) -> str:
        mime = mimetypes.guess_type(video)[0] or "video/mp4"
        url = _attribute(f"./{quote(video, errors='surrogateescape')}")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<ANNOTATION_DOCUMENT AUTHOR="cuelight" DATE="{now}" FORMAT="3.0" VERSION="3.0" '
            'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            f'xsi:noNamespaceSchemaLocation="{_SCHEMA}">\n'
            f' <HEADER MEDIA_FILE="" TIME_UNITS="{_UNIT}">\n'
            f'  <MEDIA_DESCRIPTOR MEDIA_URL={url} MIME_TYPE="{mime}" '
            f"RELATIVE_MEDIA_URL={url}/>\n"
            " </HEADER>\n"
            f" <TIME_ORDER>\n{self._time_order()} </TIME_ORDER>\n"
            f"{''.join(self._tiers)}"
            f' <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="{_TYPE}" '
            'TIME_ALIGNABLE="true"/>\n'
            "</ANNOTATION_DOCUMENT>\n"
        )


def _writable(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _attribute(value: str) -> str:
    return quoteattr(_writable(value))


@dataclass(slots=True)
class _Tier:
    name: str
    aligned: list[Node] = field(default_factory=list)
    referring: list[Node] = field(default_factory=list)


class _Reading:
    """A document, and the spans of its annotations as they become known."""

    def __init__(self, root: Node) -> None:
        self._times = _times(root)
        self._tiers = [_tier(node) for node in root.all("TIER")]
        _check_ids(self._tiers)
        self._spans: dict[str, Span] = {}
        for tier in self._tiers:
            self._align(tier)
        self._refer()

    def annotations(self) -> Iterator[Annotation]:
        names = {tier.name for tier in self._tiers}
        for tier in self._tiers:
            track = track_of(tier.name, names)
            for node in (*tier.aligned, *tier.referring):
                span = self._spans.get(node.attribute("ANNOTATION_ID"))
                if span is None:
                    parent = node.attribute("ANNOTATION_REF")
                    raise BadInput(
                        f"line {node.line}: no aligned annotation stands behind {parent!r}"
                    )
                value = next(node.all("ANNOTATION_VALUE"), None)
                yield Annotation(span, value.text if value else "", track=track)

    def _align(self, tier: _Tier) -> None:
        """Between two times that are known, those that are not lie at equal distances."""
        chain: list[str] = []
        for node in tier.aligned:
            start, end = (self._slot(node, name) for name in _ENDS)
            if not chain or chain[-1] != start:
                chain = [start]
            chain.append(end)
            if self._times[end] is not None:
                self._interpolate(chain)
                chain = [end]
        for node in tier.aligned:
            first, last = (self._times[self._slot(node, name)] for name in _ENDS)
            if first is None or last is None:
                raise BadInput(f"line {node.line}: neither the annotation nor its row has a time")
            try:
                span = Span(seconds(first / 1000), seconds(last / 1000))
            except BadInput as error:
                raise BadInput(f"line {node.line}: {error}") from None
            self._spans[node.attribute("ANNOTATION_ID")] = span

    def _slot(self, node: Node, name: str) -> str:
        slot = node.attribute(name)
        if slot not in self._times:
            raise BadInput(f"line {node.line}: there is no time slot {slot!r}")
        return slot

    def _interpolate(self, chain: Sequence[str]) -> None:
        first, last = self._times[chain[0]], self._times[chain[-1]]
        if first is not None and last is not None:
            for place, slot in enumerate(chain[1:-1], start=1):
                self._times[slot] = first + (last - first) * place / (len(chain) - 1)

    def _refer(self) -> None:
        """What refers to an annotation lasts as long, or shares its time with others of a tier."""
        siblings: dict[str, list[list[Node]]] = {}
        for tier in self._tiers:
            groups: dict[str, list[Node]] = {}
            for node in tier.referring:
                groups.setdefault(node.attribute("ANNOTATION_REF"), []).append(node)
            for parent, group in groups.items():
                siblings.setdefault(parent, []).append(_in_order(group))
        known = list(self._spans)
        while known:
            parent = known.pop()
            whole = self._spans[parent]
            for group in siblings.pop(parent, ()):
                known += [node.attribute("ANNOTATION_ID") for node in group]
                self._spans |= zip(known[-len(group) :], _parts(whole, len(group)), strict=True)


def _parts(whole: Span, count: int) -> list[Span]:
    ends_s = [seconds(whole.start_s + whole.duration_s * n / count) for n in range(count + 1)]
    return [Span(*ends) for ends in itertools.pairwise(ends_s)]


def _in_order(group: list[Node]) -> list[Node]:
    """Each after the one that it names as the previous; as they stand where that does not tell."""
    following = {node.attributes.get("PREVIOUS_ANNOTATION", ""): node for node in group}
    ordered: list[Node] = []
    id = ""
    while id in following and len(ordered) < len(group):
        ordered.append(following[id])
        id = ordered[-1].attribute("ANNOTATION_ID")
    return ordered if len(ordered) == len(group) else group


def _check_ids(tiers: Sequence[_Tier]) -> None:
    seen: set[str] = set()
    for node in itertools.chain.from_iterable((*tier.aligned, *tier.referring) for tier in tiers):
        id = node.attribute("ANNOTATION_ID")
        if id in seen:
            raise BadInput(f"line {node.line}: there are two annotations {id[:40]!r}")
        seen.add(id)


def _times(root: Node) -> dict[str, float | None]:
    """Milliseconds by name of the time slot; None where the time is left to the neighbours."""
    for header in root.all("HEADER"):
        unit = header.attributes.get("TIME_UNITS", _UNIT)
        if unit != _UNIT:
            raise BadInput(
                f"line {header.line}: its times are {unit[:40]!r}, and only those in {_UNIT} are "
                "read; save it from ELAN again"
            )
    times: dict[str, float | None] = {}
    for order in root.all("TIME_ORDER"):
        for slot in order.all("TIME_SLOT"):
            value = slot.attributes.get("TIME_VALUE")
            if value is not None and not value.isdecimal():
                raise BadInput(
                    f"line {slot.line}: a time is whole milliseconds, not {value[:40]!r}"
                )
            id = slot.attribute("TIME_SLOT_ID")
            if id in times:
                raise BadInput(f"line {slot.line}: there are two time slots {id[:40]!r}")
            times[id] = None if value is None else float(value)
    return times


def _tier(node: Node) -> _Tier:
    tier = _Tier(node.attribute("TIER_ID"))
    for annotation in node.all("ANNOTATION"):
        tier.aligned += annotation.all("ALIGNABLE_ANNOTATION")
        tier.referring += annotation.all("REF_ANNOTATION")
    return tier
