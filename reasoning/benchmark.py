"""The ``Benchmark`` protocol: published files become items, items prompts, and answers verdicts.

A benchmark is a plug-in file or folder of ``benchmarks/`` whose ``Options`` name the user's folder
with the published files. It owns its prompts, its parser and its scorer; it knows nothing of cues,
conditions or models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fusion.question import Question
from reasoning.answer import Answer, Unscored, Verdict
from reasoning.plain import plain
from reasoning.prompt import Words
from reasoning.records import digest

__all__ = ["Benchmark", "Fault", "Item", "Judging", "Shown"]


_OF_PROMPTS = frozenset({"title", "transcript"})
"""Details of an item that models are told and that no scorer or judge looks at."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a benchmark with its right answer.

    Args:
        question: what is asked; its id is unique in the benchmark and stays the same for the same
            published files.
        video: name of the file in the benchmark's folder of videos; empty = none is needed.
        reference: the right answer in words.
        right: indices of the right options; empty for an open question.
        category: the benchmark's own, e.g. "Theory of Mind"; tables have a column for each.
        level: what categories are grouped by, e.g. "Global-Level"; may be empty.
        details: what the files hold besides, for the prompts and the scorer (title, rubric, …).
    """

    question: Question
    video: str
    reference: str
    right: tuple[int, ...] = ()
    category: str = ""
    level: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def truth(self) -> str:
        """Digest of all that an answer is held against: a verdict stands as long as it does. What
        the prompt alone tells (a transcript, a title) is none of it."""
        held = {name: value for name, value in self.details.items() if name not in _OF_PROMPTS}
        question = self.question
        return digest(question.text, question.options, self.reference, self.right, plain(held))


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model is shown beside the words of the prompt.

    Args:
        frame_times_s: presentation times of the frames; empty = it sees no pixels.
        duration_s: of the video.
        native: whether the model's family tells it the frames' times itself.
        cues: whether a cue block is there.
    """

    frame_times_s: Sequence[float] = ()
    duration_s: float = 0.0
    native: bool = False
    cues: bool = False


@dataclass(frozen=True, slots=True)
class Judging:
    """What a judge is asked about one answer.

    Args:
        instruction: how to grade.
        question: the item, the candidate and the reference in the protocol's template.
        schema: JSON schema of the reply, for servers that hold a model to one.
    """

    instruction: str
    question: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a folder of published files lacks, and where it is to be had."""

    path: str
    what: str


class Benchmark(Protocol):
    """Built by its plug-in's ``build(options)``; the files are read on first use."""

    @property
    def name(self) -> str:
        """For records and tables."""

    @property
    def categories(self) -> Sequence[str]:
        """In the order of the papers' tables."""

    def items(self) -> Sequence[Item]:
        """All questions in the order of the files.

        Raises:
            BadInput: a file is missing or not in the published format.
        """

    def check(self) -> Sequence[Fault]:
        """Everything that is missing in the folder; empty = it can be run."""

    def video(self, item: Item) -> Path | None:
        """The item's video file, None when it needs none."""

    def words(self, item: Item, shown: Shown) -> Words:
        """The words of the prompt."""

    def score(self, item: Item, answer: Answer) -> Verdict | Unscored | Judging:
        """The verdict, or what a judge has to be asked."""

    def judged(self, item: Item, reply: str, judge: str) -> Verdict | Unscored:
        """The verdict in a judge's reply, parsed strictly: what is not clear is ``Unscored``."""
