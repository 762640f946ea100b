"""MimeQA's own way (section 4.2.1): every cue that passed the gate goes in, in order of time, with
its timestamps and a notice that it may be wrong; nothing is reworded, merged or left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fusion.policy import Policy, Tools
from fusion.question import Question
from fusion.render import in_order
from fusion.selection import Selection

__all__ = ["Options", "build"]


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to set: the thresholds are the gate's, the wording is the renderer's."""


def build(options: Options) -> Policy:  # noqa: ARG001
    """The policy."""
    return _every_cue


def _every_cue(selection: Selection, question: Question, tools: Tools) -> Selection:  # noqa: ARG001
    return replace(selection, kept=in_order(selection.kept))
