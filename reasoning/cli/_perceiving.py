"""Perceiving as the commands do it: fetch the weights, show a bar, save and sum up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from perception import plugins, traces
from perception.cue import CueTimeline, CueTrack, Span, Status
from perception.errors import CuelightError
from perception.perceive import Perception, build_recognizers, perceive
from perception.recognizer import Traces
from perception.whole import write_whole
from reasoning.cli import _output as output
from reasoning.cli._fetching import fetching
from reasoning.cli._terminal import tell
from reasoning.config import Config

__all__ = [
    "RECYCLE_AFTER",
    "Perceiver",
    "drawn_beside",
    "perceive_video",
    "save_perception",
    "tell_tracks",
]

RECYCLE_AFTER = 100
"""Videos. Over 50 videos a kept speech recognizer went from 251 to 253 MB, one that was built anew
for each video from 243 to 318 MB; models take some seconds to load."""


class Perceiver:
    """Perceives video after video with one set of recognizers, so that their models load once.

    After ``RECYCLE_AFTER`` videos they are dropped and built anew: what a library leaks does not
    add up over a corpus.

    Args:
        settings: which recognizers, with their options.
        only: kinds to run; one that the settings do not name runs with its default options.
        quiet: show no progress.

    Raises:
        UnknownName: ``only`` names a recognizer that does not exist.
    """

    def __init__(self, settings: Config, only: Sequence[str], quiet: bool) -> None:
        missing = [name for name in only if name not in settings.recognizers]
        extra = {name: plugins.take("perception.recognizers", name).Options() for name in missing}
        self._options = {**settings.recognizers, **extra}
        self._only, self._quiet = only, quiet
        self._recognizers = build_recognizers(self._options)
        self._videos = 0

    def perceive(
        self, path: Path, span: Span | None = None, force: bool = False, context_s: float = 0.0
    ) -> Perception:
        """Perceive ``path``; arguments and errors as of ``perception.perceive.perceive``."""
        if self._videos == RECYCLE_AFTER:
            self._recognizers, self._videos = (), 0
            self._recognizers = build_recognizers(self._options)
        self._videos += 1
        with fetching(self._quiet) as on_fetch, output.progress(self._quiet) as on_progress:
            return perceive(
                path,
                self._recognizers,
                only=self._only,
                span=span,
                context_s=context_s,
                force=force,
                on_progress=on_progress,
                on_fetch=on_fetch,
            )


def perceive_video(
    path: Path,
    settings: Config,
    only: Sequence[str],
    span: Span | None,
    force: bool,
    quiet: bool,
    context_s: float = 0.0,
) -> Perception:
    """Perceive one video with the recognizers of ``settings``, see ``Perceiver``."""
    return Perceiver(settings, only, quiet).perceive(path, span, force, context_s)


def save_perception(perception: Perception, stem: Path) -> tuple[Path, ...]:
    """Write ``STEM.cues.json`` and, where there is something to draw, ``STEM.traces.npz``.

    Tracks of the same video that lie there already and were not made anew are kept, and so are
    those that failed now, which is told on stderr; those of another video are replaced, which is
    told too. The traces are written first and the cues
    name their sha256, so that cues whose writing failed are seen to lie beside others' traces.

    Raises:
        StorageError: the folder cannot be written.
    """
    cues, drawn = (
        stem.with_name(f"{stem.name}.cues.json"),
        stem.with_name(f"{stem.name}.traces.npz"),
    )
    timeline, arrays = _with_earlier(perception, cues, drawn)
    if arrays:
        traces.save(drawn, arrays)
        timeline = replace(timeline, traces_sha256=traces.sha256(drawn))
    else:
        drawn.unlink(missing_ok=True)
    write_whole(cues, timeline.to_json().encode())
    return (cues, drawn) if arrays else (cues,)


def drawn_beside(path: Path, timeline: CueTimeline) -> Traces:
    """The traces in the file ``path`` beside a timeline's; none where there is no such file, or
    where it was written with other cues, which is told on stderr.

    Raises:
        BadInput: the file is damaged.
    """
    if not path.is_file():
        return {}
    if traces.are_of(path, timeline):
        return traces.load(path)
    tell(
        f"{path} is not the file that was written with these cues, so nothing in it is drawn. "
        "Perceive the video again to have both anew.",
        err=True,
    )
    return {}


def _with_earlier(perception: Perception, cues: Path, drawn: Path) -> tuple[CueTimeline, Traces]:
    """The timeline and traces together with the tracks that the files have of the same video."""
    timeline = perception.timeline
    try:
        earlier = CueTimeline.read(cues)
        arrays = drawn_beside(drawn, earlier)
    except CuelightError:
        return timeline, perception.traces
    if earlier.video.sha256 != timeline.video.sha256:
        tell(f"{cues} held the cues of another video; they are replaced.", err=True)
        return timeline, perception.traces
    made = {track.id: track for track in timeline.tracks}
    kept = {track.id: track for track in earlier.tracks if _stays(track, made.get(track.id))}
    for name in made.keys() & kept.keys():
        tell(f"{name} failed now; what was there in {cues} is kept.", err=True)
    also = {name: array for name, array in arrays.items() if name.partition("/")[0] in kept}
    return replace(timeline, tracks=tuple((made | kept).values())), {**perception.traces, **also}


def _stays(earlier: CueTrack, made: CueTrack | None) -> bool:
    """Whether a track that lies there is kept, with what was ``made`` of it now beside it."""
    if made is None:
        return True
    return made.status is Status.FAILED and earlier.status is not Status.FAILED


def tell_tracks(perception: Perception, files: Sequence[Path]) -> None:
    """Sum up on stdout: a line per track, its notes, the file's notices and the files written."""
    for track in perception.timeline.tracks:
        state = "" if track.status is Status.COMPLETE else f" ({track.status.replace('_', ' ')})"
        reused = ", from the cache" if track.kind in perception.cached else ""
        tell(f"{track.kind}: {output.counted(len(track.cues), 'cue')}{state}{reused}")
        for note in track.notes:
            tell(f"  {note}")
    for notice in perception.notices:
        tell(notice)
    tell(f"Wrote {', '.join(map(str, files))}")
