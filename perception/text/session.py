"""One video's texts, from its pictures in order of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from perception.cue import CueTrack, Source, Status, VideoInfo
from perception.recognizer import AudioChunk, Batch, Frame, Recognition
from perception.text.backend import Box, Corners, TextReader, box_of
from perception.text.camera import Camera
from perception.text.cues import cues_and_boxes
from perception.text.ends import Look, PicturesBetween, Place, box_iou, overlapping
from perception.text.layers import is_textured
from perception.text.reading import Reading, TextRules, is_text
from perception.text.sameness import crop, greatest_change, grey
from perception.text.similarity import folded
from perception.text.spans import ShownText, is_piece_of, match
from perception.traces import text_box_traces

__all__ = ["TextSession", "Watching"]

SAME_LINE_IOU = 0.7
"""A line found again at a box that overlaps so much may take its earlier reading."""

BORDER_PX = 2.0
"""A line whose box comes so near to the picture's border may be cut off there."""

STEADY_PX = 3.0
"""A text whose centre moved less from one reading to the next stands still."""

MOST_MISSED = 1
"""Readings in a row that may miss a moving text, which blurs."""


@dataclass(frozen=True, slots=True)
class Watching:
    """How a video's pictures are read.

    Args:
        source: of the track; its name is the track's id and kind.
        reads: which languages, in words.
        others: the recognizer's options of these names.
    """

    source: Source
    reads: str
    rate_hz: float
    look_rate_hz: float
    same_picture: float
    same_place: float
    rules: TextRules


class TextSession:
    """The pictures since the last reading are in memory, small and grey, and what was found."""

    def __init__(
        self, watching: Watching, video: VideoInfo, reader: Callable[[], TextReader]
    ) -> None:
        self._watching, self._video, self._reader = watching, video, reader
        self._texts: list[ShownText] = []
        self._camera = Camera()
        self._between = PicturesBetween(watching.same_place)
        self._read_last: Look | None = None
        """The picture of the last reading."""
        self._newest: tuple[Frame, Look] | None = None
        """The newest picture, while it has not been read."""
        self._scale, self._looks = 1.0, 0
        self._shown_s: tuple[float, float] | None = None
        """From the first picture to the end of the last."""
        self._searched_s: list[float] = []
        """Times of the pictures in which lines were looked for."""

    def feed(self, batch: Batch) -> None:
        """Take the next pictures; sound is ignored."""
        if isinstance(batch, AudioChunk):
            return
        for frame in batch:
            look = self._look(frame)
            if self._is_due(frame.time_s):
                self._read(frame, look)
            else:
                self._newest = frame, look
                self._between.keep(look)

    def finish(self) -> Recognition:
        """Read the last picture too and hand out the track."""
        if self._newest is not None:
            self._between.drop_newest()
            self._read(*self._newest)
        source = self._watching.source
        first_s, until_s = self._shown_s or (0.0, 0.0)
        cues, boxes = cues_and_boxes(
            source.name, self._texts, self._video, self._scale, until_s - first_s
        )
        track = CueTrack(
            id=source.name,
            kind=source.name,
            source=source,
            cues=cues,
            status=Status.COMPLETE if cues else Status.NO_SIGNAL,
            notes=() if cues else (self._nothing(),),
        )
        return Recognition(track, text_box_traces(source.name, boxes, self._searched_s))

    def _nothing(self) -> str:
        if not self._video.has_video:
            return "There are no pictures: the file has no video stream."
        if self._looks == 0:
            return "No picture could be decoded from the video stream."
        return (
            f"No text was seen in {self._looks} pictures ({len(self._searched_s)} searched for "
            f"text in {self._watching.reads})."
        )

    def _look(self, frame: Frame) -> Look:
        picture = grey(frame.rgb)
        duration_s = frame.duration_s or 1 / (self._video.rate_hz or self._watching.look_rate_hz)
        until_s = frame.time_s + duration_s
        first_s, _ = self._shown_s or (frame.time_s, 0.0)
        self._shown_s = first_s, until_s
        self._looks, self._scale = self._looks + 1, frame.scale
        return Look(frame.time_s, until_s, picture, self._camera.see(picture))

    def _is_due(self, time_s: float) -> bool:
        """Whether the next reading falls on this picture rather than on the one after it."""
        if self._read_last is None:
            return True
        early_s = 0.5 / self._watching.look_rate_hz
        return time_s - self._read_last.time_s >= 1 / self._watching.rate_hz - early_s

    def _shown(self) -> list[ShownText]:
        return [text for text in self._texts if not text.is_over]

    def _read(self, frame: Frame, look: Look) -> None:
        """Read the picture, or see that it is the one read before; settle what came and went."""
        before = self._read_last
        same = self._watching.same_picture
        if before is not None and greatest_change(before.picture, look.picture) <= same:
            for text in self._shown():
                if not text.missed:
                    text.add(_again(text.latest))
                    text.see(look, text.latest.corners)
        else:
            self._settle(self._readings(frame.rgb, look), look)
            self._searched_s.append(frame.time_s)
        self._read_last, self._newest = look, None
        self._between.clear()

    def _readings(self, rgb: npt.NDArray[np.uint8], look: Look) -> list[Reading]:
        reader, readings = self._reader(), []
        for corners in reader.find(rgb):
            is_cut = _is_cut(corners, look)
            known = self._unchanged(Reading("", 0.0, corners), look)
            if known is not None:
                again = replace(known, corners=corners, is_new=False, is_cut=is_cut)
                readings.append(again)
                continue
            text, confidence = reader.read(rgb, corners)
            if is_text(text, confidence, self._watching.rules):
                readings.append(Reading(text, confidence, corners, is_cut=is_cut))
        return readings

    def _unchanged(self, found: Reading, look: Look) -> Reading | None:
        """The earlier reading at this place, if the place has not changed since."""
        before = self._read_last
        if before is None:
            return None
        for text in self._shown():
            box = text.latest.box
            if text.last_s != before.time_s or box_iou(box, found.box) < SAME_LINE_IOU:
                continue
            change = greatest_change(crop(before.picture, box), crop(look.picture, box))
            if change <= self._watching.same_picture:
                return text.latest
        return None

    def _settle(self, readings: list[Reading], look: Look) -> None:
        """Continue, end and begin texts by what was read in ``look``."""
        lines = self._without_pieces(readings, look)
        matching = match(
            [text for text in self._shown() if text.last_s < look.time_s],
            lines,
            look,
            lambda text: text.place.likeness(look),
            self._watching.same_place,
        )
        textured = is_textured(look.picture, [reading.corners for reading in readings])
        for text, reading in matching.continued:
            _go_on(text, reading, look, is_textured=textured)
        now = {reading: Place.of(look, reading.box) for reading in matching.new}
        was = {text: text.place for text in matching.missing}
        for text, place in was.items():
            covered = any(box_iou(place.box, reading.box) > 0 for reading in readings)
            if not covered and self._between.looks_alike(place, look):
                text.add(_again(text.latest))
                text.see(look, text.latest.corners)
            else:
                self._miss(text, overlapping(place, now.values()))
        for reading, place in now.items():
            self._begin(reading, place, overlapping(place, was.values()), look)

    def _without_pieces(self, readings: list[Reading], look: Look) -> list[Reading]:
        """The readings without those that are pieces of a line which is still there, and was found
        in several boxes this time."""
        for text in self._shown():
            pieces = [reading for reading in readings if is_piece_of(reading, text)]
            is_all = folded("".join(each.text for each in pieces)) == folded(text.text)
            if pieces and (is_all or self._between.looks_alike(text.place, look)):
                text.add(_again(text.latest))
                text.see(look, text.latest.corners)
                readings = [reading for reading in readings if reading not in pieces]
        return readings

    def _miss(self, text: ShownText, rivals: list[Place]) -> None:
        """A text was not found where it is expected."""
        if not text.missed:
            last = self._between.last(text.place, rivals)
            if last is not None:
                text.see(last, text.latest.corners)
        text.missed += 1
        moves = text.place.velocity != (0.0, 0.0)
        if rivals or not moves or text.missed > MOST_MISSED:
            text.end()

    def _begin(self, reading: Reading, place: Place, rivals: list[Place], look: Look) -> None:
        first = self._between.first(place, rivals, look)
        text = ShownText(first.time_s, reading, place)
        text.add(reading)
        text.evidence.add_line(reading.corners)
        if first is not look:
            text.see(first, reading.corners)
        text.see(look, reading.corners)
        self._texts.append(text)


def _again(reading: Reading) -> Reading:
    return replace(reading, is_new=False)


def _is_cut(corners: Corners, look: Look) -> bool:
    """Whether a line touches the border of the picture."""
    height, width = look.picture.shape
    x0, y0, x1, y1 = box_of(corners)
    return min(x0, y0) < BORDER_PX or x1 >= width - BORDER_PX or y1 >= height - BORDER_PX


def _step(before: Box, now: Box, width: int) -> tuple[float, float]:
    """How far a line moved; where the border cuts it off, how far its other end did."""
    left, right = now[0] - before[0], now[2] - before[2]
    x_px = (left + right) / 2
    if max(before[2], now[2]) >= width - BORDER_PX:
        x_px = left
    elif min(before[0], now[0]) < BORDER_PX:
        x_px = right
    return x_px, (now[1] + now[3] - before[1] - before[3]) / 2


def _go_on(text: ShownText, reading: Reading, look: Look, *, is_textured: bool) -> None:
    """A text was found again."""
    before, box = text.place, reading.box
    step = _step(before.box, box, look.picture.shape[1])
    step_s = look.time_s - before.time_s
    stands = max(map(abs, step)) < STEADY_PX or step_s <= 0
    velocity = (0.0, 0.0) if stands else (step[0] / step_s, step[1] / step_s)
    text.place = Place.of(look, box, velocity)
    text.evidence.add_line(reading.corners)
    text.evidence.add_step(step, before, look, is_textured=is_textured)
    text.add(reading)
    text.see(look, reading.corners)
