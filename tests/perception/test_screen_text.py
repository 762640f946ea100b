"""Screen text: what a person would write down from the picture, and nothing where nothing is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.cue import CueTrack, Status, VideoInfo
from perception.errors import BadInput, UnknownName
from perception.recognizer import Frame, Recognition
from perception.recognizers import screen_text
from perception.recognizers.screen_text import Options, ScreenTextRecognizer, build
from perception.text.languages import is_in_script
from perception.text.reading import TextRules, is_text
from perception.text.similarity import edits, folded, is_similar
from perception.traces import read_text_boxes
from tests.perception import clips

WIDTH, HEIGHT = 640, 360
RECOGNIZER = build(Options(look_rate_hz=5))
"""One for all tests: the models load once."""


def info(duration_s: float, *, has_video: bool = True, scale: int = 1) -> VideoInfo:
    size = (scale * WIDTH, scale * HEIGHT)
    return VideoInfo("clip", "0" * 64, 0.0, duration_s, *size, 25.0, has_video, True)


def backdrop(time_s: float) -> np.ndarray:
    """Soft blobs that drift to the right."""
    noise = np.random.default_rng(7).integers(40, 160, (9, 16, 3), np.uint8)
    picture = cv2.resize(noise, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    return np.roll(picture, round(60 * time_s), axis=1)


def write(picture: np.ndarray, text: str, left: int = 100, base: int = 320) -> np.ndarray:
    """White letters with a dark rim, 24 pixels high, ``base`` is where they stand."""
    written = picture.copy()
    for colour, thickness in ((0, 6), (255, 2)):
        cv2.putText(
            *(written, text, (left, base), cv2.FONT_HERSHEY_DUPLEX, 1.1, (colour,) * 3),
            *(thickness, cv2.LINE_AA),
        )
    return written


def every(step_s: float, end_s: float) -> Iterable[float]:
    return (round(number * step_s, 6) for number in range(round(end_s / step_s)))


def watch(
    picture_at: Callable[[float], np.ndarray], times: Iterable[float], end_s: float, scale: int = 1
) -> Recognition:
    session = RECOGNIZER.start(info(end_s, scale=scale))
    for time_s, next_s in itertools.pairwise([*times, end_s]):
        session.feed([Frame(time_s, picture_at(time_s), scale, next_s - time_s)])
    return session.finish()


@dataclass
class Script:
    """A backend that reads from the number of each picture what the test wrote down for it."""

    lines: dict[int, tuple[str, float]]
    loads: int = 0
    reads = "a script"
    version = "script 1"
    checkpoints: tuple[str, ...] = ()
    checkpoint_sha256 = ""
    settings: Mapping[str, object] = field(default_factory=dict)

    def load(self) -> Script:
        self.loads += 1
        return self

    def find(self, rgb: np.ndarray) -> list[np.ndarray]:
        box = np.array([[10, 10], [110, 10], [110, 40], [10, 40]], np.float32)
        return [box] if clips.number_in(rgb) in self.lines else []

    def read(self, rgb: np.ndarray, corners: np.ndarray) -> tuple[str, float]:
        return self.lines[clips.number_in(rgb)]


def scripted(script: Script, count: int) -> CueTrack:
    """One picture a second, each another number."""
    recognizer = ScreenTextRecognizer(Options(look_rate_hz=1), script)
    session = recognizer.start(VideoInfo("clip", "0" * 64, 0.0, count, 160, 96, 1.0, True, False))
    for number in range(count):
        session.feed([Frame(float(number), clips.numbered(number, 160, 96), 1.0, 1.0)])
    return session.finish().track


def bare(text: str) -> str:
    return "".join(text.casefold().split())


def told(track: CueTrack) -> list[tuple[str, float, float]]:
    return [(bare(cue.text), cue.span.start_s, cue.span.end_s) for cue in track.cues]


def test_a_caption_has_its_words_times_and_place() -> None:
    def picture(time_s: float) -> np.ndarray:
        shown = backdrop(time_s)
        return write(shown, "MIND THE STEP") if 2.4 <= time_s < 4.6 else shown

    recognition = watch(picture, every(0.2, 7.0), 7.0, scale=2)
    [cue] = recognition.track.cues
    assert recognition.track.status is Status.COMPLETE
    assert cue.text == "MIND THE STEP"
    assert cue.confidence > 0.9
    assert (cue.span.start_s, cue.span.end_s) == (2.4, 4.6)
    (wide, high), _ = cv2.getTextSize("MIND THE STEP", cv2.FONT_HERSHEY_DUPLEX, 1.1, 2)
    drawn = (200, 2 * (320 - high), 2 * (100 + wide), 640)
    assert cue.attributes["box"] == pytest.approx(drawn, abs=30)
    boxes = read_text_boxes("screen_text", recognition.traces)
    assert {box.cue for box in boxes} == {cue.id}
    assert min(box.time_s for box in boxes) == 2.4
    assert max(box.time_s for box in boxes) == 4.4
    assert boxes[0].corners[0] == pytest.approx(drawn[:2], abs=30)


def test_a_caption_that_comes_back_is_a_second_span() -> None:
    def picture(time_s: float) -> np.ndarray:
        shown = backdrop(time_s)
        return write(shown, "LATER") if time_s < 1.6 or time_s >= 4 else shown

    track = watch(picture, every(0.2, 6.0), 6.0).track
    assert told(track) == [("later", 0.0, 1.6), ("later", 4.0, 6.0)]


def test_a_new_caption_in_the_same_place_is_a_new_span() -> None:
    def picture(time_s: float) -> np.ndarray:
        return write(backdrop(time_s), "WHO IS IT?" if time_s < 2.6 else "NOBODY")

    track = watch(picture, every(0.2, 5.0), 5.0).track
    assert [(text.strip("?"), *times) for text, *times in told(track)] == [
        ("whoisit", 0.0, 2.6),
        ("nobody", 2.6, 5.0),
    ]


def test_two_captions_at_once_are_two_spans() -> None:
    def picture(time_s: float) -> np.ndarray:
        return write(write(backdrop(time_s), "BELOW"), "ABOVE", left=300, base=60)

    track = watch(picture, every(0.2, 3.0), 3.0).track
    assert told(track) == [("above", 0.0, 3.0), ("below", 0.0, 3.0)]


def test_a_similar_text_in_another_place_is_another_text() -> None:
    def picture(time_s: float) -> np.ndarray:
        shown = backdrop(time_s)
        if time_s < 2:
            return write(shown, "SECTION A")
        return write(shown, "SECTION B", base=200)

    track = watch(picture, every(0.2, 4.0), 4.0).track
    assert told(track) == [("sectiona", 0.0, 2.0), ("sectionb", 2.0, 4.0)]


def test_one_flickering_letter_does_not_end_a_span_and_the_majority_is_its_text() -> None:
    def picture(time_s: float) -> np.ndarray:
        flickers = 2 <= time_s < 3 or time_s >= 4.6
        return write(backdrop(time_s), "RESTAURAMT" if flickers else "RESTAURANT")

    track = watch(picture, every(0.2, 5.0), 5.0).track
    assert told(track) == [("restaurant", 0.0, 5.0)]
    assert track.cues[0].attributes["readings"] == 6


def test_the_text_is_the_majoritys_and_its_confidence_the_mean_of_those_who_agree() -> None:
    """Case, spaces and punctuation do not matter; the commonest spelling is shown."""
    readings = [("Open Door", 0.7), ("OPEN DOOR!", 0.9), ("Open Door", 0.8), ("Open Doar", 0.99)]
    [cue] = scripted(Script(dict(enumerate(readings))), 4).cues
    assert cue.text == "Open Door"
    assert cue.confidence == pytest.approx((0.7 + 0.9 + 0.8) / 3, abs=1e-4)
    assert (cue.span.start_s, cue.span.end_s) == (0, 4)
    assert cue.attributes["readings"] == 4


def test_between_equal_majorities_the_one_nearest_to_all_is_taken() -> None:
    readings = [("Restaurant", 0.8), ("Restauramt", 0.99), ("Restaurants", 0.7)]
    [cue] = scripted(Script(dict(enumerate(readings))), 3).cues
    assert (cue.text, cue.confidence) == ("Restaurant", 0.8)


def test_what_leaks_is_loaded_anew_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_text, "RECYCLE_AFTER", 4)
    script = Script(dict.fromkeys(range(10), ("Open Door", 0.9)))
    track = scripted(script, 10)
    assert script.loads == 1 + 10 // 4
    assert told(track) == [("opendoor", 0.0, 10.0)]


def test_another_number_is_another_text() -> None:
    def picture(time_s: float) -> np.ndarray:
        return write(backdrop(time_s), "ROUND 12" if time_s < 2 else "ROUND 13")

    track = watch(picture, every(0.2, 4.0), 4.0).track
    assert told(track) == [("round12", 0.0, 2.0), ("round13", 2.0, 4.0)]


def test_a_still_picture_is_read_once() -> None:
    still = write(backdrop(0.0), "CLOSED")
    track = watch(lambda _: still, every(0.2, 10.0), 10.0).track
    assert told(track) == [("closed", 0.0, 10.0)]
    assert track.cues[0].attributes["readings"] == 1


def test_a_caption_of_the_last_moments_is_found() -> None:
    def picture(time_s: float) -> np.ndarray:
        shown = backdrop(time_s)
        return write(shown, "THE END") if time_s >= 2.4 else shown

    track = watch(picture, every(0.2, 3.0), 2.9).track
    assert told(track) == [("theend", 2.4, 2.9)]


def test_times_follow_the_pictures_of_a_variable_frame_rate() -> None:
    times = [0.5, 0.61, 1.3, 1.52, 2.9, 6.0, 6.4]

    def picture(time_s: float) -> np.ndarray:
        shown = backdrop(time_s)
        return write(shown, "SLOWLY") if 1.3 <= time_s < 6.0 else shown

    assert told(watch(picture, times, 7.0).track) == [("slowly", 1.3, 6.0)]


def noise(time_s: float) -> np.ndarray:
    rng = np.random.default_rng(round(time_s * 1000))
    return rng.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)


def room(time_s: float) -> np.ndarray:
    """A wall with a barred window and a door with a knob, seen by a noisy camera."""
    picture = np.full((HEIGHT, WIDTH, 3), 190, np.uint8)
    cv2.rectangle(picture, (0, 240), (WIDTH, HEIGHT), (120, 100, 80), -1)
    cv2.rectangle(picture, (80, 60), (200, 180), (220, 235, 250), -1)
    for step in (0, 60, 120):
        cv2.line(picture, (80 + step, 60), (80 + step, 180), (90, 70, 60), 4)
        cv2.line(picture, (80, 60 + step), (200, 60 + step), (90, 70, 60), 4)
    cv2.rectangle(picture, (420, 90), (520, 300), (110, 80, 60), -1)
    cv2.circle(picture, (505, 200), 5, (230, 210, 90), -1)
    grain = np.random.default_rng(round(time_s * 1000)).integers(-6, 7, picture.shape)
    return np.clip(picture + grain, 0, 255).astype(np.uint8)


def one_letter(time_s: float) -> np.ndarray:
    return write(backdrop(time_s), "O", left=300, base=200)


def rules_and_dots(time_s: float) -> np.ndarray:
    return write(backdrop(time_s), "- - . . -", left=200, base=200)


@pytest.mark.parametrize(
    "picture",
    [lambda _: np.zeros((HEIGHT, WIDTH, 3), np.uint8), noise, room, one_letter, rules_and_dots],
    ids=["black", "noise", "room", "one letter", "rules and dots"],
)
def test_what_holds_no_word_gives_no_text(picture: Callable[[float], np.ndarray]) -> None:
    track = watch(picture, every(0.2, 2.0), 2.0).track
    assert track.cues == ()
    assert track.status is Status.NO_SIGNAL
    assert "No text was seen in 10 pictures" in track.notes[0]


def test_a_picture_of_one_pixel_gives_no_text() -> None:
    track = watch(lambda _: np.zeros((1, 1, 3), np.uint8), [0.0, 1.0], 2.0).track
    assert (track.cues, track.status) == ((), Status.NO_SIGNAL)


def test_the_kinds_of_nothing_are_told_apart() -> None:
    no_stream = RECOGNIZER.start(info(5.0, has_video=False)).finish().track
    no_picture = RECOGNIZER.start(info(5.0)).finish().track
    assert no_stream.status is no_picture.status is Status.NO_SIGNAL
    assert "no video stream" in no_stream.notes[0]
    assert "No picture could be decoded" in no_picture.notes[0]


def test_two_videos_do_not_mix() -> None:
    first, second = RECOGNIZER.start(info(1.0)), RECOGNIZER.start(info(1.0))
    first.feed([Frame(0.0, write(backdrop(0), "FIRST"))])
    second.feed([Frame(0.0, write(backdrop(0), "SECOND"))])
    assert [cue.text for cue in first.finish().track.cues] == ["FIRST"]
    assert [cue.text for cue in second.finish().track.cues] == ["SECOND"]


def test_a_language_leaves_other_scripts_out() -> None:
    assert is_in_script("Ausgang", ["de"])
    assert not is_in_script("出口", ["de"])
    assert is_in_script("出口", ["zh"])
    assert is_in_script("出口", ["de", "zh"])
    assert is_in_script("でぐち", ["ja"])
    assert not is_in_script("でぐち", ["zh"])
    assert is_in_script("出口", [])
    assert is_in_script("1917", ["fr"])


@pytest.mark.parametrize(
    ("text", "confidence", "expected"),
    [
        ("the man", 0.61, True),
        ("the man", 0.59, False),
        ("GO", 0.86, True),
        ("GO", 0.84, False),
        ("C", 0.99, False),
        ("穴", 0.95, False),
        ("1917", 0.86, True),
        ("1917", 0.80, False),
        ("7", 0.99, False),
        ("'-.", 0.99, False),
    ],
)
def test_which_readings_are_text(text: str, confidence: float, expected: bool) -> None:
    assert is_text(text, confidence, TextRules()) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Do Not Jump", "DONOT JUMP!", True),
        ("Restaurant", "Restaurent", True),
        ("Restaurant", "Restuarent", False),
        ("cat", "hat", False),
        ("12:01 news", "12:02 news", False),
        ("l01 reasons", "101 reasons", True),
        ("hello", "goodbye", False),
    ],
)
def test_which_readings_are_of_one_text(one: str, other: str, expected: bool) -> None:
    assert is_similar(one, other) is expected
    assert is_similar(other, one) is expected


letters = st.text("abcABC é!", max_size=14)


@given(letters, letters)
def test_likeness_of_texts_is_what_the_edits_say(one: str, other: str) -> None:
    plain, also = folded(one), folded(other)
    shorter, longer = sorted((len(plain), len(also)))
    within = shorter >= 4 and edits(plain, also) <= math.ceil(longer / 10)
    assert is_similar(one, other) is (plain == also or within)
    assert is_similar(one, one.upper())


def test_options_are_checked() -> None:
    for name, value in (
        ("rate_hz", 0),
        ("look_rate_hz", math.inf),
        ("max_side_px", 0),
        ("same_picture", -1),
        ("same_place", 1.5),
    ):
        with pytest.raises(BadInput, match=rf"recognizer's {name} is {value}; give a number from"):
            Options(**{name: value})
    for name, value in (("least_confidence", math.nan), ("short_characters", -1)):
        with pytest.raises(BadInput, match=rf"recognizer's rules.{name} is {value}; give a"):
            TextRules(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"look_rate_hz \(1\) must be at least its rate_hz \(2\)"):
        Options(rate_hz=2, look_rate_hz=1)
    with pytest.raises(UnknownName, match=r"backend 'tesseract'.*Available: easyocr, rapidocr"):
        build(Options(backend="tesseract"))
