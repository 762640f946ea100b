"""What a reply of a chat server says: words, an option, or what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reasoning.answer import FailureKind
from reasoning.options import parse_option
from reasoning.prompt import letter
from reasoning.videollm import Request

__all__ = ["chosen", "said", "schema"]


def said(reply: Mapping[str, Any]) -> tuple[str, str, tuple[FailureKind, str] | None]:
    """The reply's words, why it ended, and what is wrong with it if anything is."""
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        words = _words(message.get("content"))
        refusal = str(message.get("refusal") or "")
    except (KeyError, IndexError, TypeError, AttributeError):
        detail = f": {reply['error']}" if "error" in reply else ""
        return "", "", (FailureKind.UNAVAILABLE, f"The server's reply holds no choice{detail}.")
    ending = str(choice.get("finish_reason") or "")
    if refusal:
        return refusal, ending, (FailureKind.REFUSED, "The model refused.")
    if ending == "content_filter":
        return words, ending, (FailureKind.REFUSED, "A content filter stopped the reply.")
    if not words:
        why = "reached the limit of tokens before a word" if ending == "length" else "is empty"
        return words, ending, (FailureKind.TRUNCATED, f"The reply {why}.")
    return words, ending, None


def _words(content: object) -> str:
    """The text of a message: a string, or a list of parts of which those with text count."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(part for part in parts if isinstance(part, str))
    return content.strip() if isinstance(content, str) else ""


def chosen(words: str, options: Sequence[str]) -> int | None:
    """Index of the option that a reply names, in JSON of ``schema`` or in words, else None."""
    try:
        named = json.loads(words)["option"]
    except (ValueError, KeyError, TypeError, RecursionError):
        named = words
    return parse_option(str(named), options)


def schema(request: Request) -> Mapping[str, Any] | None:
    """What the reply must be: ``{"option": "A"}`` and nothing else for a question with options, or
    as the request says. None = words."""
    if not request.options:
        return request.schema
    letters = [letter(index) for index in range(len(request.options))]
    return {
        "type": "object",
        "properties": {"option": {"type": "string", "enum": letters}},
        "required": ["option"],
        "additionalProperties": False,
    }
