"""A report as one self-contained HTML file, as Markdown, and as a CSV file for each table.

The page asks for nothing outside itself. Its words may come from models and videos: everything is
escaped, and a content security policy allows no script.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from perception.whole import write_whole
from reasoning.reports.table import Report, Table
from reasoning.templates import templates_in

__all__ = ["page", "write"]

_HERE = Path(__file__).parent
_SHORT = 26
"""Characters up to which a cell stays on one line."""
_NO_FILE_NAME = re.compile(r"[^\w.-]+")


def page(report: Report) -> str:
    """The HTML of the page; the same report gives the same text."""
    return _template().render(report=report, style=asset("page.css"))


def write(report: Report, stem: Path) -> tuple[Path, ...]:
    """Write ``stem``.html, ``stem``.md and ``stem``.tables/NAME.csv; returns their paths.

    Raises:
        StorageError: the folder cannot be written.
    """
    beside = stem.with_name(f"{stem.name}.tables")
    files = {
        stem.with_name(f"{stem.name}.html"): page(report),
        stem.with_name(f"{stem.name}.md"): report.markdown(),
        **{beside / f"{file_name(table.name)}.csv": table.csv() for table in report.tables},
    }
    for path, text in files.items():
        write_whole(path, text.encode("utf-8", "replace"))
    return tuple(files)


def file_name(words: str) -> str:
    """``words`` as part of a file's name."""
    return _NO_FILE_NAME.sub("_", words).strip("._")[:80] or "report"


def _cells(table: Table) -> list[list[tuple[str, str]]]:
    """Each cell's words and class: numbers, columns of few words, and others."""
    longest = [max(map(len, map(str, column))) for column in zip(*table.rows, strict=True)]
    kinds = [
        "number" if number else "short" if length <= _SHORT else "long"
        for number, length in zip(table.numeric, longest, strict=bool(table.rows))
    ]
    return [
        [(str(cell), kind) for cell, kind in zip(row, kinds, strict=True)] for row in table.rows
    ]


@cache
def asset(name: str) -> Markup:
    """A file beside this one, as it stands."""
    return Markup((_HERE / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


@cache
def environment() -> jinja2.Environment:
    """That of all templates beside this file."""
    return templates_in(_HERE, drawn=Markup, cells=_cells)


def _template() -> jinja2.Template:
    return environment().get_template("page.html.jinja")
