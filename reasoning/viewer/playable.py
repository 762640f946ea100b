"""Whether browsers play a file, and an H.264 copy of one that they do not.

The copy has the same pictures at the same presentation times, smaller, and starts at 0; its sound
is what the speech recognizer hears, 16 kHz mono.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from perception import video
from perception.cue import VideoInfo
from perception.errors import UnreadableVideo
from perception.media import Media
from perception.recognizer import AUDIO_RATE_HZ, MAX_RATE_HZ, AudioChunk, Frame, Needs
from perception.whole import whole_file

__all__ = ["KINDS", "PROXY_SUFFIX", "is_proxy", "is_proxy_of", "plays_in_browsers", "write_proxy"]

KINDS = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/mp4",
    ".webm": "video/webm",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".oga": "audio/ogg",
    ".ogv": "video/ogg",
}
"""Files whose name ends so are opened by all browsers, if their codecs are known."""

PROXY_SUFFIX = ".proxy.mp4"
"""Ends the name of a copy that is made for browsers."""

_PICTURES = frozenset({"h264", "vp8", "vp9", "av1", "libdav1d", "libvpx", "libvpx-vp9"})
_SOUNDS = frozenset({"aac", "mp3", "mp3float", "opus", "libopus", "vorbis", "flac", "pcm_s16le"})
_LAYOUTS = frozenset({"yuv420p", "yuvj420p"})
"""What the decoders of phones and laptops take: 4:2:0, eight bits."""

_MAX_SIDE_PX = 960
_ENCODER = {"preset": "veryfast", "crf": "23", "bf": "0", "g": "30"}
"""A key frame at least every 30 pictures, so that seeking is quick."""
_TICKS_PER_S = 90_000
"""MPEG's system clock."""
_PURPOSE = "Cuelight's copy for browsers of "


def plays_in_browsers(path: Path) -> bool:
    """Whether Chromium, Firefox and Safari play ``path``, by its container and codecs.

    Raises:
        UnreadableVideo: it is no video file.
    """
    if path.suffix.lower() not in KINDS:
        return False
    with Media(path) as media:
        picture, sound = media.video, media.audio
        return (
            picture is None
            or (picture.codec_context.name in _PICTURES and picture.pix_fmt in _LAYOUTS)
        ) and (sound is None or sound.codec_context.name in _SOUNDS)


def is_proxy(path: Path) -> bool:
    """Whether ``path`` is a copy of another video that was made for browsers."""
    return path.name.endswith(PROXY_SUFFIX) and _comment(path).startswith(_PURPOSE)


def is_proxy_of(path: Path, info: VideoInfo) -> bool:
    """Whether ``path`` is a copy of that very video."""
    return _comment(path) == _PURPOSE + info.sha256


def _comment(path: Path) -> str:
    import av

    try:
        with av.open(str(path)) as container:
            return str(container.metadata.get("comment") or "")
    except (OSError, av.error.FFmpegError):
        return ""


def write_proxy(path: Path, info: VideoInfo, target: Path) -> None:
    """Write an MP4 of ``path`` that browsers play to ``target``, whole or not at all.

    Args:
        info: what ``probe`` said of it.

    Raises:
        UnreadableVideo: it cannot be decoded.
        StorageError: the place cannot be written.
    """
    import av

    needs = [Needs(MAX_RATE_HZ, _MAX_SIDE_PX), Needs(audio=True)]
    wanted = [need for need in needs if info.has_audio or not need.audio]
    with whole_file(target) as file, av.open(file, "w", format="mp4") as container:
        container.metadata["comment"] = _PURPOSE + info.sha256
        copy = _Copy(container, info)
        for _, part in video.stream(path, info, wanted if info.has_video else wanted[1:]):
            copy.take(part)
        copy.finish()


class _Copy:
    """The streams of the copy; parts come interleaved and in order of time."""

    def __init__(self, container: Any, info: VideoInfo) -> None:
        self._container, self._info = container, info
        self._pictures: Any = None
        self._sound: Any = None
        self._last = -1
        if info.has_audio:
            self._sound = container.add_stream("aac", rate=AUDIO_RATE_HZ, layout="mono")

    def take(self, part: Frame | AudioChunk) -> None:
        """Encode the next picture or sound."""
        if isinstance(part, AudioChunk):
            self._hear(part)
        else:
            self._show(part)

    def finish(self) -> None:
        """Encode what is left.

        Raises:
            UnreadableVideo: nothing was decoded.
        """
        if self._last < 0 and self._pictures is None and self._info.has_video:
            raise UnreadableVideo(f"No picture of {self._info.name!r} can be decoded.")
        for stream in (self._pictures, self._sound):
            if stream is not None:
                self._container.mux(stream.encode(None))

    def _open(self, width: int, height: int) -> Any:
        rate = Fraction(self._info.rate_hz or 25).limit_denominator(1001)
        stream = self._container.add_stream("libx264", rate=rate, options=_ENCODER)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.time_base = Fraction(1, _TICKS_PER_S)
        return stream

    def _show(self, frame: Frame) -> None:
        import av

        odd = frame.rgb.shape[0] % 2, frame.rgb.shape[1] % 2
        rgb = np.pad(frame.rgb, ((0, odd[0]), (0, odd[1]), (0, 0)), mode="edge")
        if self._pictures is None:
            self._pictures = self._open(rgb.shape[1], rgb.shape[0])
        ticks = 0 if self._last < 0 else round(frame.time_s * _TICKS_PER_S)
        if ticks <= self._last:
            return
        self._last = ticks
        picture = av.VideoFrame.from_ndarray(rgb, format="rgb24")
        picture.pts, picture.time_base = ticks, Fraction(1, _TICKS_PER_S)
        self._container.mux(self._pictures.encode(picture))

    def _hear(self, chunk: AudioChunk) -> None:
        import av

        sound = av.AudioFrame.from_ndarray(chunk.samples[None], format="fltp", layout="mono")
        sound.sample_rate = AUDIO_RATE_HZ
        sound.pts = round(chunk.start_s * AUDIO_RATE_HZ)
        sound.time_base = Fraction(1, AUDIO_RATE_HZ)
        self._container.mux(self._sound.encode(sound))
