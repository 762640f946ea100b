"""Anybody's own questions: one CSV file beside the videos.

Columns: ``video`` and ``question``; ``reference`` (the right answer in words) for open questions,
or ``option_a``, ``option_b``, … and ``answer`` (a letter) for choices; ``category``, ``start`` and
``end`` (seconds, of the part that is asked about) may be there or empty. One item::

    video,question,reference,option_a,option_b,answer,category,start,end
    clip.mp4,What does he hold?,a rope,,,,Grounding the Imagined,12.3,20

Choices are right or wrong; open questions are judged. Prompts and judge are MimeQA's (Appendix C.5)
where the option ``mime`` says so, else the same without a word of mime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fusion.question import Question, QuestionType
from perception.cue import Span
from perception.errors import BadInput
from reasoning import published
from reasoning.answer import Answer, Unscored, Verdict
from reasoning.benchmark import Fault, Item, Judging, Shown
from reasoning.prompt import Wording, Words, letter, opening, question_words
from reasoning.scoring import choices, judging
from reasoning.scoring.choices import ChoiceScorer

__all__ = ["LAYOUT", "SOURCE", "Benchmark", "Options", "build"]

SOURCE = "It is a CSV file of your own with the columns video, question and reference or options."
LAYOUT = (
    "a CSV file with the columns video, question, and reference or option_a, option_b, … and "
    "answer; category, start and end if you like; its videos beside it"
)
_LETTERS = tuple(letter(index) for index in range(26))


@dataclass(frozen=True, slots=True)
class Options:
    """Where the questions lie."""

    table: str = "questions.csv"
    videos: str = ""
    """Folder of the videos; empty = where the table lies, or ``videos`` there."""
    mime: bool = False
    """The videos show mime performances: models and judges are told so, as MimeQA's are."""
    shuffle_seed: int | None = None
    """Lays out choices in another order; None = as in the table."""


def build(options: Options) -> Benchmark:
    """The questions of a table."""
    return Benchmark(options)


class Benchmark(ChoiceScorer):
    """See the module's description."""

    name = "csv_questions"

    def __init__(self, options: Options) -> None:
        self._options, self._table = options, Path(options.table).expanduser()
        beside = self._table.parent
        self._folders = (
            [Path(options.videos).expanduser()] if options.videos else [beside, beside / "videos"]
        )

    @property
    def categories(self) -> Sequence[str]:
        """In the order of the table."""
        return tuple(dict.fromkeys(item.category for item in self._items))

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        rows = published.table(self._table, ("video", "question"), SOURCE, numbers=("start", "end"))
        items = []
        places: dict[str, str] = {}
        for number, (where, row) in enumerate(rows, start=1):
            item = self._item(number, where, row)
            if (first := places.setdefault(item.question.id, where)) is not where:
                raise BadInput(
                    f"{where}: the id {item.question.id.rpartition('/')[2]!r} is that of {first}; "
                    "each question needs its own, or none for its number in the table."
                )
            items.append(item)
        if not items:
            raise BadInput(f"{str(self._table)!r} holds no question.")
        return tuple(items)

    def _item(self, number: int, where: str, row: dict[str, str]) -> Item:
        category = (row.get("category") or "").strip()
        kind = _kind(category)
        options = _options(row)
        reference = (row.get("reference") or "").strip()
        right: tuple[int, ...] = ()
        if options:
            answer = (row.get("answer") or "").strip().upper()
            if answer not in options:
                raise BadInput(
                    f"{where}: answer must be one of {', '.join(options)}, not {answer!r}."
                )
            right = (list(options).index(answer),)
            reference = reference or options[answer]
        elif not reference:
            raise BadInput(f"{where}: an open question needs a reference, a choice its options.")
        try:
            question = Question(
                published.field(where, row, "question"),
                tuple(options.values()),
                _span(where, row),
                kind,
                f"{self._table.stem}/{(row.get('id') or '').strip() or number}",
            )
        except BadInput as error:
            raise BadInput(f"{where}: {error}" if where not in str(error) else str(error)) from None
        item = Item(
            question, published.field(where, row, "video"), reference, right, kind or category
        )
        seed = self._options.shuffle_seed
        return item if seed is None or not options else choices.shuffled(item, seed)

    def items(self) -> Sequence[Item]:
        """All questions in the table's order."""
        return self._items

    def check(self) -> Sequence[Fault]:
        """Videos that are missing; a missing or broken table raises ``BadInput``."""
        missing = dict.fromkeys(item.video for item in self._items if self.video(item) is None)
        return [Fault(str(self._folders[0] / name), "The table names it.") for name in missing]

    def video(self, item: Item) -> Path | None:
        """The item's video, None where it is missing."""
        found = (published.video_file(folder, item.video) for folder in self._folders)
        return next(filter(None, found), None)

    def score(self, item: Item, answer: Answer) -> Verdict | Unscored | Judging:
        """Right or wrong choice; openly asked, what a judge is asked."""
        if item.question.options:
            return super().score(item, answer)
        return judging.judging(item, answer, mime=self._options.mime)

    def words(self, item: Item, shown: Shown) -> Words:
        """Those of ``cuelight ask``, or the same for any video."""
        wording = Wording.VIDEO if shown.native else Wording.FRAMES
        wording = wording if shown.frame_times_s else Wording.CUES
        instruction = opening(
            wording, shown.frame_times_s, shown.duration_s, mime=self._options.mime
        )
        if wording is Wording.CUES and not shown.cues:
            instruction = "Answer the question in one sentence."
        return Words(instruction, question_words(item.question))


def _kind(category: str) -> QuestionType | None:
    try:
        return QuestionType(category)
    except ValueError:
        return None


def _options(row: dict[str, str]) -> dict[str, str]:
    """By letter, as far as they are filled in."""
    found = {name: (row.get(f"option_{name.lower()}") or "").strip() for name in _LETTERS}
    return {name: text for name, text in found.items() if text}


def _span(where: str, row: dict[str, str]) -> Span | None:
    start, end = ((row.get(name) or "").strip() for name in ("start", "end"))
    if not start and not end:
        return None
    try:
        return Span(float(start), float(end))
    except (ValueError, BadInput):
        raise BadInput(
            f"{where}: start and end must be seconds in order, or both empty, not {start!r} and "
            f"{end!r}."
        ) from None
