"""A video file without its sound, for models that take the file but must not hear it.

The pictures are copied as they are coded, never coded anew, so that the model sees what it would
see with the sound. Their times stay on the presentation clock: a picture that is shown one second
after the container's start, which the sound may have opened, is still shown at one second.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, BinaryIO, cast

from perception.container import reason
from perception.errors import UnreadableVideo
from perception.media import Media

__all__ = ["mime_type", "without_sound"]

_MEMORY_BYTES = 64 << 20
"""Longer copies lie on disk, in a file without a name."""

_MIME_TYPES = {
    "mov": "video/mp4",
    "mp4": "video/mp4",
    "matroska": "video/x-matroska",
    "webm": "video/webm",
    "avi": "video/avi",
    "mpegts": "video/mpeg",
    "mpeg": "video/mpeg",
    "flv": "video/x-flv",
    "asf": "video/wmv",
}
"""By FFmpeg's name of the container; all but Matroska's are in Gemini's documentation."""

_MP4_CODECS = frozenset({"av1", "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "vp9"})
_WEBM_CODECS = frozenset({"vp8"})


def mime_type(path: Path) -> str:
    """The type of a video file by its contents, ``video/mp4`` where that is none that is known.

    Raises:
        UnreadableVideo: no video file.
    """
    with Media(path) as media:
        kind = media.format.split(",")[0]
    if kind == "matroska" and path.suffix.lower() == ".webm":
        kind = "webm"
    return _MIME_TYPES.get(kind, "video/mp4")


def without_sound(path: Path) -> tuple[BinaryIO, str]:
    """The pictures of a video file alone, as an open file at its start, and its type.

    MP4 where that holds their codec, WebM for VP8, else Matroska. Close the file to free it.

    Raises:
        UnreadableVideo: there are no pictures, or their packets cannot be copied.
    """
    import av

    with Media(path) as media:
        if media.video is None:
            raise UnreadableVideo(f"{str(path)!r} holds sound only, and the model may not hear it.")
        codec = media.video.codec_context.name
        container = "matroska"
        if codec in _MP4_CODECS:
            container = "mp4"
        elif codec in _WEBM_CODECS:
            container = "webm"
        file = cast("BinaryIO", tempfile.SpooledTemporaryFile(_MEMORY_BYTES))  # noqa: SIM115
        try:
            with av.open(file, "w", format=container) as copy:
                _copy(media, copy)
        except (av.error.FFmpegError, OSError, ValueError) as error:
            file.close()
            raise UnreadableVideo(
                f"The sound of {str(path)!r} cannot be taken out ({reason(error)}); convert the "
                "file, for instance to MP4 with H.264, or let the model hear it."
            ) from None
    file.seek(0)
    return file, _MIME_TYPES[container]


def _copy(media: Media, copy: Any) -> None:
    pictures = copy.add_stream_from_template(media.video)
    start_ticks = round(media.start / media.video.time_base)
    usual_ticks = round(media.frame_interval_s / media.video.time_base)
    for packet in media.packets():
        if packet.stream is not media.video or packet.dts is None:
            continue
        packet.pts = None if packet.pts is None else packet.pts - start_ticks
        packet.dts -= start_ticks
        packet.duration = packet.duration or usual_ticks  # MP4 does not show a last one of 0
        packet.stream = pictures
        copy.mux(packet)
