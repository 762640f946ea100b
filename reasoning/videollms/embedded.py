"""A model inside this process (llama.cpp). The default one is a small text model: it reads the cues
and sees no pixels, and every answer says so. With a vision-language model and its projector, two
GGUF files of the user's, it sees frames.

Free answers of the default model (SmolLM2-135M-Instruct) are poor; it is usable for choosing among
given options by likelihood (``reasoning.llama.cue_reading``). Right of 48 questions about made-up
timelines, four options each (``python -m benchmarks.option_scoring``): 39 in this way; 38 without
dividing by the length; 32 by plain likelihood per token; 30 when all lines are read; 11 without
cues.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perception.errors import BadInput, UnknownName, WeightsError
from perception.limits import THREADS, check_limits
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.llama.cue_reading import CueReading
from reasoning.llama.picture_reading import PictureReading
from reasoning.llama.server import LlamaServer, ModelUnavailable
from reasoning.outgoing import record
from reasoning.videollm import FrameSampling, Request, TokenCount

__all__ = ["Embedded", "Options", "build"]

_GGUF = ".gguf"

_LIMITS = {
    "context_tokens": (128, 131_072),
    "threads": THREADS,
    "frame_rate_hz": (0.001, 1000),
    "max_frames": (1, 10_000),
    "frame_px": (0, 8192),
}
"""Less context holds no question with cues (with 1, llama.cpp ends the process); no small chat
model was trained on more."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which model, and how it runs.

    Args:
        model: a name in the manifest of checkpoints, or the path of a GGUF file of a chat model.
        projector: path of the GGUF file that makes tokens of pictures for this model (llama.cpp's
            ``mmproj``); empty = the model sees none.
        context_tokens: prompt and answer together, as far as the model was trained for so many; a
            longer prompt is *too long*.
        threads: of llama.cpp; no more than the machine has cores are used.
        frame_rate_hz, max_frames: of the frames that a model with a projector sees.
        frame_px: their longer side is scaled down to it; 0 = as they are.
    """

    model: str = "smollm2_135m_instruct"
    projector: str = ""
    context_tokens: int = 4096
    threads: int = 1
    frame_rate_hz: float = 1.0
    max_frames: int = 16
    frame_px: int = 512

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
    def sampling(self) -> FrameSampling | None:
        """As in the options with a projector, else None: no pixels."""
        options = self.options
        if not options.projector:
            return None
        return FrameSampling(options.frame_rate_hz, options.max_frames, options.frame_px)

    @property
    def native_video(self) -> bool:
        """False: the prompt lists the times of the pictures."""
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
            return TokenCount(self._read(request).tokens)
        except ModelUnavailable as error:
            raise WeightsError(str(error)) from error

    def egress(self, request: Request) -> None:
        """None: nothing leaves this machine."""

    def draft(self, request: Request) -> dict[str, Any]:
        """What the model would read.

        Raises:
            WeightsError: the model cannot be fetched or loaded.
        """
        try:
            return {"model": self.name, **self._read(request).draft()}
        except ModelUnavailable as error:
            raise WeightsError(str(error)) from error

    def answer(self, request: Request) -> Answer | Failure:
        """Choose among the options by likelihood, or answer freely."""
        try:
            reading = self._read(request)
            sent = record(request, TokenCount(reading.tokens), **reading.told)
            if failure := self._too_long(reading, sent):
                return failure
            if request.options:
                return self._choose(reading, request, sent)
            return self._speak(reading, sent)
        except (ModelUnavailable, WeightsError) as error:
            return Failure(FailureKind.UNAVAILABLE, str(error), self.name, request=record(request))

    def close(self) -> None:
        """Free the model."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _loaded(self) -> LlamaServer:
        if self._server is None:
            options, projector = self.options, None
            path, sha256 = _file(options.model)
            self._revision = f"{self.name} (sha256 {sha256[:12]})"
            if options.projector:
                projector, sha256 = _file(options.projector)
                self._revision += f" with {projector.name} (sha256 {sha256[:12]})"
            self._server = LlamaServer(path, options.context_tokens, options.threads, projector)
        return self._server

    def _read(self, request: Request) -> CueReading | PictureReading:
        server = self._loaded()
        if self.options.projector:
            return PictureReading(server, request, self.options.frame_px)
        return CueReading(server, request)

    def _speak(
        self, reading: CueReading | PictureReading, sent: dict[str, Any]
    ) -> Answer | Failure:
        said = reading.speak()
        text = said.text.strip()
        if not text:
            reason = "The model ended its turn without a word."
            return Failure(FailureKind.TRUNCATED, reason, self._revision, request=sent)
        usage = {
            "prompt_tokens": reading.tokens,
            "completion_tokens": said.tokens,
            "finish_reason": "stop" if said.complete else "length",
        }
        return Answer(
            text,
            self._revision,
            reading.sees_video,
            request=sent,
            usage=usage,
            complete=said.complete,
        )

    def _choose(
        self, reading: CueReading | PictureReading, request: Request, sent: dict[str, Any]
    ) -> Answer:
        scores = reading.choose()
        best = max(range(len(scores)), key=lambda index: scores[index].probability)
        return Answer(
            request.options[best],
            self._revision,
            reading.sees_video,
            option=best,
            option_scores=scores,
            request=sent,
            usage={"prompt_tokens": reading.tokens},
        )

    def _too_long(
        self, reading: CueReading | PictureReading, sent: dict[str, Any]
    ) -> Failure | None:
        context = self._loaded().context_tokens
        if reading.tokens + reading.reply_tokens <= context:
            return None
        whose = "context_tokens" if context == self.options.context_tokens else "the model's"
        reason = (
            f"The prompt has {reading.tokens} tokens and the answer may have "
            f"{reading.reply_tokens}; the context holds {context} ({whose})."
        )
        return Failure(FailureKind.TOO_LONG, reason, self._revision, request=sent)


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
        BadInput: a GGUF file does not exist, or the projector is given without a model for it.
    """
    if options.projector:
        if not _is_path(options.model):
            raise BadInput(
                f"The projector {options.projector!r} goes with the vision-language model that it "
                f"was made for, not with {options.model!r}; give that model's GGUF file too."
            )
        if not Path(options.projector).expanduser().is_file():
            raise BadInput(f"There is no projector file {options.projector!r}; give a GGUF file.")
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
