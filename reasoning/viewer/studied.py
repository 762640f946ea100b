"""A study's outcomes on one video, as the page shows them: question by question, condition beside
condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fusion.question import Question
from fusion.quoting import visible
from reasoning.results.outcomes import Outcome, Outcomes

__all__ = ["Studied", "studied"]

_RIGHT = 0.5
"""Scores from which on an outcome counts as right where it is compared with another."""


@dataclass(frozen=True, slots=True)
class Studied:
    """What the page shows of a study.

    Args:
        outcomes: of the page's video.
        questions: by id; one that is missing is shown by its id.
    """

    outcomes: Outcomes
    questions: Mapping[str, Question] = field(default_factory=dict)


def studied(study: Studied, numbers: Mapping[str, int]) -> dict[str, Any]:
    """As JSON: ``conditions``, ``categories``, and ``questions``, each with its ``answers`` in the
    order of the conditions (empty lists where a cell was not reached).

    ``flipped`` are questions that are right in one scored outcome and wrong in another; ``wrong``
    those with a scored outcome that is wrong.

    Args:
        numbers: of the cues on the page, by id.
    """
    rows: dict[str, list[Outcome]] = {}
    for row in study.outcomes.rows:
        rows.setdefault(row.question, []).append(row)
    return {
        "models": len(study.outcomes.models),
        "conditions": [visible(name) for name in study.outcomes.conditions],
        "categories": sorted({visible(name) for name in study.outcomes.categories if name}),
        "questions": [_question(id, found, study, numbers) for id, found in rows.items()],
    }


def _question(
    id: str, rows: list[Outcome], study: Studied, numbers: Mapping[str, int]
) -> dict[str, Any]:
    question = study.questions.get(id)
    span = question.span if question else None
    verdicts = {row.score >= _RIGHT for row in rows if row.score is not None}
    return {
        "id": visible(id),
        "text": visible(question.text if question else id),
        "span": [span.start_s, span.end_s] if span else None,
        "category": visible(rows[0].category),
        "reference": visible(rows[0].reference),
        "flipped": len(verdicts) == 2,
        "wrong": False in verdicts,
        "answers": [
            [_answer(row, numbers) for row in rows if row.condition == condition]
            for condition in study.outcomes.conditions
        ],
    }


def _answer(row: Outcome, numbers: Mapping[str, int]) -> dict[str, Any]:
    verdict = row.state.value
    if row.score is not None:
        verdict = {1.0: "right", 0.0: "wrong"}.get(row.score, f"{row.score:.0%}")
    return {
        "model": visible(row.model),
        "repeat": row.repeat,
        "verdict": verdict,
        "score": row.score,
        "text": visible(row.answer),
        "reason": visible(row.reason),
        "cues": [numbers[cue.id] for cue in row.cues if cue.id in numbers],
    }
