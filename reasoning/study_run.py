"""Running a study: videos are perceived, questions asked, answers recorded and scored.

What is on record is not done again: cells whose inputs are those of the record are passed over
without looking at their video, and of the others no recorded call is repeated (``recorded.py``). A
kill at any moment loses at most the calls in flight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from fusion.policy import Tools
from fusion.selection import CuePrompt, Selection
from fusion.words import content
from perception.cue import CueTimeline, Span, Status
from perception.errors import CuelightError
from perception.recognizer import Frame
from perception.text.split import has_text
from reasoning.answer import Failure, FailureKind
from reasoning.ask import Asked
from reasoning.benchmark import Item, Judging, Shown
from reasoning.outcomes import InjectedCue
from reasoning.plain import plain
from reasoning.prompt import Words
from reasoning.recorded import Bench, Cell, Model, Recorded
from reasoning.records import Call, Records, digest
from reasoning.sampling import SampledFrames
from reasoning.strategy import Task
from reasoning.study import Arm, Study
from reasoning.study_checks import check
from reasoning.study_clock import Clock, Progress
from reasoning.study_videos import Perceive, Timelines, fuser
from reasoning.tools.assemble import assemble
from reasoning.tools.calibration import fingerprint
from reasoning.videollm import Request, Text, VideoFile, VideoLLM

__all__ = ["MOST_UNAVAILABLE", "Run", "Todo"]

MOST_UNAVAILABLE = 5
"""Calls in a row that find no model: the run ends, and the same command goes on later."""

_PERCEPTION = "perception"
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


def _nobody(progress: Progress) -> None:
    """Tell nobody."""


class Run:
    """One run of a study into its records.

    Args:
        study: what is asked.
        records: where everything goes.
        llm: who is asked; conditions differ in everything else.
        perceive: for videos whose cues are needed.
        limit: only so many questions of each video.
        on_progress: told often.
    """

    def __init__(
        self,
        study: Study,
        records: Records,
        llm: VideoLLM,
        perceive: Perceive,
        limit: int | None = None,
        on_progress: Callable[[Progress], None] = _nobody,
    ) -> None:
        self.study, self.records = study, records
        settings = study.arms[0].settings
        self.model = Model.of(llm, settings.videollms[settings.videollm])
        self._limit, self._tell = limit, on_progress
        self._frames, self._bench = SampledFrames(), Bench()
        self._timelines = Timelines(study, perceive)
        self._tools: dict[str, Tools] = {}
        self._calibrated = fingerprint()
        self._clock = Clock(0, ())
        self._unavailable = 0

    def todo(self) -> tuple[Todo, ...]:
        """All cells, a video's together, with what is recorded of them.

        Raises:
            BadInput: see ``study_checks.check``.
        """
        items = self.study.items(self._limit)
        check(self.study, items, self.model.llm)
        recorded = self._recorded()
        cells = []
        for place, item in enumerate(items):
            for number, arm in enumerate(self.study.arms):
                inputs = self._inputs(arm, item)
                for repeat in range(self.study.repeats):
                    key = recorded.get((arm.name, item.question.id, repeat, inputs), "")
                    cells.append(Todo(arm, item, repeat, (number, place, repeat), inputs, key))
        return tuple(cells)

    def __call__(self, cells: Sequence[Todo] | None = None, workers: int = 1) -> Progress:
        """Ask what is not recorded, and score what is.

        Args:
            cells: of ``todo``; None = all.
            workers: calls under way at once, for a model that is ``parallel``.

        Raises:
            BadInput: something the user has to mend.
            CuelightError: the model was not to be reached ``MOST_UNAVAILABLE`` times in a row.
            StorageError: the records cannot be written.
        """
        cells = self.todo() if cells is None else cells
        self._prune()
        self._clock = Clock(len(cells), (cell.item.video for cell in cells if not cell.key))
        for cell in cells:
            if cell.key:
                self._score(cell, cell.key)
        waiting = [cell for cell in cells if not cell.key]
        if workers == 1:
            for cell in waiting:
                self._work_at(cell)
        else:
            self._share(waiting, workers)
        return self._clock.progress("done")

    def _prune(self) -> None:
        """Take questions and repeats that the study no longer has out of its table."""
        asked = {item.question.id for item in self.study.items()}
        self.records.unplan(
            (condition, question, repeat)
            for condition, question, repeat, _, facts in self.records.cells()
            if "arm" in facts and (question not in asked or repeat >= self.study.repeats)
        )

    def _share(self, waiting: Sequence[Todo], workers: int) -> None:
        pool = ThreadPoolExecutor(workers)
        try:
            for done in as_completed([pool.submit(self._work_at, cell) for cell in waiting]):
                done.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _work_at(self, cell: Todo) -> None:
        with self._bench:
            self._tell(self._clock.progress(cell.item.video or cell.item.question.id))
            self._ask(cell)

    def _recorded(self) -> dict[tuple[str, str, int, str], str]:
        answered = self.records.answered()
        return {
            (condition, question, repeat, facts.get("inputs", "")): key
            for condition, question, repeat, key, facts in self.records.cells()
            if key in answered
        }

    def _inputs(self, arm: Arm, item: Item) -> str:
        """Everything that a cell's answer hangs on, without looking into videos."""
        own = arm.items[item.question.id]
        return digest(
            version("cuelight"),
            arm.digest,
            self._timelines.sources(arm),
            self._calibrated if arm.settings.tools.calibrated else "",
            self._timelines.stamps(arm, own),
            plain(self._timelines.oracle(arm, own)),
            plain(own),
            self.model.revision,
            self.model.settings,
        )

    def _ask(self, cell: Todo) -> None:
        item = cell.arm.items[cell.item.question.id]
        start_s = time.monotonic()
        timeline = self._timelines.timeline(cell.arm, item)
        self._clock.perceived(item.video, time.monotonic() - start_s)
        recorded = Recorded(
            self.model,
            self.records,
            Cell(item.question.id, timeline.video.sha256, cell.repeat),
            self._bench,
            sees=cell.arm.condition.video,
        )
        start_s = time.monotonic()
        asked, call = self._asked(cell, item, timeline, recorded)
        key = self.records.plan(
            cell.arm.name,
            item.question.id,
            cell.repeat,
            call,
            _facts(cell, item, timeline, asked, self.model),
        )
        failure = asked.reply if isinstance(asked.reply, Failure) else None
        if failure is None:
            self._score(cell, key)
        elif key not in recorded.asked:
            self.records.keep(call, failure, 0.0)
        self._clock.answered(time.monotonic() - start_s, len(recorded.asked), failure is not None)
        self._mind(failure)

    def _asked(
        self, cell: Todo, item: Item, timeline: CueTimeline, recorded: Recorded
    ) -> tuple[Asked, Call]:
        if broken := [each for each in timeline.tracks if each.status is Status.FAILED]:
            words = "; ".join(f"{each.kind}: {' '.join(each.notes)}" for each in broken)
            return _unperceived(item, words, recorded)
        task = self._task(cell, item, timeline, recorded)
        asked = cell.arm.settings.strategy.build()(task)
        return asked, recorded.call(asked.request)

    def _mind(self, failure: Failure | None) -> None:
        unavailable = failure is not None and failure.kind is FailureKind.UNAVAILABLE
        gone = unavailable and failure is not None and failure.model != _PERCEPTION
        self._unavailable = self._unavailable + 1 if gone else 0
        if failure is not None and self._unavailable == MOST_UNAVAILABLE:
            raise CuelightError(
                f"{MOST_UNAVAILABLE} questions in a row got no answer ({failure.reason}) What was "
                "answered is recorded; the same command goes on."
            )

    def _task(self, cell: Todo, item: Item, timeline: CueTimeline, recorded: Recorded) -> Task:
        arm, path = cell.arm, cell.arm.benchmark.video(item)
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
            self._tools[key] = assemble(arm.settings.tools, self.model.llm)
        return self._tools[key]

    def _score(self, cell: Todo, key: str) -> None:
        """The verdict of the benchmark's own scorer; open answers wait for a judge."""
        benchmark = cell.arm.benchmark
        answer = self.records.answer(key)
        if answer is None or self.records.verdict(key, benchmark.name) is not None:
            return
        verdict = benchmark.score(cell.arm.items[cell.item.question.id], answer)
        if not isinstance(verdict, Judging):
            self.records.judge(key, benchmark.name, verdict)


def _unperceived(item: Item, words: str, recorded: Recorded) -> tuple[Asked, Call]:
    """A failure where the cues that the condition gives could not be had."""
    request = Request((Text("(not asked: the video was not perceived)"), Text(item.question.text)))
    failure = Failure(FailureKind.UNAVAILABLE, f"Not asked; {words}", _PERCEPTION)
    return Asked(item.question, CuePrompt("", Selection()), request, failure), recorded.call(
        request
    )


def _facts(
    cell: Todo, item: Item, timeline: CueTimeline, asked: Asked, model: Model
) -> dict[str, Any]:
    """What reports want to know of a cell."""
    kept = asked.cues.selection.kept
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
        "options": list(item.question.options),
        "details": plain(item.details) | ({} if text is None else {"has_text": has_text(text)}),
        "cues": [plain(each) for each in cues],
    }
