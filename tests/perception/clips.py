"""Writes the clips that the tests look at: every picture and every sound is known exactly."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]
Samples = npt.NDArray[np.float32]

TICKS = 90_000
LOSSLESS = {"qp": "0", "preset": "ultrafast"}
QUICK = {"preset": "ultrafast", "crf": "10"}

IDENTITY = (1, 0, 0, 1)
"""Display matrices as (a, b, c, d): a pixel (x, y) is shown at (a x + c y, b x + d y)."""
CLOCKWISE = (0, 1, -1, 0)
HALF_TURN = (-1, 0, 0, -1)
COUNTERCLOCKWISE = (0, -1, 1, 0)
MIRRORED = (-1, 0, 0, 1)
UPSIDE_DOWN = (1, 0, 0, -1)
TRANSPOSED = (0, 1, 1, 0)
ANTITRANSPOSED = (0, -1, -1, 0)


def plain(width: int = 64, height: int = 48, grey: int = 0) -> Picture:
    """A picture of one grey level."""
    return np.full((height, width, 3), grey, np.uint8)


def numbered(number: int, width: int = 64, height: int = 48) -> Picture:
    """A picture that carries a number below 256 as eight upright bars, white for 1."""
    bits = [(number >> bit) & 1 for bit in range(8)]
    columns = np.repeat(bits, -(-width // 8))[:width] * 255
    return np.broadcast_to(columns[None, :, None], (height, width, 3)).astype(np.uint8)


def number_in(picture: Picture) -> int:
    """The number that ``numbered`` wrote, at any size and after lossy coding."""
    row = picture[picture.shape[0] // 2, :, 1]
    centres = ((np.arange(8) + 0.5) * len(row) / 8).astype(int)
    return sum(int(row[centre] > 127) << bit for bit, centre in enumerate(centres))


def moving_square(count: int, width: int = 64, height: int = 48, side: int = 12) -> list[Picture]:
    """A white square that goes from the left edge to the right one over ``count`` pictures."""
    pictures = []
    for number in range(count):
        picture = plain(width, height)
        left = round(number * (width - side) / max(1, count - 1))
        top = (height - side) // 2
        picture[top : top + side, left : left + side] = 255
        pictures.append(picture)
    return pictures


def four_corners(width: int = 64, height: int = 48) -> Picture:
    """Red upper left, green upper right, blue lower left, white lower right."""
    picture = plain(width, height)
    half_x, half_y = width // 2, height // 2
    picture[:half_y, :half_x] = 255, 0, 0
    picture[:half_y, half_x:] = 0, 255, 0
    picture[half_y:, :half_x] = 0, 0, 255
    picture[half_y:, half_x:] = 255, 255, 255
    return picture


def tone(seconds: float, hz: float = 440.0, rate: int = 16_000, amplitude: float = 0.5) -> Samples:
    """A sine."""
    times = np.arange(round(seconds * rate)) / rate
    return (amplitude * np.sin(2 * np.pi * hz * times)).astype(np.float32)


def write_clip(
    path: Path,
    pictures: Sequence[Picture] = (),
    *,
    rate_hz: float = 10.0,
    times_s: Sequence[float] | None = None,
    start_s: float = 0.0,
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    options: dict[str, str] | None = None,
    ticks: int = TICKS,
    pixel_aspect: int = 1,
    sound: Samples | None = None,
    sound_rate: int = 16_000,
    sound_start_s: float = 0.0,
    sound_codec: str = "aac",
    sound_gap_s: tuple[float, float] = (0.0, 0.0),
    title: str = "",
    container: str | None = None,
    container_options: dict[str, str] | None = None,
) -> Path:
    """Write a clip with PyAV and return its path.

    Args:
        path: its suffix decides the container unless ``container`` (FFmpeg's name) does.
        pictures: uint8 [height, width, 3] each.
        rate_hz: of the pictures, where ``times_s`` does not give their times.
        times_s: one for each picture, ascending; the last is shown for 1 / ``rate_hz``.
        start_s: added to the times of pictures and sound alike.
        pixel_aspect: width of a pixel over its height.
        title: of the file.
        sound: float32 [n], mono, or [channels, n].
        sound_start_s: time of its first sample.
        sound_gap_s: (when, how long): samples after the first instant are stamped later by the
            second, in steps of 512 samples.
    """
    if times_s is None:
        times_s = [number / rate_hz for number in range(len(pictures))]
    with av.open(str(path), "w", format=container, options=container_options or {}) as file:
        if title:
            file.metadata["title"] = title
        coders = []
        if pictures:
            video = file.add_stream(codec, rate=Fraction(rate_hz).limit_denominator(1001))
            video.height, video.width = pictures[0].shape[:2]
            video.pix_fmt = pix_fmt
            video.codec_context.sample_aspect_ratio = Fraction(pixel_aspect)
            video.codec_context.time_base = Fraction(1, ticks)
            video.options = (
                options if options is not None else (QUICK if codec.startswith("libx264") else {})
            )
            coders.append((video, _frames(pictures, times_s, start_s, pix_fmt, ticks)))
        if sound is not None:
            audio = file.add_stream(sound_codec, rate=sound_rate)
            planes = np.atleast_2d(sound)
            audio.layout = {1: "mono", 2: "stereo"}.get(len(planes), f"{len(planes)}c")
            coders.append(
                (audio, _sounds(planes, sound_rate, start_s + sound_start_s, sound_gap_s))
            )
        for stream, frames in coders:
            for frame in [*frames, None]:
                file.mux(stream.encode(frame))
    return path


def _frames(
    pictures: Sequence[Picture],
    times_s: Sequence[float],
    start_s: float,
    pix_fmt: str,
    ticks: int,
) -> list[Any]:
    frames = []
    for picture, time_s in zip(pictures, times_s, strict=True):
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format=pix_fmt)
        frame.time_base = Fraction(1, ticks)
        frame.pts = round((start_s + time_s) * ticks)
        frames.append(frame)
    return frames


def _sounds(planes: Samples, rate: int, start_s: float, gap_s: tuple[float, float]) -> list[Any]:
    layout = {1: "mono", 2: "stereo"}.get(len(planes), f"{len(planes)}c")
    frames = []
    for begin in range(0, planes.shape[1], 512):
        block = np.ascontiguousarray(planes[:, begin : begin + 512], np.float32)
        frame = av.AudioFrame.from_ndarray(block, format="fltp", layout=layout)
        frame.sample_rate = rate
        frame.time_base = Fraction(1, rate)
        late_s = gap_s[1] if begin >= gap_s[0] * rate else 0.0
        frame.pts = round((start_s + late_s) * rate) + begin
        frames.append(frame)
    return frames


def set_display_matrix(path: Path, matrix: tuple[int, int, int, int]) -> Path:
    """Overwrite the display matrix (a, b, c, d) of an MP4's first track."""
    data = bytearray(path.read_bytes())
    begin = data.index(b"tkhd") + 4
    wide = data[begin] == 1
    a, b, c, d = (value << 16 for value in matrix)
    offset = begin + (52 if wide else 40)
    data[offset : offset + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
    return path


def write_jumbled(path: Path, order: Sequence[int]) -> Path:
    """Numbered pictures at 10 a second that lie in the file in the given order."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mjpeg", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuvj420p"
        for place, number in enumerate(order):
            frame = av.VideoFrame.from_ndarray(numbered(number), format="rgb24")
            frame.pts = place
            for packet in stream.encode(frame.reformat(format="yuvj420p")):
                packet.pts, packet.dts = 10 + number, 5 + place
                packet.time_base = Fraction(1, 10)
                file.mux(packet)
    return path


def write_cover_art(path: Path, sound: Samples, cover: Picture) -> Path:
    """Sound with a cover picture."""
    from av.stream import Disposition

    with av.open(str(path), "w", format="mp4") as file:
        audio = file.add_stream("aac", rate=16_000)
        audio.layout = "mono"
        art = file.add_stream("mjpeg", rate=1)
        art.height, art.width = cover.shape[:2]
        art.pix_fmt = "yuvj420p"
        art.disposition = Disposition.attached_pic
        for frame in [*_sounds(np.atleast_2d(sound), 16_000, 0.0, (0.0, 0.0)), None]:
            file.mux(audio.encode(frame))
        for picture in [*_frames([cover], [0.0], 0.0, "yuvj420p", 1), None]:
            file.mux(art.encode(picture))
    return path


def write_two_streams(path: Path, first: Sequence[Picture], second: Sequence[Picture]) -> Path:
    """Two video streams at 10 pictures a second; the second one is the default."""
    from av.stream import Disposition

    with av.open(str(path), "w") as file:
        streams = []
        for pictures, flags in ((first, 0), (second, Disposition.default)):
            stream = file.add_stream("mjpeg", rate=10)
            stream.height, stream.width = pictures[0].shape[:2]
            stream.pix_fmt = "yuvj420p"
            stream.disposition = Disposition(flags)
            streams.append((stream, pictures))
        for stream, pictures in streams:
            times_s = [number / 10 for number in range(len(pictures))]
            for frame in [*_frames(pictures, times_s, 0.0, "yuvj420p", 10), None]:
                file.mux(stream.encode(frame))
    return path
