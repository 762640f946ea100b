"""ViMU (Li and Wang, 2026): what a short video means below its surface; 588 videos, four tasks.

Files: LIQIIIII/ViMU on Hugging Face (MIT); the code is LiQiiiii/Video-Metaphorical-Understanding on
GitHub. ``videos/vimu_000001.mp4`` and, in ``metadata`` or beside it, ``vimu_oe.jsonl`` (open-ended
interpretation, OE), ``vimu_eg.jsonl`` (evidence grounding, EG), ``vimu_ss.jsonl`` (rhetoric
mechanisms, RM, and social value signals, SV) and ``video_evidence.jsonl`` (transcripts). One item
of evidence grounding, shortened::

    {"video_id": "vimu_000001", "question": "Which evidence carries the meaning?", "options":
     {"A": {"label": "frames", "text": "what is seen"}, "B": {"label": "visible_text", "text":
     "what is written"}}, "correct_options": ["B"]}

EG, RM and SV are answered with ``{"selected_options": [letters]}`` and scored as sets: a wrong
letter makes it 0, else the share of right letters found. OE is judged by a rubric of -6 to 9 points
(``rubric``). ``table`` and ``analysis`` make the paper's table and analyses of the outcomes.

The published code shows at most 8 frames, and the transcript stands in every prompt. Here the
transcript is a cue like any other: as published, left out, or ours (the speech cues of the
condition) in its stead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from perception.errors import BadInput, UnknownName
from reasoning import published
from reasoning.answer import Answer, Unscored, Verdict
from reasoning.benchmark import Fault, Item, Judging, Shown
from reasoning.benchmarks.vimu import files, prompts, rubric, selection
from reasoning.benchmarks.vimu.files import SOURCE, TASKS
from reasoning.benchmarks.vimu.official import Checkout
from reasoning.prompt import Words

__all__ = ["LAYOUT", "SOURCE", "Benchmark", "Options", "Transcript", "build"]

LAYOUT = (
    "metadata/vimu_oe.jsonl, metadata/vimu_eg.jsonl, metadata/vimu_ss.jsonl, "
    "metadata/video_evidence.jsonl; videos/vimu_000001.mp4 …"
)


class Transcript(StrEnum):
    """What the prompt says of the video's speech."""

    PUBLISHED = "published"
    """The published transcript, as in the paper."""
    CUES = "cues"
    """None of its own: the speech cues of the condition take its place."""
    NONE = "none"
    """Nothing."""


@dataclass(frozen=True, slots=True)
class Options:
    """Where ViMU lies, and how it is asked."""

    folder: str = "vimu"
    """Folder with ``metadata`` and ``videos``."""
    tasks: tuple[str, ...] = TASKS
    """Some of OE, EG, RM, SV."""
    guided: bool = False
    """Define the options of RM and SV in the prompt."""
    transcript: Transcript = Transcript.PUBLISHED
    """Where what is said comes from."""
    official_prompts: str = ""
    """A checkout of ViMU's code whose prompts are asked, word for word; empty = our wording."""

    def __post_init__(self) -> None:
        for task in self.tasks:
            if task not in TASKS:
                raise UnknownName("task of ViMU", task, TASKS)
        if not self.tasks or len(set(self.tasks)) < len(self.tasks):
            raise BadInput(f"tasks must name some of {', '.join(TASKS)}, each once.")


def build(options: Options) -> Benchmark:
    """ViMU in the user's folder."""
    return Benchmark(options)


class Benchmark:
    """See the module's description."""

    name = "vimu"

    def __init__(self, options: Options) -> None:
        self._options = options
        self._places = files.Places(Path(options.folder).expanduser())
        official = options.official_prompts
        self._official = Checkout(official) if official else None

    @property
    def categories(self) -> Sequence[str]:
        """The tasks, in the order of the paper's table."""
        return tuple(task for task in TASKS if task in self._options.tasks)

    @property
    def _transcript(self) -> bool:
        return self._options.transcript is Transcript.PUBLISHED

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        return tuple(files.items(self._places, tuple(self.categories), self._transcript))

    def items(self) -> Sequence[Item]:
        """All questions, task by task."""
        return self._items

    def check(self) -> Sequence[Fault]:
        """Published files, scripts of a checkout and videos that are missing; a broken file raises
        ``BadInput``."""
        faults = list(files.missing(self._places, tuple(self.categories), self._transcript))
        if self._official is not None:
            faults += [Fault(path, SOURCE) for path in self._official.missing()]
        if faults:
            return faults
        return [
            Fault(f"{files.VIDEOS}/{name}", SOURCE)
            for name in published.missing_videos(self._places.videos, self._items)
        ]

    def video(self, item: Item) -> Path | None:
        """The item's video, None where it is missing."""
        return published.video_file(self._places.videos, item.video)

    def words(self, item: Item, shown: Shown) -> Words:
        """Our wording, or the published prompt."""
        if self._official is not None:
            return self._official.words(item, guided=self._options.guided)
        ours = self._options.transcript is Transcript.CUES
        return prompts.words(item, shown, guided=self._options.guided, ours=ours)

    def score(self, item: Item, answer: Answer) -> Verdict | Unscored | Judging:
        """The set score; for an open question, what the judge is asked."""
        if item.category != "OE":
            return selection.score(item, answer, self.name)
        if self._official is not None:
            return self._official.judging(item, answer)
        return rubric.judging(item, answer)

    def judged(self, item: Item, reply: str, judge: str) -> Verdict | Unscored:
        """The verdict of the rubric's judge."""
        del item
        return rubric.read(reply, judge)
