"""Questions with choices, or asked openly: how options are laid out, and how answers are scored."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from perception.errors import BadInput
from reasoning.answer import Answer, Unscored, Verdict
from reasoning.benchmark import Item, Judging
from reasoning.scoring import judging

__all__ = ["NO_ANSWER", "ChoiceScorer", "folded", "laid_out", "opened", "score_choice", "shuffled"]

NO_ANSWER = "The published file holds no right answer to this question."


def folded(options: Sequence[str], right: int | None) -> tuple[tuple[str, ...], int | None]:
    """The options without repeats, and the index of the right one among them."""
    kept = tuple(dict.fromkeys(options))
    return kept, None if right is None else kept.index(options[right])


def shuffled(item: Item, seed: int) -> Item:
    """The item with its options in an order that hangs on ``seed`` and the question's id only."""
    order = list(range(len(item.question.options)))
    random.Random(f"{seed}:{item.question.id}").shuffle(order)  # noqa: S311
    options = tuple(item.question.options[index] for index in order)
    return replace(
        item,
        question=replace(item.question, options=options),
        right=tuple(sorted(order.index(index) for index in item.right)),
    )


def opened(item: Item) -> Item:
    """The item as an open question whose reference is the right choice's text (MimeQA, section
    4.2.2).

    Raises:
        BadInput: its right choice is not known.
    """
    if not item.reference:
        raise BadInput(f"Question {item.question.id!r} cannot be asked openly: {NO_ANSWER}")
    return replace(item, question=replace(item.question, options=()), right=())


def laid_out(item: Item, *, openly: bool, seed: int | None) -> Item:
    """The item as an open question, or with its options shuffled by ``seed``; None = as they are.

    Raises:
        BadInput: asked openly, its right choice is not known.
    """
    if openly:
        return opened(item)
    return item if seed is None else shuffled(item, seed)


class ChoiceScorer:
    """Scores a choice, and has an open answer judged as MimeQA's are (section 4.2.2).

    Attributes:
        name: of the benchmark.
    """

    name: str

    def score(self, item: Item, answer: Answer) -> Verdict | Unscored | Judging:
        """Right or wrong choice; openly asked, what MimeQA's judge is asked."""
        if item.question.options:
            return score_choice(item, answer, self.name)
        return judging.judging(item, answer)

    def judged(self, item: Item, reply: str, judge: str) -> Verdict | Unscored:
        """The verdict of MimeQA's judge."""
        del item
        return judging.read_verdict(reply, judge)


def score_choice(item: Item, answer: Answer, scorer: str) -> Verdict | Unscored:
    """1 for the right option, 0 for another."""
    if not item.right:
        return Unscored(NO_ANSWER, scorer)
    if answer.option is None:
        return Unscored("The answer names no option.", scorer, answer.text)
    options = item.question.options
    right = answer.option in item.right
    said = f"{options[answer.option]!r}"
    wanted = " or ".join(repr(options[index]) for index in item.right)
    reason = f"{said} is right." if right else f"{said}, where {wanted} is right."
    details = {"chosen": answer.option, "right": list(item.right), "options": len(options)}
    return Verdict(float(right), reason, scorer, details)
