"""MimeQA (Li et al., 2025): 806 open questions about 101 mime videos, in seven categories.

Files: hzli1202/MimeQA on Hugging Face (CC BY-NC-SA 4.0), code github.com/MIT-MI/MimeQA. The table
``annotation_final.csv`` has the columns ``file``, ``question``, ``reference_answer``,
``question type`` and ``timestamp``; videos are ``videos/STEM.mp4``; ``titles.json`` maps file names
to titles. One item::

    0002.webm,What is the mime holding?,A rope that is tied to a boat.,Grounding the Imagined,
    "(12.3, 20.0)"

*Perspective Taking* is the paper's Theory of Mind. Questions of it, of Social Judgment and of
Working Memory are about the whole video; all others are asked "From timestamp … to …, ". Answers
are judged by GPT-4o with the instruction of Appendix C.5; averages are over questions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fusion.question import PERSPECTIVE_TAKING, Question, QuestionType
from perception.cue import Span
from perception.errors import BadInput
from reasoning import published
from reasoning.answer import Answer, Unscored, Verdict
from reasoning.benchmark import Fault, Item, Judging, Shown
from reasoning.prompt import Wording, Words, opening, question_words
from reasoning.scoring import judging

__all__ = ["LAYOUT", "LEVELS", "SOURCE", "Benchmark", "Options", "build"]

SOURCE = "MimeQA is hzli1202/MimeQA on Hugging Face; its code is github.com/MIT-MI/MimeQA."

LAYOUT = "annotation_final.csv; videos/STEM.mp4; for titles, a JSON file: file name -> title"

LEVELS = {
    QuestionType.GROUNDING_THE_IMAGINED: "Grounding",
    QuestionType.INTENTION: "Scene-Level",
    QuestionType.AFFECT_RECOGNITION: "Scene-Level",
    QuestionType.TEMPORAL: "Scene-Level",
    QuestionType.THEORY_OF_MIND: "Global-Level",
    QuestionType.SOCIAL_JUDGMENT: "Global-Level",
    QuestionType.WORKING_MEMORY: "Global-Level",
}
"""In the order of the columns of the paper's Table 1."""

WHOLE_VIDEO = frozenset(
    {QuestionType.SOCIAL_JUDGMENT, QuestionType.WORKING_MEMORY, QuestionType.THEORY_OF_MIND}
)
"""Asked without times, whatever the table says (the paper's evaluation code)."""

COLUMNS = ("file", "question", "reference_answer", "question type", "timestamp")
_SPAN = re.compile(r"\(\s*(\d+(?:\.\d+)?)\s*,\s*(\d+(?:\.\d+)?)\s*\)")

THINK = (
    "Think step by step to answer the question. Format the final answer in a separate sentence "
    "like 'The answer is X'."
)
"""Appendix B.2."""

_BLIND = {
    "using the video, ": "",
    "Do not describe the frames just answer the question, and say nothing else.\n": (
        "Just answer the question, and say nothing else.\n"
    ),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Where MimeQA lies, and how it is asked."""

    folder: str = "mimeqa"
    """Folder with the table, and ``videos``."""
    table: str = "annotation_final.csv"
    titles: str = ""
    """JSON file of titles in the folder: put each video's title into the prompt (Table 5)."""
    chain_of_thought: bool = False
    """Add the line of Appendix B.2 (Table 6)."""


def build(options: Options) -> Benchmark:
    """MimeQA in the user's folder."""
    return Benchmark(options)


class Benchmark:
    """See the module's description."""

    name = "mimeqa"
    categories = tuple(LEVELS)

    def __init__(self, options: Options) -> None:
        self._options, self._folder = options, Path(options.folder).expanduser()

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        titles = self._titles()
        counts: dict[str, int] = {}
        items = []
        for where, row in published.table(self._folder / self._options.table, COLUMNS, SOURCE):
            stem = Path(published.field(where, row, "file")).stem
            counts[stem] = counts.get(stem, 0) + 1
            items.append(self._item(where, row, f"{stem}-{counts[stem]}", titles))
        return tuple(items)

    def _item(self, where: str, row: dict[str, str], id: str, titles: Mapping[str, str]) -> Item:
        kind = _kind(where, row["question type"])
        span = _span(where, row["timestamp"])
        if span is not None and kind in WHOLE_VIDEO:
            span = None
        stem = Path(row["file"].strip()).stem
        details: dict[str, Any] = {}
        if self._options.titles:
            if stem not in titles:
                raise BadInput(f"{self._options.titles} has no title for {stem!r} ({where}).")
            details["title"] = titles[stem]
        words = published.field(where, row, "question")
        question = Question(words, span=span, type=kind, id=f"{self.name}/{id}")
        reference = published.field(where, row, "reference_answer")
        return Item(question, f"{stem}.mp4", reference, (), kind, LEVELS[kind], details)

    def _titles(self) -> dict[str, str]:
        if not self._options.titles:
            return {}
        path = self._folder / self._options.titles
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            return {Path(name).stem: str(title) for name, title in document.items()}
        except FileNotFoundError:
            raise BadInput(f"There is no file of titles {str(path)!r}. {SOURCE}") from None
        except (OSError, ValueError, AttributeError) as error:
            raise BadInput(f"{str(path)!r} must map file names to titles ({error}).") from None

    def items(self) -> Sequence[Item]:
        """All questions in the table's order."""
        return self._items

    def check(self) -> Sequence[Fault]:
        """Videos that are missing; a missing or broken table raises ``BadInput``."""
        return [
            Fault(f"videos/{name}", SOURCE)
            for name in published.missing_videos(self._folder / "videos", self._items)
        ]

    def video(self, item: Item) -> Path | None:
        """The item's video, None where it is missing."""
        return published.video_file(self._folder / "videos", item.video)

    def words(self, item: Item, shown: Shown) -> Words:
        """The templates of Appendix C.5: the first for models that take the video itself, the
        second for sampled frames. Without a video the first stands without its mention (the
        paper prints no template for text only)."""
        if shown.frame_times_s and not shown.native:
            instruction = opening(Wording.FRAMES, shown.frame_times_s, shown.duration_s)
        elif shown.frame_times_s:
            instruction = opening(Wording.VIDEO)
        elif shown.cues:
            instruction = opening(Wording.CUES)
        else:
            instruction = opening(Wording.VIDEO)
            for words, blind in _BLIND.items():
                instruction = instruction.replace(words, blind)
        if title := item.details.get("title"):
            instruction += f'\nThe title of the video is "{title}".'
        closing = question_words(item.question)
        if self._options.chain_of_thought:
            closing += f"\n{THINK}"
        return Words(instruction, closing)

    def score(self, item: Item, answer: Answer) -> Verdict | Unscored | Judging:
        """What the judge of Appendix C.5 is asked."""
        return judging.judging(item, answer)

    def judged(self, item: Item, reply: str, judge: str) -> Verdict | Unscored:
        """The judge's verdict."""
        del item
        return judging.read_verdict(reply, judge)


def _kind(where: str, value: str) -> QuestionType:
    try:
        return QuestionType(value)
    except ValueError:
        known = ", ".join([*QuestionType, PERSPECTIVE_TAKING])
        raise BadInput(f"{where}: question type must be one of {known}, not {value!r}.") from None


def _span(where: str, value: str) -> Span | None:
    if not value.strip():
        return None
    found = _SPAN.fullmatch(value.strip())
    if found is None or float(found[1]) > float(found[2]):
        raise BadInput(f"{where}: timestamp must be empty or like '(12.3, 20.0)', not {value!r}.")
    return Span(float(found[1]), float(found[2]))
