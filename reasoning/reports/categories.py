"""Accuracy per category in the layout of MimeQA's Tables 1, 2, 5 and 8: the average, then a column
for each category under its level; two a category where conditions with and without video stand side
by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from reasoning.benchmarks import mimeqa
from reasoning.reports import mimeqa_published as published
from reasoning.reports.given import (
    SHORT,
    Given,
    Kind,
    Row,
    heading,
    rows,
    share,
    short,
    sorted_categories,
)
from reasoning.reports.table import NONE, Cell, Section, Table, percent
from reasoning.results.outcomes import Outcome, Outcomes

__all__ = ["beside_paper", "layout", "section"]

_VL, _L = "VL", "L"
_LETTERS = "; ".join(f"{letters} = {name}" for name, letters in SHORT.items())


def section(given: Given) -> Section:
    """All rows, then conditions with and without video side by side."""
    outcomes = given.outcomes
    categories = sorted_categories(outcomes)
    tables = [layout("accuracy", "Accuracy in per cent", rows(outcomes), categories)]
    tables += [
        _side_by_side(number, given, pair.without, pair.having, categories)
        for number, pair in enumerate(given.paired(Kind.VIDEO), start=1)
    ]
    words = ("Averages are over questions, not over categories.",)
    return Section("accuracy", "Accuracy by category", words, tuple(tables))


def beside_paper(given: Given) -> Section | None:
    """MimeQA's Table 1, the rows that are one of its own, and its cells that were cut off; None
    where no row has the paper's 806 questions."""
    if not _is_mimeqa(given.outcomes):
        return None
    words = [
        *_against_paper(given.outcomes),
        "Four cells of the paper come from no count of right answers by rounding; they were cut "
        "off after one decimal.",
        *(cut.words for cut in published.cut_cells()),
    ]
    tables = (_published(), *(_as_printed(*each) for each in _OTHERS))
    return Section("published", "Beside the paper", tuple(words), tables)


def layout(
    name: str, title: str, given: Sequence[Row], categories: Sequence[str], note: str = ""
) -> Table:
    """The layout of Tables 2, 5 and 8: a row for each model and condition."""
    body = tuple((row.label, *_cells(row.outcomes, categories)) for row in given)
    return Table(
        name,
        title,
        (heading(given), "Avg", *map(short, categories)),
        body,
        (_levels(given[0].outcomes, categories, 2, 1),),
        note or _letters(categories),
    )


def _cells(outcomes: Outcomes, categories: Sequence[str]) -> tuple[Cell, ...]:
    parts = _by_category(outcomes)
    return (percent(share(outcomes.rows)), *(percent(share(parts.get(c, ()))) for c in categories))


def _by_category(outcomes: Outcomes) -> dict[str, list[Outcome]]:
    parts: dict[str, list[Outcome]] = {}
    for row in outcomes.rows:
        parts.setdefault(row.category, []).append(row)
    return parts


def _letters(categories: Sequence[str]) -> str:
    return _LETTERS if any(name in SHORT for name in categories) else ""


def _levels(
    outcomes: Outcomes, categories: Sequence[str], first: int, width: int
) -> tuple[tuple[str, int], ...]:
    """The row of the head that groups categories by level, after ``first`` free columns."""
    level = {str(kind): name for kind, name in mimeqa.LEVELS.items()}
    level |= {row.category: row.level for row in outcomes.rows if row.level}
    spans: list[tuple[str, int]] = [("", first)]
    for category in categories:
        words = level.get(category, "")
        if spans[-1][0] == words and len(spans) > 1:
            spans[-1] = (words, spans[-1][1] + width)
        else:
            spans.append((words, width))
    return tuple(spans)


def _side_by_side(
    number: int, given: Given, blind: str, seeing: str, categories: Sequence[str]
) -> Table:
    body = []
    for model in given.outcomes.models:
        of_model = given.outcomes.where(lambda row, m=model: row.model == m)  # type: ignore[misc]
        there = of_model.conditions
        pair = [
            _cells(of_model.under(each), categories)
            if each in there
            else (Cell(NONE),) * (1 + len(categories))
            for each in (seeing, blind)
        ]
        body.append((model, *(cell for both in zip(*pair, strict=True) for cell in both)))
    names = (("", 1), ("Avg", 2), *((short(category), 2) for category in categories))
    return Table(
        f"accuracy_video_and_text_{number}",
        "Accuracy in per cent with video and text (VL) and with text only (L)",
        ("Model", *(source for _ in range(1 + len(categories)) for source in (_VL, _L))),
        tuple(body),
        (_levels(given.outcomes, categories, 3, 2), names),
        f"VL is {seeing!r}, L is {blind!r}. {_letters(categories)}",
    )


def _is_mimeqa(outcomes: Outcomes) -> bool:
    """Whether some row has the paper's 806 questions."""
    return any(_counted(row.outcomes) is not None for row in rows(outcomes))


def _counted(outcomes: Outcomes) -> tuple[int, ...] | None:
    """Right answers per category in the paper's order; None unless the questions are the paper's
    806, each scored once, right or wrong."""
    parts = _by_category(outcomes)
    found = []
    for name, letters in SHORT.items():
        scores = [row.score for row in parts.get(str(name), ())]
        if len(scores) != published.QUESTIONS[letters] or not {0.0, 1.0}.issuperset(scores):
            return None
        found.append(sum(score == 1.0 for score in scores))
    return tuple(found) if len(parts) == len(SHORT) else None


def _against_paper(outcomes: Outcomes) -> list[str]:
    """For every row with the same counts as one of the paper's: what the paper prints otherwise."""
    words = []
    for row in rows(outcomes):
        counts = _counted(row.outcomes)
        for (model, source), cells in published.TABLE_1.items():
            if counts is None or published.right_answers(cells) != counts:
                continue
            ours = [percent(share(row.outcomes.rows))]
            ours += [
                percent(Fraction(k, n))
                for k, n in zip(counts, published.QUESTIONS.values(), strict=True)
            ]
            names = ("Avg", *published.QUESTIONS)
            other = [
                f"{name} {cell} (the paper cut it off to {printed})"
                for name, cell, printed in zip(names, ours, cells, strict=True)
                if str(cell) != printed
            ]
            same = "in every cell" if not other else f"but for {', '.join(other)}"
            words.append(f"{row.label}: the paper's row {model} {source} {same}.")
    return words


def _published() -> Table:
    sources = dict.fromkeys(model for model, _ in published.TABLE_1)
    empty = (NONE,) * (1 + len(published.QUESTIONS))
    body = []
    for model in sources:
        both = [published.TABLE_1.get((model, source), empty) for source in (_VL, _L)]
        cells = (cell for pair in zip(*both, strict=True) for cell in pair)
        body.append((model, *(Cell(c) if c == NONE else Cell(c, float(c)) for c in cells)))
    categories = tuple(map(str, SHORT))
    return Table(
        "mimeqa_table_1_published",
        "As published: MimeQA, Table 1",
        ("Model", *(source for _ in range(1 + len(categories)) for source in (_VL, _L))),
        tuple(body),
        (
            _levels(Outcomes(()), categories, 3, 2),
            (("", 1), ("Avg", 2), *((letters, 2) for letters in SHORT.values())),
        ),
        _LETTERS,
        folded=True,
    )


_BY_CATEGORY = ("Avg", *SHORT.values())
_OTHERS: tuple[tuple[int, str, tuple[str, ...], Mapping[str, tuple[str, ...]]], ...] = (
    (2, "fine-tuned and base model, held-out fifth", _BY_CATEGORY, published.TABLE_2),
    (4, "videos with and without text", ("With Text", "Without Text"), published.TABLE_4),
    (5, "with and without title", _BY_CATEGORY, published.TABLE_5),
    (6, "chain of thought", ("Without CoT", "With CoT"), published.TABLE_6),
    (7, "correlation with GI", tuple(SHORT.values())[1:], published.TABLE_7),
    (8, "GPT-o3", _BY_CATEGORY, published.TABLE_8),
)


def _as_printed(
    number: int, about: str, columns: tuple[str, ...], rows: Mapping[str, tuple[str, ...]]
) -> Table:
    body = tuple(
        (name, *(Cell(cell, float(cell)) for cell in cells)) for name, cells in rows.items()
    )
    title = f"As published: MimeQA, Table {number}, {about}"
    return Table(f"mimeqa_table_{number}_published", title, ("Model", *columns), body, folded=True)
