"""SubRip (``.srt``), the subtitles that every player shows.

SubRip has no escapes, and its readers differ in what they take for the end of a subtitle, a time or
a tag. What could be taken for one is broken with a word joiner (U+2060), which shows as nothing;
reading takes it out again, so that any text makes the round trip.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from perception.cue import Cue, CueTimeline, Span
from perception.errors import BadInput
from perception.format import Annotation, encodable, lines_of, span_ms, text_of

__all__ = ["Options", "build"]

_TIME = r"(\d{1,9}):([0-5]?\d):([0-5]?\d)[,.](\d{1,3})"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_JOINER = "\u2060"

_ACTIVE = re.compile(
    rf"(--{_JOINER}*)(?=>)"  # the arrow between two times
    rf"|(<{_JOINER}*)(?=[/A-Za-z])"  # a tag
    rf"|(\{{{_JOINER}*)(?=[\\/A-Za-z])"  # a tag of other subtitle formats
    rf"|^([^\S\n]*{_JOINER}*)(?=[^\S\n]*$)",  # an empty line
    re.MULTILINE,
)
_BROKEN = re.compile(
    rf"(--{_JOINER}*){_JOINER}(?=>)"
    rf"|(<{_JOINER}*){_JOINER}(?=[/A-Za-z])"
    rf"|(\{{{_JOINER}*){_JOINER}(?=[\\/A-Za-z])"
    rf"|^([^\S\n]*{_JOINER}*){_JOINER}(?=[^\S\n]*$)",
    re.MULTILINE,
)
_MARKUP = re.compile(r"</?(?:[bius]|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)


@dataclass(frozen=True)
class Options:
    """None."""


class SubRip:
    """Reads and writes ``.srt``."""

    suffixes = (".srt",)
    cannot_carry = (
        "which track a cue is of",
        "confidence",
        "attributes",
        "cue kinds",
        "cue ids",
        "carriage returns",
        "null characters",
        "spans shorter than 1 ms",
    )

    def write(self, timeline: CueTimeline) -> bytes:
        """A numbered subtitle for every cue of every track, in order of time."""
        cues = sorted((cue for _, cue in timeline.cues()), key=lambda cue: span_ms(cue.span))
        text = "\n".join(_block(number, cue) for number, cue in enumerate(cues, start=1))
        return encodable(text).encode()

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The subtitles without their markup."""
        found: list[Annotation] = []
        block: list[tuple[int, str]] = []
        for number, line in enumerate([*lines_of(text_of(content)), ""], start=1):
            if line.strip():
                block.append((number, line))
            elif block:
                found.append(_annotation(block))
                block = []
        return tuple(found)


def build(options: Options) -> SubRip:
    """The format."""
    del options
    return SubRip()


def _block(number: int, cue: Cue) -> str:
    start, end = map(_clock, span_ms(cue.span))
    text = "\n".join(lines_of(cue.text)).replace("\0", "\ufffd")
    text = _ACTIVE.sub(lambda found: f"{found[0]}{_JOINER}", text)
    return f"{number}\n{start} --> {end}\n{text}\n"


def _clock(time_ms: int) -> str:
    minutes, rest = divmod(time_ms, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02},{rest % 1000:03}"


def _annotation(block: list[tuple[int, str]]) -> Annotation:
    if block[0][1].strip().isdecimal() and len(block) > 1:
        block = block[1:]
    number, timing = block[0]
    match = _TIMING.fullmatch(timing)
    if match is None:
        raise BadInput(
            f"line {number}: a subtitle has its times here, e.g. 00:00:01,000 --> 00:00:02,500, "
            f"not {timing[:60]!r} (an empty line ends a subtitle)"
        )
    try:
        span = Span(_seconds(*match.groups()[:4]), _seconds(*match.groups()[4:]))
    except BadInput as error:
        raise BadInput(f"line {number}: {error}") from None
    for at, line in block[1:]:
        if _TIMING.fullmatch(line):
            raise BadInput(f"line {at}: an empty line stands between two subtitles")
    text = _MARKUP.sub("", "\n".join(line for _, line in block[1:]))
    return Annotation(span, _BROKEN.sub(lambda found: found[0][:-1], text))


def _seconds(hours: str, minutes: str, whole: str, fraction: str) -> float:
    minutes_in_all = int(hours) * 60 + int(minutes)
    return ((minutes_in_all * 60 + int(whole)) * 1000 + int(fraction.ljust(3, "0"))) / 1000
