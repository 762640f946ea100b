"""How a text model reads a request: its words, and by which of them options are scored.

An option's value is what the cues add to its log likelihood,

    (ln p(option | cues, question) - ln p(option | question)) / tokens of the option,

the pointwise mutual information of Holtzman et al. 2021 ("Surface Form Competition"), which takes
out how common the option's words are anyway, by its length. Options stand behind "The answer is:"
and are not listed in the prompt; of the cues only the lines that speak of the question are read
(``reasoning.focus``), as in retrieval-augmented generation. Without cues the log likelihood per
token decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reasoning.answer import OptionScore
from reasoning.focus import focused
from reasoning.llama.server import Completion, LlamaServer
from reasoning.prompt import without_options
from reasoning.videollm import Part, Request, Text

__all__ = ["CueReading", "softmax"]

_OPENING = "The answer is:"
"""Opens the model's turn when options are scored, so that an option follows as it stands."""


class CueReading:
    """A request as token ids.

    Attributes:
        tokens: length of the prompt.
        told: what the record of the request says of it.
        sees_video: False.
    """

    sees_video = False

    def __init__(self, server: LlamaServer, request: Request) -> None:
        self._server, self._request = server, request
        self.told: Mapping[str, Any] = {}
        if request.options:
            self._words, self._prior = _scored(request)
            self._opening = server.tokenize(_OPENING)
            self._prompt = [*server.chat(self._words), *self._opening]
            self._options = [server.tokenize(f" {option.strip()}") for option in request.options]
            self.told = {"scored_prompt": self._words, "opening": _OPENING}
        else:
            self._words = _joined(request.parts)
            self._prompt = server.chat(self._words)
        self.tokens = len(self._prompt)

    @property
    def reply_tokens(self) -> int:
        """Tokens that may follow the prompt."""
        if self._request.options:
            return max(map(len, self._options))
        return self._request.max_new_tokens

    def draft(self) -> dict[str, Any]:
        """The prompt, special tokens by their names, and the options behind it."""
        opening = str(self.told.get("opening", ""))
        prompt = self._server.chat_text(self._words) + opening
        return {"prompt": prompt, "options": list(self._request.options)}

    def speak(self) -> Completion:
        """A free answer."""
        request = self._request
        return self._server.complete(
            self._prompt,
            request.max_new_tokens,
            request.temperature,
            request.seed,
            request.schema,
        )

    def choose(self) -> tuple[OptionScore, ...]:
        """A score for each option, in their order."""
        likelihoods = self._likelihoods(self._prompt)
        priors = [0.0] * len(likelihoods)
        if self._prior != self._words:
            priors = self._likelihoods([*self._server.chat(self._prior), *self._opening])
        lengths = [len(option) for option in self._options]
        values = [
            (given_cues - unaided) / max(1, length)
            for given_cues, unaided, length in zip(likelihoods, priors, lengths, strict=True)
        ]
        columns = (self._request.options, likelihoods, priors, lengths, softmax(values))
        return tuple(OptionScore(*row) for row in zip(*columns, strict=True))

    def _likelihoods(self, prompt: Sequence[int]) -> list[float]:
        return [sum(each) for each in self._server.log_likelihoods(prompt, self._options)]


def softmax(scores: Sequence[float]) -> list[float]:
    """exp(score) over the sum of all, in a way that cannot overflow."""
    highest = max(scores)
    weights = [math.exp(score - highest) for score in scores]
    return [weight / sum(weights) for weight in weights]


def _joined(parts: Sequence[Part]) -> str:
    return "\n\n".join(part.text for part in parts if isinstance(part, Text))


def _scored(request: Request) -> tuple[str, str]:
    """The prompts with and without cues by which options are scored: neither lists the options,
    and of the cues only those that speak of the question are left."""
    parts = [part for part in request.parts if isinstance(part, Text)]
    prior = [part for part in request.prior_parts if isinstance(part, Text)] or parts
    asked = [without_options(part.text, request.options) for part in prior]
    said = {part.text for part in prior}
    given = [
        without_options(part.text, request.options)
        if part.text in said
        else focused(part.text, asked[-1])
        for part in parts
    ]
    return "\n\n".join(given), "\n\n".join(asked)
