"""Cue kinds by question type: what hurt a type of question is left out of it.

MimeQA (section 4.2.1) injected action labels into all questions: Grounding the Imagined rose from
2.3 % to 7.0 % and Working Memory from 14.3 % to 23.8 %, Theory of Mind fell from 52.2 % to 34.8 %
and Social Judgment from 34.5 % to 24.1 %; it names "overly literal action labels" as the cause. By
default those two types get no actions. Of the other three types the paper tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fusion.policy import Policy, Tools
from fusion.question import Question, QuestionType
from fusion.selection import Selection

__all__ = ["Options", "build"]


def _hurt() -> dict[QuestionType, tuple[str, ...]]:
    return {
        QuestionType.THEORY_OF_MIND: ("action",),
        QuestionType.SOCIAL_JUDGMENT: ("action",),
    }


@dataclass(frozen=True, slots=True)
class Options:
    """Which kinds are left out.

    Args:
        leave_out: question type -> kinds; types that are not named get every kind, and so does a
            question whose type is neither annotated nor told by ``tools.question_type``.
    """

    leave_out: Mapping[QuestionType, tuple[str, ...]] = field(default_factory=_hurt)


def build(options: Options) -> Policy:
    """The policy."""

    def routed(selection: Selection, question: Question, tools: Tools) -> Selection:
        type, told = question.type, ""
        if type is None and tools.question_type is not None:
            type, told = tools.question_type(question), ", which this seems to be"
        if type is None:
            return selection
        kinds = options.leave_out.get(type, ())
        reasons = {
            item.cue.id: f"{item.kind.replace('_', ' ')} cues are left out of questions of "
            f"{type.value}{told}"
            for item in selection.kept
            if item.kind in kinds
        }
        return selection.without(reasons)

    return routed
