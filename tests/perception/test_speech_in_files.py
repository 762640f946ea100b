"""Speech in video files: true times, whatever the container and wherever its sound begins."""

from __future__ import annotations

import re
from pathlib import Path

import av
import numpy as np
import pytest

from perception.audio.backends import faster_whisper
from perception.cache import TrackCache
from perception.cue import CueTrack, Status
from perception.perceive import Perception, perceive
from perception.recognizers.speech import Options, build
from tests.perception.clips import numbered, write_clip
from tests.perception.recordings import JFK_TEXT, jfk
from tests.perception.sounds import RATE, Samples, line, silence, tone

pytestmark = pytest.mark.weights

RECOGNIZER = build(Options())
FAST = build(Options(backends={"faster_whisper": faster_whisper.Options("whisper_tiny_en")}))

STARTS_S = {
    0: 0.32,
    5: 3.28,
    6: 4.0,
    7: 5.41,
    14: 8.18,
    1: 0.52,
    2: 0.84,
    3: 1.2,
    4: 1.57,
    8: 5.6,
    9: 5.9,
    10: 6.3,
    11: 6.7,
    12: 6.9,
    13: 7.15,
    15: 8.57,
    16: 8.8,
    17: 9.1,
    18: 9.35,
    19: 9.6,
    20: 9.85,
    21: 10.1,
}
"""When the words of the address begin: the first ones after pauses as the envelope of the sound
(200-4000 Hz) rises over -36 dB, the others halfway between what tiny.en and base say."""

ENDS_S = {4: 2.2, 6: 4.4, 13: 7.7, 21: 10.4}
"""Where the pauses begin, by the same envelope."""


CLUSTER = rb"\x1f\x43\xb6\x75"
"""Begins each five seconds of a Matroska file."""


def interleaved(source: Path, target: Path) -> Path:
    """The same packets, those of pictures and sound in turn as a camera writes them."""
    with av.open(str(source)) as file, av.open(str(target), "w") as out:
        streams = {part.index: out.add_stream_from_template(part) for part in file.streams}
        packets = [packet for packet in file.demux() if packet.size]
        for packet in sorted(packets, key=lambda packet: packet.dts * packet.time_base):
            packet.stream = streams[packet.stream.index]
            out.mux(packet)
    return target


def heard(path: Path, recognizer: object = RECOGNIZER, folder: Path | None = None) -> Perception:
    cache = TrackCache((folder or path.parent) / "cache")
    return perceive(path, [recognizer], cache=cache)  # type: ignore[list-item]


def speech(perception: Perception) -> CueTrack:
    [track] = perception.timeline.tracks
    return track


def letters(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalpha() or each == " ")


def filmed(path: Path, sound: Samples | None, seconds: float, **settings: object) -> Path:
    pictures = [numbered(number) for number in range(round(seconds * 2))]
    return write_clip(path, pictures, rate_hz=2, sound=sound, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("late_s", [0.0, 5.0])
def test_the_address_is_heard_word_for_word_at_its_times(tmp_path: Path, late_s: float) -> None:
    path = filmed(tmp_path / "address.mp4", jfk(), 17, sound_start_s=late_s)
    track = speech(heard(path))
    words = [word for cue in track.cues for word in cue.attributes["words"]]
    assert letters(" ".join(cue.text for cue in track.cues)) == letters(JFK_TEXT)
    assert track.status is Status.COMPLETE
    assert {cue.attributes["language"] for cue in track.cues} == {"en"}
    for number, start_s in STARTS_S.items():
        assert words[number]["start_s"] - late_s == pytest.approx(start_s, abs=0.3), words[number]
    for number, end_s in ENDS_S.items():
        assert words[number]["end_s"] - late_s == pytest.approx(end_s, abs=0.3), words[number]


def test_a_file_with_a_broken_middle_keeps_what_is_said_before_and_after(tmp_path: Path) -> None:
    sound = np.concatenate([line(), silence(4), line(), silence(4), line()])
    whole = filmed(tmp_path / "whole.mkv", sound, len(sound) / RATE, sound_codec="flac")
    path = interleaved(whole, tmp_path / "broken.mkv")
    data = bytearray(path.read_bytes())
    _, middle, after, *_ = (match.start() for match in re.finditer(CLUSTER, data))
    data[middle:after] = bytes(after - middle)
    path.write_bytes(data)
    perception = heard(path, FAST)
    track = speech(perception)
    assert perception.is_partial
    assert track.status is Status.PARTIAL
    assert [letters(cue.text)[-8:] for cue in track.cues] == ["big jump", "big jump"]
    assert track.cues[1].span.start_s > 2 * len(line()) / RATE + 8
    assert perception.notices == track.notes
    assert track.notes[0].startswith("Nothing is stored between 5.")


def test_a_file_that_breaks_off_keeps_what_is_said_before(tmp_path: Path) -> None:
    sound = np.concatenate([line(), silence(8), line()])
    path = filmed(tmp_path / "cut.mkv", sound, len(sound) / RATE, sound_codec="flac")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    track = speech(heard(path, FAST))
    assert track.status is Status.PARTIAL
    assert [letters(cue.text)[-8:] for cue in track.cues] == ["big jump"]
    assert "breaks off" in track.notes[-1]


def test_the_three_kinds_of_nothing_in_files(tmp_path: Path) -> None:
    none = speech(heard(filmed(tmp_path / "none.mp4", None, 3), FAST))
    assert (none.status, none.notes) == (Status.NO_SIGNAL, ("The video has no audio stream.",))
    wordless = speech(heard(filmed(tmp_path / "tone.mp4", tone(3), 3), FAST))
    assert wordless.status is Status.NO_SIGNAL
    assert "no speech in it" in wordless.notes[0]
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.bin").write_bytes(b"no model")
    broken = build(Options(backends={"faster_whisper": faster_whisper.Options(str(folder))}))
    failed = speech(heard(filmed(tmp_path / "line.mp4", line(), 4), broken))
    assert (failed.status, failed.cues) == (Status.FAILED, ())
    assert f"faster-whisper cannot load {str(folder)!r} on cpu" in failed.notes[0]
