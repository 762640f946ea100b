"""CSV files as spreadsheets write and read them: what parts their cells, numbers with a comma in
them, and cells that are text and no formulas."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from perception.errors import BadInput
from perception.text_file import MAX_BYTES

__all__ = ["Sheet", "columns_of", "delimiter_of", "inert", "said"]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_INERT = re.compile(r"''*[=+\-@\t\r]")
_DECIMAL_COMMA = re.compile(r"[^.,]*,[^.,]*")


class Sheet:
    """The rows of a CSV file; its cells are parted by commas, semicolons or tabs and are as long
    as they are. Rows of empty cells are none.

    Args:
        text: all of it, or its lines with their ends.
        strict: whether words behind a closing quote are a fault, and spaces before an opening one
            none.
        where: what errors say before the line.
    """

    def __init__(self, text: str | Iterable[str], *, strict: bool = False, where: str = "") -> None:
        lines = iter(io.StringIO(text, newline="") if isinstance(text, str) else text)
        begun: list[str] = []
        for line in lines:
            begun.append(line)
            if line.strip():
                break
        csv.field_size_limit(MAX_BYTES)
        self._where = where
        self.delimiter = delimiter_of(begun[-1] if begun else "")
        self._reader = csv.reader(
            itertools.chain(begun, lines),
            delimiter=self.delimiter,
            strict=strict,
            skipinitialspace=strict,
        )

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """The line on which a row begins, and its cells.

        Raises:
            BadInput: a row is no CSV; says on which line it begins.
        """
        while True:
            first = self._reader.line_num + 1
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                why = str(error)
                if self._reader.line_num > first or "end of data" in why:
                    why += "; a quote opens in the row that begins here and is not closed in it"
                raise BadInput(f"{self._where}line {first}: it is no CSV: {why}.") from None
            if cells is None:
                return
            if any(cells):
                yield first, cells

    def point(self, cell: str) -> str:
        """A number as ``float`` reads it: semicolons or tabs part the cells where commas are
        decimal points."""
        is_comma = self.delimiter != "," and _DECIMAL_COMMA.fullmatch(cell)
        return cell.replace(",", ".") if is_comma else cell


def columns_of(cells: Sequence[str], needed: Sequence[str]) -> list[str]:
    """The names of the columns.

    Args:
        cells: the first row.
        needed: columns that there must be.

    Raises:
        BadInput: one is missing, or two have one name.
    """
    columns = [name.strip() for name in cells]
    has = ", ".join(filter(None, columns)) or "none"
    for name in needed:
        if name not in columns:
            raise BadInput(f"it lacks the column {name!r}; it has {has}")
    for name in filter(None, columns):
        if columns.count(name) > 1:
            raise BadInput(f"it names the column {name!r} twice; it has {has}")
    return columns


def delimiter_of(head: str) -> str:
    """What parts the cells of a file with this first line: comma, tab, or semicolon, which
    spreadsheets write where commas are decimal points."""
    return max(",;\t", key=head.count)


def inert(cell: str) -> str:
    """The cell with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def said(cell: str) -> str:
    """What ``inert`` was given."""
    return cell[1:] if _INERT.match(cell) else cell
