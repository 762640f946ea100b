"""The timeline as lanes in JSON, for machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perception.cue import CueTimeline
from reasoning.tools.review import Review
from reasoning.viewer.lanes import Lane, extent_s, lanes

__all__ = ["document"]


def document(
    timeline: CueTimeline,
    page: Path | None,
    video: Path | None,
    calibrated: Mapping[str, float],
    review: Review | None = None,
) -> dict[str, Any]:
    """The lanes in their order.

    Args:
        page: the file that was written, None where none was.
        video: the video's file, None where it is not there.
        calibrated: by cue id, the probability that it is right, where one is known.
        review: what a person said of the cues; it stands beside each as ``review``, and the cue is
            as the recognizer made it.
    """
    return {
        "page": None if page is None else str(page),
        "page_bytes": None if page is None else page.stat().st_size,
        "video": timeline.video.name,
        "video_file": None if video is None else str(video),
        "extent_s": extent_s(timeline),
        "lanes": [_lane(lane, calibrated, review or Review()) for lane in lanes(timeline)],
    }


def _lane(lane: Lane, calibrated: Mapping[str, float], review: Review) -> dict[str, Any]:
    said = {cue.id: review.about(cue) for row in lane.rows for cue in row}
    cues = sorted((cue for row in lane.rows for cue in row), key=lambda cue: cue.order)
    return {
        "label": lane.label,
        "track": lane.track.id,
        "kind": lane.track.kind,
        "person": lane.person,
        "status": lane.track.status,
        "notes": list(lane.track.notes),
        "cues": [
            {
                "id": cue.id,
                "start_s": cue.span.start_s,
                "end_s": cue.span.end_s,
                "text": cue.text,
                "confidence": cue.confidence,
                "probability": calibrated.get(cue.id),
                "review": found.document() if (found := said[cue.id]) else None,
            }
            for cue in cues
        ],
    }
