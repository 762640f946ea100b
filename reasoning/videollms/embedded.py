"""A small text model inside this process (llama.cpp): it reads the cues and sees no pixels.

Free answers of the default model (SmolLM2-135M-Instruct) are poor; it is usable for choosing among
given options by likelihood. An option's value is what the cues add to its log likelihood,

    (ln p(option | cues, question) - ln p(option | question)) / tokens of the option,

the pointwise mutual information of Holtzman et al. 2021 ("Surface Form Competition"), which takes
out how common the option's words are anyway, by its length. Options stand behind "The answer is:"
and are not listed in the prompt; of the cues only the lines that speak of the question are read
(``reasoning.focus``), as in retrieval-augmented generation. Without cues the log likelihood per
token decides.

Right of 48 questions about made-up timelines, four options each (``python -m
benchmarks.option_scoring``): 39 in this way; 38 without dividing by the length; 32 by plain
likelihood per token; 30 when all lines are read; 11 without cues.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput, UnknownName, WeightsError
from perception.limits import THREADS, check_limits
from reasoning.answer import Answer, Failure, FailureKind, OptionScore
from reasoning.focus import focused
from reasoning.llama_server import LlamaServer, ModelUnavailable
from reasoning.outgoing import record
from reasoning.prompt import without_options
from reasoning.videollm import Part, Request, Text, TokenCount

__all__ = ["Embedded", "Options", "build"]

_OPENING = "The answer is:"
"""Opens the model's turn when options are scored, so that an option follows as it stands."""

_GGUF = ".gguf"

_LIMITS = {"context_tokens": (128, 131_072), "threads": THREADS}
"""Less context holds no question with cues (with 1, llama.cpp ends the process); no small chat
model was trained on more."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which model, and how it runs.

    Args:
        model: a name in the manifest of checkpoints, or the path of a GGUF file of a chat model.
        context_tokens: prompt and answer together, as far as the model was trained for so many; a
            longer prompt is *too long*.
        threads: of llama.cpp; no more than the machine has cores are used.
    """

    model: str = "smollm2_135m_instruct"
    context_tokens: int = 4096
    threads: int = 1

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The embedded model's ")


class Embedded:
    """The model at work; it is loaded by the first call."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._server: LlamaServer | None = None
        self._revision = ""

    @property
    def name(self) -> str:
        """The manifest's name or the file's."""
        return _display(self.options.model)

    @property
    def weights(self) -> tuple[str, ...]:
        """The checkpoint, unless the model is a file of the user's."""
        return () if _is_path(self.options.model) else (self.options.model,)

    @property
    def sampling(self) -> None:
        """None: no pixels."""
        return None

    @property
    def native_video(self) -> bool:
        """False: there is no video."""
        return False

    @property
    def context_tokens(self) -> int:
        """As in the options, but no more than the model was trained for.

        Raises:
            WeightsError: the model cannot be fetched or loaded.
        """
        try:
            return self._loaded().context_tokens
        except ModelUnavailable as error:
            raise WeightsError(str(error)) from error

    def count_tokens(self, text: str) -> int:
        """By the model's own tokenizer.

        Raises:
            WeightsError: the model cannot be fetched or loaded.
        """
        try:
            return len(self._loaded().tokenize(text))
        except ModelUnavailable as error:
            raise WeightsError(str(error)) from error

    def count(self, request: Request) -> TokenCount:
        """By the model's own tokenizer and chat template, of what it would read.

        Raises:
            WeightsError: the model cannot be fetched or loaded.
        """
        try:
            server = self._loaded()
            if request.options:
                given, _ = _scored(request)
                return TokenCount(len(server.chat(given)) + len(server.tokenize(_OPENING)))
            return TokenCount(len(server.chat(_words(request.parts))))
        except ModelUnavailable as error:
            raise WeightsError(str(error)) from error

    def egress(self, request: Request) -> None:
        """None: nothing leaves this machine."""

    def answer(self, request: Request) -> Answer | Failure:
        """Choose among the options by likelihood, or answer freely."""
        try:
            server = self._loaded()
            if request.options:
                return self._choose(server, request)
            return self._speak(server, request)
        except (ModelUnavailable, WeightsError) as error:
            return Failure(FailureKind.UNAVAILABLE, str(error), self.name, request=record(request))

    def close(self) -> None:
        """Free the model."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _loaded(self) -> LlamaServer:
        if self._server is None:
            path, sha256 = _file(self.options.model)
            self._revision = f"{self.name} (sha256 {sha256[:12]})"
            self._server = LlamaServer(path, self.options.context_tokens, self.options.threads)
        return self._server

    def _speak(self, server: LlamaServer, request: Request) -> Answer | Failure:
        prompt = server.chat(_words(request.parts))
        sent = record(request, TokenCount(len(prompt)))
        if failure := self._too_long(
            server.context_tokens, len(prompt), request.max_new_tokens, sent
        ):
            return failure
        said = server.complete(prompt, request.max_new_tokens, request.temperature, request.seed)
        text = said.text.strip()
        if not text:
            reason = "The model ended its turn without a word."
            return Failure(FailureKind.TRUNCATED, reason, self._revision, request=sent)
        usage = {
            "prompt_tokens": len(prompt),
            "completion_tokens": said.tokens,
            "finish_reason": "stop" if said.complete else "length",
        }
        return Answer(
            text,
            self._revision,
            sees_video=False,
            request=sent,
            usage=usage,
            complete=said.complete,
        )

    def _choose(self, server: LlamaServer, request: Request) -> Answer | Failure:
        given, prior = _scored(request)
        opening = server.tokenize(_OPENING)
        prompt = [*server.chat(given), *opening]
        options = [server.tokenize(f" {option.strip()}") for option in request.options]
        count = TokenCount(len(prompt))
        sent = record(request, count, scored_prompt=given, opening=_OPENING)
        if failure := self._too_long(
            server.context_tokens, len(prompt), max(map(len, options)), sent
        ):
            return failure
        likelihoods = [sum(each) for each in server.log_likelihoods(prompt, options)]
        priors = [0.0] * len(options)
        if prior != given:
            without = [*server.chat(prior), *opening]
            priors = [sum(each) for each in server.log_likelihoods(without, options)]
        lengths = [len(option) for option in options]
        values = [
            (given_cues - unaided) / max(1, length)
            for given_cues, unaided, length in zip(likelihoods, priors, lengths, strict=True)
        ]
        columns = (request.options, likelihoods, priors, lengths, _softmax(values))
        scores = tuple(OptionScore(*row) for row in zip(*columns, strict=True))
        best = values.index(max(values))
        return Answer(
            request.options[best],
            self._revision,
            sees_video=False,
            option=best,
            option_scores=scores,
            request=sent,
            usage={"prompt_tokens": len(prompt)},
        )

    def _too_long(
        self, context: int, prompt: int, new: int, sent: dict[str, object]
    ) -> Failure | None:
        if prompt + new <= context:
            return None
        whose = "context_tokens" if context == self.options.context_tokens else "the model's"
        reason = (
            f"The prompt has {prompt} tokens and the answer may have {new}; the context holds "
            f"{context} ({whose})."
        )
        return Failure(FailureKind.TOO_LONG, reason, self._revision, request=sent)


def _words(parts: Sequence[Part]) -> str:
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


def _softmax(scores: list[float]) -> list[float]:
    highest = max(scores)
    weights = [math.exp(score - highest) for score in scores]
    return [weight / sum(weights) for weight in weights]


def _is_path(model: str) -> bool:
    return model.endswith(_GGUF) or Path(model).name != model


def _display(model: str) -> str:
    return Path(model).name if _is_path(model) else model


def _file(model: str) -> tuple[Path, str]:
    """The GGUF file and its sha256."""
    if not _is_path(model):
        from perception import weights

        return weights.path(model), weights.sha256(model)
    path = Path(model).expanduser()
    try:
        with path.open("rb") as file:
            return path, hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(f"Cannot read the model {model!r}: {error}.") from error


def build(options: Options) -> Embedded:
    """The model, not loaded yet.

    Raises:
        UnknownName: the manifest has no language model of that name.
        BadInput: the GGUF file does not exist.
    """
    if _is_path(options.model):
        if not Path(options.model).expanduser().is_file():
            raise BadInput(f"There is no model file {options.model!r}; give a GGUF file.")
    else:
        from perception import weights

        known = weights.checkpoints()
        models = [name for name, each in known.items() if each.files[0].name.endswith(_GGUF)]
        if options.model not in models:
            raise UnknownName("language model", options.model, models)
    return Embedded(options)
