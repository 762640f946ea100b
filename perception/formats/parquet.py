"""A Parquet table, a row for every cue, for pandas, Polars, DuckDB or Spark (extra ``studies``).

The columns are those of the CSV table; the video and what made each track stand in the file's
metadata under ``cuelight``, as JSON.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from perception import strict_json
from perception.cue import CueTimeline, Span
from perception.errors import BadInput, MissingExtra
from perception.format import Annotation, encodable, seconds
from perception.strict_json import Fields

__all__ = ["Options", "build"]

_METADATA = b"cuelight"
_NEEDED = ("start_s", "end_s", "text")


@dataclass(frozen=True)
class Options:
    """None."""


class Parquet:
    """Reads and writes ``.parquet``."""

    suffixes = (".parquet",)
    cannot_carry = ()

    def write(self, timeline: CueTimeline) -> bytes:
        """All cues, track by track."""
        arrow = _arrow()
        from pyarrow import parquet

        columns: dict[str, list[Any]] = {name: [] for name in _schema(arrow).names}
        for track, cue in timeline.cues():
            row = {
                "start_s": seconds(cue.span.start_s),
                "end_s": seconds(cue.span.end_s),
                "text": encodable(cue.text),
                "confidence": float(cue.confidence),
                "kind": encodable(track.kind),
                "track": encodable(track.id),
                "id": encodable(cue.id),
                "video": encodable(timeline.video.name),
                "attributes": strict_json.dumps(dict(cue.attributes), indent=None),
            }
            for name, value in row.items():
                columns[name].append(value)
        about = {
            "video": asdict(timeline.video),
            "tracks": [asdict(replace(track, cues=())) for track in timeline.tracks],
        }
        schema = _schema(arrow).with_metadata({_METADATA: strict_json.dumps(about).encode()})
        file = io.BytesIO()
        parquet.write_table(arrow.table(columns, schema=schema), file)
        return file.getvalue()

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """A cue for every row; other columns are passed over."""
        arrow = _arrow()
        from pyarrow import parquet

        try:
            table = parquet.read_table(io.BytesIO(content))
        except arrow.ArrowException as error:
            raise BadInput(f"it cannot be read ({' '.join(str(error).split())})") from None
        for name in _NEEDED:
            if name not in table.column_names:
                has = ", ".join(table.column_names) or "none"
                raise BadInput(f"it lacks the column {name!r}; it has {has}")
        known = [name for name in _schema(arrow).names if name in table.column_names]
        rows = table.select(known).to_pylist()
        return tuple(_annotation(row, number) for number, row in enumerate(rows, start=1))


def build(options: Options) -> Parquet:
    """The format."""
    del options
    return Parquet()


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("pyarrow", "studies", "Parquet") from None
    return pyarrow


def _schema(arrow: Any) -> Any:
    numbers = {name: arrow.float64() for name in ("start_s", "end_s", "confidence")}
    names = ("start_s", "end_s", "text", "confidence", "kind", "track", "id", "video", "attributes")
    return arrow.schema([(name, numbers.get(name, arrow.string())) for name in names])


def _annotation(row: Mapping[str, Any], number: int) -> Annotation:
    fields = Fields(
        {name: value for name, value in row.items() if value is not None or name in _NEEDED}
    )
    try:
        text = fields.text("attributes", "{}")
        return Annotation(
            Span(fields.number("start_s"), fields.number("end_s")),
            fields.text("text"),
            track=fields.text("track", ""),
            kind=fields.text("kind", ""),
            id=fields.text("id", ""),
            confidence=fields.number("confidence", 1.0),
            attributes=Fields({"attributes": strict_json.loads(text)}).mapping("attributes"),
            video=fields.text("video", ""),
        )
    except BadInput as error:
        raise BadInput(f"row {number}: {error}") from None
