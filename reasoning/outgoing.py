"""What goes out to a model, as it is stored, and whether it leaves this machine."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from reasoning.videollm import Frames, Request, Text, TokenCount

__all__ = ["frame_times", "is_loopback", "record"]


def record(request: Request, count: TokenCount | None = None, **settings: Any) -> dict[str, Any]:
    """The request as JSON values, pictures as their times; ``settings`` are the family's own.

    Each part is ``{"text": …}`` or ``{"frame_times_s": […]}``, in the order of the prompt.
    ``count`` becomes ``prompt_tokens`` and ``prompt_tokens_estimated``.
    """
    counted: dict[str, Any] = {}
    if count is not None:
        counted = {"prompt_tokens": count.tokens, "prompt_tokens_estimated": count.estimated}
    return {
        "parts": [
            {"text": part.text}
            if isinstance(part, Text)
            else {"frame_times_s": [frame.time_s for frame in part.frames]}
            for part in request.parts
        ],
        "options": list(request.options),
        "max_new_tokens": request.max_new_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        **counted,
        **settings,
    }


def frame_times(request: Request) -> tuple[float, ...]:
    """Times of all frames of the request, in the order of the prompt."""
    return tuple(
        frame.time_s for part in request.parts if isinstance(part, Frames) for frame in part.frames
    )


def is_loopback(url: str) -> bool:
    """Whether ``url`` names this very machine, so that nothing leaves it."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
