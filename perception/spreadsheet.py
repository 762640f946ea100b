"""CSV files as spreadsheets write and read them: what parts their cells, and cells that are text
and no formulas."""

from __future__ import annotations

import re

__all__ = ["delimiter_of", "inert", "said"]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_INERT = re.compile(r"''*[=+\-@\t\r]")


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
