"""What the timeline page shows beside the timeline, the prompt and the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from perception.recognizer import Traces
from reasoning.tools.review import Review
from reasoning.viewer.given import Block
from reasoning.viewer.studied import Studied

__all__ = ["Extras"]


@dataclass(frozen=True, slots=True, eq=False)
class Extras:
    """What the page shows beside the timeline and the answer, as far as it is known.

    Args:
        traces: skeletons, text boxes and the sound's outline.
        frame_times_s: float64 [n], presentation times of the video's pictures, to step by.
        blocks: blocks of cues to choose from.
        calibrated: by cue id, the probability that it is right.
        study: a study's questions about the video.
        review: a person's corrections so far.
        save_url: where the page sends corrections; empty = they are downloaded.
        review_tag: of the corrections on disk as the page shows them, which is sent along so that
            nothing newer is overwritten.
        review_name: of the file that is downloaded.
        player_start_s: presentation time at which the linked file's clock starts; None = the
            timeline's ``video.start_s``.
        embedded: type and bytes of a video that the page holds itself.
    """

    traces: Traces = field(default_factory=dict)
    frame_times_s: npt.NDArray[np.float64] | None = None
    blocks: Sequence[Block] = ()
    calibrated: Mapping[str, float] = field(default_factory=dict)
    study: Studied | None = None
    review: Review | None = None
    save_url: str = ""
    review_tag: str = ""
    review_name: str = ""
    player_start_s: float | None = None
    embedded: tuple[str, bytes] | None = None
