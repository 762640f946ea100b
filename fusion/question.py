"""What is asked about a video."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from perception.cue import Span
from perception.errors import BadInput

__all__ = ["Question", "QuestionType"]

_CLOCK = r"(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)"
_MIMEQA = r"(\d+) min:(\d{1,2}(?:\.\d+)?) sec"
_SECONDS = r"(\d+(?:\.\d+)?) ?(?:s|sec|secs|second|seconds)"
_TIME = re.compile(rf"(?<![\d:.])(?:{_MIMEQA}|{_CLOCK}|{_SECONDS})(?![\w:])")
"""``01 min:05.50 sec`` as MimeQA writes it, ``1:05``, ``1:02:03.5``, ``65 s``."""


class QuestionType(StrEnum):
    """MimeQA's seven categories (section 3.2), from the most local to the most global."""

    GROUNDING_THE_IMAGINED = "Grounding the Imagined"
    TEMPORAL = "Temporal"
    AFFECT_RECOGNITION = "Affect Recognition"
    INTENTION = "Intention"
    WORKING_MEMORY = "Working Memory"
    SOCIAL_JUDGMENT = "Social Judgment"
    THEORY_OF_MIND = "Theory of Mind"

    @classmethod
    def _missing_(cls, value: object) -> QuestionType | None:
        """In upper or lower case too; MimeQA's table calls Theory of Mind *Perspective Taking*."""
        words = " ".join(str(value).split()).casefold()
        if words == PERSPECTIVE_TAKING.casefold():
            return cls.THEORY_OF_MIND
        return next((kind for kind in cls if kind.casefold() == words), None)


PERSPECTIVE_TAKING = "Perspective Taking"


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Args:
        text: as the user or the benchmark wrote it.
        options: the choices of a multiple-choice question; empty for an open one.
        span: the part of the video that is asked about, None = all of it.
        type: the category, where the benchmark gives one.
        id: the benchmark's own id.

    Raises:
        BadInput: the text is empty, or the options are one alone, empty or the same.
    """

    text: str
    options: tuple[str, ...] = ()
    span: Span | None = None
    type: QuestionType | None = None
    id: str = ""

    @property
    def mentioned(self) -> Span | None:
        """From the first to the last of the times that ``text`` names; None where it names none."""
        times_s = [_seconds(match) for match in _TIME.finditer(self.text)]
        return Span(min(times_s), max(times_s)) if times_s else None

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


def _seconds(match: re.Match[str]) -> float:
    mimeqa_min, mimeqa_s, hours, minutes, seconds, alone = (
        float(group or 0) for group in match.groups()
    )
    return (mimeqa_min + minutes) * 60 + hours * 3600 + mimeqa_s + seconds + alone
