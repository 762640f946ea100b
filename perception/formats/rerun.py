"""Rerun's recordings (``.rrd``), to be looked at with ``rerun NAME.rrd`` (extra ``rerun``).

Each track is an entity ``cues/TRACK`` with a text log entry at the start of every cue and its other
values beside it; ``now/TRACK`` is a text document of what holds at the time. With ``video`` the
pictures stand beside them. Read are such entities, and other text logs as spans without length.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perception import strict_json
from perception.cue import Cue, CueTimeline, CueTrack, Span
from perception.errors import BadInput, MissingExtra
from perception.format import Annotation, encodable, seconds
from perception.strict_json import Fields

__all__ = ["Options", "build"]

_TEXT, _LEVEL = "TextLog:text", "TextLog:level"
_VALUES = ("end_s", "confidence", "track", "id", "attributes")
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class Options:
    """What is shown, and on which timeline."""

    video: str = ""
    """Path of the video (MP4), which is copied into the recording; empty = cues only."""
    timeline: str = "video_time"
    """Name of Rerun's timeline for the video's seconds."""


class Rerun:
    """Reads and writes ``.rrd``."""

    suffixes = (".rrd",)
    cannot_carry = ("tracks without cues",)

    def __init__(self, options: Options) -> None:
        self._options = options

    def write(self, timeline: CueTimeline) -> bytes:
        """A recording whose id is the video's sha256."""
        rr = _rerun()
        recording = rr.RecordingStream(
            "cuelight", recording_id=timeline.video.sha256 or None, send_properties=False
        )
        memory = recording.memory_recording()
        recording.send_recording_name(encodable(timeline.video.name))
        for track in timeline.tracks:
            if track.cues:
                self._send_cues(rr, recording, track)
                self._send_now(rr, recording, track)
        if self._options.video:
            self._send_video(rr, recording, timeline.video.start_s)
        content: bytes = memory.drain_as_bytes()
        recording.disconnect()
        return content

    def _at(self, rr: Any, times_s: list[float]) -> list[Any]:
        return [rr.TimeColumn(self._options.timeline, duration=times_s)]

    def _send_cues(self, rr: Any, recording: Any, track: CueTrack) -> None:
        cues = track.cues
        log = rr.TextLog.columns(
            text=[encodable(cue.text) for cue in cues], level=[encodable(track.kind)] * len(cues)
        )
        values = rr.AnyValues.columns(
            end_s=[seconds(cue.span.end_s) for cue in cues],
            confidence=[float(cue.confidence) for cue in cues],
            track=[encodable(track.id)] * len(cues),
            id=[encodable(cue.id) for cue in cues],
            attributes=[strict_json.dumps(dict(cue.attributes), indent=None) for cue in cues],
        )
        times = self._at(rr, [seconds(cue.span.start_s) for cue in cues])
        recording.send_columns(_entity(rr, "cues", track.id), times, [*log, *values])

    def _send_now(self, rr: Any, recording: Any, track: CueTrack) -> None:
        changes = list(_changes(track.cues))
        texts = ["\n\n".join(encodable(cue.text) for cue in cues) for _, cues in changes]
        columns = rr.TextDocument.columns(text=texts)
        times = self._at(rr, [time_s for time_s, _ in changes])
        if changes:
            recording.send_columns(_entity(rr, "now", track.id), times, columns)

    def _send_video(self, rr: Any, recording: Any, start_s: float) -> None:
        try:
            asset = rr.AssetVideo(path=self._options.video)
            times_ns = asset.read_frame_timestamps_nanos()
        except (OSError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise BadInput(
                f"Rerun cannot show the video {self._options.video!r}: {reason}. Leave it out, or "
                f"give an MP4."
            ) from None
        recording.log("video", asset, static=True)
        times = self._at(rr, [float(time) / _NANOSECONDS - start_s for time in times_ns])
        recording.send_columns("video", times, rr.VideoFrameReference.columns_nanos(times_ns))

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The text logs of the first recording, entity by entity."""
        _rerun()
        from rerun.chunk import RrdReader

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "recording.rrd"
            path.write_bytes(content)
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("error", "RRD file has no footer")
                    chunks = RrdReader(str(path)).stream().to_chunks()
            except Warning:
                raise BadInput(
                    "it has no footer, because it breaks off or is of an old Rerun; mend it with: "
                    "rerun rrd migrate"
                ) from None
            except (RuntimeError, ValueError) as error:
                reason = str(error).rpartition(f"{path}: ")[2]
                raise BadInput(f"it cannot be read ({' '.join(reason.split())})") from None
        found = [each for chunk in chunks for each in self._annotations(chunk)]
        return tuple(sorted(found, key=lambda each: (each.track, each.span)))

    def _annotations(self, chunk: Any) -> Iterator[Annotation]:
        batch = chunk.to_record_batch()
        names = set(batch.schema.names)
        if not {_TEXT, self._options.timeline} <= names:
            return
        import pyarrow

        times = batch.column(self._options.timeline).cast(pyarrow.int64()).to_pylist()
        wanted = [name for name in (_TEXT, _LEVEL, *_VALUES) if name in names]
        rows = batch.select(wanted).to_pylist()
        for time_ns, row in zip(times, rows, strict=True):
            values = {name: cell[0] for name, cell in row.items() if cell}
            yield _annotation(chunk.entity_path, time_ns / _NANOSECONDS, values)


def build(options: Options) -> Rerun:
    """The format."""
    return Rerun(options)


def _rerun() -> Any:
    try:
        import rerun
    except ImportError:
        raise MissingExtra("rerun-sdk", "rerun", "A Rerun recording") from None
    return rerun


def _entity(rr: Any, room: str, track: str) -> str:
    return f"/{room}/{rr.escape_entity_path_part(encodable(track))}"


def _changes(cues: tuple[Cue, ...]) -> Iterator[tuple[float, list[Cue]]]:
    """Every time at which a cue begins or ends, with those that hold from then on."""
    begin: dict[float, list[Cue]] = {}
    end: dict[float, list[Cue]] = {}
    for cue in cues:
        start_s, end_s = seconds(cue.span.start_s), seconds(cue.span.end_s)
        if start_s < end_s:
            begin.setdefault(start_s, []).append(cue)
            end.setdefault(end_s, []).append(cue)
    now: dict[str, Cue] = {}
    for time_s in sorted({*begin, *end}):
        for cue in end.get(time_s, ()):
            del now[cue.id]
        now |= {cue.id: cue for cue in begin.get(time_s, ())}
        yield time_s, list(now.values())


def _annotation(entity: str, start_s: float, values: Mapping[str, Any]) -> Annotation:
    fields = Fields(values)
    try:
        attributes = strict_json.loads(fields.text("attributes", "{}"))
        return Annotation(
            Span(seconds(start_s), fields.number("end_s", seconds(start_s))),
            fields.text(_TEXT),
            track=fields.text("track", entity),
            kind=fields.text(_LEVEL, "") if fields.has("id") else "",
            id=fields.text("id", ""),
            confidence=fields.number("confidence", 1.0),
            attributes=Fields({"attributes": attributes}).mapping("attributes"),
        )
    except BadInput as error:
        raise BadInput(f"entity {entity!r} at {start_s:g} s: {error}") from None
