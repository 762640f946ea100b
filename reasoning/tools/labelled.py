"""Cues of which somebody knows whether they are right: by a table of what happens, or by review.

**A CSV of spans and labels** has the columns ``start_s``, ``end_s`` and ``label``, and may have
``kind`` (needed where more than one kind is fitted), ``video`` (the name of the video file; needed
for several videos) and ``person``. It tells everything of its kinds that happens in those videos: a
cue is right where a row of its kind says the same and covers half of the shorter of the two; a cue
without such a row is wrong.

**A reviewed timeline**, ``NAME.review.json``, holds a person's verdict on cues by their ids::

    {"schema": "cuelight.review/1", "cues": {"action-3": {"verdict": "right"}}}

with the verdicts ``right`` and ``wrong``; cues without one are not used, nor is what was said of
cues that are no longer there. See ``review``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fusion.calibration import Labelled
from fusion.gate import top_labels
from fusion.selection import KeptCue
from fusion.words import subject_and_predicate, words_of
from perception.cue import Cue, CueTimeline, CueTrack, Span
from perception.errors import BadInput
from perception.spreadsheet import Sheet, columns_of
from perception.text_file import read_text
from reasoning.tools import review

__all__ = ["Row", "by_review", "by_rows", "read_rows", "review_path", "verdicts_of"]

_COVERED = 0.5
_ALIKE = 0.8
"""Likeness of two texts, letter by letter, from which on a reading counts as right."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table of what happens; empty strings where the table does not say."""

    span: Span
    label: str
    kind: str = ""
    video: str = ""
    person: str = ""


def read_rows(path: Path) -> tuple[Row, ...]:
    """The rows of a CSV file.

    Raises:
        BadInput: it cannot be read, lacks a column, or a time is none; names the line.
    """
    sheet = Sheet(read_text(path, "table of labels"))
    rows = iter(sheet)
    try:
        columns = columns_of(next(rows, (1, []))[1], ("start_s", "end_s", "label"))
        return tuple(
            _row(sheet, dict(zip(columns, cells, strict=False)), f"line {line}")
            for line, cells in rows
        )
    except BadInput as error:
        raise BadInput(f"{str(path)!r}: {str(error).rstrip('.')}.") from None


def by_rows(
    timeline: CueTimeline, kind: str, rows: tuple[Row, ...]
) -> Iterator[tuple[CueTrack, Labelled]]:
    """The cues of a kind with whether a row says the same; none of a video without a row."""
    name = timeline.video.name
    mine = [row for row in rows if row.video in {"", name} and row.kind in {"", kind}]
    for track, cue in timeline.cues():
        if mine and track.kind == kind:
            yield track, _labelled(cue, any(_agrees(cue, track, row) for row in mine))


def by_review(
    timeline: CueTimeline, kind: str, verdicts: Mapping[str, bool]
) -> Iterator[tuple[CueTrack, Labelled]]:
    """The cues of a kind on which there is a verdict."""
    for track, cue in timeline.cues():
        if track.kind == kind and cue.id in verdicts:
            yield track, _labelled(cue, verdicts[cue.id])


def review_path(cues: Path) -> Path:
    """``NAME.review.json`` beside ``NAME.cues.json``."""
    return cues.with_name(f"{cues.name.removesuffix('.json').removesuffix('.cues')}.review.json")


def verdicts_of(timeline: CueTimeline, found: review.Review) -> dict[str, bool]:
    """Cue id -> whether it is right, where a verdict is of that very cue."""
    said = ((cue.id, found.about(cue)) for _, cue in timeline.cues())
    return {id: each.verdict == "right" for id, each in said if each and each.verdict}


def _row(sheet: Sheet, raw: Mapping[str, str], where: str) -> Row:
    cells = {name: raw.get(name, "").strip() for name in ("label", "kind", "video", "person")}
    start, end = raw.get("start_s", ""), raw.get("end_s", "")
    try:
        span = Span(float(sheet.point(start)), float(sheet.point(end)))
    except ValueError:
        raise BadInput(
            f"{where}: start_s and end_s are seconds, e.g. 3.5, "
            f"not {start[:40]!r} and {end[:40]!r}."
        ) from None
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    return Row(span, **cells)


def _labelled(cue: Cue, is_right: bool) -> Labelled:
    others = tuple(score for _, score in top_labels(cue)[1:])
    return Labelled(cue.confidence, others, is_right)


def _agrees(cue: Cue, track: CueTrack, row: Row) -> bool:
    if row.person and str(cue.attributes.get("person", "")) != row.person:
        return False
    shared_s = min(cue.span.end_s, row.span.end_s) - max(cue.span.start_s, row.span.start_s)
    shorter_s = min(cue.span.duration_s, row.span.duration_s)
    if shared_s < 0 or shared_s < _COVERED * shorter_s:
        return False
    label = cue.attributes.get("label")
    if isinstance(label, str):
        phrase = subject_and_predicate(KeptCue(track.kind, cue, cue.confidence))[1]
        return words_of(row.label) in (words_of(label), words_of(phrase))
    one, other = " ".join(words_of(cue.text)), " ".join(words_of(row.label))
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio() >= _ALIKE
