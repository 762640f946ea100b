from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.question import Question, QuestionType
from perception.cue import Span
from reasoning.tools.question_type import Weights, features, probabilities, question_type


def test_features_by_hand() -> None:
    assert features(Question("Why at 0:12 did 2 men run?")) == [
        "why",
        "at",
        "#",
        "did",
        "men",
        "run",
        "<s> why",
        "why at",
        "at #",
        "# did",
        "did men",
        "men run",
    ]
    assert "<part>" in features(Question("Why?", span=Span(1, 2)))


def test_a_softmax_by_hand() -> None:
    types = (QuestionType.TEMPORAL, QuestionType.INTENTION)
    model = Weights(types, (0.0, 0.0), {"why": (0.0, 1.0), "<s> why": (0.0, 1.0)})
    told = probabilities(Question("Why?"), model)
    assert told[QuestionType.INTENTION] == pytest.approx(1 / (1 + 2.718281828**-2))


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("What is the mime pulling?", QuestionType.GROUNDING_THE_IMAGINED),
        ("How does the clown feel when the balloon bursts?", QuestionType.AFFECT_RECOGNITION),
        ("What happens after the waiter trips?", QuestionType.TEMPORAL),
        ("Why does the waiter bow?", QuestionType.INTENTION),
        ("How many balloons does the clown burst in the video?", QuestionType.WORKING_MEMORY),
        ("Is the waiter rude to the guest?", QuestionType.SOCIAL_JUDGMENT),
        ("What does the guest believe about the waiter?", QuestionType.THEORY_OF_MIND),
    ],
)
def test_plain_questions_are_told(text: str, type: QuestionType) -> None:
    assert question_type(Question(text)) is type


def test_an_annotation_is_taken_as_it_is() -> None:
    asked = Question("What is the mime pulling?", type=QuestionType.THEORY_OF_MIND)
    assert question_type(asked) is QuestionType.THEORY_OF_MIND


def test_what_cannot_be_told_is_not_guessed() -> None:
    assert question_type(Question("Zweimal blau?")) is None


@given(st.text(min_size=1).filter(str.strip))
def test_any_question_has_probabilities(text: str) -> None:
    told = probabilities(Question(text))
    assert sum(told.values()) == pytest.approx(1)
    assert set(told) == set(QuestionType)
