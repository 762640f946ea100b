"""What a person, or another tool, says of a video as cue tracks beside or in place of a
recognizer's."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from perception.cue import Cue, CueTimeline, CueTrack, Origin, Source, Span, VideoInfo
from perception.errors import BadInput, UnknownName
from perception.format import Annotation, seconds

__all__ = ["about_video", "added", "human_tracks", "of_tiers"]

_LABELLED = frozenset({"action"})
"""Kinds whose cues say their text by a label, too."""

_ID = re.compile(r"[\x00-\x1f\x7f]+")


def about_video(annotations: Sequence[Annotation], video: str) -> tuple[Annotation, ...]:
    """Those that speak of the video of that file name.

    A file that names a single video is taken at its word whatever it calls it.

    Raises:
        BadInput: the file speaks of several videos, and this one is none of them.
    """
    names = sorted({each.video for each in annotations if each.video})
    stem = PurePath(video).stem
    mine = {name for name in names if name == video} or {
        name for name in names if PurePath(name).stem == stem or name == stem
    }
    if len(names) > 1 and not mine:
        raise BadInput(f"The file speaks of {', '.join(map(repr, names))}, and not of {video!r}.")
    return tuple(each for each in annotations if not mine or each.video in {"", *mine})


def of_tiers(annotations: Sequence[Annotation], tiers: Sequence[str]) -> tuple[Annotation, ...]:
    """Those of the tiers (tracks of the file) named; all where none is named.

    Raises:
        UnknownName: the file has no such tier; lists what it has.
    """
    known = {each.track for each in annotations if each.track}
    for name in tiers:
        if name not in known:
            raise UnknownName("tier", name, known)
    return tuple(each for each in annotations if not tiers or each.track in tiers)


def human_tracks(
    annotations: Sequence[Annotation], video: VideoInfo, source: Source, kind: str = ""
) -> tuple[CueTrack, ...]:
    """A track of cues for every kind.

    Args:
        annotations: what the file says of ``video``.
        video: its end cuts off what lasts longer.
        source: names the file.
        kind: of all cues; empty = the kind that the file tells, else the name of its tier.

    Raises:
        BadInput: the kind is told by nobody, or a span begins after the end of the video.
    """
    kinds: dict[str, list[Annotation]] = {}
    for each in annotations:
        own = kind or each.kind or each.track
        if not own:
            raise BadInput("The file does not tell of what kind its cues are; say it with --kind.")
        kinds.setdefault(own, []).append(each)
    ids = [each.id for each in annotations]
    keep_ids = all(ids) and len(set(ids)) == len(ids)
    return tuple(_track(each, inside, video, source, keep_ids) for each, inside in kinds.items())


def added(
    timeline: CueTimeline, tracks: Iterable[CueTrack], *, replace: bool = False
) -> CueTimeline:
    """The timeline with ``tracks``, in place of those of the same kinds or beside them.

    A track beside another of its id is called ``KIND-human``, ``KIND-human-2`` and so on; a cue
    whose id is taken gets that name, too.
    """
    tracks = tuple(tracks)
    kinds = {track.kind for track in tracks}
    kept = [each for each in timeline.tracks if not (replace and each.kind in kinds)]
    for track in tracks:
        taken = {each.id for each in kept}
        id = _free(track.id, taken)
        cue_ids = {cue.id for each in kept for cue in each.cues}
        cues = track.cues
        if any(cue.id in cue_ids for cue in cues):
            cues = tuple(
                dataclasses.replace(cue, id=_free_cue(f"{id}-{number}", cue_ids))
                for number, cue in enumerate(cues, start=1)
            )
        kept.append(dataclasses.replace(track, id=id, cues=cues))
    return dataclasses.replace(timeline, tracks=tuple(kept))


def _track(
    kind: str, annotations: list[Annotation], video: VideoInfo, source: Source, keep_ids: bool
) -> CueTrack:
    cut = 0
    cues = []
    ordered = sorted(annotations, key=lambda each: each.span)
    for number, each in enumerate(ordered, start=1):
        span = _within(each.span, video)
        cut += span != each.span
        attributes = dict(each.attributes)
        if kind in _LABELLED:
            attributes.setdefault("label", each.text)
        id = each.id if keep_ids else f"{_ID.sub(' ', kind)}-{number}"
        cues.append(Cue(id, span, each.text, each.confidence, attributes))
    return CueTrack(kind, kind, source, tuple(cues), Origin.HUMAN, notes=_cut_notes(cut))


def _cut_notes(cut: int) -> tuple[str, ...]:
    if cut == 1:
        return ("1 cue that lasts longer than the video was cut at its end.",)
    return (f"{cut} cues that last longer than the video were cut at its end.",) if cut else ()


def _within(span: Span, video: VideoInfo) -> Span:
    end_s = video.duration_s
    if not end_s or seconds(span.end_s) <= seconds(end_s):
        return span
    if span.start_s >= end_s:
        raise BadInput(
            f"A span begins at {span.start_s:g} s, and {video.name!r} ends at {end_s:g} s; is the "
            f"file of another video?"
        )
    return Span(span.start_s, end_s)


def _free(id: str, taken: set[str]) -> str:
    names = (f"{id}-human", *(f"{id}-human-{number}" for number in range(2, len(taken) + 2)))
    return next(name for name in (id, *names) if name not in taken)


def _free_cue(id: str, taken: set[str]) -> str:
    while id in taken:
        id += "'"
    return id
