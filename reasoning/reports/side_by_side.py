"""Conditions side by side in the layouts of MimeQA's Tables 4 (videos with and without text), 5
(with and without title) and 6 (with and without chain of thought)."""

from __future__ import annotations

from reasoning.reports.categories import layout
from reasoning.reports.given import (
    Given,
    Kind,
    Pairing,
    Row,
    accuracy_of,
    heading,
    rows,
    share,
    sorted_categories,
)
from reasoning.reports.table import NONE, Cell, Section, Table, count, interval, percent
from reasoning.results.outcomes import Outcome, Outcomes

__all__ = ["section"]


def section(given: Given) -> Section | None:
    """The tables for which the study has the conditions, or the videos a side."""
    tables = [
        *_titles(given.outcomes, given.paired(Kind.TITLE)),
        *_thought(given.outcomes, given.paired(Kind.CHAIN_OF_THOUGHT)),
    ]
    words = []
    if given.with_text:
        tables.append(_by_text(given))
        words.append(_undecided(given))
    if not tables:
        return None
    return Section("side_by_side", "Text, titles, chain of thought", tuple(words), tuple(tables))


def _titles(outcomes: Outcomes, pairings: tuple[Pairing, ...]) -> list[Table]:
    tables = []
    for number, pair in enumerate(pairings, start=1):
        body = [
            Row(row.model, row.condition, row.outcomes, f"{row.model} ({words})")
            for condition, words in ((pair.having, "with title"), (pair.without, "without title"))
            for row in rows(outcomes, [condition])
        ]
        title = "Accuracy in per cent with and without the video's title"
        tables.append(layout(f"titles_{number}", title, body, sorted_categories(outcomes)))
    return tables


def _thought(outcomes: Outcomes, pairings: tuple[Pairing, ...]) -> list[Table]:
    tables = []
    for number, pair in enumerate(pairings, start=1):
        body = []
        for model in outcomes.models:
            of_model = [row for row in outcomes.rows if row.model == model]
            sides = (pair.without, pair.having)
            cells = [percent(share([r for r in of_model if r.condition == c])) for c in sides]
            body.append((model, *cells))
        tables.append(
            Table(
                f"chain_of_thought_{number}",
                "Accuracy in per cent with and without chain of thought",
                ("Model", "Without CoT", "With CoT"),
                tuple(body),
                note=f"Without is {pair.without!r}, with is {pair.having!r}.",
            )
        )
    return tables


def _by_text(given: Given) -> Table:
    body = []
    for row in rows(given.outcomes):
        sides = [
            [each for each in row.outcomes.rows if given.with_text.get(each.video) is side]
            for side in (True, False)
        ]
        body.append((row.label, *(cell for side in sides for cell in _side(side))))
    per_side = ("Accuracy", "95 % interval", "Questions")
    return Table(
        "with_and_without_text",
        "Accuracy in per cent on videos with and without text",
        (heading(rows(given.outcomes)), *per_side, *per_side),
        tuple(body),
        ((("", 1), ("With Text", 3), ("Without Text", 3)),),
        "Other videos stand on the two sides: a difference may be one of the videos, not of "
        "the text.",
    )


def _side(outcomes: list[Outcome]) -> tuple[Cell, str, Cell]:
    scored = [row for row in outcomes if row.score is not None]
    if not scored:
        return Cell(NONE), NONE, count(0)
    found = accuracy_of(scored)
    return percent(share(scored)), interval(found.interval), count(found.n)


def _undecided(given: Given) -> str:
    videos = dict.fromkeys(row.video for row in given.outcomes.rows)
    sides = [given.with_text.get(video) for video in videos]
    undecided = [video for video in videos if video not in given.with_text]
    told = (
        f"{sides.count(True)} videos hold text that means something, {sides.count(False)} do not."
    )
    if undecided:
        told += f" Undecided, and left out: {', '.join(undecided)}."
    return told
