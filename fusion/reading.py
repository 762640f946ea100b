"""A block of cues read back: which line speaks of which cues, when, and in which words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fusion.render import LABEL_KINDS, RenderOptions
from fusion.selection import CuePrompt
from perception.cue import Span
from perception.errors import BadInput

__all__ = ["ReadLine", "read"]

_CLOCK = r"(?:\d+:\d\d|\d+):\d\d\.\d"
_MARK = re.compile(r" \((?:(\d+) %|score (\d\.\d\d)|annotated)\)")
_SPAN = re.compile(rf"({_CLOCK})-({_CLOCK})")
_QUOTED = re.compile(r'(?:(?P<before>[^"]+) )?"(?P<text>[^"]*)"(?P<after>[^"]*)')


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One line of a block.

    Args:
        ids: of the cues that it speaks of.
        kind: as printed, with spaces for underscores.
        span: to a tenth of a second; None where the block has no times.
        text: a label with what is said around it, or what stands between the quotes.
        probability: to a hundredth, of the first label; None where the block tells none.
        alternatives: (label, probability) of what it may be instead.
    """

    ids: tuple[str, ...]
    kind: str
    span: Span | None
    text: str
    probability: float | None
    alternatives: tuple[tuple[str, float], ...] = ()


def read(prompt: CuePrompt, options: RenderOptions) -> tuple[ReadLine, ...]:
    """The lines of cues of a block, in order.

    Args:
        prompt: the block.
        options: with which it was rendered.

    Raises:
        BadInput: it was rendered with other options.
    """
    ids: dict[int, list[str]] = {}
    for number, id in prompt.lines:
        ids.setdefault(number, []).append(id)
    kind, found = "", []
    for number, words in enumerate(prompt.text.split("\n")):
        if number in ids:
            found.append(_read(words, tuple(ids[number]), kind, options))
        elif number:
            kind = words.removesuffix(":")
    return tuple(found)


def _read(words: str, ids: tuple[str, ...], group: str, options: RenderOptions) -> ReadLine:
    kind, span, rest = group, None, words.removeprefix("- ")
    if options.times:
        match = _SPAN.match(rest)
        if match is None:
            raise BadInput(f"The line {words!r} has no times; was the block rendered with times?")
        span, rest = Span(_seconds(match[1]), _seconds(match[2])), rest[match.end() :].lstrip(" ")
    if options.order == "kind":
        rest = rest.removeprefix(": ") if options.times else rest
    else:
        kind, _, rest = rest.partition(": ")
    is_label = kind in LABEL_KINDS
    said, marks = rest, list[tuple[str, float]]()
    if options.confidence:
        said, marks = _split(rest, 0 if is_label else rest.rfind('"'))
    if not is_label and (quoted := _QUOTED.fullmatch(said)):
        said = quoted["text"]
    probability = marks[0][1] if marks else None
    return ReadLine(ids, kind, span, said, probability, tuple(marks[1:]))


def _split(words: str, start: int) -> tuple[str, list[tuple[str, float]]]:
    """What stands before the first mark, and (label, probability) of each mark from ``start``."""
    found = list(_MARK.finditer(words, max(0, start)))
    if not found:
        raise BadInput(f"The line {words!r} tells no probability; was the block rendered with it?")
    marks, behind = [], 0
    for mark in found:
        label = words[behind : mark.start()].removeprefix(", or ")
        marks.append((label, int(mark[1]) / 100 if mark[1] else float(mark[2] or 1)))
        behind = mark.end()
    return words[: found[0].start()], marks


def _seconds(words: str) -> float:
    total = 0.0
    for part in words.split(":"):
        total = total * 60 + float(part)
    return total
