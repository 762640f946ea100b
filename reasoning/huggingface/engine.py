"""Log likelihoods and greedy or sampled words from one prompt, with a prefix that is read once.

**Same request, same answer.** A prompt with frames is always read in two pieces, cut behind its
last vision token: first the prefix (instruction, frames, cues that stand before or between them),
then the rest. The prefix of the last prompt is kept, and used again where the next one begins with
the very same tokens and pixels. Since a cold prompt is cut at the same token, and the pieces go
through the same arithmetic, a kept prefix changes no bit of what follows.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import inspect
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reasoning.huggingface.layout import Prepared
from reasoning.huggingface.loading import Loaded

__all__ = ["Engine", "Said"]


@dataclass(frozen=True, slots=True)
class Said:
    """What the model went on to say.

    Args:
        ids: of the new tokens, without the one that ended the turn.
        complete: False when the limit cut it off.
    """

    ids: tuple[int, ...]
    complete: bool


@dataclass(slots=True, eq=False)
class _Read:
    """A prompt that was read: its keys and values, and the logits [vocabulary] behind it."""

    cache: Any
    length: int
    position: int
    logits: Any


class Engine:
    """Runs one loaded model; ``loaded.turn`` is held by whoever calls.

    Args:
        loaded: the model.
        prefixes: how many prefixes are kept; one takes as much memory as the prompt's keys and
            values (57 KB a token for Qwen2.5-VL-7B in bfloat16).

    Attributes:
        prefixes_read: how many prefixes were read and not found kept.
    """

    def __init__(self, loaded: Loaded, prefixes: int = 1) -> None:
        self._loaded, self._room = loaded, prefixes
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self.prefixes_read = 0
        self._index = getattr(loaded.model.model, "get_rope_index", None)
        takes = inspect.signature(loaded.model.forward).parameters
        self._takes_last_only = "logits_to_keep" in takes
        self._cache_name = "cache" if "cache" in takes else "past_key_values"

    def close(self) -> None:
        """Free the kept prefixes."""
        self._kept.clear()
        self._loaded.processor.video_processor.forget()
        if self._loaded.device.type == "cuda":
            self._loaded.torch.cuda.empty_cache()

    def log_likelihoods(
        self, prepared: Prepared, continuations: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """For each continuation, ln p(token | prompt, its earlier tokens) of each of its tokens."""
        with self._reading(prepared) as read:
            return [self._log_likelihood(read, continuation) for continuation in continuations]

    def say(
        self, prepared: Prepared, limit: int, temperature: float, seed: int, ends: Sequence[int]
    ) -> Said:
        """Go on for at most ``limit`` tokens, greedy at temperature 0; ``ends`` end the turn."""
        said = list[int]()
        with self._reading(prepared) as read:
            for token in self._tokens(read, temperature, seed):
                if token in ends:
                    return Said(tuple(said), complete=True)
                said.append(token)
                if len(said) == limit:
                    break
        return Said(tuple(said), complete=False)

    @contextlib.contextmanager
    def _reading(self, prepared: Prepared) -> Iterator[_Read]:
        """The prompt, read; what the block reads behind it is taken back from the kept prefix."""
        with self._loaded.torch.inference_mode():
            try:
                read = self._read(prepared)
                yield read
            except BaseException:
                self._kept.clear()
                raise
            if _can_be_cropped(read.cache):
                _crop(read.cache, prepared.cut)

    def _log_likelihood(self, read: _Read, continuation: Sequence[int]) -> list[float]:
        torch = self._loaded.torch
        branch, values = read, list[float]()
        if len(continuation) > 1 and not _can_be_cropped(read.cache):
            branch = replace(read, cache=copy.deepcopy(read.cache))
        for done, token in enumerate(continuation):
            logits = (
                branch.logits if done == 0 else self._step(branch, done - 1, continuation[done - 1])
            )
            values.append(float(torch.log_softmax(logits.double(), -1)[token]))
        if branch is read and len(continuation) > 1:
            _crop(read.cache, read.length)
        return values

    def _tokens(self, read: _Read, temperature: float, seed: int) -> Iterator[int]:
        torch = self._loaded.torch
        random = torch.Generator().manual_seed(seed)
        logits, done = read.logits, 0
        while True:
            if temperature > 0:
                shares = torch.softmax(logits.double() / temperature, -1)
                token = int(torch.multinomial(shares, 1, generator=random))
            else:
                token = int(logits.argmax())
            yield token
            logits = self._step(read, done, token)
            done += 1

    def positions(self, prepared: Prepared) -> Any:
        """Rotary positions [3, 1, n] of all tokens at once, so that a prompt read in two pieces has
        those of one read whole; None for a model that counts its tokens."""
        if self._index is None or not prepared.pieces:
            return None
        return self._index(input_ids=prepared.ids, **prepared.pieces)[0]

    def _read(self, prepared: Prepared) -> _Read:
        """The whole prompt, its prefix from memory where it is kept."""
        positions = self.positions(prepared)
        cache = self._prefix(prepared, positions)
        length = prepared.ids.shape[1]
        logits = self._forward(prepared, positions, (prepared.cut, length), cache)
        position = length if positions is None else int(positions.max()) + 1
        return _Read(cache, length, position, logits)

    def _prefix(self, prepared: Prepared, positions: Any) -> Any:
        """Keys and values of the prefix, to go on from; an empty cache where there is none."""
        if not prepared.cut:
            return self._empty()
        key = _key(prepared)
        cache = self._kept.pop(key, None)
        if cache is None:
            while self._kept and len(self._kept) >= self._room:
                self._kept.popitem(last=False)
            cache = self._empty()
            self._forward(prepared, positions, (0, prepared.cut), cache)
            self.prefixes_read += 1
        if self._room:
            self._kept[key] = cache
        return cache if _can_be_cropped(cache) else copy.deepcopy(cache)

    def _empty(self) -> Any:
        from transformers import DynamicCache

        return DynamicCache(config=self._loaded.model.config.get_text_config())

    def _forward(
        self, prepared: Prepared, positions: Any, span: tuple[int, int], cache: Any
    ) -> Any:
        """Read a span of the tokens behind what ``cache`` holds; logits [vocabulary] of the
        last."""
        loaded, (start, end) = self._loaded, span
        inputs: dict[str, Any] = {}
        if start == 0:
            inputs = {name: self._placed(value) for name, value in prepared.vision.items()}
        if positions is not None:
            inputs["position_ids"] = positions[:, :, start:end].to(loaded.device)
        return self._logits(prepared.ids[:, start:end].to(loaded.device), cache, inputs)

    def _step(self, read: _Read, done: int, token: int) -> Any:
        """The logits behind one more token, the ``done``-th after the prompt."""
        torch, device = self._loaded.torch, self._loaded.device
        inputs: dict[str, Any] = {}
        if read.position != read.length:
            inputs["position_ids"] = torch.full((3, 1, 1), read.position + done, device=device)
        return self._logits(torch.tensor([[token]], device=device), read.cache, inputs)

    def _logits(self, ids: Any, cache: Any, inputs: dict[str, Any]) -> Any:
        model = self._loaded.model
        settings = {self._cache_name: cache, "use_cache": True, **inputs}
        if self._takes_last_only:
            logits = model(input_ids=ids, logits_to_keep=1, **settings).logits
        else:
            hidden = model.model(input_ids=ids, **settings)[0][:, -1:]
            logits = model.get_output_embeddings()(hidden)
        return logits[0, -1].float().cpu()

    def _placed(self, value: Any) -> Any:
        if not hasattr(value, "to"):
            return value
        value = value.to(self._loaded.device)
        return value.to(self._loaded.model.dtype) if value.is_floating_point() else value


def _can_be_cropped(cache: Any) -> bool:
    """Whether all layers keep all tokens. Others are copied before they are read on from."""
    return all(type(layer).__name__ == "DynamicLayer" for layer in cache.layers)


def _crop(cache: Any, length: int) -> None:
    """Take back what was read behind ``length`` tokens."""
    over = cache.get_seq_length() - length
    if over > 0:
        cache.crop(-over)


def _key(prepared: Prepared) -> str:
    """Of the prefix: its tokens and its pixels."""
    tokens = hashlib.blake2b(prepared.ids[0, : prepared.cut].numpy().tobytes(), digest_size=16)
    return f"{prepared.video} {tokens.hexdigest()}"
