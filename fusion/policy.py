"""The Policy protocol: one step between the gate and the budget.

A policy may reorder, drop (with a reason), reword (``phrasing``), value (``value``) and merge
(``merged_ids``) cues. It may not make any, and every cue that comes in must be found again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from fusion.budget import estimate_tokens
from fusion.question import Question
from fusion.selection import Selection

__all__ = ["Policy", "Tools"]


@dataclass(frozen=True, slots=True)
class Tools:
    """What fusion cannot be pure about, as plain callables.

    Args:
        count_tokens: tokens that the model's tokenizer makes of a text; must be a pure function.
    """

    count_tokens: Callable[[str], int] = estimate_tokens


class Policy(Protocol):
    """Built by its plug-in file's ``build(options)``; pure."""

    def __call__(self, selection: Selection, question: Question, tools: Tools) -> Selection:
        """The selection after this policy."""
