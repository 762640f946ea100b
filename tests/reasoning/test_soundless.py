import io
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from perception import video
from perception.errors import UnreadableVideo
from reasoning.gemini.soundless import mime_type, without_sound
from tests.perception import clips

PICTURES = [clips.numbered(number) for number in range(10)]


def raw(content: bytes) -> list[tuple[float, int]]:
    """Every picture's time as it stands in the file, and its number."""
    with av.open(io.BytesIO(content)) as file:
        assert [stream.type for stream in file.streams] == ["video"]
        return [
            (round(frame.time, 3), clips.number_in(frame.to_ndarray(format="rgb24")))
            for frame in file.decode(video=0)
        ]


def on_the_clock(path: Path) -> list[tuple[float, int]]:
    shown = video.frames(path, rate_hz=1000.0)
    return [(round(frame.time_s, 3), clips.number_in(frame.rgb)) for frame in shown]


@pytest.mark.parametrize(
    ("name", "settings", "kind", "copied"),
    [
        ("a.mp4", {}, "video/mp4", "video/mp4"),
        ("late.mp4", {"start_s": 2.5}, "video/mp4", "video/mp4"),
        ("sound_first.mp4", {"start_s": 1.0, "sound_start_s": -0.5}, "video/mp4", "video/mp4"),
        ("late.mkv", {"start_s": 2.5}, "video/x-matroska", "video/mp4"),
        ("a.ts", {}, "video/mpeg", "video/mp4"),
        (
            "a.webm",
            {"codec": "libvpx", "sound_codec": "libopus", "sound_rate": 48_000},
            "video/webm",
            "video/webm",
        ),
        ("a.mov", {"codec": "mjpeg", "pix_fmt": "yuvj420p"}, "video/mp4", "video/x-matroska"),
        (
            "b_frames.avi",
            {"codec": "mpeg4", "options": {"bf": "2"}, "ticks": 10, "sound_codec": "mp3"},
            "video/avi",
            "video/mp4",
        ),
        ("a.flv", {}, "video/x-flv", "video/mp4"),
    ],
)
def test_the_sound_is_gone_and_every_picture_keeps_its_time(
    tmp_path: Path, name: str, settings: dict[str, Any], kind: str, copied: str
) -> None:
    sound = clips.tone(1.0, rate=settings.get("sound_rate", 16_000))
    path = clips.write_clip(tmp_path / name, PICTURES, sound=sound, **settings)
    assert mime_type(path) == kind
    file, found = without_sound(path)
    with file:
        assert found == copied
        assert raw(file.read()) == on_the_clock(path)


def test_the_pictures_are_not_coded_anew(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (3, 48, 64, 3), np.uint8)
    path = clips.write_clip(tmp_path / "a.mp4", list(noise), sound=clips.tone(0.5))
    with av.open(str(path)) as file:
        before = [bytes(packet) for packet in file.demux(video=0) if packet.size]
    copy, _ = without_sound(path)
    with copy, av.open(copy, "r") as file:
        assert [bytes(packet) for packet in file.demux(video=0) if packet.size] == before


def test_a_long_copy_that_lies_on_disk_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = clips.write_clip(tmp_path / "a.mp4", PICTURES, sound=clips.tone(1.0))
    in_memory, _ = without_sound(path)
    monkeypatch.setattr("reasoning.gemini.soundless._MEMORY_BYTES", 10)
    on_disk, _ = without_sound(path)
    with in_memory, on_disk:
        assert on_disk.read() == in_memory.read()


def test_a_turned_video_stays_turned(tmp_path: Path) -> None:
    path = clips.write_clip(tmp_path / "a.mp4", [clips.four_corners()] * 3, sound=clips.tone(0.3))
    clips.set_display_matrix(path, clips.CLOCKWISE)
    copy, _ = without_sound(path)
    with copy:
        (tmp_path / "copy.mp4").write_bytes(copy.read())
    (before,), (after,) = (video.frames_at(each, [0.0]) for each in (path, tmp_path / "copy.mp4"))
    assert after.rgb.shape == before.rgb.shape == (64, 48, 3)
    assert np.array_equal(after.rgb, before.rgb)


def test_a_file_without_pictures_has_nothing_to_send(tmp_path: Path) -> None:
    path = clips.write_clip(tmp_path / "a.mp4", sound=clips.tone(0.5))
    with pytest.raises(UnreadableVideo, match="sound only"):
        without_sound(path)
