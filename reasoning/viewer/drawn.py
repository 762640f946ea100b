"""What the page draws beside cues: skeletons and text boxes over the picture, the sound's outline,
and the times at which the file's pictures are shown."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.cue import CueTimeline
from perception.media import Media
from perception.recognizer import Traces
from perception.skeleton.people import PersonTrack
from perception.traces import SUBPIXELS, read_poses, read_text_boxes
from perception.waveform import read_waveform

__all__ = ["drawn", "frame_times_s", "packed", "packed_times"]

_MOST_POSES = 120_000
"""About 14 MB of page; of more, only every second, third … is drawn."""


def frame_times_s(path: Path) -> npt.NDArray[np.float64]:
    """Presentation times in seconds of all pictures of a file, from its packets, in order; empty
    for a file without pictures.

    Raises:
        UnreadableVideo: it is no video file.
    """
    with Media(path) as media:
        times = {
            media.seconds(packet.pts, packet.stream)
            for packet in media.packets()
            if packet.stream is media.video and packet.pts is not None and not packet.is_discard
        }
    return np.array(sorted(time_s for time_s in times if time_s >= 0), dtype=np.float64)


def drawn(timeline: CueTimeline, traces: Traces, numbers: Mapping[str, int]) -> dict[str, Any]:
    """The traces of the timeline's tracks as JSON; arrays are base64 of little-endian numbers.

    ``people``: id, times (float64), joints (int16 [n, 17, 2], quarters of a pixel), scores (uint8
    [n, 17]), observed (uint8 [n]). ``boxes``: cue number -> [seconds, 8 pixels] in order of time.
    ``waveforms``: track, start_s, rate_hz, peaks (int8 [n, 2]). ``thinned``: how many poses stand
    for one that is drawn.

    Args:
        numbers: of the cues on the page, by id.

    Raises:
        BadInput: an array is missing or ill-shaped.
    """
    people: list[dict[str, Any]] = []
    boxes: dict[int, list[list[float]]] = {}
    waveforms: list[dict[str, Any]] = []
    found = {track.id: read_poses(track.id, traces) for track in timeline.tracks}
    total = sum(len(person.times_s) for persons in found.values() for person in persons)
    step = max(1, -(-total // _MOST_POSES))
    for track in timeline.tracks:
        people.extend(_person(person, step) for person in found[track.id])
        for box in read_text_boxes(track.id, traces):
            if box.cue in numbers:
                corners = [round(float(each), 2) for each in box.corners.ravel()]
                boxes.setdefault(numbers[box.cue], []).append([round(box.time_s, 4), *corners])
        if (outline := read_waveform(track.id, traces)) is not None and len(outline.peaks):
            waveforms.append(
                {
                    "track": track.id,
                    "start_s": outline.start_s,
                    "rate_hz": outline.rate_hz,
                    "peaks": packed(np.round(outline.peaks * 127), "i1"),
                }
            )
    for each in boxes.values():
        each.sort()
    return {"people": people, "boxes": boxes, "waveforms": waveforms, "thinned": step}


def _person(person: PersonTrack, step: int) -> dict[str, Any]:
    return {
        "id": person.id,
        "times": packed(person.times_s[::step], "<f8"),
        "joints": packed(np.round(person.keypoints[::step] * SUBPIXELS), "<i2"),
        "scores": packed(np.round(person.scores[::step] * 255), "u1"),
        "observed": packed(person.observed[::step], "u1"),
    }


def packed_times(times_s: npt.NDArray[np.float64]) -> str:
    """Times in seconds as base64 of little-endian float64."""
    return packed(times_s, "<f8")


def packed(array: npt.NDArray[Any], kind: str) -> str:
    """An array as base64 of numbers of a NumPy type, e.g. ``"<u2"``."""
    return base64.b64encode(np.ascontiguousarray(array.astype(kind)).tobytes()).decode("ascii")
