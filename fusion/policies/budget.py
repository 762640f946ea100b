"""What each cue is worth, for when not all fit: probability × relevance × novelty.

Relevance is the similarity to the question, unless a policy before has told it. Novelty is how
little worthier cues say already: the mean, over the words of a cue, of 1 / (1 + worthier cues that
hold the word); for a recognizer with labels the label is the word. A label that is said for the
third time is worth a third.

The token limit itself (``fusion.budget``) holds with or without this policy; without it, what does
not fit is chosen by probability alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from fusion.policy import Policy, Tools
from fusion.question import Question
from fusion.selection import KeptCue, Selection
from fusion.words import content, words_of
from perception.cue import id_order
from perception.errors import BadInput

__all__ = ["Options", "build"]


@dataclass(frozen=True, slots=True)
class Options:
    """What counts.

    Args:
        least_relevance: of a cue that shares nothing with the question, where another does.
        novelty: whether repetitions are worth less.

    Raises:
        BadInput: a number lies outside its limits.
    """

    least_relevance: float = 0.25
    novelty: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.least_relevance <= 1:
            raise BadInput(
                "The policy budget takes a least_relevance from 0 to 1, "
                f"not {self.least_relevance:g}."
            )


def build(options: Options) -> Policy:
    """The policy."""

    def budget(selection: Selection, question: Question, tools: Tools) -> Selection:
        kept = selection.kept
        if all(item.relevance == 1 for item in kept):
            kept = _relevant(kept, question, tools, options.least_relevance)
        return replace(selection, kept=_novel(kept) if options.novelty else kept)

    return budget


def _relevant(
    kept: tuple[KeptCue, ...], question: Question, tools: Tools, least: float
) -> tuple[KeptCue, ...]:
    close = tools.need_similarity("budget")(question.text, [item.cue.text for item in kept])
    highest = max(close, default=0.0)
    if highest <= 0:
        return kept
    return tuple(
        item.valued(relevance=least + (1 - least) * max(0.0, each) / highest)
        for item, each in zip(kept, close, strict=True)
    )


def _novel(kept: tuple[KeptCue, ...]) -> tuple[KeptCue, ...]:
    said: Counter[str] = Counter()
    novelty: dict[str, float] = {}
    for item in sorted(
        kept,
        key=lambda item: (-item.probability * item.relevance, item.when, id_order(item.cue.id)),
    ):
        label = item.cue.attributes.get("label")
        words = [content(item)] if label else sorted(set(words_of(item.cue.text)))
        shares = [1 / (1 + said[word]) for word in words]
        novelty[item.cue.id] = sum(shares) / len(shares) if shares else 1.0
        said.update(words)
    return tuple(item.valued(novelty=novelty[item.cue.id]) for item in kept)
