"""What a model is given of a timeline, and what of it the model says that it read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fusion.quoting import visible
from fusion.selection import CuePrompt
from reasoning.viewer.view import View

__all__ = ["Block", "State", "block_words", "prompt_lines", "states"]


@dataclass(frozen=True, slots=True)
class State:
    """What became of a cue.

    Args:
        name: ``"kept"``, ``"unread"``, ``"merged"``, ``"dropped"``, or empty without a prompt.
        why: what there is to say about it.
    """

    name: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of cues that the page can show.

    Args:
        prompt: what fusion made.
        question: that it is for.
        policy: names of the policies that made it, as ``routed+hedged``; empty = not told.
        is_told: whether a model was asked with it; tokens of one that was not are estimated.
    """

    prompt: CuePrompt
    question: str = ""
    policy: str = ""
    is_told: bool = False


def states(prompt: CuePrompt | None, read: frozenset[str] | None) -> dict[str, State]:
    """By cue id; ``unread`` are cues of the prompt that the model says it did not read."""
    if prompt is None:
        return {}
    found = {}
    for item in prompt.selection.kept:
        unread = read is not None and item.cue.id not in read
        kept = State("unread", "in the prompt, but the model did not read it for this answer")
        found[item.cue.id] = kept if unread else State("kept", "in the prompt")
        for id in item.merged_ids:
            found[id] = State("merged", f"in the prompt as part of {visible(item.cue.id)}")
    for dropped in prompt.selection.dropped:
        found[dropped.cue.id] = State("dropped", visible(dropped.reason))
    return found


def prompt_lines(
    prompt: CuePrompt | None, numbers: dict[str, int], read: frozenset[str] | None
) -> list[dict[str, Any]]:
    """The block line by line, with the numbers of the cues that each speaks of."""
    if prompt is None or not prompt.text:
        return []
    parts = {item.cue.id: item.ids for item in prompt.selection.kept}
    ids: dict[int, list[str]] = {}
    for line, id in prompt.lines:
        ids.setdefault(line, []).extend(each for each in parts.get(id, (id,)) if each in numbers)
    return [
        {
            "text": text,
            "cues": [numbers[id] for id in ids.get(line, ())],
            "unread": read is not None and bool(ids.get(line)) and read.isdisjoint(ids[line]),
        }
        for line, text in enumerate(prompt.text.split("\n"))
    ]


def block_words(block: Block, shown: View, read: frozenset[str] | None) -> dict[str, Any]:
    """A block as the page's template takes it.

    Args:
        shown: the cues on the page.
        read: ids of the cues that the model read, None where it does not tell.
    """
    numbers = shown.numbers
    dropped = [
        {"view": shown.cues[numbers[item.cue.id]], "why": visible(item.reason)}
        for item in block.prompt.selection.dropped
        if item.cue.id in numbers
    ]
    return {
        "question": visible(block.question),
        "policy": visible(block.policy),
        "is_told": block.is_told,
        "lines": prompt_lines(block.prompt, numbers, read),
        "dropped": dropped,
    }
