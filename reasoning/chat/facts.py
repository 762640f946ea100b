"""What a chat server tells of itself, and what follows from it: how it counts, how long its context
is, and how it is kept from using again what it has computed for another prompt.

A cache that cuts the common beginning of two prompts now here and now there changes log
probabilities (llama.cpp: up to 0.18) and with them answers, so that conditions which are compared
would differ by the order in which they were asked.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reasoning.chat.server import ChatServer

__all__ = ["ServerFacts", "counted", "counted_text", "facts", "without_cache"]

LLAMA_CPP, VLLM, SGLANG = "llamacpp", "vllm", "sglang"
"""As the servers sign their models (``owned_by``)."""

_SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """One model at a server.

    Args:
        owner: which server software it is; empty where it does not say.
        context_tokens: that prompt and answer may take together, None where it does not say.
    """

    owner: str = ""
    context_tokens: int | None = None


def facts(server: ChatServer, model: str) -> ServerFacts:
    """From the server's list of models; nothing is known of one that has none."""
    listed = (server.ask("/models") or {}).get("data")
    listed = listed if isinstance(listed, list) else []
    entries = [each for each in listed if isinstance(each, dict)]
    named = [each for each in entries if each.get("id") == model]
    for entry in named or entries[:1]:
        meta = entry.get("meta")
        context = entry.get("max_model_len")
        if context is None and isinstance(meta, dict):
            context = meta.get("n_ctx")
        is_count = isinstance(context, int) and context > 0
        return ServerFacts(str(entry.get("owned_by") or ""), context if is_count else None)
    return ServerFacts()


def counted(
    server: ChatServer, owner: str, root: str, body: Mapping[str, Any]
) -> tuple[int, bool] | None:
    """How many tokens a chat completion's prompt has, by the server's own counter.

    Args:
        owner: of ``ServerFacts``.
        root: the server's address without ``/v1``.
        body: of the chat completion.

    Returns:
        the count, and whether pictures are part of it; None where the server does not count.
    """
    if owner == LLAMA_CPP:
        asked = {"messages": body["messages"]}
        return _whole(server.ask("/chat/completions/input_tokens", asked), "input_tokens", True)
    if owner == VLLM:
        asked = {"model": body["model"], "messages": body["messages"]}
        return _whole(server.ask(f"{root}/tokenize", asked), "count", False)
    return None


def counted_text(server: ChatServer, owner: str, root: str, model: str, text: str) -> int | None:
    """How many tokens ``text`` alone has; None where the server does not count."""
    if owner == LLAMA_CPP:
        reply = server.ask(f"{root}/tokenize", {"content": text, "add_special": False})
        tokens = (reply or {}).get("tokens")
        return len(tokens) if isinstance(tokens, list) else None
    if owner == VLLM:
        asked = {"model": model, "prompt": text, "add_special_tokens": False}
        whole = _whole(server.ask(f"{root}/tokenize", asked), "count", False)
        return whole and whole[0]
    return None


def without_cache(owner: str) -> dict[str, Any]:
    """What a request must say so that nothing is reused of another one: llama.cpp has a switch;
    vLLM and SGLang share only what was asked with the same salt, so that a fresh one shares
    nothing. Empty for servers that take neither."""
    if owner == LLAMA_CPP:
        return {"cache_prompt": False}
    if owner in {VLLM, SGLANG}:
        return {"cache_salt": secrets.token_hex(_SALT_BYTES)}
    return {}


def _whole(
    reply: Mapping[str, Any] | None, name: str, with_pictures: bool
) -> tuple[int, bool] | None:
    count = (reply or {}).get(name)
    return (count, with_pictures) if isinstance(count, int) and count > 0 else None
