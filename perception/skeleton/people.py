"""Following persons through a video: poses per frame become tracks with stable ids.

Matching is Hungarian assignment (Kuhn 1955) on a keypoint similarity of the kind of COCO's OKS,
between where a person is expected and where somebody was found; tracks seen in the last frame
choose before those that were lost, as in DeepSORT's matching cascade (Wojke et al. 2017)::

    tracker = PeopleTracker()
    for frame in frames:
        tracker.feed(frame.time_s, stream.estimate(frame))
    tracks = tracker.finish()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perception.cue import Span
from perception.errors import BadInput
from perception.skeleton.assignment import best_pairs
from perception.skeleton.pose import COCO_SIGMAS, PersonPose, visible_box
from perception.skeleton.tracklet import Tracklet

__all__ = ["PeopleTracker", "PersonTrack", "TrackerOptions"]


@dataclass(frozen=True, slots=True)
class TrackerOptions:
    """When two poses are one person, and which tracks are believed.

    Body size is the diagonal of the box around the visible joints, its median over the track's
    last second.

    Args:
        max_gap_s: a person who is not seen for longer gets a new id.
        max_jump: distance in body sizes between the expected and the found middle of the body
            that is believed at once.
        max_speed: by how many body sizes a second that distance grows while nobody is seen.
        max_growth: factor by which a body may seem to grow or shrink between two sightings.
        min_duration_s: shorter tracks are dropped, but none that lasts ``min_share`` of the video.
        min_share: see ``min_duration_s``, in [0, 1].
        min_score: tracks whose poses score less in the mean are dropped, in [0, 1].
        interpolated_score: factor on the keypoint scores of poses that fill a gap.

    Raises:
        BadInput: a number lies outside its limits.
    """

    max_gap_s: float = 1.0
    max_jump: float = 0.35
    max_speed: float = 3.0
    max_growth: float = 2.0
    min_duration_s: float = 0.5
    min_share: float = 0.3
    min_score: float = 0.6
    interpolated_score: float = 0.5

    def __post_init__(self) -> None:
        for name in ("max_gap_s", "max_jump", "max_speed", "min_duration_s"):
            if not getattr(self, name) >= 0:
                raise BadInput(
                    f"The tracker's {name} must be 0 or more, not {getattr(self, name)}."
                )
        for name in ("min_share", "min_score", "interpolated_score"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(
                    f"The tracker's {name} must lie in [0, 1], not {getattr(self, name)}."
                )
        if not self.max_growth >= 1:
            raise BadInput(f"The tracker's max_growth must be 1 or more, not {self.max_growth}.")


@dataclass(frozen=True, slots=True, eq=False)
class PersonTrack:
    """One person through a video.

    Args:
        id: 1, 2, … in order of appearance (from left to right among those who come together).
        times_s: float64 [T], ascending; every fed frame from the first to the last sighting.
        keypoints: float32 [T, 17, 2] in pixels of the upright full-size picture.
        scores: float32 [T, 17] in [0, 1]; lowered where ``observed`` is False.
        observed: bool [T]; False where the pose is interpolated over a gap.
        score: mean score of the observed poses, in [0, 1].
    """

    id: int
    times_s: npt.NDArray[np.float64]
    keypoints: npt.NDArray[np.float32]
    scores: npt.NDArray[np.float32]
    observed: npt.NDArray[np.bool_]
    score: float

    @property
    def boxes(self) -> npt.NDArray[np.float32]:
        """[T, 4] left, top, right, bottom of the visible joints, in pixels."""
        return visible_box(self.keypoints, self.scores, min_score=0.1)

    @property
    def span(self) -> Span:
        """From the first to the last sighting."""
        return Span(float(self.times_s[0]), float(self.times_s[-1]))


class PeopleTracker:
    """Fed with the poses of one frame after the other; finished into tracks.

    Its memory grows with the poses, not with the pictures.
    """

    def __init__(self, options: TrackerOptions | None = None) -> None:
        self.options = options or TrackerOptions()
        self._times_s: list[float] = []
        self._open: list[Tracklet] = []
        self._closed: list[Tracklet] = []

    def feed(self, time_s: float, poses: Sequence[PersonPose]) -> None:
        """Take the next frame's poses (none = nobody).

        Raises:
            BadInput: the frame is not later than the last one.
        """
        if self._times_s and time_s <= self._times_s[-1]:
            raise BadInput(
                f"Frames are tracked in order of time: {time_s:.3f} s came after "
                f"{self._times_s[-1]:.3f} s."
            )
        self._close_lost(time_s)
        last = len(self._times_s) - 1
        self._times_s.append(time_s)
        unmatched = list(poses)
        recent = [t for t in self._open if t.frames[-1] == last]
        lost = [t for t in self._open if t.frames[-1] != last]
        for group in (recent, lost):
            unmatched = self._matched(time_s, group, unmatched)
        for pose in unmatched:
            tracklet = Tracklet()
            tracklet.add(len(self._times_s) - 1, time_s, pose)
            self._open.append(tracklet)

    def finish(self) -> tuple[PersonTrack, ...]:
        """Every believed person, in order of id. Feeding may go on afterwards."""
        if not self._times_s:
            return ()
        span_s = self._times_s[-1] - self._times_s[0]
        least_s = min(self.options.min_duration_s, self.options.min_share * span_s)
        believed = [
            tracklet
            for tracklet in self._closed + self._open
            if tracklet.duration_s >= least_s and tracklet.score >= self.options.min_score
        ]
        believed = _without_doubles(believed)
        believed.sort(key=lambda t: (t.frames[0], float(t.poses[0].keypoints[:, 0].mean())))
        return tuple(self._track(id, tracklet) for id, tracklet in enumerate(believed, start=1))

    def _close_lost(self, time_s: float) -> None:
        gone = [t for t in self._open if time_s - t.times_s[-1] > self.options.max_gap_s]
        self._closed += gone
        self._open = [t for t in self._open if t not in gone]

    def _matched(
        self, time_s: float, tracklets: Sequence[Tracklet], poses: list[PersonPose]
    ) -> list[PersonPose]:
        """Give each tracklet its pose; returns the poses that nobody took."""
        if not tracklets or not poses:
            return poses
        likeness = np.array(
            [[self._likeness(t, time_s, pose) for pose in poses] for t in tracklets]
        )
        taken = set()
        for row, column in best_pairs(likeness):
            if likeness[row, column] > 0:
                tracklets[row].add(len(self._times_s) - 1, time_s, poses[column])
                taken.add(column)
        return [pose for column, pose in enumerate(poses) if column not in taken]

    def _likeness(self, tracklet: Tracklet, time_s: float, pose: PersonPose) -> float:
        """In [0, 1]; 0 where the two cannot be the same person."""
        size = tracklet.size_px
        found = visible_box(pose.keypoints, pose.scores)
        growth = max(float(np.hypot(*(found[2:] - found[:2]))), 1e-6) / size
        if not 1 / self.options.max_growth <= growth <= self.options.max_growth:
            return 0.0
        gap_s = time_s - tracklet.times_s[-1]
        expected = tracklet.expected(time_s)
        middle = float(np.hypot(*(expected.mean(axis=0) - pose.keypoints.mean(axis=0)))) / size
        reach = self.options.max_jump + self.options.max_speed * gap_s
        if middle > reach:
            return 0.0
        return max(1e-6, keypoint_similarity(expected, pose.keypoints, size, 1 + reach))

    def _track(self, id: int, tracklet: Tracklet) -> PersonTrack:
        first, last = tracklet.frames[0], tracklet.frames[-1]
        times_s = np.array(self._times_s[first : last + 1])
        rows = np.array(tracklet.frames) - first
        observed = np.zeros(len(times_s), dtype=bool)
        observed[rows] = True
        seen_s = times_s[rows]
        values = np.stack([p.keypoints for p in tracklet.poses]).reshape(len(rows), 34)
        scores = np.stack([p.scores for p in tracklet.poses])
        keypoints = _interpolated(times_s, seen_s, values).reshape(-1, 17, 2)
        keypoint_scores = _interpolated(times_s, seen_s, scores)
        keypoint_scores[~observed] *= self.options.interpolated_score
        return PersonTrack(id, times_s, keypoints, keypoint_scores, observed, tracklet.score)


def keypoint_similarity(
    expected: npt.NDArray[np.float32],
    found: npt.NDArray[np.float32],
    size_px: float,
    widening: float,
) -> float:
    """OKS (``cocoeval.py``) of two poses [17, 2], its spreads ``widening`` times as wide.

    COCO's scale is the root of a person's area, about half of the body's diagonal ``size_px``.
    """
    distance = np.linalg.norm(expected - found, axis=1)
    spread = 2 * COCO_SIGMAS * widening * size_px / 2
    return float(np.exp(-(distance**2) / (2 * spread**2)).mean())


def _interpolated(
    times_s: npt.NDArray[np.float64],
    seen_s: npt.NDArray[np.float64],
    values: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    """``values`` [n, k] at ``seen_s`` interpolated to ``times_s``: [T, k]."""
    columns = [np.interp(times_s, seen_s, column) for column in values.T]
    return np.stack(columns, axis=1).astype(np.float32)


def _without_doubles(tracklets: Sequence[Tracklet]) -> list[Tracklet]:
    """The tracklets without those that lie on a longer one for most of their time."""
    kept: list[Tracklet] = []
    for tracklet in sorted(tracklets, key=lambda t: (-len(t.frames), t.frames[0])):
        if not any(tracklet.doubles(longer) for longer in kept):
            kept.append(tracklet)
    return kept
