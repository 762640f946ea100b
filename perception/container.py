"""Media files opened without trust.

A file is handed to FFmpeg as nameless bytes, so that no name is taken for a protocol or a numbered
series of pictures, and no suffix outweighs the contents. Only containers that carry their own data
are allowed (``CONTAINERS``), and a file that asks for another one (a playlist, a reference movie)
is refused.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any, BinaryIO

from perception.errors import BadInput, UnreadableVideo

__all__ = [
    "bytes_missing",
    "choose_stream",
    "nothing_to_decode",
    "open_container",
    "open_file",
    "reason",
    "undecodable_kinds",
]

CONTAINERS = (
    "aac,ac3,aiff,amr,amrnb,amrwb,apng,asf,au,av1,avi,bmp_pipe,caf,dts,dv,eac3,flac,flv,gif,gxf,"
    "h263,h264,hevc,ivf,jpeg_pipe,jpegxl_pipe,m4v,matroska,mjpeg,mlv,mov,mp3,mp4,mpeg,mpegts,"
    "mpegvideo,mxf,nsv,nut,obu,ogg,png_pipe,qoi_pipe,rm,tiff_pipe,tta,vc1,voc,vvc,w64,wav,webm,"
    "webp_pipe,wtv,wv,yuv4mpegpipe"
)
"""FFmpeg's demuxers that read one file and nothing else; hls, dash, concat, sdp, image2 and the
text formats (tty, subtitles) are left out on purpose."""


_RIFF_UNKNOWN = 0x7FFF_F000
"""Sizes from here on stand for "not known" (FFmpeg writes 2**32 - 1, SoX this one); a bigger AVI
consists of several RIFF parts of 1 GB."""


def open_file(path: Path) -> BinaryIO:
    """Open a regular, non-empty file for reading.

    Raises:
        UnreadableVideo: there is no such file, it is no regular file, or it is empty.
    """
    name = repr(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableVideo(f"{name} is a folder, not a video file.")
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableVideo(f"{name} is a pipe or a device; give a regular file.")
        if status.st_size == 0:
            raise UnreadableVideo(f"{name} is an empty file (0 bytes).")
        return path.open("rb", buffering=0)
    except (FileNotFoundError, NotADirectoryError):
        hint = ""
        if re.match(r"[a-z][a-z0-9+.-]+:", str(path)):
            hint = " It looks like an address: download it first, Cuelight opens local files only."
        raise UnreadableVideo(f"There is no file {name}.{hint}") from None
    except (OSError, ValueError) as error:
        raise UnreadableVideo(f"Cannot open {name}: {reason(error)}.") from None


def bytes_missing(file: BinaryIO) -> int:
    """How many bytes a RIFF file (AVI, WAV) lacks by its own header; 0 where that is not said, as
    for a stream whose header was never completed. Leaves the file where it was."""
    place = file.tell()
    try:
        file.seek(0)
        header = file.read(8)
        size = file.seek(0, os.SEEK_END)
    finally:
        file.seek(place)
    stated = int.from_bytes(header[4:], "little")
    if header[:4] != b"RIFF" or stated >= _RIFF_UNKNOWN:
        return 0
    return max(0, len(header) + stated - size)


def open_container(path: Path, file: BinaryIO) -> Any:
    """The PyAV container of an open file.

    Raises:
        UnreadableVideo: it is none of ``CONTAINERS``, or damaged.
    """
    import av

    try:
        return av.open(
            _Nameless(file),
            mode="r",
            options={"format_whitelist": CONTAINERS},
            metadata_errors="replace",
            io_open=_refuse_other_files,
        )
    except av.error.ArgumentError:
        raise UnreadableVideo(
            f"{str(path)!r} is not a video or audio file of a format that Cuelight opens; convert "
            f"it, for instance to MP4."
        ) from None
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise UnreadableVideo(
            f"{str(path)!r} is not a video or audio file that can be read, or it is damaged "
            f"({reason(error)})."
        ) from None


def choose_stream(container: Any, kind: str) -> Any:
    """The stream of that kind ("video", "audio") to decode, or None.

    Cover art and thumbnails are not video; of several streams that can be decoded the one flagged
    as default is taken, else the first.
    """
    from av.stream import Disposition

    streams = [
        stream
        for stream in container.streams
        if stream.type == kind
        and stream.codec_context is not None
        and not stream.disposition & (Disposition.attached_pic | Disposition.timed_thumbnails)
    ]
    streams.sort(key=lambda stream: not stream.disposition & Disposition.default)
    return streams[0] if streams else None


def undecodable_kinds(container: Any) -> list[str]:
    """Of "video" and "audio", those that are there in codecs only that have no decoder here."""
    return [
        kind
        for kind in ("video", "audio")
        if choose_stream(container, kind) is None
        and any(s.type == kind and s.codec_context is None for s in container.streams)
    ]


def nothing_to_decode(path: Path, container: Any) -> str:
    """The sentence for a container without a stream that can be decoded."""
    what = f"{str(path)!r} is a {container.format.name} file"
    if kinds := undecodable_kinds(container):
        return (
            f"{what} whose {' and '.join(kinds)} codec this build of FFmpeg cannot decode; "
            f"convert it, for instance to H.264 and AAC."
        )
    kinds = sorted({str(stream.type) for stream in container.streams})
    return f"{what} without video and sound (it holds: {', '.join(kinds) or 'nothing'})."


class _Nameless:
    """What FFmpeg may know of a file: its bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self.read, self.seek, self.tell = file.read, file.seek, file.tell


def _refuse_other_files(url: str, *_: object) -> Any:
    raise BadInput(f"The file refers to another one, {url!r}, which is not opened.")


def reason(error: Exception) -> str:
    """What an operating system's or FFmpeg's error says, without its number and file."""
    text = str(getattr(error, "strerror", None) or error).strip().rstrip(".")
    return text or type(error).__name__
