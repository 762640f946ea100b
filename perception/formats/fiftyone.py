"""FiftyOne's temporal detections: the ``labels.json`` of a ``FiftyOneTemporalDetectionDataset``.

Written and read without FiftyOne, which needs a database and an OpenCV of its own; load it there,
in an environment of its own, with the folder of the videos as ``data_path``::

    fiftyone.Dataset.from_dir(
        dataset_type=fiftyone.types.FiftyOneTemporalDetectionDataset,
        data_path="videos", labels_path="clip.fiftyone.json",
    )

A cue's text is the label; its track, kind and id are attributes, and its own attributes are one, as
JSON, because FiftyOne takes names such as ``label`` for its own fields. Times are ``timestamps`` in
seconds, which FiftyOne turns into frames of the video; a file that has frames only (``support``,
counted from 1) is read with ``frame_rate_hz``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from perception import strict_json
from perception.cue import Cue, CueTimeline, CueTrack, Span
from perception.errors import BadInput
from perception.format import Annotation, seconds, text_of
from perception.strict_json import Fields

__all__ = ["Options", "build"]

_TRACK, _KIND, _ID, _ATTRIBUTES = "track", "kind", "cue_id", "cue_attributes"


@dataclass(frozen=True)
class Options:
    """What the file does not say."""

    frame_rate_hz: float = 0.0
    """Of the videos, for detections that tell frames only; 0 = such detections are an error."""


class FiftyOne:
    """Reads and writes ``labels.json``."""

    suffixes = (".fiftyone.json", ".json")
    cannot_carry = ("the suffix of the video's name",)

    def __init__(self, options: Options) -> None:
        self._options = options

    def write(self, timeline: CueTimeline) -> bytes:
        """The detections of one video."""
        labels = sorted({cue.text for _, cue in timeline.cues()})
        numbers = {label: number for number, label in enumerate(labels)}
        detections = [_detection(track, cue, numbers[cue.text]) for track, cue in timeline.cues()]
        video = PurePosixPath(timeline.video.name).stem
        return strict_json.dumps({"classes": labels, "labels": {video: detections}}).encode()

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The detections of all videos."""
        document = Fields(strict_json.loads(text_of(content)))
        classes = document.texts("classes") if document.has("classes") else None
        videos = document.fields("labels")
        return tuple(
            self._annotation(detection, classes, video)
            for video in videos.names()
            for detection in videos.each(video)
        )

    def _annotation(
        self, detection: Fields, classes: tuple[str, ...] | None, video: str
    ) -> Annotation:
        given = detection.mapping("attributes", {})
        track, kind, id = (str(given.pop(name, "")) for name in (_TRACK, _KIND, _ID))
        try:
            return Annotation(
                self._span(detection),
                _label(detection, classes),
                track=track,
                kind=kind,
                id=id,
                confidence=detection.number("confidence", 1.0),
                attributes=_attributes(given),
                video=video,
            )
        except BadInput as error:
            raise BadInput(f"{detection.where}: {error}") from None

    def _span(self, detection: Fields) -> Span:
        name = "timestamps" if detection.has("timestamps") else "support"
        ends = detection.numbers(name)
        if len(ends) != 2:
            raise BadInput(f"{name} are a start and an end, not {len(ends)} numbers")
        if name == "timestamps":
            return Span(*map(seconds, ends))
        rate_hz = self._options.frame_rate_hz
        if rate_hz <= 0:
            raise BadInput("it counts frames: tell their rate, --set frame_rate_hz=25")
        return Span(seconds((ends[0] - 1) / rate_hz), seconds(ends[1] / rate_hz))


def build(options: Options) -> FiftyOne:
    """The format."""
    return FiftyOne(options)


def _detection(track: CueTrack, cue: Cue, label: int) -> Mapping[str, Any]:
    return {
        "label": label,
        "timestamps": [seconds(cue.span.start_s), seconds(cue.span.end_s)],
        "confidence": cue.confidence,
        "attributes": {
            _TRACK: track.id,
            _KIND: track.kind,
            _ID: cue.id,
            _ATTRIBUTES: strict_json.dumps(dict(cue.attributes), indent=None),
        },
    }


def _attributes(given: dict[str, Any]) -> dict[str, Any]:
    """Those of the cue, and what else FiftyOne keeps of the detection."""
    own = given.pop(_ATTRIBUTES, "{}")
    if not isinstance(own, str):
        raise BadInput(f"attributes.{_ATTRIBUTES} must be a text")
    return {**given, **Fields({_ATTRIBUTES: strict_json.loads(own)}).mapping(_ATTRIBUTES)}


def _label(detection: Fields, classes: tuple[str, ...] | None) -> str:
    if classes is None:
        return detection.text("label")
    number = detection.whole("label")
    if not 0 <= number < len(classes):
        raise BadInput(f"label {number} is none of the {len(classes)} classes")
    return classes[number]
