"""What a report is made from: the outcomes of a study and what is known of its conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from perception.errors import BadInput, UnknownName
from reasoning.benchmarks import mimeqa
from reasoning.results.outcomes import Outcome, Outcomes
from reasoning.statistics import Accuracy, accuracy
from reasoning.tradeoff import Split

__all__ = [
    "SHORT",
    "Given",
    "Kind",
    "Pairing",
    "Row",
    "accuracy_of",
    "heading",
    "rows",
    "share",
    "short",
    "sorted_categories",
]

SHORT = dict(zip(mimeqa.LEVELS, ("GI", "I", "AR", "T", "ToM", "SJ", "WM"), strict=True))
"""The letters of the paper's tables."""


class Kind(StrEnum):
    """What one condition has and another, otherwise the same, has not."""

    VIDEO = "video"
    TITLE = "title"
    CHAIN_OF_THOUGHT = "chain_of_thought"


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two conditions that differ in one thing only."""

    kind: Kind
    without: str
    having: str


@dataclass(frozen=True)
class Given:
    """A study as a report sees it.

    Args:
        outcomes: all of them.
        baseline: the condition that the others are compared with.
        name, about: the study's.
        pairings: conditions that stand side by side in the papers' tables.
        controls: name of a negative control -> conditions that it is held against; empty = all
            that are neither the baseline nor a control.
        swept: condition -> thresholds and policies in words, for the plot of the trade-off.
        with_text: video -> whether it holds text that means something; videos that are not in it
            are undecided.
        tags: ``(condition, model, question, repeat)`` -> tags of a wrong answer.
        asked: question -> its words.
        notes: what a reader must know of the outcomes.
        split: which categories ask for grounding and which for reasoning.
        stamps: of the study's runs, oldest first.
    """

    outcomes: Outcomes
    baseline: str
    name: str = "study"
    about: str = ""
    pairings: tuple[Pairing, ...] = ()
    controls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    swept: Mapping[str, str] = field(default_factory=dict)
    with_text: Mapping[str, bool] = field(default_factory=dict)
    tags: Mapping[tuple[str, str, str, int], tuple[str, ...]] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    split: Split = field(default_factory=Split)
    stamps: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not self.outcomes.rows:
            raise BadInput("There is no outcome to report; run the study first.")
        named = [
            self.baseline,
            *self.controls,
            *(c for each in self.controls.values() for c in each),
        ]
        named += [name for pair in self.pairings for name in (pair.without, pair.having)]
        for name in named:
            if name not in self.outcomes.conditions:
                raise UnknownName("condition", name, self.outcomes.conditions)

    @property
    def others(self) -> tuple[str, ...]:
        """All conditions but the baseline."""
        return tuple(each for each in self.outcomes.conditions if each != self.baseline)

    def paired(self, kind: Kind) -> tuple[Pairing, ...]:
        """The pairings of one kind."""
        return tuple(each for each in self.pairings if each.kind is kind)

    def held_against(self, control: str) -> tuple[str, ...]:
        """The conditions that a control is compared with."""
        return self.controls[control] or tuple(
            each for each in self.others if each not in self.controls
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One model under one condition."""

    model: str
    condition: str
    outcomes: Outcomes
    label: str


def rows(outcomes: Outcomes, conditions: Iterable[str] | None = None) -> tuple[Row, ...]:
    """Every model under every condition; the label leaves out what is the same for all."""
    wanted = tuple(outcomes.conditions if conditions is None else conditions)
    found = []
    for model in outcomes.models:
        for condition in wanted:
            part = outcomes.where(
                lambda row, m=model, c=condition: (row.model, row.condition) == (m, c)  # type: ignore[misc]
            )
            if part.rows:
                found.append((model, condition, part))
    many_models = len({model for model, _, _ in found}) > 1
    many_conditions = len({condition for _, condition, _ in found}) > 1
    return tuple(
        Row(model, condition, part, _label(model, condition, many_models, many_conditions))
        for model, condition, part in found
    )


def heading(given: Sequence[Row]) -> str:
    """Above the labels of rows."""
    if all(row.label == row.model for row in given):
        return "Model"
    return "Condition" if all(row.label == row.condition for row in given) else "Model, condition"


def _label(model: str, condition: str, many_models: bool, many_conditions: bool) -> str:
    if many_models and many_conditions:
        return f"{model}, {condition}"
    return condition if many_conditions else model


def share(outcomes: Sequence[Outcome]) -> Fraction | None:
    """Mean score of the questions that have one, each the mean of its repeats; exactly where scores
    are right or wrong."""
    repeats: dict[tuple[str, str, str], list[Fraction]] = {}
    for row in outcomes:
        if row.score is not None:
            key = (row.model, row.condition, row.question)
            repeats.setdefault(key, []).append(Fraction(row.score))
    means = [sum(scores, Fraction()) / len(scores) for scores in repeats.values()]
    return sum(means, Fraction()) / len(means) if means else None


def accuracy_of(outcomes: Sequence[Outcome]) -> Accuracy:
    """Of the questions that have a score, clustered by video; repeats are no further questions."""
    scored = Outcomes(tuple(outcomes)).averaged().scored.rows
    return accuracy([row.score or 0.0 for row in scored], [row.video for row in scored])


def sorted_categories(outcomes: Outcomes) -> tuple[str, ...]:
    """MimeQA's in the paper's order, then others in order of appearance."""
    known = [str(each) for each in mimeqa.LEVELS]
    there = outcomes.categories
    return (*(each for each in known if each in there), *(c for c in there if c not in known))


def short(category: str) -> str:
    """As the paper abbreviates it; other names stay."""
    return (
        next((letters for name, letters in SHORT.items() if name == category), category) or NAMELESS
    )


NAMELESS = "no category"
