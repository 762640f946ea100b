"""Okapi BM25: closeness by the words that two texts share, rare ones before common ones.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. Endings are
cut off ("sits", "sitting") and words that say nothing of a subject are left out, as in
``reasoning.focus``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.policy import Similarity
from perception.errors import BadInput
from reasoning.focus import terms

__all__ = ["Options", "build"]


@dataclass(frozen=True, slots=True)
class Options:
    """The two constants, as Robertson and Zaragoza recommend them (section 3.4.1).

    Args:
        k1: how soon the repetition of a word counts for no more.
        b: how much long texts are made up for.
    """

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (self.k1 >= 0 and 0 <= self.b <= 1):
            raise BadInput(f"BM25 takes k1 from 0 on and b from 0 to 1, not {self.k1}, {self.b}.")


def build(options: Options) -> Similarity:
    """The similarity."""

    def bm25(question: str, texts: Sequence[str]) -> list[float]:
        documents = [Counter(terms(text)) for text in texts]
        frequency = Counter(word for words in documents for word in words)
        asked = {
            word: math.log(1 + (len(texts) - frequency[word] + 0.5) / (frequency[word] + 0.5))
            for word in sorted(set(terms(question)))
            if word in frequency
        }
        lengths = [words.total() for words in documents]
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        return [
            sum(
                weight
                * words[word]
                * (options.k1 + 1)
                / (words[word] + options.k1 * (1 - options.b + options.b * length / mean))
                for word, weight in asked.items()
                if word in words
            )
            for words, length in zip(documents, lengths, strict=True)
        ]

    return bm25
