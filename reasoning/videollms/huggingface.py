"""VideoLLMs of Hugging Face in this process, by transformers: they see the frames.

Qwen2.5-VL, Qwen3-VL, LLaVA-OneVision, InternVL3, VideoLLaMA3, SmolVLM2 and whatever else
``AutoModelForImageTextToText`` loads with a processor that takes video. Each is handed the sampled
frames with their presentation times in the way that it was trained on (``huggingface.families``).
Presets with the papers' settings are in ``configs/models``; ``cuelight models`` lists them.

Options are scored: the prompt lists them by letter, and an option's value is the log likelihood of
its letter as the reply. Several questions about one video share its decoded frames, its prepared
pixels and the prefix of the prompt up to the last vision token (``huggingface.engine``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perception.errors import BadInput, WeightsError
from reasoning.answer import Answer, Failure, FailureKind, OptionScore
from reasoning.huggingface.engine import Engine
from reasoning.huggingface.layout import Layout, Prepared
from reasoning.huggingface.loading import Checkpoint, Loaded, is_commit, load
from reasoning.huggingface.options import Options
from reasoning.huggingface.refusals import out_of_memory
from reasoning.outgoing import frame_times, record
from reasoning.prompt import CHOOSE, letter
from reasoning.videollm import FrameSampling, Request, TokenCount

__all__ = ["HuggingFace", "Options", "build"]


class HuggingFace:
    """The model at work; its processor is loaded when a prompt is counted, its weights when it is
    asked."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._at_hand: tuple[Loaded, Layout] | None = None
        self._engine: Engine | None = None
        self._prepared: tuple[Request, Prepared] | None = None

    @property
    def name(self) -> str:
        """The repository or folder, with its commit once that is known."""
        commit = self._at_hand[0].commit if self._at_hand else ""
        return f"{self.options.model}@{commit[:12]}" if commit else self.options.model

    @property
    def weights(self) -> tuple[str, ...]:
        """None of ours: transformers fetches them into its own cache."""
        return ()

    @property
    def sampling(self) -> FrameSampling | None:
        """As in the options."""
        options = self.options
        if not options.frame_rate_hz:
            return None
        return FrameSampling(
            options.frame_rate_hz, options.max_frames, options.max_side_px, options.uniform_frames
        )

    @property
    def native_video(self) -> bool:
        """Whether the family's processor tells the model the times; False where none can be had,
        which the answer will say."""
        try:
            return self._loaded()[1].family.native_video
        except WeightsError:
            return False

    @property
    def context_tokens(self) -> int | None:
        """As in the options, else what the model was trained for."""
        if self.options.context_tokens:
            return self.options.context_tokens
        config = self._loaded()[0].config.get_text_config()
        trained = getattr(config, "max_position_embeddings", None)
        return int(trained) if trained else None

    def count_tokens(self, text: str) -> int:
        """By the model's own tokenizer."""
        return self._loaded()[1].count_tokens(text)

    def count(self, request: Request) -> TokenCount:
        """By the model's own processor, vision tokens and chat template included."""
        return TokenCount(int(self.prepare(request).ids.shape[1]))

    def prepare(self, request: Request) -> Prepared:
        """What the model would be given: token ids and pixel tensors.

        Raises:
            MissingExtra, BadInput: as ``loading.load``; words between frames that take none.
            WeightsError: the processor cannot be fetched.
        """
        loaded, layout = self._loaded()
        with loaded.turn:
            if self._prepared is None or self._prepared[0] is not request:
                closing = CHOOSE if request.options else ""
                self._prepared = request, layout.prepare(request.parts, closing)
            return self._prepared[1]

    def egress(self, request: Request) -> None:
        """None: nothing leaves this machine."""

    def draft(self, request: Request) -> dict[str, Any]:
        """The text that the model would read, vision tokens as how many, and the tensors' shapes.

        Raises:
            MissingExtra, BadInput, WeightsError: as ``prepare``.
        """
        prepared = self.prepare(request)
        return {
            "model": self.name,
            "text": self._loaded()[1].shown(prepared),
            "tensors": {
                name: list(value.shape)
                for name, value in prepared.vision.items()
                if hasattr(value, "shape")
            },
        }

    def answer(self, request: Request) -> Answer | Failure:
        """Choose among the options by likelihood, or answer freely.

        Raises:
            MissingExtra, BadInput: as ``prepare``.
        """
        sent = record(request)
        try:
            prepared = self.prepare(request)
            sent = record(request, self.count(request))
            if failure := self._too_long(request, prepared, sent):
                return failure
            with self._loaded()[0].turn:
                sent = self._record(request, prepared)
                if request.options:
                    return self._choose(request, prepared, sent)
                return self._speak(request, prepared, sent)
        except WeightsError as error:
            reason = str(error)
        except (RuntimeError, MemoryError) as error:
            reason = f"{self.name} failed: {' '.join(str(error).split())}"
            if out_of_memory(error):
                reason = self._full(request)
        return Failure(FailureKind.UNAVAILABLE, reason, self.name, request=sent)

    def close(self) -> None:
        """Free the model, unless somebody else in this process holds it too."""
        if self._engine is not None:
            self._engine.close()
        self._at_hand = self._engine = self._prepared = None

    def _at_work(self) -> Engine:
        if self._engine is None:
            self._engine = Engine(self._loaded()[0], self.options.prefixes)
        return self._engine

    def _loaded(self) -> tuple[Loaded, Layout]:
        if self._at_hand is None:
            options = self.options
            loaded = load(
                Checkpoint(
                    options.model,
                    options.revision,
                    options.trust_remote_code,
                    options.device,
                    options.dtype,
                    options.quantize_bits,
                    options.attention,
                )
            )
            self._at_hand = loaded, Layout(loaded, options.video_settings)
        return self._at_hand

    def _record(self, request: Request, prepared: Prepared) -> dict[str, Any]:
        loaded, _ = self._loaded()
        options = self.options
        grid = prepared.vision.get("video_grid_thw")
        return record(
            request,
            TokenCount(int(prepared.ids.shape[1])),
            model=options.model,
            revision=loaded.commit or options.revision,
            family=loaded.family,
            device=str(loaded.device),
            dtype=loaded.dtype,
            quantize_bits=options.quantize_bits,
            attention=options.attention,
            video_settings=dict(options.video_settings),
            video_grid=None if grid is None else grid[0].tolist(),
            prefix_tokens=prepared.cut,
            opening=prepared.opening,
            closing=CHOOSE if request.options else "",
        )

    def _too_long(
        self, request: Request, prepared: Prepared, sent: Mapping[str, Any]
    ) -> Failure | None:
        tokens, context = int(prepared.ids.shape[1]), self.context_tokens
        new = 1 if request.options else request.max_new_tokens
        if context is None or tokens + new <= context:
            return None
        reason = (
            f"The prompt has {tokens} tokens and the answer may have {new}; the model's context "
            f"holds {context}."
        )
        return Failure(FailureKind.TOO_LONG, reason, self.name, request=sent)

    def _choose(self, request: Request, prepared: Prepared, sent: Mapping[str, Any]) -> Answer:
        loaded, engine = self._loaded()[0], self._at_work()
        tokenizer = loaded.processor.tokenizer
        last = tokenizer.decode(prepared.ids[0, -1:])
        space = "" if not last or last[-1].isspace() else " "
        letters = [
            list(tokenizer(f"{space}{letter(index)}", add_special_tokens=False)["input_ids"])
            for index in range(len(request.options))
        ]
        values = [sum(each) for each in engine.log_likelihoods(prepared, letters)]
        best = values.index(max(values))
        lengths = [len(each) for each in letters]
        rows = zip(request.options, values, lengths, _softmax(values), strict=True)
        scores = tuple(OptionScore(text, value, 0.0, n, share) for text, value, n, share in rows)
        return Answer(
            request.options[best],
            self.name,
            bool(frame_times(request)),
            option=best,
            option_scores=scores,
            request=sent,
            usage={"prompt_tokens": sent["prompt_tokens"]},
        )

    def _speak(
        self, request: Request, prepared: Prepared, sent: Mapping[str, Any]
    ) -> Answer | Failure:
        loaded, engine = self._loaded()[0], self._at_work()
        said = engine.say(
            prepared, request.max_new_tokens, request.temperature, request.seed, _ends(loaded)
        )
        text = loaded.processor.tokenizer.decode(said.ids, skip_special_tokens=True).strip()
        if not text:
            how = "ended its turn" if said.complete else "reached the limit of tokens"
            reason = f"The model {how} without a word."
            return Failure(FailureKind.TRUNCATED, reason, self.name, request=sent)
        usage = {
            "prompt_tokens": sent["prompt_tokens"],
            "completion_tokens": len(said.ids),
            "finish_reason": "stop" if said.complete else "length",
        }
        return Answer(
            text,
            self.name,
            bool(frame_times(request)),
            request=sent,
            usage=usage,
            complete=said.complete,
        )

    def _full(self, request: Request) -> str:
        frames = len(frame_times(request))
        return (
            f"The memory of {self._loaded()[0].device} is full: {self.name} with {frames} frames "
            f"does not fit. Take fewer frames (max_frames), smaller ones (video_settings), "
            f"quantize_bits=4, or prefixes=0."
        )


def _ends(loaded: Loaded) -> tuple[int, ...]:
    """Tokens that end the model's turn."""
    ends: set[int] = set()
    known = loaded.model.generation_config.eos_token_id
    for each in (known, loaded.processor.tokenizer.eos_token_id):
        ends |= set(each if isinstance(each, list) else [each])
    return tuple(sorted(each for each in ends if each is not None))


def _softmax(values: list[float]) -> list[float]:
    highest = max(values)
    weights = [math.exp(value - highest) for value in values]
    return [weight / sum(weights) for weight in weights]


def build(options: Options) -> HuggingFace:
    """The model, not loaded yet.

    Raises:
        BadInput: code of a repository shall run, and ``revision`` may name another state of it
            tomorrow.
    """
    local = Path(options.model).expanduser().is_dir()
    if options.trust_remote_code and not local and not is_commit(options.revision):
        raise BadInput(
            f"trust_remote_code runs Python code of {options.model!r}; give the commit that you "
            f"have read as its revision (40 hexadecimal digits), not {options.revision!r}."
        )
    return HuggingFace(options)
