"""A model that says what it was told to say: for tests of what stands above it, and for trials.

Rules are tried in order; the first whose pattern is found in the prompt's words makes the reply.
Replies run through the same strict option parser as a real model's, every request is recorded, and
rules can fail on purpose::

    rules:
      - {pattern: "walk", reply: "She walks."}
      - {pattern: "", failure: refused, reply: "I cannot help with that."}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from perception.errors import BadInput
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.options import parse_option
from reasoning.outgoing import frame_times, record
from reasoning.videollm import FrameSampling, Request, TokenCount

__all__ = ["Options", "Rule", "Scripted", "build"]


@dataclass(frozen=True, slots=True)
class Rule:
    r"""One reply.

    Args:
        pattern: regular expression, searched in the prompt without regard to case; empty = always.
        reply: the model's words; groups of the pattern can be named, e.g. ``\1``.
        failure: fail with this kind instead; ``reply`` is then its raw text.
    """

    pattern: str = ""
    reply: str = ""
    failure: FailureKind | None = None

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise BadInput(
                f"The pattern {self.pattern!r} is no regular expression: {error}."
            ) from None


@dataclass(frozen=True, slots=True)
class Options:
    """What the model says.

    Args:
        rules: tried in order.
        default: reply where no rule fits; None = a ``Failure`` of kind *unavailable*.
        name: the model's.
        frame_rate_hz: of the frames that it wants; 0 = it takes no pixels.
        max_frames: at most so many.
        context_tokens: longer prompts are *too long*; a token is a word.
    """

    rules: tuple[Rule, ...] = ()
    default: str | None = None
    name: str = "scripted"
    frame_rate_hz: float = 0.0
    max_frames: int = 64
    context_tokens: int = 100_000


@dataclass(slots=True, eq=False)
class Scripted:
    """The model at work; ``requests`` holds all that it was asked, in order."""

    options: Options
    requests: list[Request] = field(default_factory=list)
    parallel: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """As in the options."""
        return self.options.name

    @property
    def weights(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def sampling(self) -> FrameSampling | None:
        """As in the options."""
        if not self.options.frame_rate_hz:
            return None
        return FrameSampling(self.options.frame_rate_hz, self.options.max_frames)

    @property
    def native_video(self) -> bool:
        """False: the prompt lists the times of the frames."""
        return False

    @property
    def context_tokens(self) -> int:
        """As in the options."""
        return self.options.context_tokens

    def count_tokens(self, text: str) -> int:
        """Words."""
        return len(text.split())

    def count(self, request: Request) -> TokenCount:
        """Words, and a token for each frame."""
        return TokenCount(self.count_tokens(request.prompt()) + len(frame_times(request)))

    def egress(self, request: Request) -> None:
        """None: nothing leaves this machine."""

    def draft(self, request: Request) -> dict[str, Any]:
        """The words that the rules are tried on."""
        return {"model": self.name, "prompt": request.prompt()}

    def answer(self, request: Request) -> Answer | Failure:
        """Reply by the first rule that fits."""
        self.requests.append(request)
        count = self.count(request)
        prompt, sent, words = request.prompt(), record(request, count), count.tokens
        if words > self.options.context_tokens:
            reason = f"The prompt has {words} words and frames; {self.options.context_tokens} fit."
            return Failure(FailureKind.TOO_LONG, reason, self.name, request=sent)
        for rule in self.options.rules:
            found = re.search(rule.pattern, prompt, re.IGNORECASE)
            if found is None:
                continue
            reply = found.expand(rule.reply)
            if rule.failure is not None:
                reason = "A rule of the script fails on purpose."
                return Failure(rule.failure, reason, self.name, raw=reply, request=sent)
            return self._reply(reply, request, words)
        if self.options.default is None:
            reason = f"None of the script's {len(self.options.rules)} rules fits the prompt."
            return Failure(FailureKind.UNAVAILABLE, reason, self.name, request=sent)
        return self._reply(self.options.default, request, words)

    def close(self) -> None:
        """Nothing to free; what was recorded stays."""

    def _reply(self, reply: str, request: Request, words: int) -> Answer | Failure:
        sent = record(request, TokenCount(words))
        usage = {"prompt_tokens": words, "completion_tokens": self.count_tokens(reply)}
        sees_video = bool(frame_times(request))
        if not request.options:
            return Answer(reply, self.name, sees_video, request=sent, usage=usage)
        option = parse_option(reply, request.options)
        if option is None:
            reason = "The reply names none of the options, or more than one."
            return Failure(FailureKind.UNPARSED, reason, self.name, raw=reply, request=sent)
        text = request.options[option]
        return Answer(text, self.name, sees_video, option, request=sent, usage=usage)


def build(options: Options) -> Scripted:
    """A model of these rules."""
    return Scripted(options)
