"""Label Studio's tasks (``.json``), with the cues as predictions to be corrected.

A cue is a region of a timeline in seconds, as in Label Studio's template for video timeline
segmentation: its track is the region's label, its text a text area of the region, its confidence
the region's score. The labelling configuration that takes them is in ``docs/formats.md``. Read are
such regions, and the frames of ``TimelineLabels``, of annotations and else of predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from perception import strict_json
from perception.cue import Cue, CueTimeline, CueTrack, Span
from perception.errors import BadInput
from perception.format import Annotation, seconds, span_ms, text_of
from perception.strict_json import Fields

__all__ = ["Options", "build"]


@dataclass(frozen=True)
class Options:
    """Names in the labelling configuration."""

    labels: str = "track"
    """Name of the ``Labels`` tag."""
    text: str = "text"
    """Name of the ``TextArea`` tag."""
    media: str = "audio"
    """Name of the ``Audio`` tag, on whose timeline the regions are."""
    data: str = "video"
    """Key of the video in a task's ``data``."""
    url_prefix: str = ""
    """Stands before the video's name, e.g. ``/data/local-files/?d=``."""
    frame_rate_hz: float = 0.0
    """Of the video, for regions that count frames; 0 = such regions are an error."""


class LabelStudio:
    """Reads and writes lists of tasks."""

    suffixes = (".labelstudio.json", ".json")
    cannot_carry = ("attributes", "cue kinds", "spans shorter than 1 ms")

    def __init__(self, options: Options) -> None:
        self._options = options

    def write(self, timeline: CueTimeline) -> bytes:
        """One task with a prediction, the regions in order of time."""
        regions: list[dict[str, Any]] = []
        for track, cue in sorted(timeline.cues(), key=lambda pair: pair[1].span):
            regions += self._region(track, cue)
        makers = sorted({f"{t.source.name} {t.source.version}".strip() for t in timeline.tracks})
        prediction = {"model_version": ", ".join(makers) or "cuelight", "result": regions}
        video = self._options.url_prefix + timeline.video.name
        task = {"data": {self._options.data: video}, "predictions": [prediction]}
        return strict_json.dumps([task]).encode()

    def _region(self, track: CueTrack, cue: Cue) -> Iterator[dict[str, Any]]:
        start_ms, end_ms = span_ms(cue.span)
        span = {"start": start_ms / 1000, "end": end_ms / 1000, "channel": 0}
        both = {"id": cue.id, "to_name": self._options.media, "score": cue.confidence}
        yield {
            **both,
            "from_name": self._options.labels,
            "type": "labels",
            "value": {**span, "labels": [track.id]},
        }
        yield {
            **both,
            "from_name": self._options.text,
            "type": "textarea",
            "value": {**span, "text": [cue.text]},
        }

    def read(self, content: bytes) -> tuple[Annotation, ...]:
        """The regions of every task that lie in time."""
        raw = strict_json.loads(text_of(content))
        tasks = Fields({"tasks": raw if isinstance(raw, list) else [raw]})
        found: list[Annotation] = []
        for task in tasks.each("tasks"):
            video = _name(task.fields("data").text(self._options.data, ""))
            for result in _results(task):
                found += self._annotations(result, video)
        return tuple(found)

    def _annotations(self, result: Fields, video: str) -> Iterator[Annotation]:
        """Results of one id are one region: its label and its text."""
        regions: dict[str, list[Fields]] = {}
        for each in result.each("result"):
            regions.setdefault(each.text("id"), []).append(each)
        for id, parts in regions.items():
            texts = [text for part in parts for text in _values(part, ("text", "choices"))]
            labels = [label for part in parts for label in _values(part, _LABELS)]
            score = max(part.number("score", 1.0) for part in parts)
            for span in self._spans(parts):
                yield Annotation(
                    span,
                    "\n".join(texts) if texts else ", ".join(labels),
                    track=", ".join(labels) if texts else "",
                    id=id,
                    confidence=score,
                    video=video,
                )

    def _spans(self, parts: list[Fields]) -> list[Span]:
        for part in parts:
            value = part.fields("value")
            try:
                if value.has("start") and value.has("end"):
                    return [Span(*(seconds(value.number(name)) for name in ("start", "end")))]
                if value.has("ranges"):
                    return [self._of_frames(frames) for frames in value.each("ranges")]
            except BadInput as error:
                raise BadInput(f"{part.where}: {error}") from None
        return []

    def _of_frames(self, frames: Fields) -> Span:
        """Label Studio counts frames from 1, and the last one belongs to the region."""
        rate_hz = self._options.frame_rate_hz
        if rate_hz <= 0:
            raise BadInput("it counts frames: tell their rate, --set frame_rate_hz=25")
        return Span(
            seconds((frames.number("start") - 1) / rate_hz), seconds(frames.number("end") / rate_hz)
        )


def build(options: Options) -> LabelStudio:
    """The format."""
    return LabelStudio(options)


_LABELS = ("labels", "timelinelabels", "hypertextlabels", "paragraphlabels")


def _results(task: Fields) -> list[Fields]:
    """What people said, without what they cancelled; without any of it, the last prediction."""
    annotations = list(task.each("annotations")) if task.has("annotations") else []
    said = [each for each in annotations if not each.flag("was_cancelled", False)]
    if said or not task.has("predictions"):
        return said
    return list(task.each("predictions"))[-1:]


def _values(part: Fields, names: tuple[str, ...]) -> list[str]:
    value = part.fields("value")
    found: list[str] = []
    for name in names:
        if value.has(name):
            found += value.texts(name)
    return found


def _name(video: str) -> str:
    """The file's name in an address such as ``/data/local-files/?d=clips/a.mp4``."""
    address = urlsplit(video)
    path = address.query.rpartition("=")[2] if "d=" in address.query else address.path
    return PurePosixPath(unquote(path)).name
