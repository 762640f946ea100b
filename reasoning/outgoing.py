"""What goes out to a model, as it is stored, and whether it leaves this machine."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import re
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from reasoning.videollm import Frames, Request, Text, TokenCount

__all__ = ["abbreviated", "frame_times", "is_loopback", "record", "stands_for", "without_key"]


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
        **({} if request.schema is None else {"schema": request.schema}),
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


_BLOCK_BYTES = 1 << 20

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)


def abbreviated(value: Any) -> Any:
    """A JSON value with every ``data:`` address in it as its type, size and sha256."""
    if isinstance(value, dict):
        return {key: abbreviated(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [abbreviated(inner) for inner in value]
    if isinstance(value, str) and (found := _DATA_URL.fullmatch(value)):
        return stands_for(base64.b64decode(found[2]), found[1])
    return value


def stands_for(content: bytes | BinaryIO, mime_type: str) -> str:
    """What is shown in place of bytes that go out, or of a file; the file is then at its end."""
    if isinstance(content, bytes):
        return _told(mime_type, len(content), hashlib.sha256(content).hexdigest())
    digest = hashlib.sha256()
    content.seek(0)
    while block := content.read(_BLOCK_BYTES):
        digest.update(block)
    return _told(mime_type, content.tell(), digest.hexdigest())


def _told(mime_type: str, size: int, sha256: str) -> str:
    return f"({mime_type}, {size} bytes, sha256 {sha256})"


def without_key(text: str, key: str) -> str:
    """``text`` with "…" in place of the key, as it stands or as JSON escapes it."""
    if not key:
        return text
    escaped = json.dumps(key)[1:-1]
    for shown in (key, escaped, escaped.replace("/", "\\/")):
        text = text.replace(shown, "…")
    return text
