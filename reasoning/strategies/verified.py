"""Each cue is shown to the model with the frames of its own time: does it see that? What it
confirms goes into the prompt for the answer, so that a wrong label is caught where it can be seen.

Fuse, ask about each cue, fuse with the verdicts, ask. A check that fails, or that the model cannot
decide, confirms nothing. What pictures cannot show (speech) is not asked about and stays in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fusion.question import Question
from fusion.render import LABEL_KINDS, QUOTED_NOTICE, statement
from fusion.selection import KeptCue
from perception.cue import Span
from perception.errors import BadInput
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.ask import Asked, Step, request_for, send
from reasoning.strategy import Strategy, Task, agreed
from reasoning.videollm import Request

__all__ = ["Options", "build"]

_NAME = "verified"
_YES, _NO, _UNSURE = "yes", "no", "cannot tell"
_OPTIONS = (_YES, _NO, _UNSURE)


@dataclass(frozen=True, slots=True)
class Options:
    """What is checked, and how.

    Args:
        kinds: of cues that pictures can confirm; cues of other kinds stay in unchecked.
        max_cues: at most so many calls before the answer; the cues of most value are checked, the
            others are left out.
        context_s: shown before and after a cue.
        keep_unsure: whether cues stay in of which the model cannot tell, or whose check failed.
    """

    kinds: tuple[str, ...] = ("action", "screen_text")
    max_cues: int = 20
    context_s: float = 0.5
    keep_unsure: bool = False

    def __post_init__(self) -> None:
        if self.max_cues < 1 or not self.context_s >= 0:
            raise BadInput(
                f"The strategy {_NAME} checks at least 1 cue with a context_s of 0 or more, "
                f"not {self.max_cues} and {self.context_s:g}."
            )


@dataclass(frozen=True, slots=True)
class _Check:
    """A kept cue with the question whether it is so."""

    item: KeptCue
    question: Question


def build(options: Options) -> Strategy:
    """The strategy."""

    def verified(task: Task) -> Asked:
        if not task.with_cues:
            raise BadInput(f"The strategy {_NAME!r} checks cues, and none are given (--no-cues).")
        task.need_sight(_NAME)
        checks, rejected = _planned(task, options)
        agreement = agreed(task, _requests(task, checks, options))
        steps: list[Step] = []
        for number, check in enumerate(checks, start=1):
            task.on_step(f"checking cue {number} of {len(checks)}")
            request = _request(task, check, options)
            asked = send(check.question, None, request, task.model, agreement)
            if asked.failure is not None and asked.failure.kind is FailureKind.UNAVAILABLE:
                return replace(asked, question=task.question, steps=tuple(steps))
            steps.append(Step("check", request, asked.reply))
            if (reason := _objection(asked.reply, options)) is not None:
                rejected.update(dict.fromkeys(check.item.ids, reason))
        task.on_step("answering")
        cues, request = task.request(rejected)
        answered = send(task.question, cues, request, task.model, agreement)
        return replace(answered, steps=tuple(steps))

    return verified


def _planned(task: Task, options: Options) -> tuple[list[_Check], dict[str, str]]:
    """The cues to be checked, worthiest first, and why the others of their kinds are left out."""
    reason = f"not checked: only the {options.max_cues} worthiest cues are"
    chosen, left_out = task.worthiest(options.kinds, options.max_cues, reason)
    return [_Check(item, _whether(item)) for item in chosen], left_out


def _whether(item: KeptCue) -> Question:
    said = statement(item, times=False)
    quotes = f" {QUOTED_NOTICE}" if item.kind not in LABEL_KINDS else ""
    words = f"An automatic recognizer says of this part: {said}.{quotes} Do the frames show that?"
    return Question(words, _OPTIONS, span=item.when)


def _requests(task: Task, checks: list[_Check], options: Options) -> Iterator[Request]:
    yield task.request()[1]
    for check in checks:
        yield _request(task, check, options)


def _request(task: Task, check: _Check, options: Options) -> Request:
    span = check.item.when
    shown = Span(max(0.0, span.start_s - options.context_s), span.end_s + options.context_s)
    return request_for(
        check.question,
        None,
        task.model,
        task.frames(shown),
        task.duration_s,
        task.answer,
        video=task.video(shown),
    )


def _objection(reply: Answer | Failure, options: Options) -> str | None:
    """Why a cue is left out after its check; None = it stays."""
    if isinstance(reply, Answer) and reply.option == _OPTIONS.index(_YES):
        return None
    if isinstance(reply, Answer) and reply.option == _OPTIONS.index(_NO):
        return "the model does not see it in the frames"
    if options.keep_unsure:
        return None
    if isinstance(reply, Failure):
        return f"the model's check of it failed ({reply.kind})"
    return "the model cannot tell from the frames"
