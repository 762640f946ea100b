"""Doubt in words, so that a literal mistake weighs less: "perhaps climbing (43 %), or pulling
(31 %)".

MimeQA (section 4.2.1) saw a quarrel labelled "nausea or vomiting condition" mislead the model; a
label that comes with its rivals does not claim so much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fusion.policy import Policy, Tools
from fusion.question import Question
from fusion.selection import KeptCue, Selection
from perception.errors import BadInput

__all__ = ["HEDGES", "UNKNOWN", "Options", "build"]

HEDGES = ((0.95, "almost certainly"), (0.7, "probably"), (0.4, "perhaps"), (0.0, "possibly"))
"""(least probability, word), in steps near those by which readers rate these words (Wallsten et
al. 1986, "Measuring the vague meanings of probability terms")."""

UNKNOWN = "apparently"
"""For scores that nobody has compared with the truth: no word of probability is earned."""

NOTHING = "none"
"""The label of windows that show no action of the recognizer's list."""


@dataclass(frozen=True, slots=True)
class Options:
    """How many rivals are told.

    Args:
        top: labels of a cue, its own among them.
        least_probability: rivals of less are not worth a word.
        nothing: how the label for no known action is told.

    Raises:
        BadInput: a number lies outside its limits.
    """

    top: int = 3
    least_probability: float = 0.05
    nothing: str = "no known action"

    def __post_init__(self) -> None:
        if self.top < 1 or not 0 <= self.least_probability <= 1:
            raise BadInput(
                "The policy hedged tells at least 1 label and takes a least_probability from 0 "
                f"to 1, not {self.top} and {self.least_probability:g}."
            )


def build(options: Options) -> Policy:
    """The policy."""

    def hedged(selection: Selection, question: Question, tools: Tools) -> Selection:  # noqa: ARG001
        kept = tuple(_hedged(item, options) for item in selection.kept)
        return replace(selection, kept=kept)

    return hedged


def _hedged(item: KeptCue, options: Options) -> KeptCue:
    """A run that was folded has no one set of rivals: it gets the word alone. Of what a person is
    certain of nothing is in doubt."""
    if item.is_certain:
        return item
    word = UNKNOWN
    if item.calibrated:
        word = next(word for least, word in HEDGES if item.probability >= least)
    rivals = () if item.merged_ids else item.top[1 : options.top]
    alternatives = tuple(
        (options.nothing if label == NOTHING else label, probability)
        for label, probability in rivals
        if probability >= options.least_probability
    )
    return replace(item, qualifier=word, alternatives=alternatives)
