"""What fits into N tokens: the worthiest cues, as many of them as the block has room for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fusion.render import RenderOptions, in_order, render
from fusion.selection import CuePrompt, DroppedCue, KeptCue, Selection

__all__ = ["estimate_tokens", "fit"]

BYTES_PER_TOKEN = 3
"""On the safe side: byte-pair vocabularies of 32,000 tokens and more take about 4 bytes of English
prose a token, less of digits and of other scripts."""


def estimate_tokens(text: str) -> int:
    """Tokens of ``text`` where no tokenizer is at hand: its UTF-8 bytes over three, rounded up."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def fit(
    selection: Selection,
    gated: Selection,
    tokens: int,
    options: RenderOptions,
    count_tokens: Callable[[str], int],
) -> CuePrompt:
    """Render what fits: the cue of least value goes first, of equals the later one.

    A cue too long for the budget even alone is passed over, so that it does not take those of less
    value with it.

    Args:
        selection: as the policies left it.
        gated: as the gate left it; cues that a policy merged into one that has to go are found
            here and go with it, each with its own reason.
        tokens: the block never takes more.
    """
    ranked = sorted(selection.kept, key=lambda item: (-item.value, item.cue.span, item.cue.id))

    def block(kept: Sequence[KeptCue]) -> CuePrompt:
        return render(Selection(in_order(kept), selection.dropped), options)

    def fits(kept: Sequence[KeptCue]) -> bool:
        return count_tokens(block(kept).text) <= tokens

    inside, alone = _choose(ranked, fits) if tokens else ([], [])
    ids = {item.cue.id for item in inside}
    too_long = {item.cue.id for item in alone}
    known = {item.cue.id: item for item in gated.kept}
    dropped = list(selection.dropped)
    for item in ranked:
        if item.cue.id in ids:
            continue
        only = " even alone" if item.cue.id in too_long else ""
        reason = f"does not fit{only} into the budget of {tokens} tokens"
        dropped.append(DroppedCue(item.kind, item.cue, reason))
        for id in item.merged_ids:
            part = known[id]
            why = f"merged into {item.cue.id}, which {reason}"
            dropped.append(DroppedCue(part.kind, part.cue, why))
    dropped.sort(key=lambda item: (item.cue.span, item.kind, item.cue.id))
    return render(Selection(tuple(inside), tuple(dropped)), options)


def _choose(
    ranked: list[KeptCue], fits: Callable[[Sequence[KeptCue]], bool]
) -> tuple[list[KeptCue], list[KeptCue]]:
    """The longest head of ``ranked`` that fits, and what was passed over as too long by itself."""
    candidates, alone = list(ranked), list[KeptCue]()
    while True:
        count = _longest(candidates, fits)
        if count == len(candidates) or (count and fits(candidates[count : count + 1])):
            return candidates[:count], alone
        alone.append(candidates.pop(count))


def _longest(candidates: list[KeptCue], fits: Callable[[Sequence[KeptCue]], bool]) -> int:
    """The length of a head of ``candidates`` that fits while one cue more does not.

    Lengths are doubled and then bisected: about 2 log2(n) blocks are rendered and counted.
    """
    good, step = 0, 1
    while good < len(candidates):
        length = min(good + step, len(candidates))
        if not fits(candidates[:length]):
            break
        good, step = length, 2 * step
    else:
        return good
    bad = length
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(candidates[:middle]):
            good = middle
        else:
            bad = middle
    return good
