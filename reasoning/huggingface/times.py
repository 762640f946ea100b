"""Presentation times as transformers' processors take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perception.recognizer import Frame

__all__ = ["apart_s", "metadata"]

_TICKS_HZ = 1000
"""Presentation times reach the processors as indices on a clock of milliseconds: ``fps`` of the
metadata and ``frames_indices`` in it."""


def metadata(frames: Sequence[Frame]) -> dict[str, Any]:
    """The times as transformers' ``VideoMetadata``: indices of milliseconds.

    ``total_num_frames`` makes its ``sampled_fps`` the mean rate of the frames, which is what
    Qwen2.5-VL counts its seconds by.
    """
    ticks = [round(frame.time_s * _TICKS_HZ) for frame in frames]
    between_s = apart_s(frames)
    height, width = frames[0].rgb.shape[:2]
    return {
        "fps": float(_TICKS_HZ),
        "frames_indices": ticks,
        "total_num_frames": max(1, round(between_s * _TICKS_HZ * len(ticks))),
        "duration": frames[-1].time_s + between_s,
        "width": width,
        "height": height,
    }


def apart_s(frames: Sequence[Frame]) -> float:
    """The mean time from one frame to the next; 1 s for a single one."""
    return (frames[-1].time_s - frames[0].time_s) / max(1, len(frames) - 1) or 1.0
