"""One call: the cues, the frames, the question, the answer."""

from __future__ import annotations

from dataclasses import dataclass

from reasoning.ask import Asked, ask
from reasoning.strategy import Strategy, Task

__all__ = ["Options", "build"]


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to set."""


def build(options: Options) -> Strategy:  # noqa: ARG001
    """The strategy."""
    return _direct


def _direct(task: Task) -> Asked:
    frames = task.frames(task.question.span)
    cues = task.cues(frames)
    return ask(
        task.question,
        cues,
        task.model,
        frames,
        task.duration_s,
        task.answer,
        video=task.video(task.question.span),
        wording=task.words(frames, cues),
        confirm=task.confirm,
    )
