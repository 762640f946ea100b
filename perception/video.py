"""Decoding with true presentation times: what a file holds, its frames and its sound.

All times are seconds on the video's presentation clock: presentation time minus the container's
start, one subtraction for pictures and sound alike, so that a stream which starts later than the
other keeps its offset.
"""

from __future__ import annotations

import bisect
import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perception.container import open_file
from perception.cue import Span, VideoInfo
from perception.errors import BadInput, UnreadableVideo
from perception.media import UNDECODABLE_PACKETS, Media
from perception.pictures import Pictures, Wish, upright_size
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk, Frame, Needs
from perception.sound import Sound

__all__ = ["frames", "frames_at", "probe", "sha256", "stream", "waveform"]

HASH_BLOCK_BYTES = 1 << 20

SEEK_INSTEAD_S = 5.0
"""``frames_at`` seeks rather than decodes on when the next instant is further away than this,
about the usual distance of keyframes."""


def sha256(path: Path, on_progress: Callable[[int, int], None] | None = None) -> str:
    """The sha256 of a file's bytes, in hexadecimal.

    Args:
        path: a regular, non-empty file.
        on_progress: called with (bytes done, bytes in all).

    Raises:
        UnreadableVideo: it cannot be read.
    """
    digest, done = hashlib.sha256(), 0
    with open_file(path) as file:
        total = path.stat().st_size
        try:
            while block := file.read(HASH_BLOCK_BYTES):
                digest.update(block)
                done += len(block)
                if on_progress is not None:
                    on_progress(done, total)
        except OSError as error:
            raise UnreadableVideo(f"Cannot read {str(path)!r}: {error.strerror}.") from None
    return digest.hexdigest()


def probe(path: Path, on_progress: Callable[[int, int], None] | None = None) -> VideoInfo:
    """What a file holds. Reads all of it (sha256) and decodes the first frame of each stream.

    The duration is measured to the end of the last picture or sound that is there, not taken from
    the header, which lies for a file that was cut off.

    Raises:
        UnreadableVideo: the file holds neither video nor audio that can be decoded.
    """
    with Media(path) as media:
        picture, sound = _first_frames(media)
        if picture is None and sound is None:
            raise UnreadableVideo(
                f"{str(path)!r} is a {media.format} file, but none of its pictures or sound can "
                f"be decoded; it is probably damaged."
            )
        width, height, rate = 0, 0, 0.0
        if picture is not None:
            width, height = upright_size(media, picture)
            rate = media.rate_hz
        start_s, duration_s = float(media.start), media.end_s()
    return VideoInfo(
        name=path.name,
        sha256=sha256(path, on_progress),
        start_s=start_s,
        duration_s=duration_s,
        width=width,
        height=height,
        rate_hz=rate,
        has_video=picture is not None,
        has_audio=sound is not None,
    )


def _first_frames(media: Media) -> tuple[object | None, object | None]:
    found: dict[int, object] = {}
    failed = {part.index: 0 for part in media.streams}
    for packet in media.packets():
        index = packet.stream.index
        if index in found or failed[index] >= UNDECODABLE_PACKETS:
            continue
        for frame in media.decode(packet.stream, packet):
            found.setdefault(index, frame)
        failed[index] += 1
        if all(i in found or failed[i] >= UNDECODABLE_PACKETS for i in failed):
            break
    for part in media.streams:
        if part.index not in found:
            for frame in media.decode(part, None):
                found.setdefault(part.index, frame)
    picture, sound = (
        found.get(part.index) if part is not None else None for part in (media.video, media.audio)
    )
    return picture, sound


def stream(
    path: Path,
    info: VideoInfo,
    needs: Sequence[Needs],
    span: Span | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> Iterator[tuple[int, Frame | AudioChunk]]:
    """Decode a file once and give every consumer what it needs.

    Frames are chosen at the multiples of 1 / ``frame_rate_hz``: the one that is shown then, with
    its own presentation time, never the same one twice. Consumers of one size share the pixels,
    which are therefore read-only. Sound comes in chunks of at most 2 s; after a gap the next chunk
    simply starts later. Whatever is wanted at a time is the same with and without a span. Memory
    does not depend on the length of the file.

    Args:
        path: the file.
        info: what ``probe`` said of it; only streams that it has are decoded.
        needs: one for each consumer.
        span: only this part; the first frame is the one shown at its start, and may be older.
        on_notice: told at the end what is missing of a damaged file, a sentence each.

    Yields:
        The consumer's index in ``needs`` and one frame or one audio chunk: for each consumer in
        order of time, pictures and sound interleaved as they are in the file.

    Raises:
        UnreadableVideo: the file holds neither video nor audio that can be decoded.
    """
    wishes = [
        Wish.at_rate(index, need.frame_rate_hz, need.max_side_px, span)
        for index, need in enumerate(needs)
        if info.has_video and need.frame_rate_hz > 0
    ]
    listeners = [index for index, need in enumerate(needs) if info.has_audio and need.audio]
    return _decode(path, wishes, listeners, span, on_notice)


def _decode(
    path: Path,
    wishes: Sequence[Wish],
    listeners: Sequence[int],
    span: Span | None,
    on_notice: Callable[[str], None] | None = None,
) -> Iterator[tuple[int, Frame | AudioChunk]]:
    with Media(path, on_notice) as media:
        if span is not None:
            media.seek(span.start_s)
        readers: dict[int, Pictures | Sound] = {}
        if wishes and media.video is not None:
            readers[media.video.index] = Pictures(media, wishes, span)
        if listeners and media.audio is not None:
            readers[media.audio.index] = Sound(media, span)
        for packet in media.packets():
            reader = readers.get(packet.stream.index)
            if reader is not None and not reader.done:
                yield from _addressed(reader.push(packet), listeners)
            if all(reader.done for reader in readers.values()):
                break
        at_end = not all(reader.done for reader in readers.values())
        for reader in readers.values():
            if not reader.done:
                yield from _addressed(reader.push(None), listeners)
        media.tell_losses(at_end)


def _addressed(
    items: Iterator[tuple[int, Frame]] | Iterator[AudioChunk], listeners: Sequence[int]
) -> Iterator[tuple[int, Frame | AudioChunk]]:
    for item in items:
        if isinstance(item, AudioChunk):
            for index in listeners:
                yield index, item
        else:
            yield item


def frames(
    path: Path, rate_hz: float, max_side_px: int = 0, span: Span | None = None
) -> Iterator[Frame]:
    """The frames that ``stream`` gives to a consumer of that rate and size.

    Raises:
        BadInput: the rate is not positive.
        UnreadableVideo: as ``stream``.
    """
    if not (math.isfinite(rate_hz) and rate_hz > 0):
        raise BadInput(f"A frame rate is a positive number of frames a second, not {rate_hz}.")
    wish = Wish.at_rate(0, rate_hz, max_side_px, span)
    for _, item in _decode(path, [wish], [], span):
        if isinstance(item, Frame):
            yield item


def frames_at(path: Path, times_s: Sequence[float], max_side_px: int = 0) -> list[Frame]:
    """The frame shown at each of the given instants, in their order.

    Before the first frame and after the last, the nearest one is given. Instants that fall on one
    frame share it. A file without video gives no frames.

    Raises:
        BadInput: a time is not a finite number.
        UnreadableVideo: as ``stream``.
    """
    if not all(map(math.isfinite, times_s)):
        raise BadInput(f"Frames are asked for at finite times in seconds, not {list(times_s)}.")
    found: dict[float, Frame] = {}
    for group in _near_times(sorted({max(0.0, time_s) for time_s in times_s})):
        wish = Wish.at_times(0, group, max_side_px)
        span = Span(group[0], group[-1] + SEEK_INSTEAD_S)
        for _, item in _decode(path, [wish], [], span):
            if isinstance(item, Frame):
                found[item.time_s] = item
    if not found:
        return []
    shown = sorted(found)
    places = [max(0, bisect.bisect_right(shown, time_s + 1e-3) - 1) for time_s in times_s]
    return [found[shown[place]] for place in places]


def _near_times(times_s: Sequence[float]) -> Iterator[list[float]]:
    group: list[float] = []
    for time_s in times_s:
        if group and time_s - group[-1] > SEEK_INSTEAD_S:
            yield group
            group = []
        group.append(time_s)
    if group:
        yield group


def waveform(path: Path, span: Span | None = None) -> npt.NDArray[np.float32]:
    """All the sound of a file, or of a part: float32 [n] at 16 kHz, the first sample at 0 s or at
    the span's start, silence (zeros) where there is none.

    Raises:
        UnreadableVideo: as ``stream``.
    """
    origin_s = 0.0 if span is None else span.start_s
    parts: list[npt.NDArray[np.float32]] = []
    length = 0
    for _, item in _decode(path, [], [0], span):
        if isinstance(item, AudioChunk):
            gap = round((item.start_s - origin_s) * AUDIO_RATE_HZ) - length
            if gap > 0:
                parts.append(np.zeros(gap, np.float32))
                length += gap
            parts.append(item.samples)
            length += len(item.samples)
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)
