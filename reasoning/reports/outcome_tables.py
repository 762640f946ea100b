"""Tables of outcomes, as ``cuelight export-study`` and ``cuelight ablate --json`` write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from perception.errors import BadInput, MissingExtra, UnknownName
from perception.spreadsheet import Sheet, columns_of, said
from perception.text_file import read_text
from reasoning.results.outcomes import InjectedCue, Outcome, State

__all__ = ["FORMATS", "Row", "outcome", "read"]

Row = tuple[str, dict[str, Any]]
"""Where a row stands, and its fields."""

_NUMBERS = ("score", "repeat")
_JSON_FIELDS = ("cues", "details")
_WHAT = "table of outcomes"


def read(path: Path) -> list[Row]:
    """The rows of a table, at least one.

    Raises:
        UnknownName: the suffix is of no known format.
        BadInput: it cannot be read, or holds nothing.
        MissingExtra: Parquet without pyarrow.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise UnknownName("table of outcomes with the suffix", suffix or path.name, FORMATS)
    rows = FORMATS[suffix](path)
    if not rows:
        raise BadInput(f"{str(path)!r} holds no outcome.")
    return rows


def _csv(path: Path) -> list[Row]:
    sheet = Sheet(read_text(path, _WHAT), where=f"{path.name}, ")
    rows = iter(sheet)
    head = next(rows, (1, []))[1]
    try:
        columns = columns_of(head, ())
    except BadInput as error:
        raise BadInput(f"{path.name}, line 1: {error}.") from None
    return [
        (where, _row(where, sheet, columns, cells))
        for line, cells in rows
        if (where := f"{path.name}, line {line}")
    ]


def _row(where: str, sheet: Sheet, columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    if any(cells[len(columns) :]):
        raise BadInput(
            f"{where}: it has {len(cells)} cells, and line 1 names {len(columns)} columns; put "
            "quotes around a text that holds what parts the cells."
        )
    row = dict(zip_longest(columns, map(said, cells[: len(columns)]), fillvalue=""))
    return row | {name: sheet.point(row[name]) for name in _NUMBERS if name in row}


def _document(path: Path) -> list[Row]:
    document = _json(path.name, read_text(path, _WHAT))
    found = document.get("outcomes") if isinstance(document, dict) else document
    if not isinstance(found, list):
        raise BadInput(f"{str(path)!r} must hold a list of outcomes.")
    return [_checked(f"{path.name}, entry {at}", row) for at, row in enumerate(found, start=1)]


def _lines(path: Path) -> list[Row]:
    lines = enumerate(read_text(path, _WHAT).split("\n"), start=1)
    wheres = [(f"{path.name}, line {at}", line) for at, line in lines if line.strip()]
    return [_checked(where, _json(where, line)) for where, line in wheres]


def _checked(where: str, row: Any) -> Row:
    if not isinstance(row, dict):
        raise BadInput(f"{where}: an object is needed, not {row!r}.")
    return where, row


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadInput(f"{where}: no JSON ({error}).") from None


def _parquet(path: Path) -> list[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "studies", "Parquet") from None
    try:
        found = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"{str(path)!r} is no Parquet file ({error}).") from None
    return [(f"{path.name}, row {at}", row) for at, row in enumerate(found, start=1)]


def outcome(where: str, row: Mapping[str, Any]) -> Outcome:
    """The outcome in a row.

    Raises:
        BadInput: it lacks question or score, or a value is of the wrong kind.
    """
    lacking = [name for name in ("question", "score") if name not in row]
    if lacking:
        raise BadInput(
            f"{where}: there is no {', '.join(lacking)}; it has {', '.join(map(str, row))}. Each "
            "outcome has a question and a score (or a verdict)."
        )
    score = _number(where, "score", row["score"])
    words = {
        name: str(row.get(name) or "")
        for name in ("video", "category", "level", "answer", "reference", "reason", "key")
    }
    state = row.get("state") or (State.SCORED if score is not None else State.UNSCORED)
    if state not in set(State):
        raise BadInput(f"{where}: state must be one of {', '.join(State)}, not {state!r}.")
    cues, details = (_object(where, name, row.get(name)) for name in _JSON_FIELDS)
    if not isinstance(details or {}, dict):
        raise BadInput(f"{where}: details must be an object, not {details!r}.")
    try:
        return Outcome(
            question=str(row["question"]),
            condition=str(row.get("condition") or "answers"),
            model=str(row.get("model") or "model"),
            repeat=_repeat(where, row.get("repeat")),
            state=State(state),
            score=score,
            cues=tuple(InjectedCue(**cue) for cue in cues or ()),
            details=details or {},
            **words,
        )
    except TypeError as error:
        raise BadInput(f"{where}: cues are not as Cuelight writes them ({error}).") from None
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def _repeat(where: str, value: Any) -> int:
    number = _number(where, "repeat", value) or 0.0
    if not number.is_integer() or number < 0:
        raise BadInput(f"{where}: repeat must be a whole number from 0, not {value!r}.")
    return int(number)


def _number(where: str, name: str, value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{where}: {name} must be a number or empty, not {value!r}.") from None


def _object(where: str, name: str, value: Any) -> Any:
    return _json(f"{where}, {name}", value) if isinstance(value, str) and value else value


FORMATS: dict[str, Callable[[Path], list[Row]]] = {
    ".csv": _csv,
    ".jsonl": _lines,
    ".json": _document,
    ".parquet": _parquet,
}
"""By suffix."""
