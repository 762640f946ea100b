"""The Policy protocol: one step between the gate and the budget.

A policy may reorder, drop (with a reason), reword (``phrasing``, ``qualifier``, ``note``,
``alternatives``), value (``KeptCue.valued``) and merge (``merged_ids``) cues. It may not make any,
and every cue that comes in must be found again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fusion.budget import estimate_tokens
from fusion.question import Question, QuestionType
from fusion.selection import Selection
from perception.cue import CueTrack
from perception.errors import BadInput

__all__ = ["Calibrations", "Policy", "ScoreMap", "Similarity", "Tools"]

ScoreMap = Callable[[float, Sequence[float]], float]
"""(a label's score, the scores of the other labels that are known) -> its probability; must not
fall where the score rises."""

Calibrations = Callable[[CueTrack], ScoreMap | None]
"""The map for what made a track; None = its scores are not calibrated."""

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""(a question, texts) -> how close each text is to it: 0 = not at all; comparable in one call."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What fusion cannot be pure about, as plain callables; each must be a pure function.

    Args:
        count_tokens: tokens that the model's tokenizer makes of a text.
        similarity: None = there is none, and policies that need it say so.
        question_type: the type of a question whose type is not annotated, or None where it cannot
            be told.
        calibration: None = no score is calibrated.
    """

    count_tokens: Callable[[str], int] = estimate_tokens
    similarity: Similarity | None = None
    question_type: Callable[[Question], QuestionType | None] | None = None
    calibration: Calibrations | None = None

    def need_similarity(self, policy: str) -> Similarity:
        """The similarity.

        Raises:
            BadInput: there is none.
        """
        if self.similarity is None:
            raise BadInput(
                f"The policy {policy!r} compares cues with the question and was given nothing to "
                "compare with; hand fuse() the tools of reasoning.tools.assemble()."
            )
        return self.similarity


class Policy(Protocol):
    """Built by its plug-in file's ``build(options)``; pure."""

    def __call__(self, selection: Selection, question: Question, tools: Tools) -> Selection:
        """The selection after this policy."""
