"""What two conditions' numbers of right answers tell where nothing else is known.

A CSV file with the columns ``category``, ``questions``, ``before`` and ``after`` (right answers), a
row for each category, and one for all of them if it is known. MimeQA's section 4.2.1 (297 questions
about 30 % of its videos)::

    category,questions,before,after
    all,297,50,48
    Grounding the Imagined,43,1,3
    Working Memory,21,3,5
    Theory of Mind,23,12,8
    Social Judgment,29,10,7
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from perception.errors import BadInput
from reasoning import published, statistics
from reasoning.reports.table import Report, Section, Table, count, percent, probability, signed

__all__ = ["COLUMNS", "Margin", "read", "report"]

COLUMNS = ("category", "questions", "before", "after")
_LEVEL = 0.05
_MOST_DIGITS = 9
_DIGITS = 2
"""As section 4.2.1 prints."""


@dataclass(frozen=True, slots=True)
class Margin:
    """Right answers of ``questions`` under two conditions."""

    category: str
    questions: int
    before: int
    after: int

    @property
    def test(self) -> statistics.MarginalTest:
        """Over every pairing that the numbers allow."""
        return statistics.mcnemar_from_margins(self.before, self.after, self.questions)


def read(path: Path) -> tuple[Margin, ...]:
    """The table in a file.

    Raises:
        BadInput: a column or all rows are missing, or a number is impossible.
    """
    rows = published.table(path, COLUMNS, f"A table of margins has {', '.join(COLUMNS)}.")
    found = tuple(_margin(where, row) for where, row in rows)
    if not found:
        raise BadInput(f"{str(path)!r} has no row below its head.")
    return found


def _margin(where: str, row: dict[str, Any]) -> Margin:
    numbers = []
    for name in COLUMNS[1:]:
        text = row[name].strip()
        if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
            raise BadInput(
                f"{where}: {name} must be a whole number from 0 to {'9' * _MOST_DIGITS}, not "
                f"{text[:40]!r}."
            )
        numbers.append(int(text))
    questions, before, after = numbers
    if questions < 1 or max(before, after) > questions:
        raise BadInput(
            f"{where}: of {questions} questions {before} and {after} cannot be right; before and "
            "after are numbers of right answers, at most that of the questions."
        )
    return Margin(row["category"].strip(), questions, before, after)


def report(name: str, margins: Sequence[Margin]) -> Report:
    """What the margins tell, and what they do not."""
    tests = [each.test for each in margins]
    section = Section("margins", "Two conditions, of which only the margins are known")
    body = tuple(
        (
            each.category,
            count(each.questions),
            count(each.before),
            count(each.after),
            percent(Fraction(each.before, each.questions), _DIGITS),
            percent(Fraction(each.after, each.questions), _DIGITS),
            signed(test.difference),
            probability(test.least_p),
            probability(test.most_p),
        )
        for each, test in zip(margins, tests, strict=True)
    )
    table = Table(
        "margins",
        "Right answers before and after",
        (
            *("Category", "Questions", "Before", "After", "Before, %", "After, %", "Difference"),
            *("McNemar p, least", "McNemar p, most"),
        ),
        body,
        note="The exact McNemar test needs to know which questions changed. Its p is given for the "
        "pairing of the two margins that speaks most for a difference and for the one that speaks "
        "least.",
    )
    words = (
        "Clustered intervals not computable from margins: which questions belong to one video, and "
        "which of them changed, is not known.",
        _told(margins, tests),
    )
    return Report(
        f"Margins of {name}",
        (f"{len(margins)} rows",),
        (Section(section.name, section.title, words, (table,)),),
    )


def _told(margins: Sequence[Margin], tests: Sequence[statistics.MarginalTest]) -> str:
    lowest = min(test.least_p for test in tests)
    sure = [m.category for m, test in zip(margins, tests, strict=True) if test.most_p < _LEVEL]
    open_ = [
        m.category
        for m, test in zip(margins, tests, strict=True)
        if test.least_p < _LEVEL <= test.most_p
    ]
    if not sure and not open_:
        return (
            f"None of these differences can be told from noise at this size: over all pairings "
            f"that the margins allow, p is never under {lowest:.3f}."
        )
    parts = []
    if sure:
        parts.append(f"Whatever the pairing, p is under {_LEVEL} for {', '.join(sure)}.")
    if open_:
        parts.append(f"For {', '.join(open_)} it depends on the pairing, which is not known.")
    parts.append("This is before any correction for the number of rows.")
    return " ".join(parts)
