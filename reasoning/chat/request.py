"""A request as chat completions take it, and an upper bound of its tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from reasoning.chat.options import FramesAs, Options, at_openai, reply_tokens, sends_temperature
from reasoning.chat.reply import schema
from reasoning.outgoing import frame_times
from reasoning.prompt import CHOOSE
from reasoning.transport.clip import clip_url
from reasoning.transport.jpeg import data_url
from reasoning.videollm import Frames, Request, Text

__all__ = ["at_most_tokens", "body", "text_at_most_tokens"]

_BYTES_PER_TOKEN = 3
"""English has about four bytes a token (OpenAI's help pages); three makes it an upper bound."""

_MESSAGE_TOKENS = 32
"""For what a chat template puts around one message; SmolLM2's has 30 with its system prompt."""


def body(
    options: Options,
    request: Request,
    structured: bool,
    further: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The request as OpenAI's client takes it: what that does not know is in ``extra_body``.

    Args:
        structured: ask for JSON of a schema where there is one (``chat_reply.schema``).
        further: fields to add; the options' own ``extra_body`` outdoes them.
    """
    limit = options.max_tokens_field or (
        "max_completion_tokens" if at_openai(options) else "max_tokens"
    )
    made: dict[str, Any] = {
        "model": options.model,
        "messages": [{"role": "user", "content": _content(options, request)}],
        "seed": request.seed,
    }
    if sends_temperature(options):
        made["temperature"] = request.temperature
    if structured and (wanted := schema(request)) is not None:
        named = {"name": "reply", "strict": True, "schema": wanted}
        made["response_format"] = {"type": "json_schema", "json_schema": named}
    extra: dict[str, Any] = {limit: reply_tokens(options, request.max_new_tokens)}
    if options.mm_processor_kwargs:
        extra["mm_processor_kwargs"] = dict(options.mm_processor_kwargs)
    made["extra_body"] = {**extra, **(further or {}), **options.extra_body}
    return made


def at_most_tokens(options: Options, request: Request) -> int:
    """For a server that does not count: from the words' bytes and ``tokens_per_frame``."""
    words = [part.text for part in request.parts if isinstance(part, Text)]
    words += [CHOOSE] if request.options else []
    pictures = len(frame_times(request)) * options.tokens_per_frame
    return _MESSAGE_TOKENS + sum(map(text_at_most_tokens, words)) + pictures


def text_at_most_tokens(text: str) -> int:
    """The same for words alone."""
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def _content(options: Options, request: Request) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in request.parts:
        if isinstance(part, Text):
            content.append({"type": "text", "text": part.text})
        else:
            content.extend(_shown(options, part))
    if request.options:
        content.append({"type": "text", "text": CHOOSE})
    return content


def _shown(options: Options, part: Frames) -> list[dict[str, Any]]:
    if not part.frames:
        return []
    if options.frames_as is FramesAs.VIDEO:
        url = clip_url(part.frames, options.frame_px, options.keep_aspect)
        return [{"type": "video_url", "video_url": {"url": url}}]
    urls = (
        data_url(frame, options.frame_px, options.jpeg_quality, options.keep_aspect)
        for frame in part.frames
    )
    return [{"type": "image_url", "image_url": {"url": url}} for url in urls]
