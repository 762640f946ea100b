"""A study's records as one table for other tools: Parquet, CSV or JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from perception import strict_json
from perception.errors import MissingExtra, UnknownName
from perception.spreadsheet import inert
from perception.whole import write_whole
from reasoning.answer import Answer
from reasoning.plain import plain
from reasoning.records import Records
from reasoning.results.from_records import current_cells, outcomes
from reasoning.results.outcomes import Outcome

__all__ = ["COLUMNS", "FORMATS", "export", "rows"]

COLUMNS = (
    *("condition", "model", "repeat", "question", "question_text", "options", "video"),
    *("category", "level", "state", "score", "answer", "option", "reference", "reason"),
    *("verdicts", "cues", "details", "request", "usage", "option_scores", "complete"),
    *("key", "seconds"),
)
"""Those that hold objects or lists are JSON in CSV and Parquet. ``seconds`` alone hangs on when and
where the study was run."""

_JSON = frozenset({"options", "verdicts", "cues", "details", "request", "usage", "option_scores"})


def rows(records: Records, judge: str | None = None) -> list[dict[str, Any]]:
    """One for each outcome, with what was sent and what came back; arguments and errors as
    ``from_records.outcomes``."""
    table = {_key(row): row for row in outcomes(records, judge).rows}
    judges = records.judges()
    found = []
    for condition, question, repeat, key, facts in current_cells(records):
        outcome = table.get((condition, facts.get("model", ""), question, repeat))
        if outcome is None:
            continue
        reply = records.answer(key) or records.failure(key)
        truth = str(facts.get("truth", ""))
        said = {name: records.verdict(key, name, truth) for name in judges}
        row: dict[str, Any] = {
            **{name: value for name, value in plain(outcome).items() if name in COLUMNS},
            "question_text": facts.get("question", ""),
            "options": facts.get("options", []),
            "verdicts": {name: plain(each) for name, each in said.items() if each is not None},
            "request": plain(reply.request) if reply is not None else {},
            "option": None,
            "usage": {},
            "option_scores": [],
            "complete": None,
            "seconds": records.seconds(key),
        }
        if isinstance(reply, Answer):
            row |= {"option": reply.option, "usage": plain(reply.usage)}
            row |= {"option_scores": plain(reply.option_scores), "complete": reply.complete}
        found.append({name: row[name] for name in COLUMNS})
    return found


def export(records: Records, path: Path, judge: str | None = None) -> int:
    """Write the table in the format of ``path``'s suffix, whole or not at all; how many rows.

    Raises:
        UnknownName: there is no such format, or no such judge.
        MissingExtra: Parquet without pyarrow.
        StorageError: the place cannot be written.
    """
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise UnknownName("format of an export", suffix or path.name, FORMATS)
    table = rows(records, judge)
    write_whole(path, FORMATS[suffix](table))
    return len(table)


def _key(row: Outcome) -> tuple[str, str, str, int]:
    return row.condition, row.model, row.question, row.repeat


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: strict_json.dumps(value) if name in _JSON else value for name, value in row.items()
    }


def _jsonl(table: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(f"{_line(row)}\n" for row in table).encode("utf-8")


def _line(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _csv(table: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in table:
        cells = {
            name: inert(cell) if isinstance(cell, str) else cell
            for name, cell in _flat(row).items()
        }
        writer.writerow(cells)
    return text.getvalue().encode("utf-8")


def _parquet(table: Sequence[Mapping[str, Any]]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "studies", "Parquet") from None
    numbers = {"repeat": pa.int64(), "option": pa.int64(), "complete": pa.bool_()}
    numbers |= {"score": pa.float64(), "seconds": pa.float64()}
    schema = pa.schema([(name, numbers.get(name, pa.string())) for name in COLUMNS])
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_flat(row) for row in table], schema=schema), buffer)
    return buffer.getvalue()


FORMATS: dict[str, Callable[[Sequence[Mapping[str, Any]]], bytes]] = {
    "parquet": _parquet,
    "csv": _csv,
    "jsonl": _jsonl,
}
"""By suffix."""
