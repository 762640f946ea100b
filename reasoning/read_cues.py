"""Which cues of a prompt a model read, as far as it tells."""

from __future__ import annotations

from fusion.selection import CuePrompt
from reasoning.answer import Answer, Failure

__all__ = ["read_ids"]


def read_ids(prompt: CuePrompt, reply: Answer | Failure) -> frozenset[str] | None:
    """Ids of the cues of ``prompt`` whose lines the model read, which it tells by the text that it
    scored options with (``scored_prompt``); None where it does not tell."""
    scored = reply.request.get("scored_prompt")
    if scored is None:
        return None
    read, block = set(str(scored).split("\n")), prompt.text.split("\n")
    return frozenset(id for line, id in prompt.lines if block[line] in read)
