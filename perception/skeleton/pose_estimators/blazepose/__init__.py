"""BlazePose for several persons: MediaPipe's detector and landmark model, run from their TFLite
files on the CPU, one thread.

The detector looks at square windows, the landmark model at one rotated square per person. In a
stream everybody known is followed from picture to picture by the landmark model alone, while the
detector sweeps the picture window by window, looks for newcomers and confirms who is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perception.errors import BadInput

if TYPE_CHECKING:
    from perception.skeleton.pose_estimators.blazepose.estimator import BlazePose

__all__ = ["CHECKPOINTS", "Options", "build"]

CHECKPOINTS = ("blazepose_detector", "blazepose_landmarks")
"""Names in ``checkpoints/manifest.yaml``."""


@dataclass(frozen=True, slots=True)
class Options:
    """How persons are found.

    Args:
        start_score: product of the detector's and the landmark model's score from which somebody
            new is believed, in [0, 1].
        tilted_score: the same for somebody who lies or is upside down.
        keep_score: the detector's score that confirms somebody already followed.
        presence: the landmark model's score under which a region holds nobody.
        max_people: at most so many are followed.
        fine_share: side of the smaller windows in which small persons are looked for, as a share
            of the picture's shorter side; 0 = no such windows.
        windows_per_frame: windows that the detector looks at in each picture of a stream.
        threads: threads per model; small models get slower with more on a busy machine.

    Raises:
        BadInput: a number lies outside its limits.
    """

    start_score: float = 0.75
    tilted_score: float = 0.9
    keep_score: float = 0.5
    presence: float = 0.5
    max_people: int = 6
    fine_share: float = 0.6
    windows_per_frame: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        for name in ("start_score", "tilted_score", "keep_score", "presence", "fine_share"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise BadInput(f"BlazePose's {name} must lie in [0, 1], not {value}.")
        for name in ("max_people", "windows_per_frame", "threads"):
            value = getattr(self, name)
            if value < 1:
                raise BadInput(f"BlazePose's {name} must be 1 or more, not {value}.")


def build(options: Options) -> BlazePose:
    """The estimator; its models load on first use."""
    from perception.skeleton.pose_estimators.blazepose.estimator import BlazePose

    return BlazePose(options)
