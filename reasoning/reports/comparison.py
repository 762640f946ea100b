"""Two runs side by side: the same conditions and questions, and what the runs were made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from perception.errors import BadInput, UnknownName
from reasoning.reports import categories, differences, flips, intervals, trade_offs_compared, vimu
from reasoning.reports.given import Given
from reasoning.reports.stamps import flat, made_with
from reasoning.reports.table import Report, Section, Table, counted
from reasoning.reports.trade_offs_compared import Compared
from reasoning.results.outcomes import Outcomes

__all__ = ["compare"]

_MOST_DIFFERENCES = 500


def compare(
    first: Given, second: Given, names: tuple[str, str], conditions: tuple[str, str] | None = None
) -> Report:
    """What the second run has over the first.

    Args:
        first, second: the runs.
        names: how they are called.
        conditions: one of each that are compared; None = all that both have, or the only one of
            each.

    Raises:
        UnknownName: a run has no such condition.
        BadInput: the runs have no condition or no question in common.
    """
    other = _reworded(first, second)
    runs = _one_model(*(_without(run.outcomes, other) for run in (first, second)))
    pairs = _pairs(runs, conditions)
    if names[0] == names[1]:
        names = (f"{names[0]} (A)", f"{names[1]} (B)")
    labels = [(f"{names[0]}: {before}", f"{names[1]}: {after}") for before, after in pairs]
    joined = Outcomes(
        tuple(
            replace(row, condition=label[side])
            for pair, label in zip(pairs, labels, strict=True)
            for side, run in enumerate(runs)
            for row in run.under(pair[side]).rows
        )
    )
    if not any(joined.pairs(before, after) for before, after in labels):
        raise BadInput(
            f"No question has a score in both runs; {names[0]} asks e.g. "
            f"{first.outcomes.rows[0].question!r} of {first.outcomes.rows[0].model}, {names[1]} "
            f"{second.outcomes.rows[0].question!r} of {second.outcomes.rows[0].model}."
        )
    given = Given(joined, labels[0][0], asked={**first.asked, **second.asked})
    sides = [
        Compared(name, run, each.baseline)
        for name, run, each in zip(names, runs, (first, second), strict=True)
    ]
    made = (
        differences.between(joined, labels),
        trade_offs_compared.section(sides[0], sides[1], pairs, first.split),
        categories.section(given),
        vimu.section(given),
        intervals.section(given),
        flips.between(given, labels),
        _made_with(first.stamps, second.stamps, names),
    )
    facts = (
        *_reworded_words(other),
        *_corrected(first, second),
        _told(first, second, other),
        *dict.fromkeys((*first.notes, *second.notes)),
    )
    sections = tuple(section for section in made if section is not None)
    return Report(f"{names[1]} against {names[0]}", facts, sections)


def _one_model(first: Outcomes, second: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Two runs of one model each are paired though the models differ."""
    if len(first.models) > 1 or len(second.models) > 1 or first.models == second.models:
        return first, second
    both = f"{first.models[0]} → {second.models[0]}"
    renamed = [
        Outcomes(tuple(replace(row, model=both) for row in run.rows)) for run in (first, second)
    ]
    return renamed[0], renamed[1]


def _pairs(
    runs: tuple[Outcomes, Outcomes], conditions: tuple[str, str] | None
) -> list[tuple[str, str]]:
    if conditions is not None:
        for run, name in zip(runs, conditions, strict=True):
            if name not in run.conditions:
                raise UnknownName("condition", name, run.conditions)
        return [conditions]
    first, second = (run.conditions for run in runs)
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    shared = [(each, each) for each in first if each in second]
    if not shared:
        raise BadInput(
            f"The runs have no condition in common: {', '.join(first)} and {', '.join(second)}. "
            "Name one of each with --conditions."
        )
    return shared


def _reworded(first: Given, second: Given) -> dict[str, tuple[str, str]]:
    """The words in both runs of the ids that stand for different questions there."""
    found = {}
    for id, words in first.asked.items():
        others = second.asked.get(id, "")
        if words and others and words.split() != others.split():
            found[id] = (words, others)
    return found


def _without(run: Outcomes, ids: Mapping[str, object]) -> Outcomes:
    left = run.where(lambda row: row.question not in ids)
    if not left.rows:
        raise BadInput(
            f"The runs have no question in common: {', '.join(list(ids)[:3])} stand for other "
            "words in each. Give the questions of a table ids of their own (column id)."
        )
    return left


def _reworded_words(ids: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    if not ids:
        return ()
    (id, (one, other)), *_ = ids.items()
    return (
        f"{len(ids)} questions have the same id and other words in each run, and are left out, "
        f"e.g. {id}: {one!r} and {other!r}; give questions ids of their own (column id)",
    )


def _corrected(first: Given, second: Given) -> tuple[str, ...]:
    """A word on right answers that are others in the second run."""
    was = {row.question: row.reference for row in first.outcomes.rows}
    now = {row.question: row.reference for row in second.outcomes.rows}
    changed = [id for id, words in was.items() if id in now and words != now[id]]
    if not changed:
        return ()
    return (
        f"the right answer of {counted(len(changed), 'question')} is another in the second run, "
        f"e.g. of {changed[0]}: a difference may be one of the key",
    )


def _told(first: Given, second: Given, left_out: Mapping[str, object]) -> str:
    asked = [
        {row.question for row in run.outcomes.rows if row.question not in left_out}
        for run in (first, second)
    ]
    both = asked[0] & asked[1]
    return (
        f"{len(both)} questions are in both runs, {len(asked[0] - both)} only in the first and "
        f"{len(asked[1] - both)} only in the second; differences are over questions in both"
    )


def _made_with(
    first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]], names: tuple[str, str]
) -> Section:
    title = "What the runs were made with"
    if not first or not second:
        return Section("stamp", title, ("A run carries no stamp, so this is not known.",))
    a, b = (dict(flat(made_with(each[-1]))) for each in (first, second))
    changed = [key for key in dict.fromkeys((*a, *b)) if a.get(key) != b.get(key)]
    if not changed:
        return Section("stamp", title, ("The stamps of both are the same.",))
    body = tuple((key, a.get(key, ""), b.get(key, "")) for key in changed[:_MOST_DIFFERENCES])
    table = Table("stamp", "Where the stamps differ", ("What", *names), body)
    return Section("stamp", title, (), (table,))
