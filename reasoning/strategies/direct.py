"""One call: the cues, the frames, the question, the answer."""

from __future__ import annotations

from dataclasses import dataclass

from reasoning.ask import Asked, send
from reasoning.strategy import Strategy, Task

__all__ = ["Options", "build"]


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to set."""


def build(options: Options) -> Strategy:  # noqa: ARG001
    """The strategy."""
    return _direct


def _direct(task: Task) -> Asked:
    cues, request = task.request()
    return send(task.question, cues, request, task.model, task.confirm)
