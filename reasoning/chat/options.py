"""Which chat server, which model, and how it is asked."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from perception import plugins
from perception.errors import BadInput
from perception.limits import check_limits
from reasoning import presets
from reasoning.outgoing import is_loopback
from reasoning.transport.address import check_address
from reasoning.transport.rate_limit import RateOptions
from reasoning.transport.retry import RetryOptions

__all__ = [
    "FramesAs",
    "Options",
    "at_openai",
    "check_name",
    "key",
    "reply_tokens",
    "root",
    "sends_temperature",
]

_OPENAI = "https://api.openai.com/v1"
_OPENAI_KEY = "OPENAI_API_KEY"
_OPENAI_NAMES = re.compile(r"(chatgpt-|codex-|computer-use-|ft:|gpt-|o\d)")
"""How the names of OpenAI's models begin."""
_OPENAI_MODELS = ("gpt-4o", "gpt-4o-mini", "o3")

_LIMITS = {
    "frame_rate_hz": (0, 1000),
    "max_frames": (1, 10_000),
    "frame_px": (1, 8192),
    "jpeg_quality": (1, 100),
    "tokens_per_frame": (0, 1e6),
    "context_tokens": (1, 1e9),
    "reasoning_tokens": (0, 1e6),
    "timeout_s": (0.001, 86_400),
    "usd_per_million_prompt_tokens": (0, 1e9),
    "usd_per_million_reply_tokens": (0, 1e9),
}
"""What makes sense at any server there is; mistakes in a digit lie beyond."""


_REASONING = re.compile(r"o\d|gpt-5")
"""How the names of OpenAI's reasoning models begin."""

_REASONING_TOKENS = 4096


class FramesAs(StrEnum):
    """How frames go out."""

    IMAGES = "images"
    """Each as a JPEG (``image_url``)."""
    VIDEO = "video"
    """All that stand together as an MP4 with their times (``video_url``: vLLM, SGLang)."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which server, which model, how it is asked.

    Args:
        model: as the server calls it.
        base_url: up to and with ``/v1``.
        api_key_variable: environment variable that holds the key; empty = ``OPENAI_API_KEY`` for
            a server elsewhere and no key for one on this machine.
        frame_rate_hz, max_frames: of the frames sent; a rate of 0 = no pictures.
        frame_px: pictures are frame_px × frame_px.
        keep_aspect: only the longer side is scaled, to ``frame_px``.
        frames_as: images or video.
        jpeg_quality: 1 to 100.
        tokens_per_frame: by which a picture counts where the server does not count; 255 is
            GPT-4o's count for 512×512 (85 + 170 for each tile of 512 px).
        context_tokens: of prompt and answer together; None = as the server on this machine says,
            or as OpenAI documents.
        structured: ask for JSON of a schema when there are options, or where the question or a
            judge says which. A server that refuses it is asked without.
        send_temperature: None = except to OpenAI's reasoning models, which take none (o3).
        reasoning_tokens: room for thoughts on top of the answer's, for models whose limit holds
            for both; None = 4096 for OpenAI's reasoning models, 0 for others.
        max_tokens_field: what the server calls the limit; empty = ``max_completion_tokens`` at
            OpenAI, ``max_tokens`` elsewhere.
        mm_processor_kwargs: passed through to the model's processor (vLLM, SGLang), e.g.
            ``{"max_pixels": 401408}``.
        extra_body: further fields of the request, e.g. ``{"reasoning_effort": "low"}``.
        reuse_cache: let the server reuse what it has computed for other prompts, where it can be
            told not to (llama.cpp, vLLM, SGLang): faster, and the same request may then be
            answered otherwise.
        timeout_s: of one try.
        retry: how often.
        rate: how many calls and tokens a minute.
        usd_per_million_prompt_tokens, usd_per_million_reply_tokens: for the estimate of the cost;
            None = OpenAI's list price where the model is known.
    """

    model: str = "gpt-4o"
    base_url: str = _OPENAI
    api_key_variable: str = ""
    frame_rate_hz: float = 1.0
    max_frames: int = 64
    frame_px: int = 512
    keep_aspect: bool = False
    frames_as: FramesAs = FramesAs.IMAGES
    jpeg_quality: int = 90
    tokens_per_frame: int = 255
    context_tokens: int | None = None
    structured: bool = True
    send_temperature: bool | None = None
    reasoning_tokens: int | None = None
    max_tokens_field: str = ""
    mm_processor_kwargs: Mapping[str, Any] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    reuse_cache: bool = False
    timeout_s: float = 120.0
    retry: RetryOptions = field(default_factory=RetryOptions)
    rate: RateOptions = field(default_factory=RateOptions)
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_reply_tokens: float | None = None

    def __post_init__(self) -> None:
        check_address(self.base_url, "http://localhost:8000/v1")
        if not self.model:
            raise BadInput("The model's name is empty; give the one the server uses, e.g. gpt-4o.")
        check_limits(self, _LIMITS)


def at_openai(options: Options) -> bool:
    """Whether it is OpenAI's own server."""
    return urlsplit(options.base_url).hostname == urlsplit(_OPENAI).hostname


def check_name(options: Options) -> None:
    """See that OpenAI is meant where pictures would go there: a name that is nothing else comes
    here, and so does one with a slip.

    Raises:
        BadInput: it is no name as OpenAI's models have them.
    """
    if not at_openai(options) or _OPENAI_NAMES.match(options.model):
        return
    known = [*plugins.names("reasoning.videollms"), *presets.names(), *_OPENAI_MODELS]
    near = difflib.get_close_matches(options.model, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise BadInput(
        f"OpenAI has no model {options.model!r}.{hint} A model on another server needs its address "
        "(--base-url http://localhost:8000/v1); cuelight models lists the presets."
    )


def sends_temperature(options: Options) -> bool:
    """Whether the request names a temperature."""
    if options.send_temperature is not None:
        return options.send_temperature
    return not _reasons(options)


def reply_tokens(options: Options, max_new_tokens: int) -> int:
    """The limit that is sent: of the answer and of the thoughts before it."""
    thoughts = options.reasoning_tokens
    if thoughts is None:
        thoughts = _REASONING_TOKENS if _reasons(options) else 0
    return max_new_tokens + thoughts


def _reasons(options: Options) -> bool:
    return at_openai(options) and bool(_REASONING.match(options.model))


def root(options: Options) -> str:
    """The server's address without ``/v1``."""
    return options.base_url.rstrip("/").removesuffix("/v1")


def key(options: Options) -> tuple[str, str]:
    """The variable that was read and the key in it; two empty strings where none is needed."""
    if not options.api_key_variable and is_loopback(options.base_url):
        return "", ""
    variable = options.api_key_variable or _OPENAI_KEY
    found = os.environ.get(variable, "").strip()
    if not found:
        raise BadInput(
            f"{options.base_url} needs a key, and the environment variable {variable} is not set. "
            f"Set it, or use a server on this machine (--base-url http://localhost:8000/v1)."
        )
    return variable, found
