"""What a report is made of: sections of words, tables and plots, as Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from fusion.quoting import visible
from perception.spreadsheet import inert
from reasoning.statistics import Interval

__all__ = [
    "NONE",
    "Cell",
    "Plot",
    "Report",
    "Section",
    "Table",
    "count",
    "interval",
    "percent",
    "probability",
    "signed",
]

NONE = "–"
"""Where there is no value."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as it is printed, and in full for the CSV file."""

    text: str
    value: float | int | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a paper's layout.

    Args:
        name: of its CSV file, without the suffix.
        title: above it.
        columns: the lowest row of the head.
        rows: words or ``Cell``s, as many each as ``columns``.
        groups: rows of the head above ``columns``: words and how many columns they span.
        note: below it.
        folded: whether a page shows it only on demand (long lists).
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    groups: tuple[tuple[tuple[str, int], ...], ...] = ()
    note: str = ""
    folded: bool = False

    @property
    def numeric(self) -> tuple[bool, ...]:
        """For each column, whether it holds numbers."""
        return tuple(
            any(isinstance(row[at], Cell) for row in self.rows) for at in range(len(self.columns))
        )

    def headings(self) -> tuple[str, ...]:
        """One heading a column, with the words of its groups in front."""
        above: list[list[str]] = [[] for _ in self.columns]
        for row in self.groups:
            spread = [words for words, span in row for _ in range(span)]
            for at, words in enumerate(spread):
                if words:
                    above[at].append(words)
        return tuple(
            " ".join([*parts, name] if name else parts)
            for parts, name in zip(above, self.columns, strict=True)
        )

    def markdown(self) -> str:
        """A pipe table."""
        lines = [f"**{_plain(self.title)}**", ""]
        lines.append(_piped(self.headings()))
        lines.append("|" + "|".join("---:" if right else "---" for right in self.numeric) + "|")
        lines += [_piped(row) for row in self.rows]
        return "\n".join([*lines, *(["", _plain(self.note)] if self.note else [])])

    def csv(self) -> str:
        """With numbers in full."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(inert, self.headings()))
        writer.writerows([_full(cell) for cell in row] for row in self.rows)
        return file.getvalue()


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing as SVG, with words for those who do not see it."""

    name: str
    title: str
    svg: str
    words: str


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report: words first, then tables and plots."""

    name: str
    title: str
    words: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()

    def markdown(self) -> str:
        """Plots are told in words; the page has them."""
        parts = [f"## {_plain(self.title)}", *map(_plain, self.words)]
        parts += [table.markdown() for table in self.tables]
        parts += [f"*{_plain(plot.title)}: {_plain(plot.words)}*" for plot in self.plots]
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Report:
    """Sections under a title, with the facts that stand above them."""

    title: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them, in order."""
        return tuple(table for section in self.sections for table in section.tables)

    def markdown(self) -> str:
        """The whole report."""
        head = [f"# {_plain(self.title)}", " · ".join(map(_plain, self.facts))]
        parts = [part for part in head if part]
        return "\n\n".join([*parts, *(each.markdown() for each in self.sections)]) + "\n"


def _plain(words: str) -> str:
    """Without line breaks, tags, links and pictures."""
    return visible(words).replace("\n", " ").replace("<", "&lt;").replace("](", "]\\(").strip()


def _piped(cells: Sequence[object]) -> str:
    return "| " + " | ".join(_plain(str(each)).replace("|", "\\|") for each in cells) + " |"


def _full(cell: object) -> Any:
    if isinstance(cell, Cell):
        return cell.text if cell.value is None else cell.value
    return inert(str(cell))


def percent(share: float | Fraction | None, digits: int = 1) -> Cell:
    """A share in [0, 1] in per cent, halves rounded up as the papers do; pass a ``Fraction`` for
    exact halves."""
    if share is None:
        return Cell(NONE)
    exact = Fraction(share) * 100
    number = Decimal(exact.numerator) / Decimal(exact.denominator)
    step = Decimal(1).scaleb(-digits)
    return Cell(str(number.quantize(step, ROUND_HALF_UP)), float(share))


def signed(difference: float | None) -> Cell:
    """A difference of shares in percentage points."""
    if difference is None:
        return Cell(NONE)
    points = round(100 * difference, 1) + 0.0
    return Cell(f"{points:+.1f}".replace("-", "−"), difference)


def interval(given: Interval | None, of_difference: bool = False) -> str:
    """An interval of shares in per cent."""
    if given is None:
        return NONE
    ends = (given.low, given.high)
    if of_difference:
        return " to ".join(str(signed(end)) for end in ends)
    return " to ".join(str(percent(end)) for end in ends)


def probability(p: float | None) -> Cell:
    """A p value with three digits."""
    if p is None:
        return Cell(NONE)
    return Cell("<0.001" if p < 0.001 else f"{p:.3f}", p)


def counted(number: int, thing: str) -> str:
    """``1 question``, ``3 questions``."""
    return f"{number} {thing}{'s' * (number != 1)}"


def count(number: int) -> Cell:
    """A whole number."""
    return Cell(str(number), number)
