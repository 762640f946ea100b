"""What is drawn or reused but is no cue: ``NAME.traces.npz``.

Named arrays, ``<track id>/<what>``, in compact types. Poses and text boxes each have one writer
and one reader here::

    action/poses/person       uint16 [n]         id of the person
    action/poses/time         float64 [n]        seconds
    action/poses/keypoints    int16 [n, 17, 2]   quarters of a pixel, COCO-17
    action/poses/scores       uint8 [n, 17]      255 = sure
    action/poses/observed     bool [n]           False = interpolated over a gap
    action/poses/score        uint8 [n]          of the person's track, 255 = sure
    screen_text/boxes/cue     str [n]            id of the cue
    screen_text/boxes/time    float64 [n]        seconds
    screen_text/boxes/corners int16 [n, 4, 2]    quarters of a pixel, clockwise from upper left
    screen_text/searched/time float64 [m]        pictures in which text was looked for

A text that stands still has a box at the first and at the last picture of the stretch, one that
moves has a box for every sighting: between two equal boxes of a cue nothing moved.

Coordinates are pixels of the upright full-size picture. The sound's outline is in ``waveform.py``.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.cue import CueTimeline
from perception.errors import BadInput
from perception.recognizer import Traces
from perception.skeleton.people import PersonTrack
from perception.whole import whole_file

__all__ = [
    "TextBox",
    "are_of",
    "group",
    "load",
    "pose_traces",
    "read_poses",
    "read_text_boxes",
    "save",
    "sha256",
    "text_box_traces",
]

SUBPIXELS = 4
"""Coordinates are kept in quarters of a pixel, ±8191 pixels."""

_TEXTS = ("cue", "text", "guard", "why")
"""What arrays of strings are called; all others that are read in groups are numbers."""

_LARGEST = 1e9
"""No video has a time in seconds, a coordinate or a rate beyond it."""

MAX_BYTES = 4 << 30
"""Ten times the poses of six people over ten hours; a small file can unpack to any size."""


def save(path: Path, traces: Traces) -> None:
    """Write ``traces`` to ``path``, whole or not at all.

    Raises:
        BadInput: an array holds Python objects.
        StorageError: the disk is full or read-only.
    """
    for name, array in traces.items():
        if np.asarray(array).dtype.hasobject:
            raise BadInput(f"The trace {name!r} holds Python objects; traces are plain arrays.")
    with whole_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in traces.items():
            with archive.open(_member(name), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def load(path: Path) -> Traces:
    """Read what ``save`` wrote.

    Raises:
        BadInput: there is no such file, or it is not an intact traces file.
    """
    try:
        if path.exists() and not zipfile.is_zipfile(path):
            raise BadInput("it is no zip file of arrays, as an .npz is")
        with np.load(path, allow_pickle=False) as archive:
            if sum(member.file_size for member in archive.zip.infolist()) > MAX_BYTES:
                raise BadInput(f"it unpacks to more than {MAX_BYTES >> 20} MB")
            return {name: _array(archive, name) for name in archive.files}
    except FileNotFoundError:
        raise BadInput(f"There is no traces file {str(path)!r}.") from None
    except Exception as error:
        raise BadInput(
            f"{str(path)!r} is not an intact traces file (.npz): "
            f"{str(error).rstrip('.') or type(error).__name__}. "
            "Perceive the video again to make it."
        ) from None


def _array(archive: Any, name: str) -> Any:
    try:
        return archive[name]
    except ValueError as error:
        if "allow_pickle" in str(error):
            raise BadInput(
                f"its {name!r} holds Python objects, and traces are plain arrays"
            ) from None
        raise


def sha256(path: Path) -> str:
    """Of a traces file, as the timeline that was written with it names it.

    Raises:
        BadInput: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None


def are_of(path: Path, timeline: CueTimeline) -> bool:
    """Whether the traces file may belong to the timeline: it is the one that was written with it,
    or the timeline tells of none; raises as ``sha256``."""
    return not timeline.traces_sha256 or timeline.traces_sha256 == sha256(path)


def _member(name: str) -> zipfile.ZipInfo:
    """The archive's entry, without the time of day: the same traces make the same file."""
    if not name or name.startswith("/") or "\\" in name or ".." in name.split("/"):
        raise BadInput(f"{name!r} is no name for a trace; it is '<track id>/<what>'.")
    entry = zipfile.ZipInfo(f"{name}.npy")
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def pose_traces(track_id: str, people: Sequence[PersonTrack]) -> dict[str, npt.NDArray[np.generic]]:
    """The poses of a cue track's persons as traces, in the arrays that are listed above;
    coordinates are rounded to quarters of a pixel, scores to 1/255."""
    counts = [len(person.times_s) for person in people]
    prefix = f"{track_id}/poses"
    return {
        f"{prefix}/person": np.repeat([p.id for p in people], counts).astype(np.uint16),
        f"{prefix}/time": _joined([p.times_s for p in people], (), np.float64),
        f"{prefix}/keypoints": _subpixels(
            _joined([p.keypoints for p in people], (17, 2), np.float32)
        ),
        f"{prefix}/scores": _bytes(_joined([p.scores for p in people], (17,), np.float32)),
        f"{prefix}/observed": _joined([p.observed for p in people], (), np.bool_),
        f"{prefix}/score": _bytes(np.repeat([p.score for p in people], counts)),
    }


def read_poses(track_id: str, traces: Traces) -> tuple[PersonTrack, ...]:
    """The persons that ``pose_traces`` stored under ``track_id``; empty when there are none.

    Raises:
        BadInput: an array is missing, ill-typed, or has another shape than the rest.
    """
    prefix = f"{track_id}/poses"
    fields = group(traces, prefix, ("person", "time", "keypoints", "scores", "observed", "score"))
    if fields is None:
        return ()
    person = fields["person"]
    _check(fields["keypoints"].shape == (len(person), 17, 2), prefix, "keypoints", "[n, 17, 2]")
    _check(fields["scores"].shape == (len(person), 17), prefix, "scores", "[n, 17]")
    tracks = []
    for id in np.unique(person):
        rows = person == id
        tracks.append(
            PersonTrack(
                id=int(id),
                times_s=fields["time"][rows].astype(np.float64),
                keypoints=_pixels(fields["keypoints"][rows]),
                scores=_shares(fields["scores"][rows]),
                observed=fields["observed"][rows].astype(np.bool_),
                score=float(_shares(fields["score"][rows][:1])[0]),
            )
        )
    return tuple(tracks)


@dataclass(frozen=True, slots=True, eq=False)
class TextBox:
    """Where a text was read.

    Args:
        cue: id of the cue.
        time_s: when.
        corners: float32 [4, 2] pixels, clockwise from the upper left of the text.
    """

    cue: str
    time_s: float
    corners: npt.NDArray[np.float32]


def text_box_traces(
    track_id: str, boxes: Sequence[TextBox], searched_s: Sequence[float] = ()
) -> dict[str, npt.NDArray[np.generic]]:
    """Text boxes, and the times in seconds of the pictures that were searched, as traces, in the
    arrays that are listed above."""
    prefix = f"{track_id}/boxes"
    corners = _joined([box.corners[None] for box in boxes], (4, 2), np.float32)
    return {
        f"{prefix}/cue": np.array([box.cue for box in boxes], dtype=np.str_),
        f"{prefix}/time": np.array([box.time_s for box in boxes], dtype=np.float64),
        f"{prefix}/corners": _subpixels(corners),
        f"{track_id}/searched/time": np.array(searched_s, dtype=np.float64),
    }


def read_text_boxes(track_id: str, traces: Traces) -> tuple[TextBox, ...]:
    """The boxes that ``text_box_traces`` stored under ``track_id``; empty when there are none.

    Raises:
        BadInput: an array is missing, ill-typed, or has another shape than the rest.
    """
    prefix = f"{track_id}/boxes"
    fields = group(traces, prefix, ("cue", "time", "corners"))
    if fields is None:
        return ()
    _check(fields["corners"].shape == (len(fields["cue"]), 4, 2), prefix, "corners", "[n, 4, 2]")
    rows = zip(fields["cue"], fields["time"], _pixels(fields["corners"]), strict=True)
    return tuple(TextBox(str(cue), float(time_s), corners) for cue, time_s, corners in rows)


def group(
    traces: Traces, prefix: str, names: Sequence[str], *, same_length: bool = True
) -> Mapping[str, npt.NDArray[np.generic]] | None:
    """The named arrays under ``prefix``; None when none of them is there.

    Raises:
        BadInput: some are missing, hold something else than they should, or differ in length
            although they should not.
    """
    found = {name: traces[f"{prefix}/{name}"] for name in names if f"{prefix}/{name}" in traces}
    if not found:
        return None
    missing = [name for name in names if name not in found]
    if missing:
        raise BadInput(f"The traces lack {prefix}/{missing[0]}; present: {', '.join(found)}.")
    for name, array in found.items():
        if not _holds(array, texts=name in _TEXTS):
            wanted = "texts" if name in _TEXTS else f"numbers up to {_LARGEST:g}"
            raise BadInput(f"The trace {prefix}/{name} does not hold {wanted} only.")
    lengths = {array.shape[:1] for array in found.values()}
    if same_length and len(lengths) != 1:
        raise BadInput(f"The traces {prefix}/* differ in length: {sorted(lengths)}.")
    return found


def _holds(array: npt.NDArray[np.generic], *, texts: bool) -> bool:
    if texts or array.dtype.kind not in "biuf":
        return texts and array.dtype.kind == "U"
    return bool(np.all(np.abs(array.astype(np.float64)) <= _LARGEST))


def _check(good: bool, prefix: str, name: str, shape: str) -> None:
    if not good:
        raise BadInput(f"The trace {prefix}/{name} does not have the shape {shape}.")


def _joined(
    arrays: Sequence[npt.NDArray[np.generic]], rest: tuple[int, ...], dtype: type[np.generic]
) -> npt.NDArray[np.generic]:
    return np.concatenate([np.zeros((0, *rest), dtype=dtype), *arrays]).astype(dtype)


def _subpixels(pixels: npt.NDArray[np.generic]) -> npt.NDArray[np.int16]:
    limits = np.iinfo(np.int16)
    return np.clip(np.round(pixels.astype(np.float64) * SUBPIXELS), limits.min, limits.max).astype(
        np.int16
    )


def _pixels(subpixels: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
    return (subpixels.astype(np.float32) / np.float32(SUBPIXELS)).astype(np.float32)


def _bytes(shares: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    return np.round(np.clip(shares.astype(np.float64), 0, 1) * 255).astype(np.uint8)


def _shares(values: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
    return (values.astype(np.float32) / np.float32(255)).astype(np.float32)
