"""Praat's TextGrid, the annotation files of phonetics.

A track is an interval tier; its intervals cover all of the time, those between two cues are empty,
and they do not overlap, so that a track whose cues do is spread over tiers ``NAME``,
``NAME [row 2]`` …, which reading puts together again. Read are the long and the short text format,
and point tiers, whose points become spans without length.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from perception.cue import CueTimeline, Span
from perception.errors import BadInput
from perception.format import (
    Annotation,
    encodable,
    row_name,
    seconds,
    span_ms,
    text_of,
    track_of,
)
from perception.rows import rows

__all__ = ["Options", "build"]

_INTERVALS, _POINTS = "IntervalTier", "TextTier"
_TOKEN = re.compile(r'"((?:[^"]|"")*)"|![^\n]*|([^\s"]+)|(")')
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Options:
    """None."""


class TextGrid:
    """Reads and writes ``.TextGrid``."""

    suffixes = (".TextGrid",)
    cannot_carry = (
        "confidence",
        "attributes",
        "cue kinds",
        "cue ids",
        "cues without text",
        "null characters",
        "spans shorter than 1 ms",
    )

    def write(self, timeline: CueTimeline) -> bytes:
        """A tier for every track, in the long text format."""
        tiers = []
        for track in timeline.tracks:
            spans = [(*span_ms(cue.span), cue.text) for cue in track.cues if cue.text]
            packed = rows(spans) or [[]]
            tiers += [(row_name(track.id, number), row) for number, row in enumerate(packed)]
        ends = [item[1] for _, row in tiers for item in row]
        end_ms = max([math.ceil(seconds(timeline.video.duration_s) * 1000), *ends, 1])
        lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", *_limits(0, end_ms)]
        lines += ["tiers? <exists> ", f"size = {len(tiers)} ", "item []: "]
        for number, (name, row) in enumerate(tiers, start=1):
            lines.append(f"    item [{number}]:")
            lines += [f"        {line}" for line in _tier_lines(name, row, end_ms)]
        return encodable("\n".join(lines) + "\n").encode()

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The intervals and points that have a text, tier by tier."""
        tokens = _Tokens(_decoded(content))
        tokens.words("ooTextFile")
        tokens.words("TextGrid")
        tokens.limits()
        tiers = []
        if tokens.flag("<exists>"):
            tiers = [_tier(tokens) for _ in range(tokens.count())]
        names = {name for name, _ in tiers}
        return tuple(
            Annotation(span, text, track=track_of(name, names))
            for name, labels in tiers
            for span, text in labels
            if text
        )


def build(options: Options) -> TextGrid:
    """The format."""
    del options
    return TextGrid()


def _limits(start_ms: int, end_ms: int) -> list[str]:
    return [f"xmin = {start_ms / 1000:.3f} ", f"xmax = {end_ms / 1000:.3f} "]


def _tier_lines(name: str, row: list[tuple[int, int, str]], end_ms: int) -> Iterator[str]:
    intervals: list[tuple[int, int, str]] = []
    at_ms = 0
    for start, end, text in row:
        if start > at_ms:
            intervals.append((at_ms, start, ""))
        intervals.append((start, end, text))
        at_ms = end
    if at_ms < end_ms:
        intervals.append((at_ms, end_ms, ""))
    yield f'class = "{_INTERVALS}" '
    yield f"name = {_quoted(name)} "
    yield from _limits(0, end_ms)
    yield f"intervals: size = {len(intervals)} "
    for number, (start, end, text) in enumerate(intervals, start=1):
        yield f"intervals [{number}]:"
        yield from (f"    {line}" for line in _limits(start, end))
        yield f"    text = {_quoted(text)} "


def _quoted(text: str) -> str:
    doubled = text.replace("\0", "\ufffd").replace('"', '""')
    return f'"{doubled}"'


def _decoded(content: bytes) -> str:
    encoding = _BOMS.get(content[:2])
    if encoding is None:
        return text_of(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(f"it is not UTF-16 text ({error.reason})") from None


class _Tokens:
    """What of the text is a value: strings, numbers and flags that stand free; ``xmin =``,
    ``item [1]:`` and comments are for people."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def words(self, wanted: str = "") -> str:
        """The next string; it must be ``wanted``, if that is given."""
        kind, value = self._next()
        if kind != "string" or value != (wanted or value):
            raise self.wrong(f'"{wanted}"' if wanted else "a text in double quotes", value)
        return value

    def number(self) -> float:
        """The next number."""
        kind, value = self._next()
        if kind != "number" or not math.isfinite(float(value)):
            raise self.wrong("a number", value)
        return float(value)

    def limits(self) -> None:
        """Pass over the start and the end of the file or of a tier."""
        self.number()
        self.number()

    def count(self) -> int:
        """The next number, which counts something."""
        value = self.number()
        if value < 0 or value != int(value):
            raise self.wrong("a whole number", f"{value:g}")
        return int(value)

    def flag(self, wanted: str) -> bool:
        """Whether the next flag is ``wanted``."""
        kind, value = self._next()
        if kind != "flag":
            raise self.wrong("<exists> or <absent>", value)
        return value == wanted

    def span(self, start_s: float, end_s: float) -> Span:
        """A span, of which the last number read is the end."""
        try:
            return Span(seconds(start_s), seconds(end_s))
        except BadInput as error:
            raise BadInput(f"line {self._line}: {error}") from None

    @property
    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _next(self) -> tuple[str, str]:
        while match := _TOKEN.search(self._text, self._at):
            string, word, unclosed = match.groups()
            if unclosed:
                self._at = match.start()
                raise BadInput(f"line {self._line}: a text has no closing double quote")
            self._at = match.end()
            if string is not None:
                return "string", string.replace('""', '"')
            if word and _NUMBER.fullmatch(word):
                return "number", word
            if word and word[0] == "<" and word[-1] == ">":
                return "flag", word
        self._at = len(self._text)
        raise BadInput(f"line {self._line}: it ends in the middle of a value or tier")

    def wrong(self, wanted: str, found: str) -> BadInput:
        """The error that here stands something else than ``wanted``."""
        return BadInput(f"line {self._line}: here stands {wanted}, not {found[:40]!r}")


def _tier(tokens: _Tokens) -> tuple[str, list[tuple[Span, str]]]:
    what = tokens.words()
    if what not in (_INTERVALS, _POINTS):
        raise tokens.wrong(f'"{_INTERVALS}" or "{_POINTS}"', what)
    name = tokens.words()
    tokens.limits()
    labels = []
    for _ in range(tokens.count()):
        start_s = tokens.number()
        end_s = tokens.number() if what == _INTERVALS else start_s
        labels.append((tokens.span(start_s, end_s), tokens.words()))
    return name, labels
