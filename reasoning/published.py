"""Reading the files of benchmarks as they were published, with faults told by file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perception.errors import BadInput
from perception.spreadsheet import Sheet

if TYPE_CHECKING:
    from reasoning.benchmark import Item

__all__ = [
    "VIDEO_SUFFIXES",
    "field",
    "index_of",
    "json_lines",
    "missing_videos",
    "table",
    "video_file",
]

VIDEO_SUFFIXES = (".mp4", ".webm", ".mkv", ".mov", ".avi")
"""Tried in this order where a file of videos is named without its suffix, or with another."""

Row = tuple[str, dict[str, Any]]
"""Where a row stands (``"val.csv, line 12"``), and its fields."""


def _opened(path: Path, where_from: str) -> Iterator[str]:
    if path.is_dir():
        raise BadInput(f"{str(path)!r} is a folder, where a file is wanted. {where_from}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from file
    except FileNotFoundError:
        raise BadInput(f"There is no file {str(path)!r}. {where_from}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{str(path)!r} cannot be read ({error}). {where_from}") from None


def table(
    path: Path, columns: Sequence[str], where_from: str, numbers: Sequence[str] = ()
) -> Iterator[Row]:
    """Rows of a CSV file that has ``columns``, in any order, and may have more; its cells are
    parted by commas, semicolons or tabs. Empty lines are skipped.

    Args:
        where_from: one sentence on where the file is to be had.
        numbers: columns in which commas may be decimal points, where semicolons part the cells.

    Raises:
        BadInput: the file or a column is missing, two columns have one name, or a row has another
            number of cells than the head.
    """
    sheet = Sheet(_opened(path, where_from), where=f"{path.name}, ")
    rows = iter(sheet)
    head = [name.strip() for name in next(rows, (1, []))[1]]
    _check_head(path, head, columns)
    for line, cells in rows:
        where = f"{path.name}, line {line}"
        if len(cells) != len(head):
            raise BadInput(
                f"{where}: it has {len(cells)} cells, and line 1 names {len(head)} columns. Give "
                "the row a cell for each column, an empty one where it has no value, and put "
                "quotes around a text with commas or line breaks."
            )
        row = dict(zip(head, cells, strict=True))
        yield where, row | {name: sheet.point(row[name]) for name in numbers if name in row}


def _check_head(path: Path, head: Sequence[str], columns: Sequence[str]) -> None:
    has = ", ".join(filter(None, head)) or "none"
    if missing := [name for name in columns if name not in head]:
        raise BadInput(
            f"{path.name} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}; it has "
            f"{has}."
        )
    if twice := [name for name in dict.fromkeys(head) if name and head.count(name) > 1]:
        raise BadInput(f"{path.name}, line 1: it names {', '.join(twice)} twice; it has {has}.")


def json_lines(path: Path, fields: Sequence[str], where_from: str) -> Iterator[Row]:
    """Objects of a file of JSON lines that have ``fields``; empty lines are skipped.

    Raises:
        BadInput: the file is missing, a line is no JSON object or lacks a field.
    """
    for number, line in enumerate(_opened(path, where_from), start=1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{where}: no JSON ({error}).") from None
        if not isinstance(row, dict):
            raise BadInput(f"{where}: an object is needed, not {type(row).__name__}.")
        if missing := [name for name in fields if name not in row]:
            raise BadInput(f"{where}: there is no {', '.join(missing)}; it has {', '.join(row)}.")
        yield where, row


def field(where: str, row: Mapping[str, Any], name: str) -> str:
    """A field that must hold words."""
    value = row[name]
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where}: {name} must be words, not {value!r}.")
    return value.strip()


def index_of(where: str, row: dict[str, Any], name: str, count: int) -> int:
    """A field that must hold the index of one of ``count`` choices."""
    value = row[name]
    try:
        index = int(value)
    except (TypeError, ValueError):
        index = -1
    if not 0 <= index < count:
        raise BadInput(f"{where}: {name} must be a number from 0 to {count - 1}, not {value!r}.")
    return index


def missing_videos(folder: Path, items: Sequence[Item]) -> list[str]:
    """Names of the items' videos that are not in ``folder``, each once."""
    names = dict.fromkeys(item.video for item in items)
    return [name for name in names if video_file(folder, name) is None]


def video_file(folder: Path, name: str) -> Path | None:
    """The file of a video, whatever suffix of ``VIDEO_SUFFIXES`` it has; None where it is not."""
    named = folder / name
    if named.is_file():
        return named
    stem = named.with_suffix("") if named.suffix in VIDEO_SUFFIXES else named
    for suffix in VIDEO_SUFFIXES:
        if (path := stem.with_name(stem.name + suffix)).is_file():
            return path
    return None
