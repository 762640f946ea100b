"""The rotated square of a picture that holds one person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Region"]

MARGIN = 1.25
"""Scale of the square over the circle around the body (MediaPipe's
``pose_landmarks_to_roi.pbtxt`` and ``pose_detection_to_roi.pbtxt``)."""

STILL = 0.05
"""Change of a square, in sides and radians, under which the same one is looked at again. The
landmark model's answer depends on its crop: on a still picture, where each answer gives the next
crop, joints in doubt would swing for ever."""


@dataclass(frozen=True, slots=True)
class Region:
    """A square: centre x and y, side, clockwise rotation of its upright axis in radians."""

    x: float
    y: float
    side: float
    rotation: float

    @classmethod
    def around(cls, hips: npt.NDArray[np.float32], rim: npt.NDArray[np.float32]) -> Region:
        """The square for a body whose middle of the hips is ``hips`` and whose surrounding circle
        goes through ``rim``, the point above the head; both [2], x and y in pixels."""
        dx, dy = float(rim[0] - hips[0]), float(rim[1] - hips[1])
        side = 2 * MARGIN * float(np.hypot(dx, dy))
        return cls(float(hips[0]), float(hips[1]), side, float(np.arctan2(dx, -dy)))

    def to_picture(self, side_px: int) -> npt.NDArray[np.float32]:
        """[2, 3] affine map from a crop of ``side_px``² pixels to the picture."""
        cos, sin = np.cos(self.rotation), np.sin(self.rotation)
        turn = np.array([[cos, -sin], [sin, cos]]) * (self.side / side_px)
        shift = np.array([self.x, self.y]) - turn @ [side_px / 2, side_px / 2]
        return np.column_stack([turn, shift]).astype(np.float32)

    def moved(self, dx: float, dy: float) -> Region:
        """The same square elsewhere."""
        return Region(self.x + dx, self.y + dy, self.side, self.rotation)

    def near(self, other: Region) -> bool:
        """Whether the two could hold the same person: their centres lie closer than half of the
        smaller side, and neither is more than twice as large as the other."""
        small, large = sorted((self.side, other.side))
        distance = np.hypot(self.x - other.x, self.y - other.y)
        return bool(distance < 0.5 * small and large < 2 * small)

    def about(self, other: Region) -> bool:
        """Whether the two differ so little that it is not worth looking elsewhere."""
        turn = abs((self.rotation - other.rotation + np.pi) % (2 * np.pi) - np.pi)
        distance = np.hypot(self.x - other.x, self.y - other.y)
        return bool(
            distance < STILL * other.side
            and abs(self.side - other.side) < STILL * other.side
            and turn < STILL
        )
