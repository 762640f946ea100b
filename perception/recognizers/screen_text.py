"""What is written in the picture: captions, signs, titles, read once a second.

Lines are found and read by RapidOCR once a second; a picture that did not change and a line that
looks as it did are not read again. Readings of one text at one place become a span. Its ends are
finer than the readings: between two of them small grey pictures are kept, and the text begins with
the first and ends after the last one that still looks like the reading's place.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field

import numpy as np
import numpy.typing as npt

from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import BadInput
from perception.limits import THREADS, check_limits, usable_threads
from perception.recognizer import AudioChunk, Batch, Frame, Needs, Recognition
from perception.text import rapidocr_reader
from perception.text.ends import PicturesBetween, Place, overlapping
from perception.text.languages import ANY, check_language, is_in_script
from perception.text.reading import Reading, TextReader, TextRules, is_text
from perception.text.sameness import Grey, crop, greatest_change, grey
from perception.text.spans import ShownText, box_iou, match
from perception.traces import TextBox, text_box_traces

__all__ = ["Options", "ScreenTextRecognizer", "build"]

KIND = "screen_text"

SAME_LINE_IOU = 0.7
"""A line found again at a box that overlaps so much may take its earlier reading."""

_LIMITS = {
    "rate_hz": (0.001, 1000),
    "look_rate_hz": (0.001, 1000),
    "max_side_px": (1, 8192),
    "detection_side_px": (1, 8192),
    "same_picture": (0, 255),
    "same_place": (-1, 1),
    "threads": THREADS,
}


@dataclass(frozen=True, slots=True)
class Options:
    """How screen text is read."""

    rate_hz: float = 1.0
    """Readings a second (the paper reads 1 frame a second)."""
    look_rate_hz: float = 5.0
    """Pictures a second in which the ends of a text are looked for: ends are right to 1 / this."""
    max_side_px: int = 960
    """Lines are read in the picture scaled down to this longer side, in pixels."""
    detection_side_px: int = 640
    """Lines are found in the picture scaled down to this longer side; 480 halves the time and
    misses small print, 960 more than doubles it (80 ms a picture at 640 on one core)."""
    language: str = ANY
    """Which texts count: ``any`` = all that the model reads (Chinese, Japanese, English and some
    45 other languages in Latin letters), or one language's code, e.g. ``en``, ``fr``, ``zh``,
    ``ja``: texts in another script are dropped."""
    same_picture: float = 8.0
    """A picture none of whose 8×8-pixel cells differs more, in grey levels of 255, shows the same
    texts; likewise a line."""
    same_place: float = 0.7
    """Normalised cross-correlation from which on a place still shows the text that was read."""
    rules: TextRules = field(default_factory=TextRules)
    """Which readings count as text."""
    threads: int = 1
    """CPU threads; 1 is best beside other models. No part of the result."""

    def __post_init__(self) -> None:
        check_language(self.language)
        check_limits(self, _LIMITS, "The screen text recognizer's ")
        if self.look_rate_hz < self.rate_hz:
            raise BadInput(
                f"The screen text recognizer's look_rate_hz ({self.look_rate_hz:g}) must be at "
                f"least its rate_hz ({self.rate_hz:g})."
            )


class ScreenTextRecognizer:
    """The recognizer of the kind ``screen_text``; the models load in the first ``start``."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._reader: TextReader | None = None

    @property
    def kind(self) -> str:
        """``"screen_text"``."""
        return KIND

    @property
    def needs(self) -> Needs:
        """Pictures at ``look_rate_hz``."""
        return Needs(self.options.look_rate_hz, self.options.max_side_px)

    @property
    def weights(self) -> tuple[str, ...]:
        """None: the models come with the package."""
        return ()

    @property
    def source(self) -> Source:
        """Versions, models and settings."""
        settings = asdict(self.options)
        del settings["threads"]
        return Source(
            name=KIND,
            version=rapidocr_reader.package_version(),
            checkpoint_sha256=rapidocr_reader.models_sha256(),
            settings=settings,
        )

    def start(self, video: VideoInfo) -> ScreenTextSession:
        """Begin on a video.

        Raises:
            UnsupportedPlatform: RapidOCR cannot be used here.
        """
        if self._reader is None and video.has_video:
            self._reader = rapidocr_reader.RapidOcrReader(
                self.options.detection_side_px, usable_threads(self.options.threads)
            )
        return ScreenTextSession(self, video, self._reader)


class ScreenTextSession:
    """One video's texts; the pictures since the last reading are in memory, small and grey."""

    def __init__(
        self, recognizer: ScreenTextRecognizer, video: VideoInfo, reader: TextReader | None
    ) -> None:
        self._recognizer, self._options = recognizer, recognizer.options
        self._video, self._reader = video, reader
        self._texts: list[ShownText] = []
        self._between = PicturesBetween(self._options.same_place)
        self._read: tuple[float, Grey] | None = None
        """Time and grey picture of the last reading."""
        self._newest: Frame | None = None
        """The newest picture, while it has not been read."""
        self._scale = 1.0
        self._looks = self._readings = 0

    def feed(self, batch: Batch) -> None:
        """Take the next pictures; sound is ignored."""
        if isinstance(batch, AudioChunk):
            return
        for frame in batch:
            self._looks += 1
            self._scale = frame.scale
            if self._is_due(frame.time_s):
                self._look(frame)
            else:
                self._newest = frame
                self._between.keep(frame.time_s, grey(frame.rgb))

    def finish(self) -> Recognition:
        """Read the last picture too and hand out the track."""
        if self._newest is not None:
            self._between.drop_newest()
            self._look(self._newest)
        for text in self._shown():
            text.end_s = text.last_s + 1 / self._options.look_rate_hz
        texts = sorted(self._texts, key=lambda text: (text.start_s, text.latest.box[1]))
        cues = tuple(self._cue(number, text) for number, text in enumerate(texts, start=1))
        track = CueTrack(
            id=KIND,
            kind=KIND,
            source=self._recognizer.source,
            cues=cues,
            status=Status.COMPLETE if cues else Status.NO_SIGNAL,
            notes=() if cues else (self._nothing(),),
        )
        boxes = [
            TextBox(cue.id, time_s, corners * np.float32(self._scale))
            for cue, text in zip(cues, texts, strict=True)
            for time_s, corners in text.seen
        ]
        return Recognition(track, text_box_traces(KIND, boxes))

    def _is_due(self, time_s: float) -> bool:
        """Whether the next reading falls on this picture rather than on the one after it."""
        if self._read is None:
            return True
        options = self._options
        return time_s - self._read[0] >= 1 / options.rate_hz - 0.5 / options.look_rate_hz

    def _shown(self) -> list[ShownText]:
        return [text for text in self._texts if text.end_s is None]

    def _look(self, frame: Frame) -> None:
        """Read the picture, or see that it is the one read before; settle what came and went."""
        picture = grey(frame.rgb)
        before = self._read[1] if self._read else np.zeros((0, 0), np.uint8)
        same = self._options.same_picture
        if greatest_change(before, picture) <= same:
            for text in self._shown():
                self._see(text, text.latest, frame.time_s)
        else:
            readings = self._readings_of(frame.rgb, picture, before)
            self._settle(readings, frame.time_s, picture, before)
            self._readings += 1
        self._read = frame.time_s, picture
        self._newest = None
        self._between.clear()

    def _readings_of(
        self, rgb: npt.NDArray[np.uint8], picture: Grey, before: Grey
    ) -> list[Reading]:
        if self._reader is None:
            return []
        options = self._options
        readings = []
        for corners in self._reader.find(rgb):
            found = Reading("", 0.0, corners)
            known = self._unchanged(found, picture, before)
            if known is not None:
                readings.append(Reading(known.text, known.confidence, corners))
                continue
            text, confidence = self._reader.read(rgb, corners)
            if is_text(text, confidence, options.rules) and is_in_script(text, options.language):
                readings.append(Reading(text, confidence, corners))
        return readings

    def _unchanged(self, found: Reading, picture: Grey, before: Grey) -> Reading | None:
        """The earlier reading at this place, if the place has not changed since."""
        for text in self._shown():
            box = text.latest.box
            if box_iou(box, found.box) >= SAME_LINE_IOU and (
                greatest_change(crop(before, box), crop(picture, box)) <= self._options.same_picture
            ):
                return text.latest
        return None

    def _settle(self, readings: list[Reading], time_s: float, picture: Grey, before: Grey) -> None:
        """Continue, end and begin texts by what was read at ``time_s``."""

        def looks_alike(text: ShownText) -> bool:
            return self._between.looks_alike(Place.of(before, text.latest.box), picture)

        matching = match(self._shown(), readings, max(picture.shape), looks_alike)
        for text, reading in matching.continued:
            text.add(reading)
            self._see(text, reading, time_s)
        was = {text: Place.of(before, text.latest.box) for text in matching.missing}
        now = {reading: Place.of(picture, reading.box) for reading in matching.new}
        for text, place in was.items():
            covered = any(box_iou(place.box, reading.box) > 0 for reading in readings)
            if not covered and looks_alike(text):
                self._see(text, text.latest, time_s)
                continue
            rivals = overlapping(place, now.values())
            last_s, text.end_s = self._between.end(place, rivals, text.last_s, time_s)
            if last_s > text.last_s:
                self._see(text, text.latest, last_s)
        for reading, place in now.items():
            start_s = self._between.start(place, overlapping(place, was.values()), time_s)
            text = ShownText(start_s, time_s, reading)
            text.add(reading)
            if start_s < time_s:
                self._see(text, reading, start_s)
            self._see(text, reading, time_s)
            self._texts.append(text)

    def _see(self, text: ShownText, reading: Reading, time_s: float) -> None:
        text.last_s = time_s
        text.seen.append((time_s, reading.corners))

    def _cue(self, number: int, text: ShownText) -> Cue:
        end_s = text.last_s if text.end_s is None else text.end_s
        limit = Span(0.0, max(self._video.duration_s, text.last_s))
        span = Span(max(0.0, text.start_s), max(0.0, text.start_s, end_s)).clamped(limit)
        x0, y0, x1, y1 = (value * self._scale for value in text.latest.box)
        right, bottom = self._video.width or math.inf, self._video.height or math.inf
        return Cue(
            id=f"{KIND}-{number}",
            span=Span(round(span.start_s, 3), round(span.end_s, 3)),
            text=text.text,
            confidence=round(text.confidence, 4),
            attributes={
                "box": [
                    round(min(max(value, 0.0), limit_px), 1)
                    for value, limit_px in ((x0, right), (y0, bottom), (x1, right), (y1, bottom))
                ],
                "readings": text.readings,
            },
        )

    def _nothing(self) -> str:
        if not self._video.has_video:
            return "There are no pictures: the file has no video stream."
        if self._looks == 0:
            return "No picture could be decoded from the video stream."
        return f"No text was seen in {self._looks} pictures ({self._readings} read)."


def build(options: Options) -> ScreenTextRecognizer:
    """The recognizer; nothing is loaded yet."""
    return ScreenTextRecognizer(options)
