"""What Gemini's reply says: words, why they end, or what is wrong with it."""

from __future__ import annotations

from typing import Any

from reasoning.answer import FailureKind

__all__ = ["LIMIT", "said", "usage"]

LIMIT = "MAX_TOKENS"
"""Why a reply ends that the limit of new tokens cut off."""

_REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
)


def said(reply: Any) -> tuple[str, str, tuple[FailureKind, str] | None]:
    """The reply's words without thoughts, why it ended, and what is wrong with it if anything is.

    Args:
        reply: the client's ``GenerateContentResponse``.
    """
    feedback = reply.prompt_feedback
    if feedback is not None and (blocked := _value(feedback.block_reason)):
        return "", blocked, (FailureKind.REFUSED, f"Google blocked the prompt ({blocked}).")
    if not reply.candidates:
        return "", "", (FailureKind.UNAVAILABLE, "The server's reply holds no candidate.")
    candidate = reply.candidates[0]
    ending = _value(candidate.finish_reason)
    parts = (candidate.content and candidate.content.parts) or []
    words = "".join(part.text for part in parts if part.text and not part.thought).strip()
    if ending in _REFUSALS:
        return words, ending, (FailureKind.REFUSED, f"Google stopped the reply ({ending}).")
    if not words:
        why = "is empty" if ending in {"", "STOP"} else f"is empty ({ending})"
        if ending == LIMIT:
            why = "reached the limit of tokens before a word; thoughts count too (thinking_tokens)"
        return words, ending, (FailureKind.TRUNCATED, f"The reply {why}.")
    return words, ending, None


def usage(reply: Any) -> dict[str, Any]:
    """Token counts as the server reports them."""
    counts = reply.usage_metadata
    if counts is None:
        return {}
    found = {
        "prompt_tokens": counts.prompt_token_count,
        "completion_tokens": counts.candidates_token_count,
        "thinking_tokens": counts.thoughts_token_count,
        "total_tokens": counts.total_token_count,
    }
    return {name: count for name, count in found.items() if count is not None}


def _value(member: Any) -> str:
    """The name of an enumeration's member, known to the client or not; "" for none."""
    return str(getattr(member, "value", member) or "")
