"""What became of every question of a study: the table that statistics and reports read.

An outcome is *scored*, *unscored* (an answer whose verdict is not clear) or *failed* (no answer).
Only scored outcomes have a score. Comparisons pair the same question of the same repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean
from typing import Any, NamedTuple

from perception.errors import BadInput, UnknownName

__all__ = ["InjectedCue", "Outcome", "Outcomes", "Pair", "State"]


class State(StrEnum):
    """What became of a question."""

    SCORED = "scored"
    UNSCORED = "unscored"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class InjectedCue:
    """A cue that stood in the prompt.

    Args:
        id, kind, confidence: the cue's.
        text: what it says, without who does it (``fusion.words.content``).
        right: whether it is so, where a label tells.
    """

    id: str
    kind: str
    text: str
    confidence: float
    right: bool | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question under one condition in one repeat.

    Args:
        question: the item's id.
        video: its video, by which intervals are clustered.
        category, level: the item's.
        condition: name of the condition.
        model: name of the model that answered.
        repeat: from 0.
        state: see ``State``.
        score: in [0, 1] when scored, else None.
        answer: the model's words, empty when failed.
        reference: the right answer.
        reason: the judge's, or why it failed or is unscored.
        cues: what stood in the prompt.
        details: the benchmark's own counts, e.g. letters selected, points of a rubric.
        key: of the call in the records: two outcomes of one key were asked exactly the same; empty
            = not told.
    """

    question: str
    video: str
    category: str
    level: str
    condition: str
    model: str
    repeat: int
    state: State
    score: float | None
    answer: str = ""
    reference: str = ""
    reason: str = ""
    cues: tuple[InjectedCue, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""

    def __post_init__(self) -> None:
        scored = self.state is State.SCORED
        if scored != (self.score is not None) or not 0 <= (self.score or 0) <= 1:
            raise BadInput(
                f"A {self.state} outcome of question {self.question!r} has the score {self.score}; "
                f"scored ones lie in [0, 1], others have none."
            )


class Pair(NamedTuple):
    """One question under two conditions."""

    before: Outcome
    after: Outcome

    @property
    def is_same(self) -> bool:
        """Whether both were asked exactly the same, so that they cannot differ."""
        return bool(self.before.key) and self.before.key == self.after.key


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes in the order of the study."""

    rows: tuple[Outcome, ...]

    @property
    def conditions(self) -> tuple[str, ...]:
        """Names in order of appearance."""
        return tuple(dict.fromkeys(row.condition for row in self.rows))

    @property
    def models(self) -> tuple[str, ...]:
        """Names in order of appearance."""
        return tuple(dict.fromkeys(row.model for row in self.rows))

    @property
    def categories(self) -> tuple[str, ...]:
        """Names in order of appearance."""
        return tuple(dict.fromkeys(row.category for row in self.rows))

    def where(self, keep: Callable[[Outcome], bool]) -> Outcomes:
        """Those that ``keep`` says yes to."""
        return Outcomes(tuple(row for row in self.rows if keep(row)))

    def under(self, condition: str) -> Outcomes:
        """Those of one condition.

        Raises:
            UnknownName: the study has no such condition.
        """
        if condition not in self.conditions:
            raise UnknownName("condition", condition, self.conditions)
        return self.where(lambda row: row.condition == condition)

    @property
    def scored(self) -> Outcomes:
        """Those with a score."""
        return self.where(lambda row: row.state is State.SCORED)

    def averaged(self) -> Outcomes:
        """One outcome for each question of a model and condition: the mean score of its repeats
        that have one, or the first of them where none has. Repeats are no further questions."""
        groups: dict[tuple[str, str, str], list[Outcome]] = {}
        for row in self.rows:
            groups.setdefault((row.model, row.condition, row.question), []).append(row)
        return Outcomes(tuple(map(_mean, groups.values())))

    def bounds(self) -> tuple[float, float]:
        """Mean score if all that have none were wrong, and if all were right.

        Raises:
            BadInput: there is no outcome.
        """
        if not self.rows:
            raise BadInput("There is no outcome to take the mean of.")
        total = sum(row.score or 0.0 for row in self.rows)
        missing = sum(row.score is None for row in self.rows)
        return total / len(self.rows), (total + missing) / len(self.rows)

    def pairs(self, before: str, after: str) -> tuple[Pair, ...]:
        """Questions that are scored under both conditions, for each model and repeat.

        Raises:
            UnknownName: the study has no such condition.
        """
        first = {_key(row): row for row in self.under(before).scored.rows}
        second = {_key(row): row for row in self.under(after).scored.rows}
        return tuple(Pair(first[key], second[key]) for key in first if key in second)

    @classmethod
    def joined(cls, parts: Iterable[Outcomes | Sequence[Outcome]]) -> Outcomes:
        """All of several studies, one after the other."""
        return cls(tuple(row for part in parts for row in _rows(part)))


def _mean(repeats: Sequence[Outcome]) -> Outcome:
    scored = [row for row in repeats if row.score is not None]
    if not scored:
        return replace(repeats[0], repeat=0)
    return replace(scored[0], score=fmean(row.score or 0.0 for row in scored), repeat=0)


def _key(row: Outcome) -> tuple[str, str, int]:
    return row.model, row.question, row.repeat


def _rows(part: Outcomes | Sequence[Outcome]) -> Sequence[Outcome]:
    return part.rows if isinstance(part, Outcomes) else part
