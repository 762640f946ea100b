"""Perceiving as the commands do it: fetch the weights, show a bar, save and sum up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from perception import traces
from perception.cue import Span, Status
from perception.perceive import Perception, build_recognizers, perceive
from perception.whole import write_whole
from reasoning.cli import _output as output
from reasoning.cli._fetching import fetching
from reasoning.cli._terminal import tell
from reasoning.config import Config

__all__ = ["perceive_video", "save_perception", "tell_tracks"]


def perceive_video(
    path: Path, settings: Config, only: Sequence[str], span: Span | None, force: bool, quiet: bool
) -> Perception:
    """Perceive ``path`` with the recognizers of ``settings``, with progress unless ``quiet``."""
    recognizers = build_recognizers(settings.recognizers)
    with fetching(quiet) as on_fetch, output.progress(quiet) as on_progress:
        return perceive(
            path,
            recognizers,
            only=only,
            span=span,
            force=force,
            on_progress=on_progress,
            on_fetch=on_fetch,
        )


def save_perception(perception: Perception, stem: Path) -> tuple[Path, ...]:
    """Write ``STEM.cues.json`` and, where there is something to draw, ``STEM.traces.npz``.

    Raises:
        StorageError: the folder cannot be written.
    """
    cues = stem.with_name(f"{stem.name}.cues.json")
    write_whole(cues, perception.timeline.to_json().encode())
    if not perception.traces:
        return (cues,)
    drawn = stem.with_name(f"{stem.name}.traces.npz")
    traces.save(drawn, perception.traces)
    return cues, drawn


def tell_tracks(perception: Perception, files: Sequence[Path]) -> None:
    """Sum up on stdout: a line per track, its notes, the file's notices and the files written."""
    for track in perception.timeline.tracks:
        state = "" if track.status is Status.COMPLETE else f" ({track.status.replace('_', ' ')})"
        reused = ", from the cache" if track.kind in perception.cached else ""
        cues = "1 cue" if len(track.cues) == 1 else f"{len(track.cues)} cues"
        tell(f"{track.kind}: {cues}{state}{reused}")
        for note in track.notes:
            tell(f"  {note}")
    for notice in perception.notices:
        tell(notice)
    tell(f"Wrote {', '.join(map(str, files))}")
