"""A person's poses while he is followed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perception.skeleton.pose import PersonPose, visible_box

__all__ = ["Tracklet"]

SIZE_MEMORY_S = 1.0
MOTION_MEMORY_S = 0.25
"""Over how long a person's size and velocity are taken."""

MAX_FORESIGHT_S = 0.3
"""For how long a lost person is expected to go on as before; then to stand."""

DOUBLE_DISTANCE = 0.1
"""Mean distance of joints in body sizes under which two persons are one seen twice."""

DOUBLE_SHARE = 0.5
"""Share of a track's frames on which it must lie on another to be its double."""


class Tracklet:
    """Poses of one person, one per frame in which he was seen.

    Attributes:
        frames: ascending indices of those frames.
        times_s: their times.
        poses: what was seen.
    """

    def __init__(self) -> None:
        self.frames: list[int] = []
        self.times_s: list[float] = []
        self.poses: list[PersonPose] = []
        self._sizes_px: list[float] = []

    def add(self, frame: int, time_s: float, pose: PersonPose) -> None:
        """Seen again."""
        box = visible_box(pose.keypoints, pose.scores)
        self.frames.append(frame)
        self.times_s.append(time_s)
        self.poses.append(pose)
        self._sizes_px.append(float(np.hypot(*(box[2:] - box[:2]))))

    @property
    def duration_s(self) -> float:
        """From the first to the last sighting."""
        return self.times_s[-1] - self.times_s[0]

    @property
    def score(self) -> float:
        """Mean score of the poses, in [0, 1]."""
        return float(np.mean([pose.score for pose in self.poses]))

    @property
    def size_px(self) -> float:
        """Median diagonal of the visible body over the last second; at least a pixel."""
        return max(1.0, float(np.median(self._sizes_px[self._since(SIZE_MEMORY_S) :])))

    def expected(self, time_s: float) -> npt.NDArray[np.float32]:
        """[17, 2] the last pose, moved as the body has moved lately."""
        last = self.poses[-1].keypoints
        earlier = self._since(MOTION_MEMORY_S)
        past_s = self.times_s[-1] - self.times_s[earlier]
        if past_s <= 0:
            return last
        velocity = (last - self.poses[earlier].keypoints).mean(axis=0) / past_s
        ahead_s = min(time_s - self.times_s[-1], MAX_FORESIGHT_S)
        moved: npt.NDArray[np.float32] = (last + velocity * ahead_s).astype(np.float32)
        return moved

    def doubles(self, other: Tracklet) -> bool:
        """Whether this one is ``other`` seen twice."""
        if self.frames[0] > other.frames[-1] or other.frames[0] > self.frames[-1]:
            return False
        where = {frame: index for index, frame in enumerate(other.frames)}
        near = sum(
            self._distance(index, other.poses[where[frame]]) < DOUBLE_DISTANCE
            for index, frame in enumerate(self.frames)
            if frame in where
        )
        return near > DOUBLE_SHARE * len(self.frames)

    def _distance(self, index: int, pose: PersonPose) -> float:
        apart = np.linalg.norm(self.poses[index].keypoints - pose.keypoints, axis=1).mean()
        return float(apart) / max(1.0, self._sizes_px[index])

    def _since(self, memory_s: float) -> int:
        """Index of the first sighting within ``memory_s`` of the last."""
        index = len(self.times_s) - 1
        while index > 0 and self.times_s[-1] - self.times_s[index - 1] <= memory_s + 1e-9:
            index -= 1
        return index
