"""The lines of a cue block that speak of a question, by the words they share with it.

A language model of a hundred million parameters loses the thread in a list: asked where the person
is who sits down, it names the place that stands last. Given the one line that speaks of sitting
down, it names the right one (``benchmarks/option_scoring.py`` measures both).

Words are weighted by their inverse document frequency over the lines (Spärck Jones 1972), so that a
word in every line counts for little; endings are cut off, so that "sit", "sits" and "sitting" are
one word.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["focused", "overlap", "terms"]

_LINE = "- "
"""Opens a cue's line in the block that ``fusion.render`` writes."""

_KEEP_SHARE = 0.5
"""Lines that score at least this share of the best line's score are kept. Of the 48 questions of
``benchmarks/option_scoring.yaml``, no share from 0.34 to 1 chooses other lines for more than 3."""

_COMMON_WORDS = """
a an and are at be by did do does for from had has have he her his how in is it its many of on or
people person she somebody someone something that the their they this to was what when where which
who whose why will with action speech screen text video second seconds
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_ENDINGS = ("ing", "ed", "es", "s", "e")
_SHORTEST_STEM = 3
_HEAD = re.compile(r"^- (?:[\d:.]+-[\d:.]+ )?(?:[a-z ]+: )?")
"""Time and kind of a line: neither is what it speaks of."""


def focused(block: str, question: str) -> str:
    """``block`` without the lines of cues that speak of something else than ``question``.

    All that is no cue's line stays. Where no line shares a word with the question, all stay.
    """
    lines = block.split("\n")
    cues = [line for line in lines if line.startswith(_LINE)]
    scores = dict(zip(cues, overlap(cues, question), strict=True))
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return block
    kept = (line for line in lines if scores.get(line, best) >= _KEEP_SHARE * best)
    return "\n".join(kept)


def overlap(lines: Sequence[str], question: str) -> list[float]:
    """For each line, the sum of ln(1 + lines / lines with the word) over the words that it shares
    with ``question``."""
    documents = [frozenset(terms(_HEAD.sub("", line))) for line in lines]
    frequency = Counter(word for words in documents for word in words)
    asked = frozenset(terms(question))
    return [
        sum(math.log(1 + len(lines) / frequency[word]) for word in sorted(asked & words))
        for words in documents
    ]


def terms(text: str) -> list[str]:
    """The words of ``text`` that tell its subject, without endings, in order."""
    return [_stem(word) for word in re.findall(r"[^\W_]+", text.casefold()) if word not in _COMMON]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            stem = word.removesuffix(ending)
            return stem[:-1] if _is_doubled(stem) else stem
    return word


def _is_doubled(stem: str) -> bool:
    """Whether an ending has doubled the last letter: "sitt-ing", "stopp-ed"."""
    return len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2] and stem[-1] not in "lsz"
