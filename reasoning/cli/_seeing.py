"""What ``inspect`` shows: a video that is perceived, or cues that were, and where its files go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from perception.errors import BadInput, UnknownName, UnreadableVideo
from reasoning.cli import _output as output
from reasoning.cli._folders import check_folder
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.cue import CueTimeline, Span
    from perception.recognizer import Traces
    from reasoning.config import Config

__all__ = ["CUES_SUFFIX", "Seen", "from_cues", "look_for_video", "perceived"]

CUES_SUFFIX = ".cues.json"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was perceived of a video, and where its files go.

    Args:
        stem: of the page and of a copy of the video.
        video: the file, None where it is not there.
        traces: or the file that may hold them.
        review: where corrections are.
    """

    timeline: CueTimeline
    stem: Path
    video: Path | None
    traces: Traces | Path
    review: Path
    is_partial: bool = False


def perceived(
    source: str,
    settings: Config,
    out: Path | None,
    only: Sequence[str],
    span: Span | None,
    force: bool,
    quiet: bool,
    *,
    save: bool,
) -> Seen:
    """A video, perceived as the settings say.

    Args:
        out: folder of its files; None = here.
        save: whether its cues and traces are written.

    Raises:
        BadInput: there is no such video, or ``out`` is a file.
        StorageError: ``out`` cannot be written.
    """
    from reasoning.cli._perceiving import perceive_video, save_perception
    from reasoning.tools.labelled import review_path

    video = output.video_path(source, quiet)
    if save:
        check_folder(out or output.HERE)
    perception = perceive_video(video, settings, only, span, force, quiet)
    stem = output.output_stem(out or output.HERE, video, span)
    if save:
        save_perception(perception, stem)
    cues = stem.with_name(f"{stem.name}{CUES_SUFFIX}")
    return Seen(
        perception.timeline,
        stem,
        video,
        perception.traces,
        review_path(cues),
        perception.is_partial,
    )


def from_cues(path: Path, out: Path | None, only: Sequence[str], span: Span | None) -> Seen:
    """What a ``NAME.cues.json`` holds; the page goes beside it where ``out`` is None.

    Raises:
        BadInput: it is no such file.
        UnknownName: it has no track of a kind in ``only``.
    """
    from reasoning.tools.labelled import review_path

    timeline = _read(path, only, span)
    name = path.name.removesuffix(CUES_SUFFIX).removesuffix(".json") or path.name
    drawn = path.with_name(f"{name}.traces.npz")
    stem = (out or path.parent) / name
    return Seen(timeline, stem, _beside(path, timeline), drawn, review_path(path))


def look_for_video(seen: Seen, source: str, embed: bool, quiet: bool) -> None:
    """Tell where the video is not there for the page to play.

    Raises:
        BadInput: it is to be put into the page.
    """
    if seen.video is not None:
        return
    name = Path(seen.timeline.video.name).name
    missing = f"no file {name!r} with the sha256 that the cues tell lies beside {source!r}"
    if embed:
        raise BadInput(
            f"--embed-video: {missing}; put it there, or give the video in place of its cues."
        )
    if not quiet:
        tell(
            f"The page shows the timeline without its video: {missing}. Put it there, or give the "
            "video in place of its cues.",
            err=True,
        )


def _read(path: Path, only: Sequence[str], span: Span | None) -> CueTimeline:
    from perception.cue import CueTimeline

    timeline = CueTimeline.read(path)
    kinds = [track.kind for track in timeline.tracks]
    for name in only:
        if name not in kinds:
            raise UnknownName("track", name, kinds)
    tracks = tuple(track for track in timeline.tracks if not only or track.kind in only)
    timeline = replace(timeline, tracks=tracks)
    return timeline if span is None else timeline.between(span)


def _beside(cues: Path, timeline: CueTimeline) -> Path | None:
    """The video file that lies in the folder of its timeline; None where it does not, or where the
    file of that name is another one."""
    from perception.video import sha256

    name = Path(timeline.video.name).name
    path = cues.parent / name
    if not name or not os.path.isfile(path):  # noqa: PTH113 - any name will do
        return None
    try:
        return path if sha256(path) == timeline.video.sha256 else None
    except UnreadableVideo:
        return None
