"""Tells MimeQA's category of a question from its words, where a benchmark does not annotate it.

A logistic regression over the words and word pairs of a question (``checkpoints/question_type``
holds its weights, what fits and measures them, and how often it is right).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fusion.question import Question, QuestionType
from perception.shipped import shipped

__all__ = ["LEAST_PROBABILITY", "Weights", "features", "probabilities", "question_type"]

LEAST_PROBABILITY = 0.5
"""A type of less is no better than untold: ``question_type`` says None, and every cue stays in."""

_TIME = re.compile(r"\d*:\d\d(?:\.\d+)?")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|#")


@dataclass(frozen=True, slots=True)
class Weights:
    """The model.

    Args:
        types: the categories, in the order of the numbers below.
        bias: one number for each.
        weights: feature -> one number for each.
    """

    types: tuple[QuestionType, ...]
    bias: tuple[float, ...]
    weights: Mapping[str, tuple[float, ...]]


def features(question: Question) -> list[str]:
    """The words and word pairs of a question, each once; times are ``#``, other numbers are left
    out. MimeQA asks local questions about a part of the video: ``<part>``."""
    words = _WORD.findall(_TIME.sub(" # ", question.text.casefold()))
    pairs = [f"{one} {other}" for one, other in zip(["<s>", *words], words, strict=False)]
    part = ["<part>"] if question.span is not None else []
    return list(dict.fromkeys([*words, *pairs, *part]))


def probabilities(question: Question, model: Weights | None = None) -> dict[QuestionType, float]:
    """Of every category; None = the weights that ship."""
    model = model or _shipped()
    scores = list(model.bias)
    for feature in features(question):
        for at, weight in enumerate(model.weights.get(feature, ())):
            scores[at] += weight
    highest = max(scores)
    shares = [math.exp(score - highest) for score in scores]
    return {type: share / sum(shares) for type, share in zip(model.types, shares, strict=True)}


def question_type(question: Question) -> QuestionType | None:
    """The annotated type, else the most probable one, None where none is probable enough."""
    if question.type is not None:
        return question.type
    told = probabilities(question)
    best = max(told, key=told.__getitem__)
    return best if told[best] >= LEAST_PROBABILITY else None


@lru_cache(maxsize=1)
def _shipped() -> Weights:
    path = shipped("checkpoints") / "question_type" / "weights.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    return Weights(
        tuple(QuestionType(name) for name in document["types"]),
        tuple(document["bias"]),
        {feature: tuple(each) for feature, each in document["weights"].items()},
    )
