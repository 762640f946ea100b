"""The model first says what it sees; only cues that its own description supports go into the prompt
for the answer, beside that description.

Describe, fuse, ask which cues the description supports, fuse with the verdicts, ask. Where the
reply about the cues cannot be read, none is supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fusion.question import Question
from fusion.quoting import quoted
from fusion.render import QUOTED_NOTICE, statement
from fusion.selection import CuePrompt, KeptCue
from perception.errors import BadInput
from reasoning.answer import Answer, Failure
from reasoning.ask import Asked, Step, request_for, send
from reasoning.strategy import Strategy, Task, agreed
from reasoning.videollm import Request, Text

__all__ = ["Options", "build", "numbers"]

_NAME = "describe_then_reason"

_DESCRIBE = (
    "Describe in order of time what people do, how they look and move, and what is written. "
    "Say when. Do not interpret."
)
_NUMBERS = re.compile(r"\d+")
_NONE = re.compile(r"\bnone\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Options:
    """How long a description, and what it has to support.

    Args:
        description_tokens: limit of the description.
        kinds: of cues that a description of pictures can support; others stay in.
        max_cues: at most so many are asked about, those of most value; the others are left out.
        max_chars: of the description that are handed on.
    """

    description_tokens: int = 384
    kinds: tuple[str, ...] = ("action", "screen_text")
    max_cues: int = 40
    max_chars: int = 3000

    def __post_init__(self) -> None:
        if min(self.description_tokens, self.max_cues, self.max_chars) < 1:
            raise BadInput(f"All numbers of the strategy {_NAME} are 1 or more.")


def build(options: Options) -> Strategy:
    """The strategy."""

    def describe_then_reason(task: Task) -> Asked:
        task.need_sight(_NAME)
        agreement = agreed(task, _longest(task, options))
        task.on_step("describing")
        question, request = _described(task, options)
        asked = send(question, None, request, task.model, agreement)
        if asked.answer is None:
            return replace(asked, question=task.question)
        steps = [Step("describe", request, asked.reply)]
        description = quoted(asked.answer.text, options.max_chars)
        asked_about, rejected = _planned(task, options)
        if asked_about:
            task.on_step("comparing the cues with the description")
            question, request = _compared(task, asked_about, description)
            reply = send(question, None, request, task.model, agreement).reply
            steps.append(Step("compare", request, reply))
            rejected.update(_unsupported(asked_about, reply))
        task.on_step("answering")
        cues, request = _final(task, description, rejected)
        answered = send(task.question, cues, request, task.model, agreement)
        return replace(answered, steps=tuple(steps))

    return describe_then_reason


def numbers(reply: str, count: int) -> set[int] | None:
    """The numbers from 1 to ``count`` that a reply lists ("1, 3", "none"); None where it lists none
    and does not say so, or names others."""
    found = {int(each) for each in _NUMBERS.findall(reply)}
    if not found:
        return set() if _NONE.search(reply) else None
    return found if found <= set(range(1, count + 1)) else None


def _planned(task: Task, options: Options) -> tuple[list[KeptCue], dict[str, str]]:
    """The cues to be asked about, worthiest first, and why others of their kinds are left out."""
    if not task.with_cues:
        return [], {}
    reason = f"not asked about: only the {options.max_cues} worthiest cues are"
    return task.worthiest(options.kinds, options.max_cues, reason)


def _described(task: Task, options: Options) -> tuple[Question, Request]:
    question = Question(_DESCRIBE, span=task.question.span)
    frames = task.frames(question.span)
    limits = replace(task.answer, max_new_tokens=options.description_tokens)
    video = task.video(question.span)
    return question, request_for(
        question, None, task.model, frames, task.duration_s, limits, video=video
    )


def _compared(task: Task, asked_about: list[KeptCue], description: str) -> tuple[Question, Request]:
    """Words alone: the description stands for the frames."""
    cues = "\n".join(
        f"{number}. {statement(item)}" for number, item in enumerate(asked_about, start=1)
    )
    words = (
        f"A video was described so: {description}\nAn automatic recognizer says of it:\n{cues}\n"
        f"{QUOTED_NOTICE}\nWhich of the numbered lines does the description support? Reply with "
        "their numbers alone, separated by commas, or with the word none."
    )
    question = Question(words)
    limits = task.answer
    return question, Request(
        (Text(words),),
        max_new_tokens=limits.max_new_tokens,
        temperature=limits.temperature,
        seed=limits.seed,
    )


def _unsupported(asked_about: list[KeptCue], reply: Answer | Failure) -> dict[str, str]:
    supported: set[int] | None = None
    reason = "the model's description of the video does not support it"
    if isinstance(reply, Answer):
        supported = numbers(reply.text, len(asked_about))
    if supported is None:
        supported, reason = set(), "which cues the description supports could not be told"
    return {
        id: reason
        for number, item in enumerate(asked_about, start=1)
        if number not in supported
        for id in item.ids
    }


def _final(
    task: Task, description: str, rejected: dict[str, str]
) -> tuple[CuePrompt | None, Request]:
    """The description stands right before the question."""
    said = f"You described the video so before: {description}"
    cues, request = task.request(rejected, reserved_tokens=task.model.count_tokens(said))
    *before, question = request.parts
    return cues, replace(request, parts=(*before, Text(said), question))


def _longest(task: Task, options: Options) -> Iterator[Request]:
    """Each call with the longest description that there can be."""
    yield _described(task, options)[1]
    description = quoted("word " * options.description_tokens, options.max_chars)
    if asked_about := _planned(task, options)[0]:
        yield _compared(task, asked_about, description)[1]
    yield _final(task, description, {})[1]
