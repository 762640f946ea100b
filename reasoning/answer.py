"""What comes back from a model: an ``Answer`` or a ``Failure``, never one dressed as the other; and
what becomes of an answer: a ``Verdict``, or ``Unscored``, which is neither right nor wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Answer", "Failure", "FailureKind", "OptionScore", "Unscored", "Verdict"]


@dataclass(frozen=True, slots=True)
class OptionScore:
    """How likely the model finds one option.

    Args:
        text: the option.
        log_likelihood: sum over its tokens of ln p(token | prompt, earlier tokens).
        prior: the same without the cues and the video, where the model measured it, else 0.
        tokens: number of its tokens.
        probability: softmax over all options of the score by which the model chose.
    """

    text: str
    log_likelihood: float
    prior: float
    tokens: int
    probability: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer.

    Args:
        text: the words; for a multiple-choice question the chosen option.
        model: name and revision, or file and sha256.
        sees_video: whether pixels of the video reached the model.
        option: index of the chosen option, None for an open question.
        option_scores: in the options' order, where the model scores by likelihood.
        request: what went out, as JSON: frame times, prompt text, settings, token count.
        usage: counts and costs as the model reports them, e.g. ``{"prompt_tokens": 812}``.
        complete: False when the limit of new tokens cut the answer off.
    """

    text: str
    model: str
    sees_video: bool
    option: int | None = None
    option_scores: tuple[OptionScore, ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True


class FailureKind(StrEnum):
    """Why there is no answer."""

    UNAVAILABLE = "unavailable"
    """The model or its server could not be reached or loaded."""
    REJECTED = "rejected"
    """The server takes no such request, however often it is sent."""
    REFUSED = "refused"
    """The model declined, or a filter did."""
    TRUNCATED = "truncated"
    """The reply stopped before anything usable was said."""
    UNPARSED = "unparsed"
    """A reply came that names none, or more than one, of the options."""
    TOO_LONG = "too_long"
    """The prompt does not fit into the model's context."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why. ``raw`` keeps what the model did say."""

    kind: FailureKind
    reason: str
    model: str
    raw: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How good an answer is.

    Args:
        score: 0 = wrong, 1 = right; what lies between only where the protocol gives parts.
        reason: the judge's or the scorer's, in words.
        judge: name and revision of the model that judged, or the benchmark's own scorer.
        details: what the protocol counts besides, as JSON, e.g. a rubric's points.
        raw: the judge's reply as it came.
    """

    score: float
    reason: str
    judge: str
    details: Mapping[str, Any] = field(default_factory=dict)
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Unscored:
    """An answer without a verdict, and why: the judge failed, or its reply says nothing clear."""

    reason: str
    judge: str
    raw: str = ""
