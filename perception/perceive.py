"""The only decoder of the video: one pass feeds all recognizers, and what is cached is reused.

Every recognizer works in a thread of its own behind a short queue (the models release the GIL), so
two cores are used, and the pictures in memory stay a handful however long the video is.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from perception import plugins, video, weights
from perception.cache import TrackCache, track_key
from perception.cue import CueTimeline, CueTrack, Span, Status, VideoInfo
from perception.errors import BadInput, CuelightError, StorageError, UnknownName, WeightsError
from perception.recognizer import AudioChunk, Frame, Recognition, Recognizer, Session, Traces
from perception.weights import OnProgress

__all__ = ["DEFAULT_RECOGNIZERS", "Perception", "Progress", "build_recognizers", "perceive"]

DEFAULT_RECOGNIZERS = ("action", "screen_text", "speech")

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


@dataclass(frozen=True, slots=True, eq=False)
class Perception:
    """What was seen and heard.

    Args:
        timeline: one track per recognizer.
        traces: poses, boxes and peaks to draw; names start with the track's id.
        cached: kinds whose track came out of the cache.
        notices: what was wrong with the file or the cache, one sentence each.
    """

    timeline: CueTimeline
    traces: Traces = field(default_factory=dict)
    cached: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether a track is missing something that the video may hold."""
        return any(
            track.status in (Status.PARTIAL, Status.FAILED) for track in self.timeline.tracks
        )


def build_recognizers(options: Mapping[str, Any] | None = None) -> tuple[Recognizer, ...]:
    """Build the recognizers named in ``options`` (name -> its ``Options``), else the default ones.

    Raises:
        UnknownName: no such recognizer.
    """
    if options is None:
        options = dict.fromkeys(DEFAULT_RECOGNIZERS)
    built = []
    for name, chosen in options.items():
        plugin = plugins.take("perception.recognizers", name)
        built.append(plugin.build(plugin.Options() if chosen is None else chosen))
    return tuple(built)


def perceive(
    path: Path | str,
    recognizers: Sequence[Recognizer] | None = None,
    *,
    only: Sequence[str] = (),
    span: Span | None = None,
    force: bool = False,
    cache: TrackCache | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_fetch: OnProgress = weights.silent,
) -> Perception:
    """Watch and listen to a video.

    Args:
        path: a video or audio file.
        recognizers: what to run; the embedded defaults when None.
        only: kinds to run, out of ``recognizers``; all when empty.
        span: the part to look at; all when None. Times stay those of the whole video.
        force: run the recognizers again even where the cache has their track.
        cache: where finished tracks are kept; Cuelight's cache folder when None.
        on_progress: called often, from this thread.
        on_fetch: told about weights that are downloaded first, (label, bytes, bytes in all).

    Returns:
        A timeline with a track for every recognizer; one that failed has a track that says why.

    Raises:
        UnreadableVideo: the file holds neither video nor audio that can be decoded.
        BadInput: the span lies outside of the video.
        StorageError: weights are missing and the cache folder cannot be written.
        UnknownName: ``only`` names none of the recognizers.
    """
    path = Path(path)
    chosen = _chosen(build_recognizers() if recognizers is None else recognizers, only)
    info = video.probe(path)
    span = _checked(span, info)
    cache = cache or TrackCache()
    keys = {r.kind: track_key(info.sha256, span, r.kind, r.source) for r in chosen}
    found: dict[str, Recognition] = {}
    if not force:
        for kind, key in keys.items():
            if (hit := cache.load(key)) is not None:
                found[kind] = hit
    cached = frozenset(found)
    notices: list[str] = []
    missing = [recognizer for recognizer in chosen if recognizer.kind not in found]
    if missing:
        fresh = _without_weights(missing, on_fetch)
        able = [recognizer for recognizer in missing if recognizer.kind not in fresh]
        if able:
            seen, notices = _run(path, info, span, able, on_progress)
            fresh.update(seen)
        found.update(fresh)
        with _reported(notices):
            for kind, recognition in fresh.items():
                if recognition.track.status is not Status.FAILED:
                    cache.store(keys[kind], info, recognition)
    ordered = [found[recognizer.kind] for recognizer in chosen]
    return Perception(
        timeline=CueTimeline(info, tuple(recognition.track for recognition in ordered)),
        traces={name: array for r in ordered for name, array in r.traces.items()},
        cached=cached,
        notices=tuple(notices),
    )


def _without_weights(
    recognizers: Sequence[Recognizer], on_fetch: OnProgress
) -> dict[str, Recognition]:
    """Fetch the weights; a failed track for each recognizer whose weights cannot be had."""
    names = [name for recognizer in recognizers for name in recognizer.weights]
    try:
        weights.fetch(names, on_fetch)
    except WeightsError as error:
        return {
            recognizer.kind: Recognition(_failed(recognizer, error))
            for recognizer in recognizers
            if not all(map(weights.has, recognizer.weights))
        }
    return {}


def _chosen(recognizers: Sequence[Recognizer], only: Sequence[str]) -> list[Recognizer]:
    kinds = [recognizer.kind for recognizer in recognizers]
    for name in only:
        if name not in kinds:
            raise UnknownName("recognizer", name, kinds)
    return [recognizer for recognizer in recognizers if not only or recognizer.kind in only]


def _checked(span: Span | None, info: VideoInfo) -> Span | None:
    if span is None:
        return None
    if span.duration_s == 0 or span.start_s >= info.duration_s:
        raise BadInput(
            f"Nothing of {info.name!r} lies between {span.start_s:g} s and {span.end_s:g} s; "
            f"it lasts {info.duration_s:.2f} s."
        )
    return span.clamped(Span(0.0, info.duration_s))


class _reported:  # noqa: N801 - reads as a clause: with _reported(notices)
    """Turns a StorageError in its block into a notice: a full cache must not lose a result."""

    def __init__(self, notices: list[str]) -> None:
        self._notices = notices

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, StorageError):
            self._notices.append(f"The result was not cached: {error}")
            return True
        return False


class _Worker:
    """One recognizer's session in a thread, fed through a bounded queue."""

    def __init__(self, recognizer: Recognizer, info: VideoInfo) -> None:
        self.recognizer = recognizer
        self.error: Exception | None = None
        self.result: Recognition | None = None
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
            self._feed(session)
            if not self._abandoned.is_set():
                self.result = session.finish()
        except Exception as error:
            self.error = error

    def _feed(self, session: Session) -> None:
        while (item := self._queue.get()) is not None and not self._abandoned.is_set():
            session.feed(item if isinstance(item, AudioChunk) else [item])


def _run(
    path: Path,
    info: VideoInfo,
    span: Span | None,
    recognizers: Sequence[Recognizer],
    on_progress: Callable[[Progress], None] | None,
) -> tuple[dict[str, Recognition], list[str]]:
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
            tell("watching and listening", item.time_s if isinstance(item, Frame) else item.start_s)
        for worker in workers:
            worker.put(None)
        for worker in workers:
            while not worker.done(wait_s=0.2):
                tell(f"finishing {worker.recognizer.kind}", part.end_s)
        tell("done", part.end_s)
    finally:
        for worker in workers:
            worker.abandon()
    return {w.recognizer.kind: _recognition(w, notices) for w in workers}, notices


def _recognition(worker: _Worker, notices: Sequence[str]) -> Recognition:
    """The worker's track; PARTIAL when the file broke off, FAILED when the recognizer did."""
    if worker.result is None:
        return Recognition(_failed(worker.recognizer, worker.error))
    recognition = worker.result
    if notices and recognition.track.status is Status.COMPLETE:
        notes = (*recognition.track.notes, *notices)
        track = replace(recognition.track, status=Status.PARTIAL, notes=notes)
        return Recognition(track, recognition.traces)
    return recognition


def _failed(recognizer: Recognizer, error: Exception | None) -> CueTrack:
    known = isinstance(error, CuelightError)
    note = str(error) if known else f"{type(error).__name__}: {error}"
    return CueTrack(
        id=recognizer.kind,
        kind=recognizer.kind,
        source=recognizer.source,
        status=Status.FAILED,
        notes=(note,),
    )
