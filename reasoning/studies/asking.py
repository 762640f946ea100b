"""Asking one question of a study under one condition, and keeping what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fusion.policy import Tools
from fusion.selection import CuePrompt, Selection
from fusion.words import content
from perception.cue import CueTimeline, Span, Status
from perception.recognizer import Frame
from perception.text.split import has_text
from reasoning.answer import Failure, FailureKind
from reasoning.ask import Asked
from reasoning.benchmark import Item, Judging, Shown
from reasoning.plain import plain
from reasoning.prompt import Words
from reasoning.records import Call, Records, digest
from reasoning.results.outcomes import InjectedCue
from reasoning.sampling import SampledFrames
from reasoning.strategy import Task
from reasoning.studies.recorded import Bench, Cell, Model, Recorded
from reasoning.studies.videos import fuser
from reasoning.study import Arm
from reasoning.tools.assemble import assemble
from reasoning.videollm import Request, Text, VideoFile

__all__ = ["PERCEPTION", "Asking", "Todo"]

PERCEPTION = "perception"
"""Stands for the model where a question is not asked because cues could not be had."""


@dataclass(frozen=True, slots=True)
class Todo:
    """A cell of the study: a question under a condition in a repeat.

    Args:
        order: places of condition, question and repeat in the study.
        inputs: digest of all that its answer hangs on.
        key: of the recorded answer to these inputs; empty = it is still to be asked.
    """

    arm: Arm
    item: Item
    repeat: int
    order: tuple[int, int, int]
    inputs: str
    key: str

    @property
    def own_item(self) -> Item:
        """The question as the condition's benchmark asks it."""
        return self.arm.items[self.item.question.id]


class Asking:
    """Asks a model, a cell at a time; repeats no call that is on record.

    Args:
        model: who is asked.
        records: where everything goes.
        bench: held by whoever calls.
    """

    def __init__(self, model: Model, records: Records, bench: Bench) -> None:
        self._model, self._records, self._bench = model, records, bench
        self._frames = SampledFrames()
        self._tools: dict[str, Tools] = {}

    def __call__(
        self, cell: Todo, timeline: CueTimeline, hindrance: str = ""
    ) -> tuple[Failure | None, int]:
        """Ask, put what came back on record and score it.

        Args:
            timeline: what the condition lets the model know of the video.
            hindrance: why the question cannot be asked; it is then a failure, and nobody is asked.

        Returns:
            The failure, if there is no answer, and how many calls the model had to answer.
        """
        question = cell.own_item.question.id
        recorded = Recorded(
            self._model,
            self._records,
            Cell(question, timeline.video.sha256, cell.repeat),
            self._bench,
            sees=cell.arm.condition.video,
        )
        if broken := [each for each in timeline.tracks if each.status is Status.FAILED]:
            hindrance = "; ".join(f"{each.kind}: {' '.join(each.notes)}" for each in broken)
        if hindrance:
            asked, call = _unperceived(cell.own_item, hindrance, recorded)
        else:
            asked, call = self._asked(cell, timeline, recorded)
        facts = _facts(cell, timeline, asked, self._model)
        key = self._records.plan(cell.arm.name, question, cell.repeat, call, facts)
        failure = asked.reply if isinstance(asked.reply, Failure) else None
        if failure is None:
            self.score(cell, key)
        elif key not in recorded.asked:
            self._records.keep(call, failure, 0.0)
        return failure, len(recorded.asked)

    def score(self, cell: Todo, key: str) -> None:
        """The verdict of the benchmark's own scorer; open answers wait for a judge."""
        benchmark, item = cell.arm.benchmark, cell.own_item
        answer = self._records.answer(key)
        known = self._records.verdict(key, benchmark.name, item.truth)
        if answer is None or known is not None:
            return
        verdict = benchmark.score(item, answer)
        if not isinstance(verdict, Judging):
            self._records.judge(key, benchmark.name, verdict, item.truth)

    def _asked(self, cell: Todo, timeline: CueTimeline, recorded: Recorded) -> tuple[Asked, Call]:
        task = self._task(cell, timeline, recorded)
        asked = cell.arm.settings.strategy.build()(task)
        return asked, recorded.call(asked.request)

    def _task(self, cell: Todo, timeline: CueTimeline, recorded: Recorded) -> Task:
        arm, item = cell.arm, cell.own_item
        path = arm.benchmark.video(item)
        model: Any = recorded
        condition, settings = arm.condition, arm.settings

        def sample(part: Span | None) -> Sequence[Frame]:
            if path is None:
                return ()
            return self._frames(path, timeline.video, model.sampling, part)

        def words(frames: Sequence[Frame], cues: CuePrompt | None) -> Words:
            shown = Shown(
                [frame.time_s for frame in frames],
                timeline.video.duration_s,
                model.native_video,
                cues is not None and bool(cues.text),
            )
            return arm.benchmark.words(item, shown)

        answer = replace(settings.answer, seed=settings.answer.seed + cell.repeat)
        return Task(
            item.question,
            timeline,
            model,
            sample,
            fusion=settings.fusion,
            tools=self._tools_of(arm),
            answer=answer,
            with_cues=arm.with_cues,
            fuse=fuser(condition),
            words=words,
            video=lambda part: None if path is None else VideoFile(path, part),
            confirm=lambda _: True,
        )

    def _tools_of(self, arm: Arm) -> Tools:
        key = digest(plain(arm.settings.tools))
        if key not in self._tools:
            self._tools[key] = assemble(arm.settings.tools, self._model.llm)
        return self._tools[key]


def _unperceived(item: Item, words: str, recorded: Recorded) -> tuple[Asked, Call]:
    """A failure where the cues that the condition gives could not be had."""
    request = Request((Text("(not asked: the video was not perceived)"), Text(item.question.text)))
    failure = Failure(FailureKind.UNAVAILABLE, f"Not asked; {words}", PERCEPTION)
    return Asked(item.question, CuePrompt("", Selection()), request, failure), recorded.call(
        request
    )


def _facts(cell: Todo, timeline: CueTimeline, asked: Asked, model: Model) -> dict[str, Any]:
    """What reports want to know of a cell."""
    item, kept = cell.own_item, asked.cues.selection.kept
    cues = [InjectedCue(each.cue.id, each.kind, content(each), each.probability) for each in kept]
    text = next((track for track in timeline.tracks if track.kind == "screen_text"), None)
    return {
        "inputs": cell.inputs,
        "arm": cell.arm.digest,
        "order": list(cell.order),
        "model": model.llm.name,
        "video": item.video or item.question.id,
        "category": str(item.category),
        "level": item.level,
        "question": item.question.text,
        "reference": item.reference,
        "truth": item.truth,
        "options": list(item.question.options),
        "details": plain(item.details) | ({} if text is None else {"has_text": has_text(text)}),
        "cues": [plain(each) for each in cues],
    }
