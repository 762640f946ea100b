"""Cues near the question's time and close to it in meaning, as in retrieval-augmented generation.

A cue's relevance is

    2^(-distance / half_life_s) × (1 - meaning + meaning × closeness)

where *distance* is how far it lies from the part that is asked about, in seconds (0 inside), and
*closeness* is the similarity to the question over that of the closest cue. The part is the
question's span, or what its words name ("at 1:20", "from 0:10 to 0:20"). Where the question names
no time, time decides nothing; where it shares nothing with any cue, meaning decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusion.policy import Policy, Tools
from fusion.question import Question
from fusion.selection import KeptCue, Selection
from perception.cue import Span, id_order
from perception.errors import BadInput

__all__ = ["Options", "build"]

_NAME = "retrieved"


@dataclass(frozen=True, slots=True)
class Options:
    """How much is retrieved.

    Args:
        top: at most so many cues.
        half_life_s: so far from the part that is asked about a cue is worth half. 10 s is the
            length of MimeQA's windows.
        meaning: how much closeness in meaning counts: 0 = time alone, 1 = a cue that shares
            nothing with the question is worth nothing.
        least_relevance: cues of less are dropped even where there is room.

    Raises:
        BadInput: a number lies outside its limits.
    """

    top: int = 12
    half_life_s: float = 10.0
    meaning: float = 0.7
    least_relevance: float = 0.05

    def __post_init__(self) -> None:
        if self.top < 1 or not self.half_life_s > 0:
            raise BadInput(
                f"The policy {_NAME} retrieves at least 1 cue with a half-life above 0 s, "
                f"not {self.top} and {self.half_life_s:g}."
            )
        if not (0 <= self.meaning <= 1 and 0 <= self.least_relevance <= 1):
            raise BadInput(
                f"The policy {_NAME} takes meaning and least_relevance from 0 to 1, "
                f"not {self.meaning:g} and {self.least_relevance:g}."
            )


def build(options: Options) -> Policy:
    """The policy."""

    def retrieved(selection: Selection, question: Question, tools: Tools) -> Selection:
        similarity = tools.need_similarity(_NAME)
        part = question.span or question.mentioned
        closeness = _closeness(
            similarity(question.text, [item.cue.text for item in selection.kept])
        )
        valued = [
            item.valued(relevance=_relevance(item, close, part, options))
            for item, close in zip(selection.kept, closeness, strict=True)
        ]
        best = sorted(valued, key=lambda item: (-item.relevance, item.when, id_order(item.cue.id)))
        reasons: dict[str, str] = {}
        for rank, item in enumerate(best, start=1):
            if item.relevance < options.least_relevance:
                reasons[item.cue.id] = (
                    f"relevance {item.relevance:.3f} to the question is under "
                    f"{options.least_relevance:g}"
                )
            elif rank > options.top:
                reasons[item.cue.id] = (
                    f"relevance {item.relevance:.3f} to the question is not among the "
                    f"{options.top} highest"
                )
        return Selection(tuple(valued), selection.dropped).without(reasons)

    return retrieved


def _closeness(similarities: Sequence[float]) -> list[float]:
    """From 0 to 1, the closest text 1; all 1 where none is close."""
    highest = max(similarities, default=0.0)
    if highest <= 0:
        return [1.0] * len(similarities)
    return [max(0.0, each) / highest for each in similarities]


def _relevance(item: KeptCue, closeness: float, part: Span | None, options: Options) -> float:
    meaning = 1 - options.meaning + options.meaning * closeness
    if part is None:
        return meaning
    return float(0.5 ** (_distance_s(item.when, part) / options.half_life_s)) * meaning


def _distance_s(span: Span, part: Span) -> float:
    return max(0.0, part.start_s - span.end_s, span.start_s - part.end_s)
