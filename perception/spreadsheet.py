"""Cells of CSV files that spreadsheets take for text and not for formulas."""

from __future__ import annotations

import re

__all__ = ["inert", "said"]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_INERT = re.compile(r"''*[=+\-@\t\r]")


def inert(cell: str) -> str:
    """The cell with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def said(cell: str) -> str:
    """What ``inert`` was given."""
    return cell[1:] if _INERT.match(cell) else cell
