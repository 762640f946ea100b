"""WebVTT (W3C), the captions of the web.

Text is escaped, so that nothing a cue says is a tag, a time or the end of a cue; a line break that
would leave an empty line, which ends a cue, is written as a character reference. Where a timeline
has several tracks, each cue stands in a class of its track's name: ``<c.speech>Hello</c>``.
"""

from __future__ import annotations

import html
import itertools
import re
from dataclasses import dataclass
from urllib.parse import unquote

from perception.cue import Cue, CueTimeline, Span
from perception.errors import BadInput
from perception.format import Annotation, encodable, lines_of, span_ms, text_of

__all__ = ["Options", "build"]

_TIME = r"(?:(\d{2,9}):)?([0-5]\d):([0-5]\d)\.(\d{3})"
_TIMING = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?:[ \t].*)?")
_CLASS = re.compile(r"<c\.([^<>.\s]+)>(.*)</c>", re.DOTALL)
_VOICE = re.compile(r"<v(?:\.[^<>\s]*)?[ \t\n]+([^<>]*)>")
_TAG = re.compile(r"<[^<>]*>")
_NO_CLASS = re.compile(r"[\s.&<>%\x00-\x1f]")
_BLOCKS = re.compile(r"(NOTE([ \t].*)?|(STYLE|REGION)[ \t]*)", re.DOTALL)


@dataclass(frozen=True)
class Options:
    """None."""


class WebVTT:
    """Reads and writes ``.vtt``."""

    suffixes = (".vtt",)
    cannot_carry = (
        "confidence",
        "attributes",
        "cue kinds",
        "null characters",
        "spans shorter than 1 ms",
    )

    def write(self, timeline: CueTimeline) -> bytes:
        """A cue block for every cue, in order of time."""
        several = len(timeline.tracks) > 1
        cues = sorted(timeline.cues(), key=lambda pair: span_ms(pair[1].span))
        blocks = ["WEBVTT\n"]
        blocks += [_block(cue, track.id if several else "") for track, cue in cues]
        return encodable("\n".join(blocks)).encode()

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The cues; notes, styles, regions and settings are passed over."""
        lines = lines_of(text_of(content))
        if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", lines[0], re.DOTALL):
            raise BadInput(f"line 1: it begins with WEBVTT, not {lines[0][:40]!r}")
        header, *blocks = _blocks(lines)
        if timings := [at for at, line in header if "-->" in line]:
            raise BadInput(f"line {timings[0]}: an empty line stands between the header and a cue")
        cues = [block for block in blocks if not _BLOCKS.fullmatch(block[0][1])]
        return tuple(map(_annotation, cues))


def build(options: Options) -> WebVTT:
    """The format."""
    del options
    return WebVTT()


def _block(cue: Cue, track: str) -> str:
    text = _escaped(cue.text)
    if track:
        name = _NO_CLASS.sub(lambda found: f"%{ord(found[0]):02X}", track)
        text = f"<c.{name}>{text}</c>"
    start, end = map(_clock, span_ms(cue.span))
    named = lines_of(cue.id) == [cue.id] and "-->" not in cue.id and not _BLOCKS.match(cue.id)
    head = f"{cue.id}\n" if named and cue.id.strip() else ""
    return f"{head}{start} --> {end}\n{text}\n" if text else f"{head}{start} --> {end}\n"


def _escaped(text: str) -> str:
    words = text.replace("\0", "\ufffd")
    for character, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        words = words.replace(character, name)
    lines = words.split("\n")
    escaped = lines[0]
    for before, after in itertools.pairwise(lines):
        escaped += ("\n" if before.strip() and after.strip() else "&#10;") + after
    return escaped


def _clock(time_ms: int) -> str:
    minutes, rest = divmod(time_ms, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}.{rest % 1000:03}"


def _blocks(lines: list[str]) -> list[list[tuple[int, str]]]:
    """Runs of lines that are not empty, each line with its number."""
    blocks: list[list[tuple[int, str]]] = [[]]
    for number, line in enumerate(lines, start=1):
        if line:
            blocks[-1].append((number, line))
        elif blocks[-1]:
            blocks.append([])
    return blocks if blocks[-1] else blocks[:-1]


def _annotation(block: list[tuple[int, str]]) -> Annotation:
    has_id = "-->" not in block[0][1] and len(block) > 1 and "-->" in block[1][1]
    id = block[0][1] if has_id else ""
    (number, timing), *payload = block[has_id:]
    match = _TIMING.fullmatch(timing)
    if match is None:
        raise BadInput(
            f"line {number}: a cue has its times here, e.g. 00:01.000 --> 00:02.500, not "
            f"{timing[:60]!r}"
        )
    for at, line in payload:
        if "-->" in line:
            raise BadInput(f"line {at}: an empty line stands between two cues")
    times = [int(part or 0) for part in match.groups()]
    try:
        span = Span(_seconds(*times[:4]), _seconds(*times[4:]))
    except BadInput as error:
        raise BadInput(f"line {number}: {error}") from None
    track, text = _track_and_text("\n".join(line for _, line in payload))
    voices = {html.unescape(voice).strip() for voice in _VOICE.findall(text)}
    speaker = {"speaker": voices.pop()} if len(voices) == 1 else {}
    return Annotation(
        span, html.unescape(_TAG.sub("", text)), track=track, id=id, attributes=speaker
    )


def _track_and_text(payload: str) -> tuple[str, str]:
    match = _CLASS.fullmatch(payload)
    return (unquote(match[1]), match[2]) if match else ("", payload)


def _seconds(hours: int, minutes: int, whole: int, thousandths: int) -> float:
    return (((hours * 60 + minutes) * 60 + whole) * 1000 + thousandths) / 1000
