"""The only decoder of the video: one pass feeds all recognizers, and what is cached is reused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perception import plugins, video, weights
from perception.cache import TrackCache, track_key
from perception.cue import CueTimeline, Span, Status, VideoInfo
from perception.errors import BadInput, StorageError, UnknownName, WeightsError
from perception.recognizer import Recognition, Recognizer, Traces
from perception.weights import OnProgress
from perception.workers import Progress, failed, run

__all__ = [
    "DEFAULT_RECOGNIZERS",
    "FOREVER_S",
    "Perception",
    "Progress",
    "build_recognizers",
    "part_of",
    "perceive",
]

DEFAULT_RECOGNIZERS = ("action", "screen_text", "speech")

FOREVER_S = 1e9
"""End of a part that goes on to the end of the video, whose length is not known yet."""


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
    context_s: float = 0.0,
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
        span: the part to look at; all when None. Times stay those of the whole video. A part is
            perceived as a part, whatever is known of the whole: cues are cut at its ends.
        context_s: seconds that are looked at before and after ``span``, as far as there are any.
        force: run the recognizers again even where the cache has their track.
        cache: where finished tracks are kept; Cuelight's cache folder when None.
        on_progress: called often, from this thread.
        on_fetch: told about weights that are downloaded first, (label, bytes, bytes in all).

    Returns:
        A timeline with a track for every recognizer; one that failed has a track that says why,
        with what it had found before.

    Raises:
        UnreadableVideo: the file holds neither video nor audio that can be decoded.
        BadInput: the span lies outside of the video.
        StorageError: weights are missing and the cache folder cannot be written.
        UnknownName: ``only`` names none of the recognizers.
    """
    path = Path(path)
    chosen = _chosen(build_recognizers() if recognizers is None else recognizers, only)
    stamp, info = _stamp(path), video.probe(path)
    file = _File(path, stamp, info, None if span is None else _around(info, span, context_s))
    cache = cache or TrackCache()
    stored = {} if force else _stored(cache, file, chosen)
    missing = [recognizer for recognizer in chosen if recognizer.kind not in stored]
    made, notices = _made(file, missing, cache, on_progress, on_fetch)
    found = {**stored, **made}
    recognitions = [found[recognizer.kind] for recognizer in chosen]
    return _gathered(info, recognitions, frozenset(stored), notices)


@dataclass(frozen=True, slots=True)
class _File:
    """The part of a file that is perceived, and what the file was like before."""

    path: Path
    stamp: tuple[int, ...]
    info: VideoInfo
    span: Span | None

    def is_unchanged(self) -> bool:
        return _stamp(self.path) == self.stamp

    def key(self, recognizer: Recognizer) -> str:
        """Of the recognizer's track of the part in the cache."""
        return track_key(self.info.sha256, self.span, recognizer.kind, recognizer.source)


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes with a file's content or with another file in its place; empty without one."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _gathered(
    info: VideoInfo,
    recognitions: Sequence[Recognition],
    cached: frozenset[str],
    notices: Sequence[str],
) -> Perception:
    return Perception(
        timeline=CueTimeline(info, tuple(recognition.track for recognition in recognitions)),
        traces={name: array for each in recognitions for name, array in each.traces.items()},
        cached=cached,
        notices=tuple(notices),
    )


def _stored(
    cache: TrackCache, file: _File, recognizers: Sequence[Recognizer]
) -> dict[str, Recognition]:
    hits = {each.kind: cache.load(file.key(each)) for each in recognizers}
    return {kind: hit for kind, hit in hits.items() if hit is not None}


def _made(
    file: _File,
    recognizers: Sequence[Recognizer],
    cache: TrackCache,
    on_progress: Callable[[Progress], None] | None,
    on_fetch: OnProgress,
) -> tuple[dict[str, Recognition], list[str]]:
    """By kind, what the recognizers make of the file, and notices; what is finished is stored."""
    made = _without_weights(recognizers, on_fetch)
    able = [recognizer for recognizer in recognizers if recognizer.kind not in made]
    if not able:
        return made, []
    seen = run(file.path, file.info, file.span, able, on_progress, file.is_unchanged)
    made.update(seen.recognitions)
    notices = list(seen.notices)
    finished = [each for each in able if each.kind not in seen.stopped]
    with _reported(notices):
        for recognizer in finished if file.is_unchanged() else ():
            if made[recognizer.kind].track.status is not Status.FAILED:
                cache.store(file.key(recognizer), file.info, made[recognizer.kind])
    return made, notices


def _without_weights(
    recognizers: Sequence[Recognizer], on_fetch: OnProgress
) -> dict[str, Recognition]:
    """Fetch the weights; a failed track for each recognizer whose weights cannot be had."""
    names = [name for recognizer in recognizers for name in recognizer.weights]
    try:
        weights.fetch(names, on_fetch)
    except WeightsError as error:
        return {
            recognizer.kind: Recognition(failed(recognizer, error))
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


def part_of(info: VideoInfo, span: Span) -> Span:
    """``span`` cut to the video.

    Raises:
        BadInput: nothing of the video lies in it.
    """
    if span.duration_s == 0 or span.start_s >= info.duration_s:
        end = f"{span.end_s:g} s" if span.end_s < FOREVER_S else "the end"
        raise BadInput(
            f"Nothing of {info.name!r} lies between {span.start_s:g} s and {end}; "
            f"it lasts {info.duration_s:.2f} s."
        )
    return span.clamped(Span(0.0, info.duration_s))


def _around(info: VideoInfo, span: Span, context_s: float) -> Span:
    part = part_of(info, span)
    wider = Span(max(0.0, part.start_s - context_s), part.end_s + context_s)
    return part_of(info, wider)


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
