"""Social-IQ 2.0 (Wilf et al., 2023): questions about people in everyday videos, four choices each.

Files: https://github.com/abwilf/Social-IQ-2.0-Challenge. ``qa_val.json`` (or ``qa_train.json``,
``qa_test.json``) is a file of JSON lines; videos are ``video/VID_NAME.mp4``. One item::

    {"qid": "-35BPXuZ898_q1_0", "q": "How does the man feel when the woman runs up to him?",
     "vid_name": "-35BPXuZ898", "ts": "0.00-60.019000", "answer_idx": 0,
     "a0": "He feels confused by the woman …", "a1": …, "a2": …, "a3": …}

``answer_idx`` is absent from the test file, whose answers stay unscored. Three ``qid`` of the
validation file stand for two questions each; the second one's id here ends in ``-2``. The wrong
choices were written to be told from the right one, and often can be without the question: report
the choices-only baseline beside any figure. As open questions (MimeQA, section 4.2.2) the right
choice's text is the reference and MimeQA's judge decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fusion.question import Question
from perception.cue import Span
from perception.errors import BadInput
from reasoning import published
from reasoning.benchmark import Fault, Item, Shown
from reasoning.prompt import Words, question_words
from reasoning.scoring import choices
from reasoning.scoring.choices import ChoiceScorer

__all__ = ["LAYOUT", "SOURCE", "Benchmark", "Options", "build"]

SOURCE = (
    "Social-IQ 2.0 is at https://github.com/abwilf/Social-IQ-2.0-Challenge; its script downloads "
    "questions and videos."
)
LAYOUT = "qa_val.json, qa_train.json or qa_test.json; video/VID_NAME.mp4"
_CHOICES = ("a0", "a1", "a2", "a3")
_ALL = "all questions"


@dataclass(frozen=True, slots=True)
class Options:
    """Where Social-IQ 2.0 lies, and how it is asked."""

    folder: str = "social_iq2"
    """Folder with ``qa_SPLIT.json``, and ``video`` for conditions that show them."""
    split: str = "val"
    """``val``, ``train`` or ``test``."""
    open: bool = False
    """Ask without the choices, and let a judge compare with the right one."""
    shuffle_seed: int | None = None
    """Lays out the choices in another order; None = as published."""


def build(options: Options) -> Benchmark:
    """Social-IQ 2.0 in the user's folder."""
    return Benchmark(options)


class Benchmark(ChoiceScorer):
    """See the module's description."""

    name = "social_iq2"
    categories = (_ALL,)

    def __init__(self, options: Options) -> None:
        self._options, self._folder = options, Path(options.folder).expanduser()

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        path = self._folder / f"qa_{self._options.split}.json"
        fields = ("qid", "q", "vid_name", "ts", *_CHOICES)
        times: Counter[str] = Counter()
        items = []
        for where, row in published.json_lines(path, fields, SOURCE):
            qid = published.field(where, row, "qid")
            times[qid] += 1
            again = f"-{times[qid]}" if times[qid] > 1 else ""
            items.append(self._item(where, row, f"{qid}{again}"))
        return tuple(items)

    def _item(self, where: str, row: dict[str, Any], id: str) -> Item:
        said = [published.field(where, row, name) for name in _CHOICES]
        known = "answer_idx" in row
        right = published.index_of(where, row, "answer_idx", len(said)) if known else None
        options, index = choices.folded(said, right)
        video = published.field(where, row, "vid_name")
        question = Question(
            published.field(where, row, "q"),
            options,
            id=f"{self.name}/{self._options.split}/{id}",
        )
        span = _span(where, row["ts"])
        item = Item(
            question,
            f"{video}.mp4",
            "" if right is None else said[right],
            () if index is None else (index,),
            _ALL,
            details={"start_s": span.start_s, "end_s": span.end_s},
        )
        return choices.laid_out(item, openly=self._options.open, seed=self._options.shuffle_seed)

    def items(self) -> Sequence[Item]:
        """All questions of the split."""
        return self._items

    def check(self) -> Sequence[Fault]:
        """Videos that are missing; a missing or broken file of questions raises ``BadInput``."""
        return [
            Fault(f"video/{name}", SOURCE)
            for name in published.missing_videos(self._folder / "video", self._items)
        ]

    def video(self, item: Item) -> Path | None:
        """The item's video, None where it is missing."""
        return published.video_file(self._folder / "video", item.video)

    def words(self, item: Item, shown: Shown) -> Words:
        """A plain instruction of ours: the challenge trains classifiers and has no prompt."""
        del shown
        opening = "Answer the question about the people in a video."
        return Words(opening, question_words(item.question))


def _span(where: str, value: Any) -> Span:
    """The part of the video that the question was written for, from ``"0.00-60.019000"``."""
    try:
        start, end = str(value).split("-")
        return Span(float(start), float(end))
    except (ValueError, BadInput):
        raise BadInput(f"{where}: ts must be like '0.00-60.019', not {value!r}.") from None
