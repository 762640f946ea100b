"""Accuracy with its interval, what failed or was not scored, and how decoding varies."""

from __future__ import annotations

import math
from collections import Counter

from reasoning import statistics
from reasoning.reports import plots
from reasoning.reports.given import Given, Row, accuracy_of, heading, rows, share
from reasoning.reports.table import NONE, Cell, Plot, Section, Table, count, interval, percent
from reasoning.results.outcomes import Outcomes, State

__all__ = ["section"]

_REASONS = 5


def section(given: Given) -> Section:
    """Both tables, and a drawing of the intervals."""
    all_rows = rows(given.outcomes)
    measured = [(row, _accuracy(row.outcomes)) for row in all_rows]
    words = [
        "Intervals are of 95 % and clustered by video: questions about one video share what the "
        "model saw of it. The design effect says by how much that widens the variance."
    ]
    few = [row.label for row, found in measured if found is not None and found.clusters < 2]
    if few:
        words.append(
            f"One video says nothing about others: the interval of {', '.join(few)} is 0 to 100."
        )
    tables = [_table(measured)]
    tables += [_missing(all_rows)]
    words += _missing_words(all_rows)
    spread = _spread(all_rows)
    plot = _plot([(row.label, found) for row, found in measured if found is not None])
    return Section(
        "intervals",
        "How sure the accuracies are",
        tuple(words),
        (*tables, *([spread] if spread else [])),
        (plot,) if plot else (),
    )


def _accuracy(outcomes: Outcomes) -> statistics.Accuracy | None:
    scored = outcomes.scored.rows
    if not scored:
        return None
    return accuracy_of(scored)


def _table(measured: list[tuple[Row, statistics.Accuracy | None]]) -> Table:
    body = []
    for row, found in measured:
        if found is None:
            body.append((row.label, Cell(NONE), NONE, count(0), count(0), Cell(NONE)))
            continue
        effect = found.design_effect
        shown = Cell(NONE) if math.isnan(effect) else Cell(f"{effect:.2f}", effect)
        body.append(
            (
                row.label,
                percent(found.value),
                interval(found.interval),
                count(found.n),
                count(found.clusters),
                shown,
            )
        )
    return Table(
        "intervals",
        "Accuracy in per cent with its interval",
        (
            heading([row for row, _ in measured]),
            "Accuracy",
            "95 % interval",
            "Scored answers",
            "Videos",
            "Design effect",
        ),
        tuple(body),
    )


def _missing(all_rows: tuple[Row, ...]) -> Table:
    body = []
    for row in all_rows:
        total = len(row.outcomes.rows)
        failed = sum(each.state is State.FAILED for each in row.outcomes.rows)
        unscored = sum(each.state is State.UNSCORED for each in row.outcomes.rows)
        worst, best = row.outcomes.bounds()
        complete = not (failed or unscored)
        body.append(
            (
                row.label,
                count(total),
                count(failed),
                percent(failed / total),
                count(unscored),
                percent(unscored / total),
                Cell(NONE) if complete else percent(worst),
                Cell(NONE) if complete else percent(best),
            )
        )
    return Table(
        "missing",
        "Failures and answers without a verdict",
        (
            *(heading(all_rows), "Asked", "Failed", "Failed, %", "Unscored", "Unscored, %"),
            *("Accuracy at worst", "Accuracy at best"),
        ),
        tuple(body),
        note="Neither is counted as wrong or as right. At worst all of them are wrong, at best all "
        "are right.",
    )


def _missing_words(all_rows: tuple[Row, ...]) -> list[str]:
    missing = [
        row.label for row in all_rows if len(row.outcomes.scored.rows) < len(row.outcomes.rows)
    ]
    if not missing:
        return ["Every question was answered and scored."]
    why = Counter(
        each.reason for row in all_rows for each in row.outcomes.rows if each.score is None
    )
    told = "; ".join(f"{reason} ({count})" for reason, count in why.most_common(_REASONS) if reason)
    return [
        f"Not every question has a score under: {'; '.join(missing)}.",
        *([f"The commonest reasons: {told}."] if told else []),
    ]


def _spread(all_rows: tuple[Row, ...]) -> Table | None:
    """Accuracy of each repeat, where there are several."""
    body = []
    for row in all_rows:
        repeats = sorted({each.repeat for each in row.outcomes.rows})
        shares = [
            share(row.outcomes.where(lambda each, r=repeat: each.repeat == r).rows)  # type: ignore[misc]
            for repeat in repeats
        ]
        values = [float(each) for each in shares if each is not None]
        if len(values) < 2:
            continue
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
        body.append(
            (row.label, count(len(values)), *map(percent, (min(values), max(values), deviation)))
        )
    if not body:
        return None
    return Table(
        "repeats",
        "How the accuracy varies with decoding, in per cent",
        (heading(all_rows), "Repeats", "Lowest", "Highest", "Standard deviation"),
        tuple(body),
    )


def _plot(measured: list[tuple[str, statistics.Accuracy]]) -> Plot | None:
    if not measured:
        return None
    svg = plots.intervals(
        [
            (label, 100 * found.value, 100 * found.interval.low, 100 * found.interval.high)
            for label, found in measured
        ],
        "Accuracy in per cent",
    )
    told = "; ".join(f"{label} {percent(found.value)}" for label, found in measured)
    return Plot("intervals", "Accuracy with 95 % intervals", svg, told)
