"""What is asked about a video."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from perception.cue import Span
from perception.errors import BadInput

__all__ = ["Question", "QuestionType"]


class QuestionType(StrEnum):
    """MimeQA's seven categories (section 3.2), from the most local to the most global."""

    GROUNDING_THE_IMAGINED = "Grounding the Imagined"
    TEMPORAL = "Temporal"
    AFFECT_RECOGNITION = "Affect Recognition"
    INTENTION = "Intention"
    WORKING_MEMORY = "Working Memory"
    SOCIAL_JUDGMENT = "Social Judgment"
    THEORY_OF_MIND = "Theory of Mind"


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Args:
        text: as the user or the benchmark wrote it.
        options: the choices of a multiple-choice question; empty for an open one.
        span: the part of the video that is asked about, None = all of it.
        type: the category, where the benchmark gives one.
        id: the benchmark's own id.
    """

    text: str
    options: tuple[str, ...] = ()
    span: Span | None = None
    type: QuestionType | None = None
    id: str = ""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise BadInput('The question is empty; ask something, e.g. "What is the mime pulling?"')
        if len(self.options) == 1:
            raise BadInput(
                f"A multiple-choice question needs at least two options, not only "
                f"{self.options[0]!r}."
            )
        if len(set(self.options)) != len(self.options):
            raise BadInput(f"The options repeat each other: {', '.join(self.options)}.")
        if any(not option.strip() for option in self.options):
            raise BadInput("One of the options is empty.")
