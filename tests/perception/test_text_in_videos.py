"""Screen text of files and of scenes that move: the spans that a reader would write down."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from perception.cache import TrackCache
from perception.cue import CueTrack, Status, VideoInfo
from perception.perceive import Perception, perceive
from perception.recognizer import Frame, Recognition
from perception.recognizers.screen_text import Options, build
from tests.perception import clips

Picture = npt.NDArray[np.uint8]
Film = Callable[[float], Picture]

WIDTH, HEIGHT = 480, 270
RECOGNIZER = build(Options())
"""One for all tests: the models load once."""

STEP_S = 1 / Options().look_rate_hz


def street() -> Picture:
    """A wide street front of soft and fine texture."""
    random = np.random.default_rng(3)
    soft = random.integers(40, 190, (20, 160, 3), np.uint8)
    wide = cv2.resize(soft, (2400, HEIGHT), interpolation=cv2.INTER_CUBIC).astype(np.int16)
    return np.clip(wide + random.integers(-12, 13, wide.shape), 0, 255).astype(np.uint8)


STREET = street()


def write(
    picture: Picture, text: str, left: int = 60, base: int = 240, size: float = 0.9
) -> Picture:
    """White letters with a dark rim."""
    written = picture.copy()
    for grey, thick in ((0, 5), (255, 2)):
        place = (text, (left, base), cv2.FONT_HERSHEY_DUPLEX, size)
        cv2.putText(written, *place, (grey,) * 3, thick, cv2.LINE_AA)
    return written


def sign(picture: Picture, text: str, left: int, base: int) -> Picture:
    """White letters on a painted board."""
    (wide, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, 0.9, 2)
    board = picture.copy()
    corners = (left - 10, base - high - 12), (left + wide + 10, base + 12)
    cv2.rectangle(board, *corners, (20, 60, 140), -1)
    place = (text, (left, base), cv2.FONT_HERSHEY_DUPLEX, 0.9)
    cv2.putText(board, *place, (255,) * 3, 2, cv2.LINE_AA)
    return board


def view(left: float) -> Picture:
    """What a camera sees of the street."""
    return STREET[:, round(left) : round(left) + WIDTH].copy()


def watch(film: Film, end_s: float, step_s: float = STEP_S) -> Recognition:
    info = VideoInfo("clip", "0" * 64, 0.0, end_s, WIDTH, HEIGHT, 1 / step_s, True, False)
    session = RECOGNIZER.start(info)
    times = [round(number * step_s, 6) for number in range(round(end_s / step_s))]
    for time_s, next_s in itertools.pairwise([*times, end_s]):
        session.feed([Frame(time_s, film(time_s), 1.0, next_s - time_s)])
    return session.finish()


def bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def told(track: CueTrack) -> list[tuple[str, float, float]]:
    return [(bare(cue.text), cue.span.start_s, cue.span.end_s) for cue in track.cues]


def layer(track: CueTrack) -> dict[str, str | None]:
    return {bare(cue.text): cue.attributes.get("layer") for cue in track.cues}


def steady(rate_hz: float, end_s: float) -> list[float]:
    return [number / rate_hz for number in range(round(end_s * rate_hz))]


def uneven(end_s: float) -> list[float]:
    """Pictures of 20 to 90 ms, as a phone films in the dark."""
    gaps = np.random.default_rng(1).uniform(0.02, 0.09, 400)
    times = [0.0, *np.cumsum(gaps).round(4).tolist()]
    return [time_s for time_s in times if time_s < end_s]


def perceived(path: Path, folder: Path) -> Perception:
    return perceive(path, [RECOGNIZER], cache=TrackCache(folder / "cache"))


def filmed(path: Path, film: Film, times_s: Sequence[float], rate_hz: float) -> Path:
    pictures = [film(time_s) for time_s in times_s]
    return clips.write_clip(path, pictures, rate_hz=rate_hz, times_s=times_s)


@pytest.mark.parametrize(
    ("times_s", "rate_hz"),
    [(steady(30000 / 1001, 7), 30000 / 1001), (steady(25, 7), 25.0), (uneven(7), 20.0)],
    ids=["29.97 fps", "25 fps", "variable"],
)
def test_a_caption_of_a_file_has_its_times(
    tmp_path: Path, times_s: list[float], rate_hz: float
) -> None:
    def film(time_s: float) -> Picture:
        shown = view(300 + 30 * time_s)
        return write(shown, "THE INVISIBLE WALL") if 2 <= time_s < 5 else shown

    path = filmed(tmp_path / "clip.mp4", film, times_s, rate_hz)
    [cue] = perceived(path, tmp_path).timeline.tracks[0].cues
    assert bare(cue.text) == "theinvisiblewall"
    assert cue.span.start_s == pytest.approx(2, abs=STEP_S)
    assert cue.span.end_s == pytest.approx(5, abs=STEP_S)


def test_a_caption_ends_with_the_last_picture_that_shows_it() -> None:
    """Pictures at 1.3, 1.7 and 2.9 s show it; the last of them stands until 6.0 s."""
    times = [0.5, 0.9, 1.3, 1.7, 2.9, 6.0, 6.4, 7.0]
    info = VideoInfo("clip", "0" * 64, 0.0, 7.0, WIDTH, HEIGHT, 1.0, True, False)
    session = RECOGNIZER.start(info)
    for time_s, next_s in itertools.pairwise(times):
        shown = view(300)
        picture = write(shown, "SLOWLY") if 1.3 <= time_s < 6 else shown
        session.feed([Frame(time_s, picture, 1.0, next_s - time_s)])
    assert told(session.finish().track) == [("slowly", 1.3, 6.0)]


def test_a_caption_that_flickers_between_two_readings_is_one_span() -> None:
    def film(time_s: float) -> Picture:
        letters = "RESTAURAMT" if int(time_s / 0.7) % 3 == 1 else "RESTAURANT"
        return write(view(300 + 40 * time_s), letters)

    track = watch(film, 7).track
    assert told(track) == [("restaurant", 0.0, 7.0)]
    assert 0.8 < track.cues[0].confidence <= 1


def test_a_line_that_falls_apart_into_words_stays_one_line() -> None:
    """A post passes between two words, which are found in a box each."""

    def film(time_s: float) -> Picture:
        shown = write(view(300 + 40 * time_s), "GOOD      NIGHT", 60)
        if 2 <= time_s < 4:
            shown[:, 136:164] = 30, 30, 30
        return shown

    assert told(watch(film, 6).track) == [("goodnight", 0.0, 6.0)]


def test_two_captions_at_once_are_two_spans_and_one_may_go() -> None:
    def film(time_s: float) -> Picture:
        shown = write(view(300 + 40 * time_s), "CHAPTER TWO", base=60)
        return write(shown, "The rope") if 1.2 <= time_s < 3.5 else shown

    assert told(watch(film, 5).track) == [("chaptertwo", 0.0, 5.0), ("therope", 1.2, 3.5)]


def test_a_caption_that_returns_is_two_spans() -> None:
    def film(time_s: float) -> Picture:
        shown = view(300 + 40 * time_s)
        return write(shown, "MEANWHILE") if time_s < 1.5 or 2.6 <= time_s < 4 else shown

    assert told(watch(film, 5).track) == [("meanwhile", 0.0, 1.5), ("meanwhile", 2.6, 4.0)]


def test_subtitles_that_change_without_a_gap_follow_each_other() -> None:
    lines = ("I told you so", "You never told me", "Well, now I do")

    def film(time_s: float) -> Picture:
        return write(view(300 + 20 * time_s), lines[min(2, int(time_s / 1.7))])

    times = [
        (text, round(start, 1), round(end, 1)) for text, start, end in told(watch(film, 5).track)
    ]
    assert times == [
        ("itoldyouso", 0.0, 1.7),
        ("younevertoldme", 1.7, 3.4),
        ("wellnowido", 3.4, 5.0),
    ]


def test_rolling_credits_are_a_span_a_line() -> None:
    """The same name comes twice, in lines of their own."""
    names = ("DIRECTED BY", "ANNA KOWALSKI", "MUSIC BY", "ANNA KOWALSKI")
    roll = np.zeros((2 * HEIGHT + 60 * len(names), WIDTH, 3), np.uint8)
    for number, name in enumerate(names):
        roll = write(roll, name, 120, HEIGHT + 40 + 60 * number)

    def film(time_s: float) -> Picture:
        top = round(60 * time_s)
        return roll[top : top + HEIGHT]

    track = watch(film, 8).track
    assert [text for text, *_ in told(track)] == [bare(name) for name in names]
    starts = [start for _, start, _ in told(track)]
    assert np.diff(starts) == pytest.approx([1, 1, 1], abs=0.6)
    assert all(3 < end - start < 5 for _, start, end in told(track))
    assert set(layer(track).values()) == {"overlay"}


def test_a_rolling_line_may_be_misread() -> None:
    """It rolls over a picture that stands still, further than its height in a second."""

    def film(time_s: float) -> Picture:
        letters = "RESTAURAMT" if 2.5 < time_s < 3.5 else "RESTAURANT"
        return write(view(300), letters, 120, 250 - round(45 * time_s))

    assert told(watch(film, 5).track) == [("restaurant", 0.0, 5.0)]


def test_a_sign_under_a_panning_camera_is_one_span_and_a_caption_over_it_another() -> None:
    """The sign comes in at the right at 0.1 s and has left at the left by 7.6 s."""
    front = sign(STREET, "FISH MARKET", 800, 120)

    def film(time_s: float) -> Picture:
        left = round(300 + 90 * time_s)
        return write(front[:, left : left + WIDTH].copy(), "TUESDAY")

    track = watch(film, 7).track
    assert {text: (start, end) for text, start, end in told(track)} == {
        "tuesday": (0.0, 7.0),
        "fishmarket": pytest.approx((1.0, 7.0), abs=1.0),
    }
    assert layer(track) == {"tuesday": "overlay", "fishmarket": "scene"}


def test_a_sign_under_a_panning_camera_may_be_misread_at_once() -> None:
    """Between the first and the second reading both its place, by most of its width, and a letter
    change."""
    right, wrong = (sign(STREET, text, 550, 120) for text in ("RESTAURANT", "RESTAURAMT"))

    def film(time_s: float) -> Picture:
        left = round(300 + 130 * time_s)
        return (wrong if 0.5 < time_s < 1.5 else right)[:, left : left + WIDTH].copy()

    assert told(watch(film, 1.8).track) == [("restaurant", 0.0, 1.8)]


def test_text_on_a_shirt_is_one_span_in_the_scene() -> None:
    shirt = sign(np.full((120, 230, 3), (180, 50, 50), np.uint8), "TIGERS", 40, 70)

    def film(time_s: float) -> Picture:
        across, down = 130 + 60 * np.sin(2.1 * time_s), 70 + 25 * np.sin(3.3 * time_s)
        turn = cv2.getRotationMatrix2D((115, 60), 8 * np.sin(2.7 * time_s), 1)
        turn[:, 2] += across, down
        worn = cv2.warpAffine(shirt, turn, (WIDTH, HEIGHT))
        body = cv2.warpAffine(np.full(shirt.shape[:2], 255, np.uint8), turn, (WIDTH, HEIGHT))
        shown = view(300)
        shown[body > 127] = worn[body > 127]
        return shown

    track = watch(film, 6).track
    assert told(track) == [("tigers", 0.0, 6.0)]
    assert layer(track) == {"tigers": "scene"}


def test_a_line_typed_letter_by_letter_is_one_span() -> None:
    def film(time_s: float) -> Picture:
        return write(view(300), "THE LAST NIGHT"[: max(0, round(5 * (time_s - 0.5)))])

    [(text, start, end)] = told(watch(film, 6).track)
    assert text == "thelastnight"
    assert start < 1.5
    assert end == 6.0


def test_a_channel_logo_is_kept_and_flagged_and_a_caption_is_not() -> None:
    """Four shots; the logo is on all of them."""

    def film(time_s: float) -> Picture:
        shot = write(view(120 + 450 * int(time_s / 2)), "MIME TV", 350, 40, 0.7)
        return write(shot, "INTERMISSION") if 2.5 <= time_s < 5.5 else shot

    track = watch(film, 8).track
    flags = {bare(cue.text): cue.attributes["watermark"] for cue in track.cues}
    assert flags == {"mimetv": True, "intermission": False}
    assert layer(track) == {"mimetv": "overlay", "intermission": "overlay"}
    assert told(track)[0] == ("mimetv", 0.0, 8.0)


def test_of_a_level_sign_before_a_still_camera_nothing_is_said() -> None:
    """Somebody walks by below; the sign costs one reading."""
    front = sign(view(300), "BAKERY", 150, 80)

    def film(time_s: float) -> Picture:
        shown = front.copy()
        cv2.circle(shown, (round(40 + 60 * time_s), 200), 50, (180, 140, 120), -1)
        return shown

    recognition = watch(film, 6)
    assert layer(recognition.track) == {"bakery": None}
    assert recognition.track.cues[0].attributes["readings"] == 1
    assert len(recognition.traces["screen_text/searched/time"]) == 7


def test_a_picture_that_stands_still_is_searched_once_and_has_two_boxes() -> None:
    still = write(view(300), "CLOSED")
    recognition = watch(lambda _: still, 20)
    assert told(recognition.track) == [("closed", 0.0, 20.0)]
    assert recognition.track.cues[0].attributes["readings"] == 1
    assert recognition.traces["screen_text/searched/time"].tolist() == [0.0]
    assert recognition.traces["screen_text/boxes/time"] == pytest.approx([0.0, 19.9])


def test_a_file_with_a_broken_middle_keeps_what_was_read(tmp_path: Path) -> None:
    def film(time_s: float) -> Picture:
        shown = view(300 + 40 * time_s)
        return write(shown, "BEFORE" if time_s < 2 else "AFTER") if not 2 <= time_s < 5 else shown

    pictures = [film(number / 10) for number in range(80)]
    options = {"preset": "ultrafast", "crf": "10", "g": "10"}
    path = clips.write_clip(tmp_path / "clip.mp4", pictures, rate_hz=10, options=options)
    data = bytearray(path.read_bytes())
    begin, end = (round(len(data) * share) for share in (0.4, 0.55))
    data[begin:end] = bytes(end - begin)
    path.write_bytes(data)
    found = perceived(path, tmp_path)
    [track] = found.timeline.tracks
    assert [text for text, *_ in told(track)] == ["before", "after"]
    assert track.status is Status.PARTIAL
    assert found.is_partial
    assert any("cannot be decoded: " in note for note in track.notes)
