"""Paired differences from the baseline, per category and level, and what may be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from reasoning import statistics
from reasoning.reports import plots
from reasoning.reports.given import Given, short, sorted_categories
from reasoning.reports.table import (
    NONE,
    Cell,
    Plot,
    Section,
    Table,
    count,
    counted,
    interval,
    percent,
    probability,
    signed,
)
from reasoning.results.outcomes import Outcomes

__all__ = ["Compared", "between", "compare", "section", "verdict"]

ALL = "all"
_LEVEL = 0.05
_FEWEST_VIDEOS = 2
_COLUMNS = (
    *("Compared", "Questions", "Before", "After", "Difference", "95 % interval"),
    *("Gained", "Lost", "McNemar p", "Holm", "Clustered p", "Holm (clustered)"),
    *("Could have shown", "In words"),
)


class _Question(NamedTuple):
    """Mean scores of one model and question over the repeats that both conditions have."""

    video: str
    category: str
    level: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Compared:
    """One paired difference of a family.

    Args:
        name: category, level or ``all``.
        before, after: accuracies over the questions compared.
        difference: see ``statistics.Difference``.
        holm: McNemar's p, adjusted over the family.
        holm_clustered: p of the randomisation by video, adjusted likewise.
        smallest: the smallest difference that McNemar's test would have found in four of five such
            samples; None = not even if all changes went one way.
    """

    name: str
    before: float
    after: float
    difference: statistics.Difference
    holm: float
    holm_clustered: float
    smallest: float | None


def section(given: Given) -> Section | None:
    """Every condition against the baseline; None where no question is scored under both."""
    return between(given.outcomes, [(given.baseline, other) for other in given.others])


def between(outcomes: Outcomes, pairs: Sequence[tuple[str, str]]) -> Section | None:
    """A table for each model and pair of conditions. Each is a family of tests of its own, and so
    are the first rows of all tables together."""
    families: list[tuple[str, str, tuple[Compared, ...]]] = []
    alike: list[str] = []
    for model in outcomes.models:
        of_model = outcomes.where(lambda row, m=model: row.model == m)  # type: ignore[misc]
        for before, after in pairs:
            if not {before, after} <= set(of_model.conditions):
                continue
            found = compare(of_model, before, after)
            if found:
                told = f"{model}, {after}" if len(outcomes.models) > 1 else after
                families.append((told, before, found))
                alike.append(_alike(of_model, before, after))
    if not families:
        return None
    firsts = _adjusted([found[0] for *_, found in families])
    lines = [(told, first) for (told, *_), first in zip(families, firsts, strict=True)]
    tables = [
        _table(number, told, before, (first, *found[1:]))
        for number, ((told, before, found), first) in enumerate(
            zip(families, firsts, strict=True), start=1
        )
    ]
    words = [
        "Every difference is paired by question, in percentage points; repeats of a question are "
        "averaged first. Intervals are of the bootstrap over videos, widened to Student's where "
        "videos are few; McNemar's test is exact and takes questions for independent; clustered "
        "p swaps the conditions video by video. Holm's correction is over the rows of a table, and "
        f"for its row {ALL!r} also over that row of all tables: the larger p is told. "
        "Could have shown: the smallest true difference that the exact McNemar test would find in "
        "four of five samples with as many changes, at the videos' effective sample size; "
        f"{NONE} = not even if all changes went one way.",
        *(
            f"{told}: {_sentence(found)}{same}"
            for (told, found), same in zip(lines, alike, strict=True)
        ),
    ]
    return Section("differences", "Differences", tuple(words), tuple(tables), (_plot(lines),))


def _alike(outcomes: Outcomes, before: str, after: str) -> str:
    """A sentence on the questions that both conditions ask in the same words and pictures."""
    pairs = outcomes.pairs(before, after)
    same = sum(pair.is_same for pair in pairs)
    if not same:
        return ""
    return f" {same} of {len(pairs)} answers are those of {before}: the prompt is the same."


def _adjusted(firsts: Sequence[Compared]) -> list[Compared]:
    """The first rows of several tables with the larger p of two corrections: within their own
    table, and over each other."""
    holm = statistics.holm([each.difference.p_mcnemar for each in firsts])
    clustered = statistics.holm([each.difference.p_clustered for each in firsts])
    return [
        replace(
            each,
            holm=max(each.holm, holm[at]),
            holm_clustered=max(each.holm_clustered, clustered[at]),
        )
        for at, each in enumerate(firsts)
    ]


def compare(outcomes: Outcomes, before: str, after: str, *, seed: int = 0) -> tuple[Compared, ...]:
    """All questions, then each level of several categories, then each category, as far as they have
    a question under both.

    Raises:
        UnknownName: the study has no such condition.
    """
    questions = _questions(outcomes, before, after)
    groups: list[tuple[str, list[_Question]]] = [(ALL, questions)]
    categories = sorted_categories(outcomes)
    of_level: dict[str, set[str]] = {}
    for each in questions:
        of_level.setdefault(each.level, set()).add(each.category)
    if len(of_level) > 1:
        groups += [
            (name, [q for q in questions if q.level == name])
            for name, inside in of_level.items()
            if name and len(inside) > 1
        ]
    if len(categories) > 1:
        groups += [(name, [q for q in questions if q.category == name]) for name in categories]
    groups = [(name, part) for name, part in groups if part]
    differences = [_difference(part, seed) for _, part in groups]
    holm = statistics.holm([each.p_mcnemar for each in differences])
    clustered = statistics.holm([each.p_clustered for each in differences])
    return tuple(
        Compared(
            name,
            sum(q.before for q in part) / len(part),
            sum(q.after for q in part) / len(part),
            difference,
            holm[at],
            clustered[at],
            _smallest(part, difference),
        )
        for at, ((name, part), difference) in enumerate(zip(groups, differences, strict=True))
    )


def _questions(outcomes: Outcomes, before: str, after: str) -> list[_Question]:
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    facts = {}
    for pair in outcomes.pairs(before, after):
        key = (pair.before.model, pair.before.question)
        found.setdefault(key, []).append((pair.before.score or 0.0, pair.after.score or 0.0))
        facts[key] = pair.before
    return [
        _Question(
            facts[key].video,
            facts[key].category,
            facts[key].level,
            sum(first for first, _ in scores) / len(scores),
            sum(second for _, second in scores) / len(scores),
        )
        for key, scores in found.items()
    ]


def _difference(part: Sequence[_Question], seed: int) -> statistics.Difference:
    return statistics.paired_difference(
        [q.before for q in part], [q.after for q in part], [q.video for q in part], seed=seed
    )


def _smallest(part: Sequence[_Question], found: statistics.Difference) -> float | None:
    discordant = (found.gained + found.lost) / found.n
    if not discordant:
        return None
    return statistics.smallest_difference(found.n, discordant, design_effect=_effect(part))


def _effect(part: Sequence[_Question]) -> float:
    """By which videos divide the effective number of questions: the variance of the mean change
    with videos as draws, over that with questions as draws."""
    change = np.array([q.after - q.before for q in part])
    change = change - change.mean()
    _, owner = np.unique([q.video for q in part], return_inverse=True)
    sums = np.bincount(owner, weights=change)
    total = float((change**2).sum())
    if len(sums) < 2 or total == 0:
        return 1.0
    return max(1.0, len(sums) / (len(sums) - 1) * float((sums**2).sum()) / total)


def verdict(found: Compared) -> str:
    """What may be said of the difference."""
    if found.difference.clusters < _FEWEST_VIDEOS:
        return "one video tells nothing of others"
    if not (found.difference.gained or found.difference.lost):
        return "no question changed"
    if found.difference.within_noise:
        return "within noise"
    if max(found.holm, found.holm_clustered) >= _LEVEL:
        return "not clear after Holm"
    return "gain" if found.difference.value > 0 else "loss"


def _interval(difference: statistics.Difference) -> str:
    """None of one video: the bootstrap has nothing to draw from."""
    known = difference.clusters >= _FEWEST_VIDEOS
    return interval(difference.interval if known else None, of_difference=True)


def _sentence(found: Compared) -> str:
    difference = found.difference
    told = f"{signed(difference.value)} points ({_interval(difference)})"
    if found.smallest is None:
        power = "No difference of any size could have been shown with so few changes."
    else:
        power = f"A difference of {percent(found.smallest)} points could have been shown."
    return f"{told} over {counted(difference.n, 'question')}: {verdict(found)}. {power}"


def _table(number: int, told: str, baseline: str, family: Sequence[Compared]) -> Table:
    return Table(
        f"difference_{number}",
        f"{told} against {baseline}",
        _COLUMNS,
        tuple(_row(each) for each in family),
    )


def _row(each: Compared) -> tuple[str | Cell, ...]:
    difference = each.difference
    return (
        short(each.name),
        count(difference.n),
        percent(each.before),
        percent(each.after),
        signed(difference.value),
        _interval(difference),
        count(difference.gained),
        count(difference.lost),
        probability(difference.p_mcnemar),
        probability(each.holm),
        probability(difference.p_clustered),
        probability(each.holm_clustered),
        percent(each.smallest),
        verdict(each),
    )


def _plot(lines: Sequence[tuple[str, Compared]]) -> Plot:
    svg = plots.intervals(
        [
            (
                told,
                100 * each.difference.value,
                100 * each.difference.interval.low,
                100 * each.difference.interval.high,
            )
            for told, each in lines
        ],
        "Difference in percentage points",
        zero=True,
    )
    words = "; ".join(f"{told} {signed(each.difference.value)}" for told, each in lines)
    return Plot("differences", "Differences over all questions, 95 % intervals", svg, words)
