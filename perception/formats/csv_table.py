"""A CSV table, a row for every cue.

UTF-8; comma, semicolon and tab are understood, and decimal commas where semicolons part the cells.
A text that a spreadsheet would take for a formula has an apostrophe before it, which reading takes
off again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perception import strict_json
from perception.cue import Cue, CueTimeline, CueTrack, Span
from perception.errors import BadInput
from perception.format import Annotation, encodable, milliseconds, text_of
from perception.spreadsheet import Sheet, columns_of, inert, said
from perception.strict_json import Fields

__all__ = ["COLUMNS", "Options", "build"]

COLUMNS = (
    "start_s",
    "end_s",
    "text",
    "confidence",
    "kind",
    "track",
    "id",
    "video",
    "attributes",
)
_NEEDED = COLUMNS[:3]
_NUMBERS = ("start_s", "end_s", "confidence")


@dataclass(frozen=True)
class Options:
    """None."""


class CsvTable:
    """Reads and writes ``.csv``."""

    suffixes = (".csv", ".tsv")
    cannot_carry = ("null characters",)

    def write(self, timeline: CueTimeline) -> bytes:
        """All cues, track by track."""
        table = io.StringIO(newline="")
        writer = csv.writer(table, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for track, cue in timeline.cues():
            writer.writerow(map(_guarded, _cells(timeline.video.name, track, cue)))
        return encodable(table.getvalue()).encode("utf-8-sig")

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """A cue for every row; columns other than those of ``COLUMNS`` are passed over."""
        sheet = Sheet(text_of(content))
        rows = iter(sheet)
        line, head = next(rows, (1, []))
        try:
            columns = columns_of(head, _NEEDED)
        except BadInput as error:
            raise BadInput(f"line {line}: {error}") from None
        return tuple(_said(sheet, columns, cells, line) for line, cells in rows)


def build(options: Options) -> CsvTable:
    """The format."""
    del options
    return CsvTable()


def _cells(video: str, track: CueTrack, cue: Cue) -> Iterator[str]:
    yield from (f"{milliseconds(t) / 1000:.3f}" for t in (cue.span.start_s, cue.span.end_s))
    yield from (cue.text, repr(float(cue.confidence)), track.kind, track.id, cue.id, video)
    yield strict_json.dumps(dict(cue.attributes), indent=None)


def _guarded(cell: str) -> str:
    return inert(cell.replace("\0", "\ufffd"))


def _said(sheet: Sheet, columns: Sequence[str], cells: Sequence[str], line: int) -> Annotation:
    try:
        if len(cells) < len(columns) or any(cells[len(columns) :]):
            raise BadInput(
                f"it has {len(cells)} cells and line 1 has {len(columns)}; each row needs one for "
                "each column, and quotes around a text that holds what parts the cells"
            )
        row = dict(zip(columns, cells, strict=False))
        row |= {name: sheet.point(row[name]) for name in _NUMBERS if name in row}
        return _annotation({name: row.get(name, "") for name in COLUMNS})
    except BadInput as error:
        raise BadInput(f"line {line}: {error}") from None


def _annotation(raw: Mapping[str, str]) -> Annotation:
    row = {name: said(cell) for name, cell in raw.items()}
    return Annotation(
        Span(_number(row, "start_s"), _number(row, "end_s")),
        row["text"],
        track=row["track"],
        kind=row["kind"],
        id=row["id"],
        confidence=_number(row, "confidence") if row["confidence"].strip() else 1.0,
        attributes=_attributes(row["attributes"]),
        video=row["video"],
    )


def _number(row: Mapping[str, str], name: str) -> float:
    try:
        return float(row[name])
    except ValueError:
        raise BadInput(f"{name} is a number, e.g. 3.5, not {row[name][:40]!r}") from None


def _attributes(cell: str) -> dict[str, Any]:
    if not cell.strip():
        return {}
    return Fields({"attributes": strict_json.loads(cell)}).mapping("attributes")
