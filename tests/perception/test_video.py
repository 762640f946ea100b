"""What is decoded, when, which way up, and what is said of files that cannot be."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from perception import video
from perception.cue import Span
from perception.errors import BadInput, UnreadableVideo
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk, Frame, Needs
from tests.perception import clips
from tests.perception.clips import number_in, numbered, tone, write_clip

UNEVEN_S = [0.0, 0.04, 0.3, 0.33, 1.0, 1.02, 1.7, 2.5]


def seen(path: Path, rate_hz: float, span: Span | None = None) -> list[tuple[float, int]]:
    """(time in ms, number) of the frames at a rate."""
    return [
        (round(frame.time_s * 1000), number_in(frame.rgb))
        for frame in video.frames(path, rate_hz, span=span)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clips")


@pytest.fixture(scope="module")
def clip(folder: Path) -> Path:
    """Twenty numbered pictures at 10 a second and a tone as long."""
    return write_clip(folder / "clip.mp4", [numbered(n) for n in range(20)], sound=tone(2.0))


class TestProbe:
    def test_tells_what_the_file_holds(self, clip: Path) -> None:
        info = video.probe(clip)
        assert info.name == "clip.mp4"
        assert info.sha256 == hashlib.sha256(clip.read_bytes()).hexdigest()
        assert (info.width, info.height, info.rate_hz) == (64, 48, 10.0)
        assert info.start_s == 0
        assert info.duration_s == pytest.approx(2.0, abs=0.001)
        assert info.has_video
        assert info.has_audio

    @pytest.mark.parametrize("suffix", ["mkv", "ts", "mp4"])
    def test_subtracts_the_containers_start(self, tmp_path: Path, suffix: str) -> None:
        path = write_clip(tmp_path / f"late.{suffix}", [numbered(n) for n in range(5)], start_s=2.5)
        info = video.probe(path)
        assert info.start_s == pytest.approx(2.5)
        assert info.duration_s == pytest.approx(0.5, abs=0.001)
        assert seen(path, 10) == [(100 * n, n) for n in range(5)]
        notices: list[str] = []
        list(video.stream(path, info, [Needs(10)], None, notices.append))
        assert notices == []

    def test_finds_no_video_in_sound(self, tmp_path: Path) -> None:
        info = video.probe(
            write_clip(tmp_path / "sound.wav", sound=tone(1.5), sound_codec="pcm_s16le")
        )
        assert (info.has_video, info.has_audio) == (False, True)
        assert (info.width, info.height, info.rate_hz) == (0, 0, 0)
        assert info.duration_s == pytest.approx(1.5)

    def test_finds_no_sound_in_pictures(self, tmp_path: Path) -> None:
        info = video.probe(write_clip(tmp_path / "still.mp4", [clips.plain()] * 5))
        assert (info.has_video, info.has_audio) == (True, False)

    def test_reports_progress_up_to_the_files_size(self, clip: Path) -> None:
        steps: list[tuple[int, int]] = []
        video.sha256(clip, lambda done, total: steps.append((done, total)))
        size = clip.stat().st_size
        assert steps[-1] == (size, size)

    def test_measures_a_matroska_without_a_duration(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "live.mkv",
            [numbered(n) for n in range(30)],
            container="matroska",
            container_options={"live": "1"},
        )
        assert video.probe(path).duration_s == pytest.approx(3.0, abs=0.01)

    def test_measures_what_is_left_of_a_truncated_file(self, tmp_path: Path) -> None:
        path = truncated(tmp_path)
        with_all = 12.8
        assert 2 < video.probe(path).duration_s < with_all - 2


class TestFrames:
    def test_are_those_shown_at_each_instant(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "uneven.mp4", [numbered(n) for n in range(8)], times_s=UNEVEN_S
        )
        assert seen(path, 2) == [(0, 0), (330, 3), (1000, 4), (1020, 5), (1700, 6), (2500, 7)]
        assert seen(path, 1) == [(0, 0), (1000, 4), (1700, 6)]

    def test_are_never_given_twice(self, clip: Path) -> None:
        assert seen(clip, 1000) == [(100 * n, n) for n in range(20)]

    def test_come_evenly_from_millisecond_timestamps(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "a.mkv", [numbered(n) for n in range(60)], rate_hz=30)
        assert [number for _, number in seen(path, 15)] == list(range(0, 60, 2))

    def test_of_a_clip_shorter_than_the_interval_number_one(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "one.mp4", [clips.plain()])
        frames = list(video.frames(path, 1))
        assert [frame.time_s for frame in frames] == [0.0]
        assert int(frames[0].rgb.max()) <= 1

    def test_are_not_empty_when_every_instant_misses(self, clip: Path) -> None:
        assert seen(clip, 1, Span(0.42, 0.61)) == [(600, 6)]

    def test_are_scaled_down_and_tell_by_how_much(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "wide.mp4", [numbered(5, 320, 180)])
        frame = next(video.frames(path, 1, max_side_px=160))
        assert (frame.rgb.shape, frame.scale) == ((90, 160, 3), 2.0)
        assert number_in(frame.rgb) == 5
        assert next(video.frames(path, 1, max_side_px=1000)).rgb.shape == (180, 320, 3)

    def test_have_square_pixels(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "wide.mp4", [clips.plain()], pixel_aspect=2)
        info = video.probe(path)
        assert (info.width, info.height) == (128, 48)
        assert next(video.frames(path, 1)).rgb.shape == (48, 128, 3)

    def test_keep_one_size_where_the_resolution_changes(self, tmp_path: Path) -> None:
        big = write_clip(tmp_path / "big.ts", [numbered(n, 128, 96) for n in range(5)])
        small = write_clip(tmp_path / "small.ts", [numbered(n) for n in range(5, 10)], start_s=0.5)
        both = tmp_path / "both.ts"
        both.write_bytes(big.read_bytes() + small.read_bytes())
        frames = list(video.frames(both, 10, max_side_px=32))
        assert [number_in(frame.rgb) for frame in frames] == list(range(10))
        assert {frame.rgb.shape for frame in frames} == {(24, 32, 3)}
        assert {frame.scale * 32 for frame in frames} == {video.probe(both).width}

    @pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
    def test_refuse_a_rate_that_is_none(self, clip: Path, rate: float) -> None:
        with pytest.raises(BadInput, match="positive number"):
            next(video.frames(clip, rate))

    @pytest.mark.timeout(60)
    def test_a_time_years_ahead_is_reached_without_counting_up_to_it(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "jump.mkv", [numbered(n) for n in range(3)], times_s=[0, 0.2, 1e9]
        )
        assert seen(path, 15) == [(0, 0), (200, 1), (10**12, 2)]
        info = video.probe(path)
        assert [index for index, _ in video.stream(path, info, [Needs(1e6)])] == [0, 0, 0]

    @pytest.mark.parametrize("rate", [-1, float("nan"), float("inf"), 1e9])
    def test_no_recognizer_asks_for_an_impossible_rate(self, rate: float) -> None:
        with pytest.raises(BadInput, match="frames a second"):
            Needs(rate)

    def test_cannot_be_written_to(self, clip: Path) -> None:
        frame = next(video.frames(clip, 1))
        with pytest.raises(ValueError, match="read-only"):
            frame.rgb[0, 0] = 0


class TestSpan:
    @pytest.mark.parametrize(
        ("suffix", "codec", "options"),
        [
            ("mp4", "libx264", {"g": "7", "bf": "3", "preset": "medium"}),
            ("mp4", "libx264", {"g": "30", "x264-params": "open-gop=1", "preset": "medium"}),
            ("mkv", "libx264", {"g": "25", "preset": "medium"}),
            ("ts", "libx264", {"g": "25", "preset": "medium"}),
            ("avi", "mpeg4", {"g": "25"}),
            ("webm", "libvpx-vp9", {"g": "25", "deadline": "realtime", "cpu-used": "8"}),
            ("flv", "flv", {"g": "25"}),
        ],
    )
    def test_gives_the_frames_that_the_whole_gives(
        self, tmp_path: Path, suffix: str, codec: str, options: dict[str, str]
    ) -> None:
        path = write_clip(
            tmp_path / f"long.{suffix}",
            [numbered(n) for n in range(250)],
            rate_hz=25,
            codec=codec,
            options=options,
            ticks=25,
        )
        whole = {frame.time_s: frame.rgb for frame in video.frames(path, 12.5)}
        assert len(whole) == 125
        for start_s, end_s in [(0.0, 0.4), (3.0, 3.4), (4.99, 5.3), (7.77, 8.0), (9.6, 20.0)]:
            part = list(video.frames(path, 12.5, span=Span(start_s, end_s)))
            wished = [time_s for time_s in whole if start_s - 0.001 <= time_s < end_s - 0.001]
            assert [frame.time_s for frame in part][-len(wished) :] == wished
            assert len(part) <= len(wished) + 1
            for frame in part:
                np.testing.assert_array_equal(frame.rgb, whole[frame.time_s])

    def test_begins_with_the_frame_shown_at_its_start(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "slides.mp4", [numbered(n) for n in range(3)], times_s=[0, 10, 20], rate_hz=1
        )
        assert seen(path, 1, Span(15.0, 16.0)) == [(10_000, 1)]

    def test_ends_before_its_end(self, clip: Path) -> None:
        assert seen(clip, 10, Span(0.5, 0.8)) == [(500, 5), (600, 6), (700, 7)]

    def test_past_the_end_is_empty(self, clip: Path) -> None:
        assert seen(clip, 10, Span(30.0, 40.0)) == []
        assert len(video.waveform(clip, Span(30.0, 40.0))) == 0


class TestFramesAt:
    def test_follow_the_order_of_the_times(self, clip: Path) -> None:
        frames = video.frames_at(clip, [1.55, 0.0, 0.31, 1.55])
        assert [number_in(frame.rgb) for frame in frames] == [15, 0, 3, 15]

    def test_outside_of_the_video_are_the_nearest(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "late.mkv",
            [numbered(n) for n in range(3, 8)],
            times_s=[1.0, 1.1, 1.2, 1.3, 1.4],
            sound=tone(1.5),
            sound_codec="pcm_s16le",
        )
        frames = video.frames_at(path, [-1.0, 0.5, 99.0])
        assert [number_in(frame.rgb) for frame in frames] == [3, 3, 7]

    @pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts", "avi"])
    def test_far_behind_the_end_are_the_last(self, tmp_path: Path, suffix: str) -> None:
        path = write_clip(
            tmp_path / f"short.{suffix}", [numbered(n) for n in range(20)], codec="mpeg4", ticks=10
        )
        assert [number_in(frame.rgb) for frame in video.frames_at(path, [500.0])] == [19]

    def test_far_apart_are_the_same_as_near(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "long.mp4", [numbered(n % 256) for n in range(600)], options={"g": "50"}
        )
        frames = video.frames_at(path, [2.0, 14.5, 59.0, 3600.0])
        assert [number_in(frame.rgb) for frame in frames] == [20, 145, 590 - 512, 599 - 512]

    def test_of_sound_are_none(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "sound.wav", sound=tone(1), sound_codec="pcm_s16le")
        assert video.frames_at(path, [0.0]) == []

    def test_refuse_times_that_are_none(self, clip: Path) -> None:
        with pytest.raises(BadInput, match="finite times"):
            video.frames_at(clip, [float("nan")])


class TestUpright:
    @pytest.mark.parametrize(
        "matrix", [clips.IDENTITY, clips.CLOCKWISE, clips.HALF_TURN, clips.COUNTERCLOCKWISE]
    )
    @pytest.mark.parametrize("size", [(64, 48), (66, 34)])
    def test_turns_as_opencv_does(
        self, tmp_path: Path, matrix: tuple[int, int, int, int], size: tuple[int, int]
    ) -> None:
        path = write_clip(tmp_path / "turned.mp4", [clips.four_corners(*size)])
        clips.set_display_matrix(path, matrix)
        capture = cv2.VideoCapture(str(path))
        capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 1)
        read, reference = capture.read()
        assert read
        frame = next(video.frames(path, 1))
        np.testing.assert_array_equal(frame.rgb, reference[:, :, ::-1])
        info = video.probe(path)
        assert (info.height, info.width) == frame.rgb.shape[:2]

    @pytest.mark.parametrize(
        ("matrix", "corners"),
        [
            (clips.MIRRORED, "GRWB"),
            (clips.UPSIDE_DOWN, "BWRG"),
            (clips.TRANSPOSED, "RBGW"),
            (clips.ANTITRANSPOSED, "WGBR"),
        ],
    )
    def test_mirrors(self, tmp_path: Path, matrix: tuple[int, int, int, int], corners: str) -> None:
        path = write_clip(tmp_path / "mirrored.mp4", [clips.four_corners()])
        clips.set_display_matrix(path, matrix)
        rgb = next(video.frames(path, 1)).rgb
        colours = {(1, 0, 0): "R", (0, 1, 0): "G", (0, 0, 1): "B", (1, 1, 1): "W"}
        found = [(rgb[y, x] > 127).astype(int) for y in (4, -4) for x in (4, -4)]
        assert "".join(colours[r, g, b] for r, g, b in found) == corners

    @pytest.mark.parametrize(
        ("suffix", "codec", "pix_fmt"),
        [
            ("mp4", "libx264", "yuv444p"),
            ("mp4", "libx264", "yuv422p10le"),
            ("mp4", "libx264", "gray"),
            ("mkv", "ffv1", "yuv420p16le"),
            ("mkv", "ffv1", "bgra"),
            ("mov", "qtrle", "argb"),
            ("avi", "rawvideo", "bgr24"),
            ("mov", "png", "rgba"),
            ("mov", "png", "gray16be"),
            ("gif", "gif", "rgb8"),
            ("mov", "prores_ks", "yuv422p10le"),
            ("avi", "mjpeg", "yuvj420p"),
        ],
    )
    def test_reads_pixels_of_any_format(
        self, tmp_path: Path, suffix: str, codec: str, pix_fmt: str
    ) -> None:
        pictures = [numbered(n) for n in (0, 37, 200)]
        path = write_clip(
            tmp_path / f"odd.{suffix}", pictures, codec=codec, pix_fmt=pix_fmt, ticks=10
        )
        frames = list(video.frames(path, 10))
        assert [number_in(frame.rgb) for frame in frames] == [0, 37, 200]
        assert int(frames[0].rgb.max()) < 20
        assert int(frames[2].rgb.max()) > 235

    def test_reads_a_video_of_one_pixel(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "dot.avi",
            [clips.plain(1, 1, 200)] * 3,
            codec="rawvideo",
            pix_fmt="bgr24",
            ticks=10,
        )
        assert video.probe(path).width == 1
        frames = list(video.frames(path, 10, max_side_px=640))
        assert [frame.rgb.tolist() for frame in frames] == [[[[200, 200, 200]]]] * 3


class TestStream:
    def test_feeds_several_consumers_from_one_pass(self, clip: Path) -> None:
        needs = [Needs(10, 32), Needs(2, 0), Needs(audio=True), Needs(5, 32, audio=True), Needs()]
        items: dict[int, list[Frame | AudioChunk]] = {index: [] for index in range(5)}
        for index, item in video.stream(clip, video.probe(clip), needs):
            items[index].append(item)
        assert [len(items[index]) for index in (0, 1, 4)] == [20, 4, 0]
        assert {item.rgb.shape for item in items[0] if isinstance(item, Frame)} == {(24, 32, 3)}
        assert {item.rgb.shape for item in items[1] if isinstance(item, Frame)} == {(48, 64, 3)}
        shared = [item for item in items[3] if isinstance(item, Frame)]
        assert [item in items[0] for item in shared] == [True] * 10
        assert sum(len(i.samples) for i in items[2] if isinstance(i, AudioChunk)) == pytest.approx(
            2 * AUDIO_RATE_HZ, abs=1024
        )

    def test_orders_each_consumers_items_by_time(self, clip: Path) -> None:
        last = {0: -1.0, 1: -1.0}
        for index, item in video.stream(clip, video.probe(clip), [Needs(10), Needs(audio=True)]):
            time_s = item.time_s if isinstance(item, Frame) else item.start_s
            assert time_s > last[index]
            last[index] = time_s
        assert min(last.values()) >= 0

    def test_keeps_few_pictures_however_long_the_clip(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "long.mp4",
            [clips.plain(320, 240, n % 250) for n in range(600)],
            rate_hz=30,
            sound=tone(20.0),
        )
        info = video.probe(path)
        code = (
            "import resource, sys; from pathlib import Path; from perception import video;"
            "from perception.cue import Span; from perception.recognizer import Needs;"
            "path = Path(sys.argv[1]); info = video.probe(path);"
            "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
            "run = lambda end: sum(1 for _ in video.stream(path, info,"
            " [Needs(30), Needs(audio=True)], Span(0.0, end)));"
            "run(3.0); before = peak(); count = run(20.0); print(count, peak() - before)"
        )
        pytest.importorskip("resource")
        output = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        ).stdout
        count, grown_kib = map(int, output.split())
        pictures_kib = 600 * 320 * 240 * 3 / 1024
        assert info.duration_s == pytest.approx(20.0, abs=0.1)
        assert count == 600 + 10
        assert grown_kib < pictures_kib / 10

    def test_sorts_times_that_are_slightly_out_of_order(self, tmp_path: Path) -> None:
        path = tmp_path / "jumbled.mkv"
        clips.write_jumbled(path, [0, 1, 3, 2, 4, 5, 7, 8, 6, 9])
        assert seen(path, 10) == [(100 * n, n) for n in range(10)]

    def test_places_frames_without_timestamps_by_the_rate(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "raw.h264", [numbered(n) for n in range(10)], rate_hz=25, container="h264"
        )
        assert seen(path, 25) == [(40 * n, n) for n in range(10)]


class TestSound:
    def test_is_mono_at_16_khz_with_its_true_amplitude(self, tmp_path: Path) -> None:
        left = tone(1.0, rate=44_100, amplitude=0.8)
        path = write_clip(
            tmp_path / "stereo.wav",
            sound=np.stack([left, np.zeros_like(left)]),
            sound_rate=44_100,
            sound_codec="pcm_f32le",
        )
        samples = video.waveform(path)
        assert samples.dtype == np.float32
        assert len(samples) == pytest.approx(AUDIO_RATE_HZ, abs=2)
        inner = samples[1000:-1000]
        expected = tone(1.0, amplitude=0.4)[1000 : 1000 + len(inner)]
        np.testing.assert_allclose(inner, expected, atol=0.005)

    def test_keeps_the_offset_of_a_late_stream(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "late.mkv",
            [numbered(n) for n in range(20)],
            start_s=3.0,
            sound=np.ones(8000, np.float32) * 0.5,
            sound_start_s=0.75,
            sound_codec="pcm_s16le",
        )
        samples = video.waveform(path)
        heard = np.flatnonzero(np.abs(samples) > 0.25)
        assert heard[0] == pytest.approx(0.75 * AUDIO_RATE_HZ, abs=16)
        assert heard[-1] == pytest.approx(1.25 * AUDIO_RATE_HZ, abs=16)
        assert seen(path, 10)[0] == (0, 0)

    def test_that_comes_first_puts_the_pictures_later(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "early.mkv",
            [numbered(n) for n in range(5)],
            times_s=[0.6, 0.7, 0.8, 0.9, 1.0],
            sound=tone(1.1),
            sound_codec="pcm_s16le",
        )
        assert seen(path, 10) == [(600 + 100 * n, n) for n in range(5)]

    def test_begins_a_new_chunk_after_a_gap(self, tmp_path: Path) -> None:
        path = tmp_path / "gap.mkv"
        write_clip(path, sound=tone(1.024), sound_codec="pcm_s16le", sound_gap_s=(0.512, 3.0))
        chunks = [
            item
            for _, item in video.stream(path, video.probe(path), [Needs(audio=True)])
            if isinstance(item, AudioChunk)
        ]
        assert [(round(c.start_s, 3), len(c.samples)) for c in chunks] == [
            (0.0, 8192),
            (3.512, 8192),
        ]
        samples = video.waveform(path)
        assert len(samples) == 8192 + 3 * AUDIO_RATE_HZ + 8192
        assert not samples[8192 : 8192 + 3 * AUDIO_RATE_HZ].any()

    def test_of_a_span_is_the_same_as_in_the_whole(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        path = write_clip(
            tmp_path / "noise.mkv",
            [clips.plain()] * 120,
            sound=rng.uniform(-0.5, 0.5, 12 * AUDIO_RATE_HZ).astype(np.float32),
            sound_codec="flac",
        )
        whole = video.waveform(path)
        part = video.waveform(path, Span(5.25, 7.5))
        assert len(part) == 2.25 * AUDIO_RATE_HZ
        np.testing.assert_array_equal(
            part, whole[round(5.25 * AUDIO_RATE_HZ) : round(7.5 * AUDIO_RATE_HZ)]
        )

    @pytest.mark.parametrize(
        ("suffix", "codec", "rate"),
        [
            ("mp4", "aac", 44_100),
            ("ts", "aac", 48_000),
            ("mkv", "libopus", 48_000),
            ("mp3", "mp3", 44_100),
        ],
    )
    def test_of_a_span_is_where_it_is_in_the_whole(
        self, tmp_path: Path, suffix: str, codec: str, rate: int
    ) -> None:
        """A tone that rises lets no shift pass: 1 ms at 1 kHz is a whole period."""
        times = np.arange(12 * rate) / rate
        rising = 0.4 * np.sin(2 * np.pi * (200 * times + 40 * times**2))
        path = write_clip(
            tmp_path / f"rising.{suffix}",
            [] if suffix == "mp3" else [numbered(n) for n in range(120)],
            start_s=1.0,
            sound=rising.astype(np.float32),
            sound_codec=codec,
            sound_rate=rate,
        )
        whole = video.waveform(path)
        part = video.waveform(path, Span(5.25, 7.5))
        assert len(part) == pytest.approx(2.25 * AUDIO_RATE_HZ, abs=1)
        begin = round(5.25 * AUDIO_RATE_HZ)
        shifts = range(-40, 41)
        inner = part[100:-100]
        errors = [
            float(np.abs(whole[begin + 100 + shift :][: len(inner)] - inner).mean())
            for shift in shifts
        ]
        assert abs(shifts[int(np.argmin(errors))]) <= 1
        assert min(errors) < 0.05

    def test_comes_in_chunks_of_two_seconds(self, clip: Path, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "five.wav", sound=tone(5.0), sound_codec="pcm_s16le")
        lengths = [
            (item.start_s, len(item.samples))
            for _, item in video.stream(path, video.probe(path), [Needs(audio=True)])
            if isinstance(item, AudioChunk)
        ]
        assert lengths == [(0.0, 32_000), (2.0, 32_000), (4.0, 16_000)]

    def test_of_three_channels_without_a_layout_is_heard(self, tmp_path: Path) -> None:
        path = write_clip(
            tmp_path / "three.wav", sound=np.stack([tone(1.0)] * 3), sound_codec="pcm_s16le"
        )
        assert float(np.abs(video.waveform(path)).max()) > 0.2

    def test_of_a_silent_video_is_empty(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "still.mp4", [clips.plain()] * 3)
        assert len(video.waveform(path)) == 0


def test_a_picture_tells_how_long_it_is_shown(tmp_path: Path) -> None:
    """Until the next one of the file, not of those that were asked for."""
    times_s = [0.0, 0.1, 0.4, 0.5, 1.2]
    pictures = [clips.numbered(number) for number in range(5)]
    path = clips.write_clip(tmp_path / "uneven.mkv", pictures, times_s=times_s, rate_hz=10)
    shown = {
        item.time_s: item.duration_s
        for _, item in video.stream(path, video.probe(path), [Needs(2)])
        if isinstance(item, Frame)
    }
    assert list(shown) == pytest.approx([0.0, 0.5], abs=0.002)
    assert list(shown.values()) == pytest.approx([0.1, 0.7], abs=0.002)


def truncated(folder: Path) -> Path:
    """Half of an MP4 of 12.8 s whose index stands in front."""
    path = write_clip(
        folder / "cut.mp4",
        [numbered(n) for n in range(128)],
        sound=tone(12.8),
        container_options={"movflags": "faststart"},
    )
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


class TestDamage:
    def test_a_truncated_file_gives_what_is_there_and_says_what_is_not(
        self, tmp_path: Path
    ) -> None:
        path = truncated(tmp_path)
        notices: list[str] = []
        info = video.probe(path)
        numbers = [
            number_in(item.rgb)
            for _, item in video.stream(path, info, [Needs(10)], None, notices.append)
            if isinstance(item, Frame)
        ]
        assert numbers == list(range(len(numbers)))
        assert 20 < len(numbers) < 108
        assert len(notices) >= 1
        assert f"breaks off at {info.duration_s:.1f} s" in notices[-1]
        assert "12.8 s" in notices[-1]

    @pytest.mark.parametrize(("kept", "missing"), [(0.5, True), (1.0, False)])
    def test_an_avi_that_is_cut_says_so_by_its_own_size(
        self, tmp_path: Path, kept: float, missing: bool
    ) -> None:
        path = write_clip(tmp_path / "cut.avi", [numbered(n) for n in range(20)], sound=tone(2.0))
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * kept)])
        notices: list[str] = []
        info = video.probe(path)
        list(video.stream(path, info, [Needs(10)], None, notices.append))
        end = f"breaks off at {info.duration_s:.1f} s"
        more = f"that it has {len(data) - path.stat().st_size} bytes more"
        assert any(end in notice and more in notice for notice in notices) is missing
        assert info.duration_s < 1.9 or not missing

    def test_a_stream_whose_header_was_never_completed_counts_as_whole(
        self, tmp_path: Path
    ) -> None:
        path = write_clip(tmp_path / "a.wav", sound=tone(1.0), sound_codec="pcm_s16le")
        data = bytearray(path.read_bytes())
        data[4:8] = b"\xff" * 4
        path.write_bytes(data)
        notices: list[str] = []
        list(video.stream(path, video.probe(path), [Needs(audio=True)], None, notices.append))
        assert notices == []

    def test_a_whole_file_gives_no_notice(self, clip: Path) -> None:
        notices: list[str] = []
        list(video.stream(clip, video.probe(clip), [Needs(5)], None, notices.append))
        assert notices == []

    def test_bad_packets_are_left_out_and_told(self, tmp_path: Path) -> None:
        """FFmpeg joins pictures without their first bytes to the one before."""
        path = write_clip(
            tmp_path / "holes.avi",
            [numbered(n) for n in range(20)],
            codec="png",
            pix_fmt="rgb24",
            ticks=10,
        )
        data = bytearray(path.read_bytes())
        places = [i for i in range(len(data)) if data.startswith(b"\x89PNG", i)]
        data[places[7] : places[7] + 8] = data[places[8] : places[8] + 8] = bytes(8)
        path.write_bytes(data)
        notices: list[str] = []
        numbers = [
            number_in(item.rgb)
            for _, item in video.stream(path, video.probe(path), [Needs(10)], None, notices.append)
            if isinstance(item, Frame)
        ]
        assert numbers == [*range(7), *range(10, 20)]
        assert notices == [
            "Video packets that cannot be decoded: 1 left out, the first near 0.8 s."
        ]

    def test_a_truncated_file_without_its_index_is_refused(
        self, clip: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "cut.mp4"
        path.write_bytes(clip.read_bytes()[: clip.stat().st_size // 2])
        with pytest.raises(UnreadableVideo, match=r"cut\.mp4.*damaged"):
            video.probe(path)


class TestRefused:
    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableVideo, match="is a folder"):
            video.probe(tmp_path)

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableVideo, match="There is no file"):
            video.probe(tmp_path / "none.mp4")

    def test_a_file_inside_of_a_file(self, clip: Path) -> None:
        with pytest.raises(UnreadableVideo, match="There is no file"):
            video.probe(clip / "inner.mp4")

    def test_an_empty_file(self, tmp_path: Path) -> None:
        path = tmp_path / "empty.mp4"
        path.touch()
        with pytest.raises(UnreadableVideo, match="empty file"):
            video.probe(path)

    @pytest.mark.parametrize("suffix", ["mp4", "txt", "srt", "avi"])
    def test_text(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"text.{suffix}"
        path.write_text("1\n00:00:01,000 --> 00:00:02,000\nNot a video at all.\n" * 40)
        with pytest.raises(UnreadableVideo, match="not a video or audio file"):
            video.probe(path)

    def test_noise(self, tmp_path: Path) -> None:
        path = tmp_path / "noise.mp4"
        path.write_bytes(np.random.default_rng(1).bytes(200_000))
        with pytest.raises(UnreadableVideo):
            video.probe(path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_pipe(self, tmp_path: Path) -> None:
        path = tmp_path / "pipe.mp4"
        os.mkfifo(path)
        with pytest.raises(UnreadableVideo, match="pipe or a device"):
            video.probe(path)

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")
    def test_a_device(self) -> None:
        with pytest.raises(UnreadableVideo, match="pipe or a device"):
            video.probe(Path("/dev/zero"))

    @pytest.mark.parametrize(
        "address", ["http://127.0.0.1:9/a.mp4", "concat:a.mp4|b.mp4", "file:a.mp4", "lavfi:testsrc"]
    )
    def test_an_address(self, address: str) -> None:
        with pytest.raises(UnreadableVideo, match="download it first"):
            video.probe(Path(address))

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{clip}\n#EXT-X-ENDLIST\n"),
            ("list.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{clip}\n#EXT-X-ENDLIST\n"),
            ("list.ffconcat", "ffconcat version 1.0\nfile '{clip}'\n"),
            ("list.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=video 9 RTP/AVP 96\n"),
        ],
    )
    def test_a_playlist(self, clip: Path, tmp_path: Path, name: str, text: str) -> None:
        path = tmp_path / name
        path.write_text(text.format(clip=clip))
        with pytest.raises(UnreadableVideo, match="not a video or audio file"):
            video.probe(path)

    def test_a_file_that_may_not_be_read(self, clip: Path, tmp_path: Path) -> None:
        path = tmp_path / "secret.mp4"
        path.write_bytes(clip.read_bytes())
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
        with pytest.raises(UnreadableVideo, match="Permission denied"):
            video.probe(path)

    def test_a_codec_that_is_not_built_in(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "odd.mp4", [clips.plain()] * 3)
        path.write_bytes(path.read_bytes().replace(b"avc1", b"zzz9"))
        with pytest.raises(UnreadableVideo, match="video codec this build"):
            video.probe(path)


class TestUnusual:
    def test_a_path_with_spaces_emoji_and_a_dash(
        self, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        path = Path("-x 😀 %03d.mp4")
        path.write_bytes(clip.read_bytes())
        assert video.probe(path).name == "-x 😀 %03d.mp4"
        assert len(seen(path, 10)) == 20

    @pytest.mark.parametrize("suffix", ["png", "mp4"])
    def test_a_still_picture_is_one_frame(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"still.{suffix}"
        encoded = cv2.imencode(".png", numbered(9))[1]
        path.write_bytes(encoded.tobytes())
        assert video.probe(path).has_video
        assert [number for _, number in seen(path, 10)] == [9]

    def test_a_codec_that_is_not_built_in_leaves_the_sound(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "odd.mp4", [clips.plain()] * 20, sound=tone(2.0))
        path.write_bytes(path.read_bytes().replace(b"avc1", b"zzz9"))
        info = video.probe(path)
        assert (info.has_video, info.has_audio) == (False, True)
        assert len(video.waveform(path)) > 30_000
        notices: list[str] = []
        list(video.stream(path, info, [Needs(5, audio=True)], None, notices.append))
        assert notices == ["This build of FFmpeg cannot decode the video of the file."]

    def test_tags_in_another_encoding(self, tmp_path: Path) -> None:
        path = write_clip(tmp_path / "tagged.mkv", [clips.plain()] * 3, title="TITLE")
        path.write_bytes(path.read_bytes().replace(b"\x85TITLE", b"\x85T\xcfTL\xc9"))
        assert video.probe(path).has_video

    def test_cover_art_is_no_video(self, tmp_path: Path) -> None:
        path = clips.write_cover_art(tmp_path / "song.m4a", tone(1.0), numbered(3))
        info = video.probe(path)
        assert (info.has_video, info.has_audio) == (False, True)
        assert list(video.frames(path, 1)) == []

    def test_of_two_video_streams_the_default_is_taken(self, tmp_path: Path) -> None:
        path = clips.write_two_streams(tmp_path / "two.mkv", [numbered(1)] * 5, [numbered(2)] * 5)
        assert {number for _, number in seen(path, 10)} == {2}

    def test_importing_loads_no_decoder(self) -> None:
        code = "import sys, perception.video; print('av' in sys.modules)"
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert output.stdout.strip() == "False"

    def test_the_decoder_prints_nothing(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        path = truncated(tmp_path)
        list(video.frames(path, 10))
        assert capfd.readouterr() == ("", "")


def test_a_rate_that_cannot_be_is_the_clocks_and_not_told(tmp_path: Path) -> None:
    """A copy into Matroska has no length of pictures: FFmpeg tells an average rate of 30,000."""
    source = clips.write_clip(tmp_path / "a.mp4", clips.moving_square(30))
    copy = tmp_path / "a.mkv"
    with av.open(str(source)) as read, av.open(str(copy), "w") as write:
        pictures = read.streams.video[0]
        stream = write.add_stream_from_template(pictures)
        for packet in read.demux(pictures):
            if packet.dts is not None:
                packet.stream = stream
                write.mux(packet)
    with av.open(str(copy)) as read:
        assert float(read.streams.video[0].average_rate or 0) > 1000
    assert video.probe(copy).rate_hz == video.probe(source).rate_hz == 10
