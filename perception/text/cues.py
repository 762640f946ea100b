"""The texts of a video become cues and boxes to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from perception.cue import Cue, Span, VideoInfo
from perception.text.ends import box_iou
from perception.text.layers import Layer
from perception.text.similarity import is_similar
from perception.text.spans import ShownText
from perception.traces import TextBox

__all__ = ["cues_and_boxes", "watermarks"]

MOST = 0.75
"""A text that stands still for more than this share of the video is flagged as a watermark."""

LEAST = 0.01
"""Share of the video that at least one appearance of a watermark lasts."""

DRIFT = 0.02
"""Share of the picture's longer side by which the box of a text that stands still may move."""

SAME_IOU = 0.5
"""Boxes of two appearances that overlap more are at one place."""


def cues_and_boxes(
    kind: str, texts: Sequence[ShownText], video: VideoInfo, scale: float, seconds: float
) -> tuple[tuple[Cue, ...], list[TextBox]]:
    """Cues in order of time, from top to bottom, and where each stood.

    Args:
        kind: the track's id.
        texts: what was found.
        video: what it was found in.
        scale: pixels of the full-size picture per pixel of the boxes.
        seconds: for how long the video was seen.
    """
    ordered = sorted(texts, key=lambda text: (text.start_s, text.latest.box[1], text.latest.box[0]))
    flagged = watermarks(ordered, max(video.width, video.height) / scale, seconds)
    cues = tuple(
        _cue(f"{kind}-{number}", text, video, scale, is_watermark=text in flagged)
        for number, text in enumerate(ordered, start=1)
    )
    boxes = [
        TextBox(cue.id, time_s, corners * np.float32(scale))
        for cue, text in zip(cues, ordered, strict=True)
        for time_s, corners in text.seen
    ]
    return cues, boxes


def watermarks(texts: Sequence[ShownText], longer_side_px: float, seconds: float) -> set[ShownText]:
    """The texts that stand still for most of ``seconds``, all appearances at one place together,
    and are not known to stand in the scene: channel logos, watermarks."""
    drift_px = DRIFT * longer_side_px
    still = [text for text in texts if _drift_px(text) <= drift_px and not _is_in_scene(text)]
    found: set[ShownText] = set()
    for text in still:
        if text in found or text.end_s - text.start_s < LEAST * seconds:
            continue
        same = [
            other
            for other in still
            if box_iou(text.latest.box, other.latest.box) >= SAME_IOU
            and is_similar(text.text, other.text)
        ]
        if sum(other.end_s - other.start_s for other in same) > MOST * seconds:
            found.update(same)
    return found


def _is_in_scene(text: ShownText) -> bool:
    return text.evidence.layer is Layer.SCENE


def _drift_px(text: ShownText) -> float:
    """How far the centre of a text wandered."""
    centres = np.stack([corners.mean(axis=0) for _, corners in text.seen])
    return float(np.ptp(centres, axis=0).max())


def _cue(id: str, text: ShownText, video: VideoInfo, scale: float, *, is_watermark: bool) -> Cue:
    limit = Span(0.0, max(video.duration_s, text.last_s))
    span = Span(max(0.0, text.start_s), max(0.0, text.start_s, text.end_s)).clamped(limit)
    limits_px = (video.width or math.inf, video.height or math.inf) * 2
    box = [
        round(min(max(value * scale, 0.0), limit_px), 1)
        for value, limit_px in zip(text.latest.box, limits_px, strict=True)
    ]
    layer = text.evidence.layer
    return Cue(
        id=id,
        span=Span(round(span.start_s, 3), round(span.end_s, 3)),
        text=text.text,
        confidence=round(text.confidence, 4),
        attributes={
            "box": box,
            "readings": text.readings,
            "watermark": is_watermark,
            **({} if layer is None else {"layer": str(layer)}),
        },
    )
