"""The table of outcomes: pairs, bounds, and what may not be in it."""

from __future__ import annotations

import pytest

from perception.errors import BadInput, UnknownName
from reasoning.results.outcomes import Outcome, Outcomes, State


def outcome(question: str, condition: str, score: float | None, repeat: int = 0) -> Outcome:
    state = State.SCORED if score is not None else State.FAILED
    return Outcome(question, "v", "Temporal", "", condition, "m", repeat, state, score)


TABLE = Outcomes(
    (
        outcome("q1", "none", 0),
        outcome("q1", "cues", 1),
        outcome("q2", "none", 1),
        outcome("q2", "cues", None),
        outcome("q1", "none", 1, repeat=1),
        outcome("q1", "cues", 0, repeat=1),
    )
)


def test_pairs_are_of_one_question_and_repeat_and_scored_twice() -> None:
    pairs = TABLE.pairs("none", "cues")
    assert [(p.before.question, p.before.repeat, p.before.score, p.after.score) for p in pairs] == [
        ("q1", 0, 0, 1),
        ("q1", 1, 1, 0),
    ]


def test_a_failure_lies_between_wrong_and_right() -> None:
    assert TABLE.under("cues").bounds() == (1 / 3, 2 / 3)
    assert TABLE.under("none").bounds() == (2 / 3, 2 / 3)


def test_an_unknown_condition_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="cues, none"):
        TABLE.pairs("none", "cue")


@pytest.mark.parametrize(("state", "score"), [("failed", 0.0), ("scored", None), ("scored", 1.5)])
def test_a_score_belongs_to_what_was_scored(state: str, score: float | None) -> None:
    with pytest.raises(BadInput, match="'q'"):
        Outcome("q", "v", "", "", "c", "m", 0, State(state), score)
