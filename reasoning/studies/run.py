"""Running a study: videos are perceived, questions asked, answers recorded and scored.

What is on record is not done again: cells whose inputs are those of the record are passed over
without looking at their video, and of the others no recorded call is repeated
(``studies.recorded``). A kill at any moment loses at most the calls in flight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import version

from perception.cue import CueTimeline
from perception.errors import CuelightError, UnreadableVideo
from reasoning.answer import Failure, FailureKind
from reasoning.benchmark import Item
from reasoning.plain import plain
from reasoning.records import Records, digest
from reasoning.studies.asking import PERCEPTION, Asking, Todo
from reasoning.studies.checks import check, of_one_study
from reasoning.studies.clock import Clock, Progress
from reasoning.studies.recorded import Bench, Model
from reasoning.studies.videos import Perceive, Timelines, no_video
from reasoning.study import Arm, Study
from reasoning.tools.calibration import fingerprint
from reasoning.videollm import VideoLLM

__all__ = ["MOST_UNAVAILABLE", "Run"]

MOST_UNAVAILABLE = 5
"""Calls in a row, about as many questions where there are as many, that find no model, or with
which a run begins and that the model's server rejects: the same command goes on later."""


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
        self._bench = Bench()
        self._asking = Asking(self.model, records, self._bench)
        self._timelines = Timelines(study, perceive)
        self._calibrated = fingerprint()
        self._clock = Clock(0, ())
        self._unavailable: list[str] = []
        self._most_questions = 0
        self._is_answered = False

    def todo(self) -> tuple[Todo, ...]:
        """All cells, a video's together, with what is recorded of them.

        Raises:
            BadInput: see ``studies.checks.check``.
        """
        items = self.study.items(self._limit)
        of_one_study(self.study, self.records)
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
                self._asking.score(cell, cell.key)
        waiting = [cell for cell in cells if not cell.key]
        self._is_answered = len(waiting) < len(cells)
        questions = {cell.item.question.id for cell in waiting}
        self._most_questions = min(MOST_UNAVAILABLE, len(questions))
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
        start_s = time.monotonic()
        timeline, hindrance = self._seen(cell)
        self._clock.perceived(cell.item.video, time.monotonic() - start_s)
        start_s = time.monotonic()
        failure, calls = self._asking(cell, timeline, hindrance)
        self._clock.answered(time.monotonic() - start_s, calls, failure is not None)
        self._mind(cell.item, failure)

    def _seen(self, cell: Todo) -> tuple[CueTimeline, str]:
        """What the condition lets the model know of the video, and why nobody can be asked about
        it; empty where they can."""
        item = cell.own_item
        try:
            timeline = self._timelines.timeline(cell.arm, item)
        except UnreadableVideo as error:
            return CueTimeline(no_video(item)), str(error)
        info, span = timeline.video, item.question.span
        if info.sha256 and span is not None and span.start_s >= info.duration_s:
            return timeline, (
                f"The question is about {span.start_s:g} s to {span.end_s:g} s, and {info.name!r} "
                f"ends at {info.duration_s:.2f} s."
            )
        return timeline, ""

    def _mind(self, item: Item, failure: Failure | None) -> None:
        if failure is None or not self._is_of_model(failure):
            self._is_answered |= failure is None
            self._unavailable.clear()
            return
        self._unavailable.append(item.question.id)
        many = len(self._unavailable) >= MOST_UNAVAILABLE
        if many and len(set(self._unavailable)) >= self._most_questions:
            raise CuelightError(
                f"{len(self._unavailable)} calls in a row got no answer ({failure.reason}) What "
                "was answered is recorded; the same command goes on."
            )

    def _is_of_model(self, failure: Failure) -> bool:
        """Whether it may be the model that is not there, or takes nothing of the kind, rather than
        the one question."""
        if failure.kind is FailureKind.REJECTED:
            return not self._is_answered
        return failure.kind is FailureKind.UNAVAILABLE and failure.model != PERCEPTION
