"""How many distinct actions the recognizer names over a corpus, in pieces of ten seconds.

Source: MimeQA (arXiv 2502.16671), appendix B.1: PoseC3D, trained on NTU RGB+D, was run on 10-second
clips of 30 % of its videos, and named 46 of 60 possible actions. The paper states no threshold; it
calls the number a proxy for how diverse the actions are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perception.cue import Cue, CueTimeline, CueTrack
from perception.errors import BadInput

__all__ = [
    "PAPER",
    "ActionCount",
    "ActionCounts",
    "action_track",
    "check_counting",
    "count_actions",
]

PAPER = "MimeQA's appendix B.1 found 46 of NTU RGB+D's 60 on 30 % of its videos"

KIND = "action"


@dataclass(frozen=True, slots=True)
class ActionCount:
    """How often one action was named.

    Args:
        label: the action.
        pieces: pieces in which it is named at least once.
        videos: likewise.
        cues: cues that name it.
        seconds: that those last, together.
    """

    label: str
    pieces: int
    videos: int
    cues: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ActionCounts:
    """What was named over a corpus.

    Args:
        actions: most pieces first.
        videos: how many were looked at.
        pieces: how many pieces they have.
        distinct_in_piece: number of distinct actions in a piece -> number of such pieces.
        possible: labels that the recognizer knows; None when that is not known.
        per_s: length of a piece.
        threshold: confidence from which a cue counts.
    """

    actions: tuple[ActionCount, ...]
    videos: int
    pieces: int
    distinct_in_piece: dict[int, int]
    possible: int | None
    per_s: float
    threshold: float

    @property
    def mean_in_piece(self) -> float:
        """Distinct actions in a piece, in the mean."""
        return sum(n * count for n, count in self.distinct_in_piece.items()) / max(self.pieces, 1)


def action_track(timeline: CueTimeline) -> CueTrack:
    """The recognizer's actions.

    Raises:
        BadInput: the timeline has none.
    """
    tracks = [track for track in timeline.tracks if track.kind == KIND]
    if not tracks:
        has = ", ".join(track.kind for track in timeline.tracks) or "no track at all"
        raise BadInput(
            f"The timeline of {timeline.video.name!r} has no actions (it has {has}); perceive the "
            "video with --only action."
        )
    return tracks[0]


def check_counting(threshold: float, per_s: float) -> None:
    """See that actions can be counted so.

    Raises:
        BadInput: a number is out of range.
    """
    if not 0 <= threshold <= 1:
        raise BadInput(f"The threshold must lie in [0, 1], not {threshold:g}.")
    if not (math.isfinite(per_s) and per_s > 0):
        raise BadInput(f"A piece must last more than 0 s, not {per_s:g}.")


def count_actions(
    timelines: Sequence[CueTimeline], *, threshold: float, per_s: float, known: Iterable[str] = ()
) -> ActionCounts:
    """Count what the timelines' action tracks name.

    Args:
        threshold: cues that are less sure do not count, in [0, 1].
        per_s: length of the pieces that a video is cut into; the last one may be shorter.
        known: labels that the recognizer can give; left out of the result when a timeline names
            others.

    Raises:
        BadInput: a timeline has no actions, or a number is out of range.
    """
    check_counting(threshold, per_s)
    pieces, videos, cues = Counter[str](), Counter[str](), Counter[str]()
    seconds: dict[str, float] = {}
    distinct = Counter[int]()
    for timeline in timelines:
        kept = [c for c in action_track(timeline).cues if c.confidence >= threshold]
        named = _by_piece(kept, timeline.video.duration_s, per_s)
        distinct.update(len(labels) for labels in named)
        pieces.update(label for labels in named for label in labels)
        videos.update({_label(cue) for cue in kept})
        for cue in kept:
            cues[_label(cue)] += 1
            seconds[_label(cue)] = seconds.get(_label(cue), 0.0) + cue.span.duration_s
    possible = set(known)
    return ActionCounts(
        actions=tuple(
            ActionCount(label, pieces[label], videos[label], cues[label], round(seconds[label], 2))
            for label in sorted(cues, key=lambda label: (-pieces[label], -cues[label], label))
        ),
        videos=len(timelines),
        pieces=distinct.total(),
        distinct_in_piece=dict(sorted(distinct.items())),
        possible=len(possible) if possible >= cues.keys() and possible else None,
        per_s=per_s,
        threshold=threshold,
    )


def _label(cue: Cue) -> str:
    return str(cue.attributes.get("label", cue.text))


def _by_piece(cues: Sequence[Cue], duration_s: float, per_s: float) -> list[set[str]]:
    """The labels named in each piece of a video."""
    count = max(1, math.ceil(duration_s / per_s - 1e-9))
    named: list[set[str]] = [set() for _ in range(count)]
    for cue in cues:
        first = min(int(cue.span.start_s / per_s), count - 1)
        last = min(max(first, math.ceil(cue.span.end_s / per_s - 1e-9) - 1), count - 1)
        for piece in range(first, last + 1):
            named[piece].add(_label(cue))
    return named
