"""IntentQA (Li et al., ICCV 2023): why and how people do what they do, five choices a question.

Files: https://github.com/JoseponLee/IntentQA. ``val.csv`` or ``test.csv`` with the columns
``video_id``, ``question``, ``answer`` (an index), ``qid``, ``type`` and ``a0`` to ``a4``; the
videos are NExT-QA's, ``videos/VIDEO_ID.mp4``. One item::

    5465138661,936,320,240,why does the girl in jeans bend down at the start of the video,3,1,CW,
    dance move,prevent jeans from getting wet,tired of bouncing,play with baby,pick up snow,…

Types: CW (causal why), CH (causal how), TN and TP (temporal next, previous), of which the paper
reports CW, CH and TP&TN. Published on the *test* set: Blind GPT 51.55 %, the paper's best 57.64 %,
people 78.49 %. A choice is right or wrong; as open questions (MimeQA, section 4.2.2) the right
choice's text is the reference and MimeQA's judge decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fusion.question import Question
from perception.errors import BadInput
from reasoning import published
from reasoning.benchmark import Fault, Item, Shown
from reasoning.prompt import Words, question_words
from reasoning.scoring import choices
from reasoning.scoring.choices import ChoiceScorer

__all__ = ["LAYOUT", "SOURCE", "Benchmark", "Options", "build"]

SOURCE = "IntentQA's questions are at https://github.com/JoseponLee/IntentQA (datasets/IntentQA)."
LAYOUT = "val.csv, test.csv or train.csv; videos/VIDEO_ID.mp4"
VIDEOS = "IntentQA's videos are those of NExT-QA: https://github.com/doc-doc/NExT-QA."

GROUPS = {"CW": "CW", "CH": "CH", "TP": "TP&TN", "TN": "TP&TN"}
_CHOICES = ("a0", "a1", "a2", "a3", "a4")


@dataclass(frozen=True, slots=True)
class Options:
    """Where IntentQA lies, and how it is asked."""

    folder: str = "intentqa"
    """Folder with the CSV files, and ``videos`` for conditions that show them."""
    split: str = "val"
    """``val``, ``test`` or ``train``: the file's name without ``.csv``."""
    open: bool = False
    """Ask without the choices, and let a judge compare with the right one."""
    shuffle_seed: int | None = None
    """Lays out the choices in another order; None = as published."""


def build(options: Options) -> Benchmark:
    """IntentQA in the user's folder."""
    return Benchmark(options)


class Benchmark(ChoiceScorer):
    """See the module's description."""

    name = "intentqa"
    categories = ("CW", "CH", "TP&TN")

    def __init__(self, options: Options) -> None:
        self._options, self._folder = options, Path(options.folder).expanduser()

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        path = self._folder / f"{self._options.split}.csv"
        columns = ("video_id", "question", "answer", "qid", "type", *_CHOICES)
        return tuple(self._item(*row) for row in published.table(path, columns, SOURCE))

    def _item(self, where: str, row: dict[str, str]) -> Item:
        said = [published.field(where, row, name) for name in _CHOICES]
        right = published.index_of(where, row, "answer", len(said))
        if (kind := row["type"].strip()) not in GROUPS:
            raise BadInput(f"{where}: type must be one of {', '.join(GROUPS)}, not {kind!r}.")
        options, index = choices.folded(said, right)
        video = published.field(where, row, "video_id")
        question = Question(
            published.field(where, row, "question"),
            options,
            id=f"{self.name}/{self._options.split}/{video}-{row['qid'].strip()}",
        )
        item = Item(question, f"{video}.mp4", said[right], (index or 0,), GROUPS[kind])
        return choices.laid_out(item, openly=self._options.open, seed=self._options.shuffle_seed)

    def items(self) -> Sequence[Item]:
        """All questions of the split."""
        return self._items

    def check(self) -> Sequence[Fault]:
        """Videos that are missing; a missing or broken table raises ``BadInput``."""
        return [
            Fault(f"videos/{name}", VIDEOS)
            for name in published.missing_videos(self._folder / "videos", self._items)
        ]

    def video(self, item: Item) -> Path | None:
        """The item's video, None where it is missing."""
        return published.video_file(self._folder / "videos", item.video)

    def words(self, item: Item, shown: Shown) -> Words:
        """A plain instruction of ours: the paper asks different models in different ways."""
        del shown
        opening = "Answer the question about what people in a video do, and why."
        return Words(opening, question_words(item.question))
