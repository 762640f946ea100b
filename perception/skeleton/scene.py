"""A window of a video as one skeleton clip of the people who are in it, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perception.cue import Span, VideoInfo
from perception.skeleton.heatmaps import Floats
from perception.skeleton.people import PersonTrack
from perception.skeleton.windows import clip_between, joint_travel

__all__ = ["Clip", "clip_of_all", "where_is"]


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Poses at equal steps of time.

    Args:
        who: ids of the people, those who are seen best first.
        keypoints: float32 [people, T, 17, 2].
        scores: float32 [people, T, 17]; 0 where somebody is not seen.
        presence: share of the steps at which anybody is seen.
    """

    who: tuple[int, ...]
    keypoints: Floats
    scores: Floats
    presence: float

    def travel(self, rate_hz: float) -> float:
        """``joint_travel`` of whoever moves most."""
        pairs = zip(self.keypoints, self.scores, strict=True)
        return max(joint_travel(points, seen, rate_hz) for points, seen in pairs)


def clip_of_all(people: Sequence[PersonTrack], span: Span, rate_hz: float, most: int) -> Clip:
    """The people in a span, at most ``most``: those whose joints are seen best and longest.

    Args:
        people: at least one.
        span: the window.
        rate_hz: steps a second.
    """
    seen = []
    for person in people:
        points, scores, presence = clip_between(
            person.times_s, person.keypoints, person.scores, span, rate_hz
        )
        seen.append((float(scores.sum()), presence, person.id, points, scores))
    seen.sort(key=lambda each: (-each[0], each[2]))
    kept = [each for each in seen if each[1] > 0][:most] or seen[:1]
    scores = np.stack([each[4] for each in kept])
    anybody = (scores > 0).any(axis=(0, 2))
    alone = kept[0][1] if len(kept) == 1 else float(anybody.mean())
    return Clip(
        who=tuple(each[2] for each in kept),
        keypoints=np.stack([each[3] for each in kept]),
        scores=scores,
        presence=alone,
    )


def where_is(person: PersonTrack, span: Span, video: VideoInfo) -> str:
    """Where in the picture the person is during a span, in thirds: "upper left", "centre"."""
    during = (person.times_s >= span.start_s) & (person.times_s < span.end_s)
    if not during.any():
        during[np.argmin(np.abs(person.times_s - (span.start_s + span.end_s) / 2))] = True
    box = np.median(person.boxes[during], axis=0)
    x = (box[0] + box[2]) / 2 / max(video.width, 1)
    y = (box[1] + box[3]) / 2 / max(video.height, 1)
    row = "upper" if y < 1 / 3 else "lower" if y >= 2 / 3 else ""
    column = "left" if x < 1 / 3 else "right" if x >= 2 / 3 else ""
    if row and not column:
        return f"{row} centre"
    return f"{row} {column}".strip() or "centre"
