"""Recognizers at work, each in a thread of its own behind a short queue that a decode fills.

The models release the GIL, so that two cores are used, and the pictures in memory stay a handful
however long the video is.
"""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from perception import video
from perception.cue import CueTrack, Span, Status, VideoInfo
from perception.errors import CuelightError
from perception.recognizer import AudioChunk, Frame, Recognition, Recognizer, Session

__all__ = ["Progress", "Run", "failed", "run"]

_QUEUE_LENGTH = 16
"""Frames that may wait for a recognizer; 16 pictures of 640×360 are 11 MB."""

_STOP_WAIT_S = 1.0
"""For the threads of a run that is given up; most models take less for one picture."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Args:
        stage: what is being done, for a person.
        done_s, total_s: seconds of video behind and in all.
    """

    stage: str
    done_s: float
    total_s: float


@dataclass(frozen=True, slots=True)
class Run:
    """What one decode gave.

    Args:
        recognitions: one for each kind; FAILED where the recognizer stopped and kept nothing,
            PARTIAL where it had found something before.
        stopped: kinds of the recognizers that stopped; another run may fare better.
        notices: what was wrong with the file, a sentence each.
    """

    recognitions: dict[str, Recognition]
    stopped: frozenset[str]
    notices: list[str]


class _Worker:
    """One recognizer's session in a thread, fed through a bounded queue."""

    def __init__(self, recognizer: Recognizer, info: VideoInfo) -> None:
        self.recognizer = recognizer
        self.error: Exception | None = None
        self.result: Recognition | None = None
        self.fed_until_s = 0.0
        self._info = info
        self._queue: queue.Queue[Frame | AudioChunk | None] = queue.Queue(_QUEUE_LENGTH)
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._work, name=recognizer.kind, daemon=True)
        self._thread.start()

    def put(self, item: Frame | AudioChunk | None) -> None:
        """Hand over the next item (None = no more); waits while the queue is full."""
        while self._thread.is_alive() and not self._abandoned.is_set():
            with suppress(queue.Full):
                self._queue.put(item, timeout=0.2)
                return

    def ended(self, wait_s: float) -> bool:
        """Wait up to ``wait_s`` seconds for the thread; whether it has ended."""
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """Make the thread stop at the next item."""
        self._abandoned.set()
        with suppress(queue.Full):
            self._queue.put_nowait(None)

    def _work(self) -> None:
        try:
            session = self.recognizer.start(self._info)
            try:
                self._feed(session)
            except Exception as error:
                self.error = error
            if not self._abandoned.is_set():
                self.result = session.finish()
        except Exception as error:
            self.error = self.error or error

    def _feed(self, session: Session) -> None:
        while (item := self._queue.get()) is not None and not self._abandoned.is_set():
            self.fed_until_s = _time_s(item)
            session.feed(item if isinstance(item, AudioChunk) else [item])


class _Pass:
    """One decode of the file in a thread of its own, for one group of workers.

    Pictures and sound are decoded apart, each of them once: in one pass the last of a short video's
    sound would come when those who look are nearly through, and who listens begin then.

    Attributes:
        reached_s: how far the decode is, in seconds on the video's clock.
        notices: what was wrong with the file, a sentence each.
    """

    def __init__(
        self, path: Path, info: VideoInfo, span: Span | None, workers: Sequence[_Worker]
    ) -> None:
        self.reached_s = 0.0 if span is None else span.start_s
        self.notices: list[str] = []
        self._file = path, info, span
        self._workers = workers
        self._error: BaseException | None = None
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._work, name="decode", daemon=True)
        self._thread.start()

    def over(self, wait_s: float) -> bool:
        """Wait up to ``wait_s`` seconds for the end; whether it has come.

        Raises:
            UnreadableVideo: what stopped it.
        """
        ended = self.ended(wait_s)
        if self._error is not None:
            raise self._error
        return ended

    def ended(self, wait_s: float) -> bool:
        """Wait up to ``wait_s`` seconds for the thread; whether it has ended, however."""
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """Make the thread stop at the next item."""
        self._abandoned.set()

    def _work(self) -> None:
        path, info, span = self._file
        needs = [worker.recognizer.needs for worker in self._workers]
        try:
            for index, item in video.stream(path, info, needs, span, self.notices.append):
                if self._abandoned.is_set():
                    return
                self._workers[index].put(item)
                self.reached_s = _time_s(item)
            self.reached_s = info.duration_s
            for worker in self._workers:
                worker.put(None)
        except BaseException as error:
            self._error = error


def _time_s(item: Frame | AudioChunk) -> float:
    return item.start_s if isinstance(item, AudioChunk) else item.time_s


def run(
    path: Path,
    info: VideoInfo,
    span: Span | None,
    recognizers: Sequence[Recognizer],
    on_progress: Callable[[Progress], None] | None,
    is_unchanged: Callable[[], bool] = lambda: True,
) -> Run:
    """Decode once for all of ``recognizers``.

    Args:
        is_unchanged: asked at the end whether the file is still the one that ``info`` is about.
    """
    part = span or Span(0.0, info.duration_s)
    workers = [_Worker(recognizer, info) for recognizer in recognizers]
    passes = [_Pass(path, info, span, group) for group in _groups(workers)]

    def tell(stage: str) -> None:
        if on_progress:
            reached_s = min((each.reached_s for each in passes), default=part.end_s)
            done_s = min(max(reached_s - part.start_s, 0.0), part.duration_s)
            on_progress(Progress(stage, done_s, part.duration_s))

    try:
        tell("starting")
        for each in passes:
            while not each.over(wait_s=0.2):
                tell("watching and listening")
        for worker in workers:
            while not worker.ended(wait_s=0.2):
                tell(f"finishing {worker.recognizer.kind}")
        tell("done")
    finally:
        _stop([*passes, *workers])
    notices = list(dict.fromkeys(notice for each in passes for notice in each.notices))
    if not is_unchanged():
        notices.append(
            f"{info.name!r} was changed, moved or deleted while it was read; "
            "what was found may be of another file."
        )
    return Run(
        recognitions={w.recognizer.kind: _recognition(w, info, notices) for w in workers},
        stopped=frozenset(w.recognizer.kind for w in workers if w.error is not None),
        notices=notices,
    )


def _stop(threads: Sequence[_Pass | _Worker]) -> None:
    """Make them stop, and wait for those that are quick: what a model is at now ends when it is
    through with it."""
    for each in threads:
        each.abandon()
    until_s = time.monotonic() + _STOP_WAIT_S
    for each in threads:
        each.ended(wait_s=max(0.0, until_s - time.monotonic()))


def _groups(workers: Sequence[_Worker]) -> list[list[_Worker]]:
    """Those who look (and listen), and those who only listen."""
    looking = [worker for worker in workers if worker.recognizer.needs.frame_rate_hz > 0]
    listening = [worker for worker in workers if worker.recognizer.needs.frame_rate_hz <= 0]
    return [group for group in (looking, listening) if group]


def _recognition(worker: _Worker, info: VideoInfo, notices: Sequence[str]) -> Recognition:
    """The worker's track; PARTIAL when the file is damaged or the recognizer stopped on the way.

    Where something was lost, nothing found does not mean that nothing was there.
    """
    recognition = worker.result
    if recognition is None or (worker.error is not None and not recognition.track.cues):
        return Recognition(failed(worker.recognizer, worker.error))
    if worker.error is not None:
        stopped = f"It stopped at {worker.fed_until_s:.1f} s: {_why(worker.error)}"
        return _partial(recognition, [stopped, *notices])
    needs = worker.recognizer.needs
    fed = (info.has_video and needs.frame_rate_hz > 0) or (info.has_audio and needs.audio)
    doubtful = recognition.track.status is Status.NO_SIGNAL and fed
    if notices and (doubtful or recognition.track.status is Status.COMPLETE):
        return _partial(recognition, notices)
    return recognition


def _partial(recognition: Recognition, missing: Sequence[str]) -> Recognition:
    notes = (*recognition.track.notes, *missing)
    track = replace(recognition.track, status=Status.PARTIAL, notes=notes)
    return Recognition(track, recognition.traces)


def failed(recognizer: Recognizer, error: Exception | None) -> CueTrack:
    """The track of a recognizer that stopped on ``error``."""
    return CueTrack(
        id=recognizer.kind,
        kind=recognizer.kind,
        source=recognizer.source,
        status=Status.FAILED,
        notes=(_why(error),),
    )


def _why(error: Exception | None) -> str:
    """The error's sentence; of one that nobody raised on purpose, with the line that raised it."""
    if isinstance(error, CuelightError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
