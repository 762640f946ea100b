"""Labelled spans with the poses that they are about, and the windows that are cut out of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perception import traces
from perception.cue import Span
from perception.errors import BadInput
from perception.skeleton.heatmaps import HeatmapShape, compact, sample_frames
from perception.skeleton.people import PersonTrack
from perception.skeleton.pose import RATE_HZ
from perception.skeleton.training.spans import Faults, LabelledSpan, SpanFile
from perception.skeleton.windows import clip_between, window_spans

__all__ = ["LEAST_PRESENCE", "Clip", "Window", "load_clips", "service_windows", "view"]

Floats = NDArray[np.float32]
Window = tuple[Floats, Floats]
"""Keypoints `[T, 17, 2]` in pixels and scores `[T, 17]` as they are drawn, at equal steps."""

TRACK = "action"
"""The track of ``NAME.traces.npz`` that holds the poses."""

LEAST_PRESENCE = 0.5
"""Share of a window's steps at which the person must be seen, as in the action recognizer."""

LEAST_SCORE = 0.1
"""Keypoints that score less are not drawn, as in the runtime that serves the network."""


@dataclass(frozen=True, eq=False)
class Clip:
    """A labelled span of one person's poses.

    Args:
        track: the person's poses.
        span: when, within the track.
        room: how far windows may reach: to the person's next labelled spans.
        label: what is done.
        group: what must not be in two parts; see ``split``.
    """

    track: PersonTrack
    span: Span
    room: Span
    label: str
    group: str = ""

    def window(self, span: Span) -> tuple[Window, float]:
        """The poses in a span as the recognizer sees them, and the share of steps that have one."""
        track = self.track
        keypoints, scores, presence = clip_between(
            track.times_s, track.keypoints, track.scores, span, RATE_HZ
        )
        return (keypoints, scores), presence


def _drawn(track: PersonTrack, joints: Sequence[int]) -> PersonTrack:
    """The track with the scores that are drawn: of the network's joints, no guesses."""
    scores = np.zeros_like(track.scores)
    scores[:, list(joints)] = np.clip(track.scores, 0, 1)[:, list(joints)]
    return replace(track, scores=np.where(scores < LEAST_SCORE, np.float32(0), scores))


def view(window: Window, shape: HeatmapShape) -> Window:
    """The test-time view of a window: `[frames, 17, 2]` in heatmap pixels, `[frames, 17]`."""
    index = sample_frames(len(window[0]), shape.frames)
    points, scores = window[0][index], window[1][index]
    return compact(points, scores, shape.size, shape.padding), scores


def load_clips(
    file: SpanFile, groups: Sequence[str], joints: Sequence[int]
) -> tuple[tuple[Clip, ...], str]:
    """The clips of the file's spans, with the joints that the network draws, and a digest of all
    that they are made of.

    Raises:
        BadInput: a traces file is damaged, a person is not in it, or is not seen in a span; tells
            all faults with their lines.
    """
    faults, people, digest = Faults(file.path), dict[Path, dict[int, PersonTrack]](), _Digest()
    found: list[tuple[LabelledSpan, PersonTrack, str]] = []
    for each, group in zip(file.spans, groups, strict=True):
        try:
            if each.traces not in people:
                people[each.traces] = _people(each.traces, joints)
                digest.add(each.traces.read_bytes())
            track = _track(each, people[each.traces])
            _check_seen(each, track)
        except BadInput as fault:
            faults.add(each.line, str(fault))
            continue
        digest.add(repr((each.person, each.span, each.label, each.part, group)).encode())
        found.append((each, track, group))
    faults.check()
    return tuple(_clips(found)), digest.hex


class _Digest:
    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def add(self, content: bytes) -> None:
        self._sha.update(hashlib.sha256(content).digest())

    @property
    def hex(self) -> str:
        return self._sha.hexdigest()


def _people(path: Path, joints: Sequence[int]) -> dict[int, PersonTrack]:
    tracks = traces.read_poses(TRACK, traces.load(path))
    people = {track.id: _drawn(track, joints) for track in tracks}
    if not people:
        raise BadInput(
            f"{path.name} holds no poses: nobody was seen, or the video was perceived without "
            "the recognizer action"
        )
    return people


def _track(each: LabelledSpan, people: dict[int, PersonTrack]) -> PersonTrack:
    has = ", ".join(map(str, people))
    if each.person is None and len(people) > 1:
        raise BadInput(f"person is empty, and {each.traces.name} has persons {has}")
    person = next(iter(people)) if each.person is None else each.person
    if person not in people:
        raise BadInput(f"person {person} is not in {each.traces.name}; it has {has}")
    return people[person]


def _check_seen(each: LabelledSpan, track: PersonTrack) -> None:
    when = f"{each.span.start_s:g}-{each.span.end_s:g} s"
    where = f"{track.span.start_s:.2f}-{track.span.end_s:.2f} s"
    if not each.span.overlaps(track.span):
        raise BadInput(f"{when} lies outside of the track of person {track.id} ({where})")
    inside = each.span.clamped(track.span)
    _, scores, presence = clip_between(
        track.times_s, track.keypoints, track.scores, inside, RATE_HZ
    )
    presence *= inside.duration_s / each.span.duration_s
    if presence < LEAST_PRESENCE:
        raise BadInput(f"person {track.id} is seen in {presence:.0%} of {when} (track: {where})")
    if not (scores > 0).any():
        raise BadInput(f"no joint of person {track.id} is seen in {when}")


def _clips(found: Sequence[tuple[LabelledSpan, PersonTrack, str]]) -> Iterator[Clip]:
    spans: dict[int, list[Span]] = {}
    for each, track, _ in found:
        spans.setdefault(id(track), []).append(each.span)
    for each, track, group in found:
        span, others = each.span.clamped(track.span), spans[id(track)]
        before = [min(o.end_s, span.start_s) for o in others if _middle_s(o) < _middle_s(span)]
        after = [max(o.start_s, span.end_s) for o in others if _middle_s(o) > _middle_s(span)]
        room = Span(max([track.span.start_s, *before]), min([track.span.end_s, *after]))
        yield Clip(track, span, room, each.label, group)


def _middle_s(span: Span) -> float:
    return (span.start_s + span.end_s) / 2


def service_windows(clip: Clip, window_s: float, stride_s: float) -> list[Window]:
    """The windows by which the clip is judged: as long as in service, over the span; one around its
    middle where it is shorter, as far as there is room."""
    spans = window_spans(clip.span.start_s, clip.span.end_s, window_s, stride_s)
    if clip.span.duration_s < window_s:
        spans = [centred(clip, window_s)]
    windows = [clip.window(span) for span in spans]
    seen = [window for window, presence in windows if presence >= LEAST_PRESENCE]
    return seen or [clip.window(clip.span)[0]]


def centred(clip: Clip, window_s: float) -> Span:
    """A window around the middle of a clip, moved and cut to the room that there is."""
    start_s = min(_middle_s(clip.span) - window_s / 2, clip.room.end_s - window_s)
    start_s = max(start_s, clip.room.start_s)
    return Span(start_s, max(min(start_s + window_s, clip.room.end_s), start_s + 1e-3))
