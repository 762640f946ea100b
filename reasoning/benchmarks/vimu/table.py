"""The paper's four-task table of ViMU's outcomes.

Two percentages stand side by side. *Official* is what the published code makes of the same replies:
a failed call of EG, RM or SV, and a reply that cannot be read, is an empty selection (0); OE is on
a scale where a failed call earns 33 % and no points 40 %, over the videos judged for every model.
*Ours* leaves out what has no verdict and counts it beside: the mean set score, and for OE the share
of the 9 points, none under 0. Intervals are clustered by video.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from reasoning import statistics
from reasoning.benchmarks.vimu import rubric
from reasoning.benchmarks.vimu.files import TASKS
from reasoning.benchmarks.vimu.selection import set_score
from reasoning.results.outcomes import Outcome, Outcomes, State
from reasoning.statistics import Accuracy

__all__ = [
    "OpenEnded",
    "Row",
    "TaskScore",
    "of_task",
    "open_ended",
    "selections",
    "systems",
    "table",
]

SUCCESS_RAW = 3
"""From so many points on the published code counts an answer as a success."""


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One task of one system.

    Args:
        official: per cent, as the published code computes it; None where it computes none.
        ours: share in [0, 1] over what has a verdict; None where nothing has.
        failed, unscored: calls without an answer, and answers without a verdict.
    """

    official: float | None
    ours: Accuracy | None
    failed: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the paper's table: a model under a condition."""

    system: str
    tasks: Mapping[str, TaskScore]

    def average(self, tasks: Sequence[str] = TASKS, *, official: bool) -> float | None:
        """Mean percentage of ``tasks``: of RM and SV it is SSU-Avg, of all four All-Avg. None where
        one of them has none."""
        found = [self.percentage(task, official=official) for task in tasks]
        return None if None in found else fmean(each for each in found if each is not None)

    def percentage(self, task: str, *, official: bool) -> float | None:
        """Of one task."""
        score = self.tasks.get(task)
        if score is None or official:
            return None if score is None else score.official
        return None if score.ours is None else 100 * score.ours.value


@dataclass(frozen=True, slots=True)
class OpenEnded:
    """Points of the open-ended task over the answers with a verdict (``n``): the mean, shares of
    those with at least 3, with all 9, and with 0 or fewer; ``contradicted`` counts the judge's
    totals that are not the sum of its points."""

    n: int
    mean_raw: float
    success: float
    perfect: float
    worthless: float
    contradicted: int


def systems(outcomes: Outcomes) -> dict[str, Outcomes]:
    """Outcomes of each model under each condition; a name tells only what differs."""
    models, conditions = outcomes.models, outcomes.conditions
    parts: dict[str, list[Outcome]] = {}
    for row in outcomes.rows:
        told = [row.model] * (len(models) > 1 or len(conditions) < 2)
        told += [row.condition] * (len(conditions) > 1)
        parts.setdefault(", ".join(told), []).append(row)
    return {name: Outcomes(tuple(rows)) for name, rows in parts.items()}


def table(outcomes: Outcomes) -> tuple[Row, ...]:
    """The four-task table."""
    parts, shared = systems(outcomes), _judged_for_all(outcomes)
    return tuple(
        Row(
            name,
            {
                task: _task_score(task, rows, shared)
                for task in TASKS
                if (rows := of_task(part, task)).rows
            },
        )
        for name, part in parts.items()
    )


def open_ended(outcomes: Outcomes) -> OpenEnded | None:
    """Of one system; None where no open answer is judged."""
    rows = of_task(outcomes, "OE").scored.rows
    raws = [_raw(row) for row in rows]
    if not raws:
        return None
    return OpenEnded(
        len(raws),
        fmean(raws),
        fmean(raw >= SUCCESS_RAW for raw in raws),
        fmean(raw == rubric.HIGHEST for raw in raws),
        fmean(raw <= 0 for raw in raws),
        sum(row.details.get("stated", raw) != raw for row, raw in zip(rows, raws, strict=True)),
    )


def of_task(outcomes: Outcomes, task: str) -> Outcomes:
    """Those of one task."""
    return outcomes.where(lambda row: row.category == task)


def selections(outcomes: Outcomes, tasks: Sequence[str]) -> tuple[Outcome, ...]:
    """Scored outcomes of ``tasks`` that tell which letters were selected; results of other tools
    tell the score only."""
    return outcomes.where(
        lambda row: row.category in tasks and {"selected", "gold", "options"} <= set(row.details)
    ).scored.rows


def _task_score(task: str, rows: Outcomes, shared: frozenset[tuple[str, int]]) -> TaskScore:
    scored = rows.scored.rows
    ours = None
    if scored:
        asked = rows.averaged().scored.rows
        ours = statistics.accuracy(
            [row.score or 0.0 for row in asked], [row.video for row in asked]
        )
    failed = sum(row.state is State.FAILED for row in rows.rows)
    official = _official_open(rows, shared) if task == "OE" else _official_sets(rows)
    return TaskScore(official, ours, failed, len(rows.rows) - len(scored) - failed)


def _official_sets(rows: Outcomes) -> float:
    return 100 * fmean(_official_set(row) for row in rows.rows)


def _official_set(row: Outcome) -> float:
    if "selected" not in row.details:
        return row.score or 0.0
    return set_score(row.details["selected"], row.details.get("gold", ()))


def _official_open(rows: Outcomes, shared: frozenset[tuple[str, int]]) -> float | None:
    raws = [_stated(row) for row in rows.rows if (row.question, row.repeat) in shared]
    return rubric.percentage(fmean(raws)) if raws else None


def _judged_for_all(outcomes: Outcomes) -> frozenset[tuple[str, int]]:
    """The open questions that the published code keeps: a failed call counts as judged there, an
    answer whose judge failed does not."""
    judged = [
        {(row.question, row.repeat) for row in rows if row.state is not State.UNSCORED}
        for part in systems(outcomes).values()
        if (rows := of_task(part, "OE").rows)
    ]
    return frozenset(set.intersection(*judged)) if judged else frozenset()


def _raw(row: Outcome) -> float:
    return float(row.details.get("raw", rubric.HIGHEST * (row.score or 0.0)))


def _stated(row: Outcome) -> float:
    if row.state is State.FAILED:
        return rubric.FAILED_RAW
    return float(row.details.get("stated", _raw(row)))
