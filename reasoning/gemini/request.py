"""A request as Gemini takes it: the file, what is told of it, the words, the settings."""

from __future__ import annotations

import math
from typing import Any, BinaryIO

from perception.container import open_file
from perception.errors import BadInput
from reasoning.chat.reply import schema
from reasoning.gemini.options import TOKENS_PER_FRAME, Options
from reasoning.gemini.server import SharedFile
from reasoning.gemini.soundless import mime_type, without_sound
from reasoning.outgoing import frame_times
from reasoning.prompt import CHOOSE
from reasoning.videollm import Frames, Request, Text, VideoFile

__all__ = [
    "at_most_tokens",
    "config",
    "contents",
    "file_part",
    "metadata",
    "opened",
    "text_at_most_tokens",
    "video_of",
]

_SOUND_TOKENS_PER_S = 32
"""From Google's documentation, as ``TOKENS_PER_FRAME``."""

_BYTES_PER_TOKEN = 3
"""Google's documentation has about four characters a token; three bytes make it an upper bound."""

_MESSAGE_TOKENS = 16
"""For the marks around the message."""

_SAME_RATE = 0.01
"""Frames whose mean rate is this near to the wished one, relatively, were sampled at that rate."""

_SEEDS = 1 << 31
"""Google's seeds are not negative and have 32 bits with their sign."""


def video_of(request: Request) -> VideoFile | None:
    """The file to hand over; None for a request without frames.

    Raises:
        BadInput: the frames come from no file, or cues stand between them.
    """
    shown = sum(isinstance(part, Frames) for part in request.parts)
    if not shown:
        return None
    if request.video is None:
        raise BadInput(
            "Gemini is handed the video file and not its frames; ask with video=VideoFile(path)."
        )
    if shown > 1:
        raise BadInput(
            "Gemini is handed the video as one file, so that no cues can stand between its frames; "
            "set answer.cue_placement to before_question or before_video."
        )
    return request.video


def opened(video: VideoFile, sound: bool) -> tuple[BinaryIO, str]:
    """The file as it goes out, with or without its sound, and its type."""
    if sound:
        return open_file(video.path), mime_type(video.path)
    return without_sound(video.path)


def file_part(shared: SharedFile, told: dict[str, Any]) -> dict[str, Any]:
    """The part that speaks of an uploaded file; ``told`` is its ``metadata``."""
    file = {"file_uri": shared.uri, "mime_type": shared.mime_type}
    return {"file_data": file, "video_metadata": told}


def metadata(options: Options, request: Request, video: VideoFile) -> dict[str, Any]:
    """At which rate and between which times the model looks."""
    told: dict[str, Any] = {"fps": _rate_hz(options, frame_times(request))}
    if video.part is not None:
        told["start_offset"] = f"{video.part.start_s:.3f}s"
        told["end_offset"] = f"{video.part.end_s:.3f}s"
    return told


def contents(request: Request, media: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts in their order, with ``media`` in the place of the frames; an instruction that the
    video follows stands behind it."""
    made = [
        {"text": part.text} if isinstance(part, Text) else media
        for part in request.parts
        if not isinstance(part, Text) or part.text
    ]
    if len(made) > 1 and made[1] is media:
        made[:2] = made[1::-1]
    return [*made, {"text": CHOOSE}] if request.options else made


def config(options: Options, request: Request, structured: bool) -> dict[str, Any]:
    """The settings; with ``structured``, JSON of a schema is asked for where there is one."""
    made: dict[str, Any] = {
        "temperature": request.temperature,
        "seed": request.seed % _SEEDS,
        "max_output_tokens": request.max_new_tokens + (options.thinking_tokens or 0),
    }
    if options.thinking_tokens is not None:
        made["thinking_config"] = {"thinking_budget": options.thinking_tokens}
    if options.resolution != "default":
        made["media_resolution"] = f"MEDIA_RESOLUTION_{options.resolution.upper()}"
    if structured and (wanted := schema(request)) is not None:
        made["response_mime_type"] = "application/json"
        made["response_json_schema"] = wanted
    return made


def at_most_tokens(options: Options, request: Request) -> int:
    """By the documented counts for a frame, a second of sound and a word."""
    texts = [part["text"] for part in contents(request, {}) if "text" in part]
    times_s = frame_times(request)
    tokens = _MESSAGE_TOKENS + sum(map(text_at_most_tokens, texts))
    tokens += len(times_s) * TOKENS_PER_FRAME[options.resolution]
    if request.sound and times_s:
        lasts_s = times_s[-1] - times_s[0] + 1 / _rate_hz(options, times_s)
        tokens += math.ceil(lasts_s * _SOUND_TOKENS_PER_S)
    return tokens


def text_at_most_tokens(text: str) -> int:
    """The same for words alone."""
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def _rate_hz(options: Options, times_s: tuple[float, ...]) -> float:
    """The rate that gives the sampled times: lower than wished where they were thinned out."""
    wished = options.frame_rate_hz
    if len(times_s) < 2 or times_s[-1] <= times_s[0]:
        return wished
    mean = (len(times_s) - 1) / (times_s[-1] - times_s[0])
    return wished if mean > wished * (1 - _SAME_RATE) else round(mean, 6)
