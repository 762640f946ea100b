"""The report of a study: all sections for which it has something to say, in reading order."""

from __future__ import annotations

from collections.abc import Callable

from reasoning.reports import (
    against_controls,
    categories,
    correlations,
    cue_effects,
    dataset,
    differences,
    error_sources,
    flips,
    intervals,
    side_by_side,
    stamps,
    trade_off,
    vimu,
)
from reasoning.reports.given import Given
from reasoning.reports.table import Report, Section, counted

__all__ = ["report"]

_SECTIONS: tuple[Callable[[Given], Section | None], ...] = (
    categories.section,
    vimu.section,
    differences.section,
    intervals.section,
    trade_off.section,
    against_controls.section,
    cue_effects.section,
    flips.section,
    side_by_side.section,
    correlations.section,
    error_sources.section,
    dataset.section,
    categories.beside_paper,
)


def report(given: Given) -> Report:
    """All of it.

    Raises:
        MissingExtra: scipy or matplotlib is not installed.
        BadInput: tags that belong to no wrong answer of the study.
    """
    made = [section for make in _SECTIONS if (section := make(given)) is not None]
    outcomes = given.outcomes
    questions = len({row.question for row in outcomes.rows})
    videos = len({row.video for row in outcomes.rows})
    scope = ", ".join(
        (
            f"{counted(questions, 'question')} about {counted(videos, 'video')}",
            counted(len(outcomes.conditions), "condition"),
            counted(len(outcomes.rows), "outcome"),
        )
    )
    facts = (*((given.about,) if given.about else ()), scope, *given.notes)
    return Report(
        f"Report of {given.name}",
        (*facts, *stamps.facts(given.stamps)),
        (*made, stamps.section(given.stamps)),
    )
