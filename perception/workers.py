"""Recognizers at work on one decode, each in a thread of its own behind a short queue.

The models release the GIL, so that two cores are used, and the pictures in memory stay a handful
however long the video is.
"""

from __future__ import annotations

import queue
import threading
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
        while self._thread.is_alive():
            with suppress(queue.Full):
                self._queue.put(item, timeout=0.2)
                return

    def done(self, wait_s: float) -> bool:
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
    notices: list[str] = []
    workers = [_Worker(recognizer, info) for recognizer in recognizers]

    def tell(stage: str, time_s: float) -> None:
        if on_progress:
            done_s = min(max(time_s - part.start_s, 0.0), part.duration_s)
            on_progress(Progress(stage, done_s, part.duration_s))

    try:
        tell("starting", part.start_s)
        needs = [recognizer.needs for recognizer in recognizers]
        for index, item in video.stream(path, info, needs, span, notices.append):
            workers[index].put(item)
            tell("watching and listening", _time_s(item))
        for worker in workers:
            worker.put(None)
        for worker in workers:
            while not worker.done(wait_s=0.2):
                tell(f"finishing {worker.recognizer.kind}", part.end_s)
        tell("done", part.end_s)
    finally:
        for worker in workers:
            worker.abandon()
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
