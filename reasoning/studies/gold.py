"""Gold cues: what people annotated in place of what recognizers found, the upper bound of what
better recognizers could give. ``cuelight import-cues`` and corrected files make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from perception.cue import CueTimeline, CueTrack, Origin
from perception.errors import BadInput

__all__ = ["gold_file", "gold_tracks", "with_gold"]


def gold_file(folder: Path, video: str) -> Path:
    """The file of a video's gold cues: ``STEM.imported.cues.json`` as ``import-cues`` calls it,
    else ``STEM.cues.json``."""
    stem = Path(video).stem
    imported = folder / f"{stem}.imported.cues.json"
    return imported if imported.is_file() else folder / f"{stem}.cues.json"


def gold_tracks(
    path: Path, is_told: Callable[[str], bool]
) -> tuple[CueTimeline, tuple[CueTrack, ...]]:
    """The timeline of a file, and those of its tracks that a person made and a condition tells.

    Raises:
        BadInput: the file cannot be read, or nobody annotated what is told.
    """
    given = CueTimeline.read(path)
    gold = tuple(
        track for track in given.tracks if track.origin is Origin.HUMAN and is_told(track.kind)
    )
    if not gold:
        there = ", ".join(f"{track.kind!r} ({track.origin})" for track in given.tracks)
        raise BadInput(
            f"The gold cues {str(path)!r} hold no track that a person made and the condition "
            f"tells; there is {there or 'no track'}."
        )
    return given, gold


def with_gold(timeline: CueTimeline, path: Path, is_told: Callable[[str], bool]) -> CueTimeline:
    """The timeline with the human tracks of a file in place of all others of their kinds.

    Args:
        path: a cues file about the same video.
        is_told: whether a condition tells cues of a kind.

    Raises:
        BadInput: the file cannot be read, is of another video, or nobody annotated what is told.
    """
    given, gold = gold_tracks(path, is_told)
    if given.video.sha256 != timeline.video.sha256:
        raise BadInput(
            f"The gold cues {str(path)!r} are of another video ({given.video.name!r}) than "
            f"{timeline.video.name!r}: their sha256 differ."
        )
    kinds = {track.kind for track in gold}
    kept: list[CueTrack] = [track for track in timeline.tracks if track.kind not in kinds]
    return replace(timeline, tracks=(*kept, *gold))
