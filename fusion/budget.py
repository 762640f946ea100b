"""What fits into N tokens: greedy by value, deterministic.

Not by value per token: recognizers cut what is said and written into pieces of any length, so that
fragments of two words would push out the sentences and headings that say most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from fusion.render import RenderOptions, in_order, render
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.cue import id_order

__all__ = ["estimate_tokens", "fit"]

BYTES_PER_TOKEN = 3
"""Byte-pair vocabularies of 32,000 tokens and more take about 4 bytes of English prose a token,
less of digits and of other scripts: lines with times have up to 1.22 times the estimated tokens
(SmolLM2, blocks of the sample clip)."""

MAX_TRIES = 64
"""Blocks that are rendered and counted in search of one cue more when the budget is nearly full."""


def estimate_tokens(text: str) -> int:
    """Tokens of ``text`` where no tokenizer is at hand: its UTF-8 bytes over three, rounded up."""
    return math.ceil(_bytes(text) / BYTES_PER_TOKEN)


def fit(
    selection: Selection,
    gated: Selection,
    tokens: int,
    options: RenderOptions,
    count_tokens: Callable[[str], int],
    one_per_kind: bool = False,
) -> CuePrompt:
    """Render what fits: the cue of most value goes in first, of equals the earlier one.

    A cue that does not fit beside those of more value is passed over, and the next one tried. A
    line's tokens are its share, by bytes, of the tokens of the whole block; the block that is
    returned was counted itself.

    Args:
        selection: as the policies left it.
        gated: as the gate left it; cues that a policy merged into one that has to go are found
            here and go with it, each with its own reason.
        tokens: the block never takes more.
        one_per_kind: the best cue of each kind goes in before all others.
    """

    def block(kept: Sequence[KeptCue]) -> CuePrompt:
        return render(Selection(in_order(kept), selection.dropped), options)

    def count(kept: Sequence[KeptCue]) -> int:
        return count_tokens(block(kept).text)

    whole = block(selection.kept)
    if not selection.kept or (total := count_tokens(whole.text)) <= tokens:
        return whole
    costs = _costs(whole, total)
    ranked = _ranked(selection.kept, one_per_kind)
    inside = _chosen(ranked, costs, tokens, count) if tokens else []
    return _without(selection, gated, inside, tokens, count, options)


def _costs(whole: CuePrompt, total: int) -> dict[str, float]:
    """Tokens of each cue's line with its line break, by cue id."""
    lines = whole.text.split("\n")
    rate = total / _bytes(whole.text)
    return {id: rate * (_bytes(lines[number]) + 1) for number, id in whole.lines}


def _ranked(kept: Sequence[KeptCue], one_per_kind: bool) -> list[KeptCue]:
    """Most value first; with ``one_per_kind`` the best of each kind before all others."""
    ranked = sorted(kept, key=lambda item: (-item.value, item.when, id_order(item.cue.id)))
    if not one_per_kind:
        return ranked
    first = list({item.kind: item for item in reversed(ranked)}.values())
    ids = {item.cue.id for item in first}
    return [item for item in ranked if item.cue.id in ids] + [
        item for item in ranked if item.cue.id not in ids
    ]


def _chosen(
    ranked: list[KeptCue],
    costs: dict[str, float],
    tokens: int,
    count: Callable[[Sequence[KeptCue]], int],
) -> list[KeptCue]:
    """Greedy by the costs; then, by exact counts, less of it or more."""
    inside = _greedy(ranked, costs, tokens, heading=count(ranked[:1]) - costs[ranked[0].cue.id])
    while inside and count(inside) > tokens:
        inside = inside[: _fitting(inside, tokens, count)]
    ids = {item.cue.id for item in inside}
    used, tries = count(inside) if inside else 0, 0
    for item in ranked:
        if tries == MAX_TRIES:
            break
        if item.cue.id in ids or used + costs[item.cue.id] / 2 > tokens:
            continue
        tries += 1
        if (more := count([*inside, item])) <= tokens:
            inside, used = [*inside, item], more
    return inside


def _greedy(
    ranked: list[KeptCue], costs: dict[str, float], tokens: int, heading: float
) -> list[KeptCue]:
    inside, used = [], heading
    for item in ranked:
        if used + costs[item.cue.id] <= tokens:
            inside.append(item)
            used += costs[item.cue.id]
    return inside


def _fitting(inside: list[KeptCue], tokens: int, count: Callable[[Sequence[KeptCue]], int]) -> int:
    """The length of a head of ``inside`` that fits while one cue more does not."""
    good, bad = 0, len(inside)
    while bad - good > 1:
        middle = (good + bad) // 2
        if count(inside[:middle]) <= tokens:
            good = middle
        else:
            bad = middle
    return good


def _without(
    selection: Selection,
    gated: Selection,
    inside: list[KeptCue],
    tokens: int,
    count: Callable[[Sequence[KeptCue]], int],
    options: RenderOptions,
) -> CuePrompt:
    """The block of ``inside``, all other cues dropped for want of room."""
    ids = {item.cue.id for item in inside}
    outside = [item for item in selection.kept if item.cue.id not in ids]
    reasons = {}
    for item in outside:
        only = " even alone" if _is_too_long(item, len(outside), tokens, count) else ""
        reasons[item.cue.id] = f"does not fit{only} into the budget of {tokens} tokens"
    left = selection.without(reasons).with_parts(selection, gated)
    return render(replace(left, kept=in_order(inside)), options)


def _is_too_long(
    item: KeptCue, left_out: int, tokens: int, count: Callable[[Sequence[KeptCue]], int]
) -> bool:
    """Whether nothing could have made room for it; asked only where few cues are left out."""
    if not tokens or left_out > MAX_TRIES:
        return False
    return count([item]) > tokens


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
