"""What known models cost, for the estimate that is shown before anything is sent."""

from __future__ import annotations

__all__ = ["cost_usd"]

_LIST_USD = {
    "gpt-4o": (2.5, 10.0),
    "gpt-4o-mini": (0.15, 0.6),
    "o3": (2.0, 8.0),
    "gemini-2.5-pro": (1.25, 10.0),
    "gemini-2.5-flash": (0.3, 2.5),
    "gemini-2.5-flash-lite": (0.1, 0.4),
    "gemini-2.0-flash": (0.1, 0.4),
}
"""List prices of OpenAI and Google for a million prompt tokens and a million reply tokens (end of
2025)."""

_LONG_USD = {"gemini-2.5-pro": (200_000, 2.5, 15.0)}
"""Models that cost more for prompts longer than so many tokens, and how much."""


def cost_usd(
    model: str,
    prompt_tokens: int,
    reply_tokens: int,
    prompt_usd: float | None = None,
    reply_usd: float | None = None,
) -> float | None:
    """Dollars for a call; None where no price is known.

    Args:
        model: as its maker calls it; empty = of no maker whose prices are known.
        prompt_tokens, reply_tokens: of the call.
        prompt_usd, reply_usd: for a million tokens, in place of the list price.
    """
    listed: tuple[float | None, float | None] = _LIST_USD.get(model, (None, None))
    if model in _LONG_USD and prompt_tokens > _LONG_USD[model][0]:
        listed = _LONG_USD[model][1:]
    prompt = listed[0] if prompt_usd is None else prompt_usd
    reply = listed[1] if reply_usd is None else reply_usd
    if prompt is None or reply is None:
        return None
    return (prompt_tokens * prompt + reply_tokens * reply) / 1e6
