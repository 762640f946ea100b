"""Which of Google's models, and how it is asked."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from perception.errors import BadInput, UnknownName
from perception.limits import check_limits
from reasoning.outgoing import is_loopback
from reasoning.transport.address import check_address
from reasoning.transport.rate_limit import RateOptions
from reasoning.transport.retry import RetryOptions

__all__ = ["GOOGLE", "TOKENS_PER_FRAME", "Options", "key"]

GOOGLE = "https://generativelanguage.googleapis.com"
_KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

TOKENS_PER_FRAME = {"default": 268, "low": 76, "medium": 268, "high": 290}
"""Google's documentation: 258 tokens a frame, 66 at low and 280 at high resolution, about 300 a
second with 32 of sound and the time stamp; ten for that makes them upper bounds."""

_LIMITS = {
    "frame_rate_hz": (0.001, 24),
    "max_frames": (1, 100_000),
    "context_tokens": (1, 1e9),
    "thinking_tokens": (0, 1e6),
    "inline_bytes": (0, 100_000_000),
    "timeout_s": (0.001, 86_400),
    "upload_timeout_s": (0.001, 86_400),
    "poll_s": (0.001, 60),
    "usd_per_million_prompt_tokens": (0, 1e9),
    "usd_per_million_reply_tokens": (0, 1e9),
}
"""24 Hz is the most that Google takes; the rest are mistakes in a digit."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which model, and how it is asked.

    Args:
        model: as Google calls it.
        base_url: without a version.
        api_key_variable: environment variable that holds the key; empty = ``GEMINI_API_KEY``, else
            ``GOOGLE_API_KEY``.
        frame_rate_hz: at which the model looks at the video.
        max_frames: of a longer video it looks at so many, evenly spread.
        resolution: default, low, medium or high.
        context_tokens: of prompt and answer together.
        thinking_tokens: the most that the model may think, on top of the answer's limit; None for
            models that do not.
        structured: ask for JSON of a schema where there is one; where that is refused, without.
        inline_bytes: longer files are uploaded. Google takes requests of up to 20 MB, and files
            grow by a third in them.
        timeout_s: of one try to answer.
        upload_timeout_s: until an uploaded file can be used.
        poll_s: between two looks whether it can.
        retry: how often.
        rate: how many calls and tokens a minute.
        usd_per_million_prompt_tokens, usd_per_million_reply_tokens: for the estimate of the cost;
            None = Google's list price where the model is known.
    """

    model: str = "gemini-2.5-pro"
    base_url: str = GOOGLE
    api_key_variable: str = ""
    frame_rate_hz: float = 1.0
    max_frames: int = 3600
    resolution: str = "default"
    context_tokens: int = 1_048_576
    thinking_tokens: int | None = 1024
    structured: bool = True
    inline_bytes: int = 14_000_000
    timeout_s: float = 300.0
    upload_timeout_s: float = 600.0
    poll_s: float = 2.0
    retry: RetryOptions = field(default_factory=RetryOptions)
    rate: RateOptions = field(default_factory=RateOptions)
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_reply_tokens: float | None = None

    def __post_init__(self) -> None:
        check_address(self.base_url, GOOGLE)
        if not self.model:
            raise BadInput("The model's name is empty; give Google's, e.g. gemini-2.5-pro.")
        if self.resolution not in TOKENS_PER_FRAME:
            raise UnknownName("resolution", self.resolution, TOKENS_PER_FRAME)
        check_limits(self, _LIMITS, "Gemini's ")


def key(options: Options) -> tuple[str, str]:
    """The variable that was read, and the key in it."""
    variables = (options.api_key_variable,) if options.api_key_variable else _KEY_VARIABLES
    for variable in variables:
        if found := os.environ.get(variable, "").strip():
            return variable, found
    if is_loopback(options.base_url):
        return "no key was set", "no-key-is-needed-here"
    raise BadInput(
        f"Gemini needs a key, and the environment variable {' or '.join(variables)} is not set. "
        "Google's AI Studio gives one."
    )
