"""What goes out to a model: the record that is stored, and what would leave this machine."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from reasoning.videollm import Frames, Request, Text

__all__ = ["Egress", "frame_times", "is_loopback", "record"]


@dataclass(frozen=True, slots=True)
class Egress:
    """What a call would send to another machine, known before it is made.

    Args:
        host: where to.
        frames: pictures of the video that would go there.
        tokens: of the whole prompt, estimated, pictures included.
        cost_usd: estimated for the prompt and the longest reply; None where no price is known.
    """

    host: str
    frames: int
    tokens: int
    cost_usd: float | None = None

    def sentence(self) -> str:
        """For a person who is asked to agree."""
        pictures = {0: "no pictures", 1: "1 picture"}.get(self.frames, f"{self.frames} pictures")
        cost = "at a price that is not known here"
        if self.cost_usd is not None:
            cost = f"for about ${self.cost_usd:.4f}"
        return (
            f"This sends {pictures} of the video and the prompt (about {self.tokens} tokens) to "
            f"{self.host}, {cost}."
        )


def record(request: Request, **settings: Any) -> dict[str, Any]:
    """The request as JSON values, pictures as their times; ``settings`` are the family's own.

    Each part is ``{"text": …}`` or ``{"frame_times_s": […]}``, in the order of the prompt.
    """
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
