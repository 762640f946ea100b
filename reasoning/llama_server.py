"""A GGUF model run by llama.cpp in this process: tokens, exact log likelihoods, free text.

``xllamacpp`` starts llama.cpp's own server on a free port of 127.0.0.1, behind a key that only
this object knows; no other door gives token ids and log probabilities.

**Same request, same answer.** llama.cpp rounds differently when it reads a token alone and when it
reads it in a batch, and its cache decides which happens: log probabilities move by up to 0.18.
Here every prompt is read anew from its first token up to its last but one, and everything after
that one token at a time, so that the cache only ever holds what would be computed again alike.
"""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from perception.errors import CuelightError
from perception.limits import usable_threads

__all__ = ["Completion", "LlamaServer", "ModelUnavailable"]

_TIMEOUT_S = 900.0
"""For one call; 8192 tokens of prompt on a core that is busy otherwise took under 300 s."""

_FORCED = 1e4
"""Logit bias that makes the wanted token win. The log probability that the server reports is taken
before the bias (measured: " Paris" after "The capital of France is", -0.2589 with and without)."""

_LOOPBACK = "127.0.0.1"

_LOOPBACK_TIMEOUT_S = 5.0

_GGUF_MAGIC = b"GGUF"


class ModelUnavailable(CuelightError):
    """The model could not be loaded, or its server stopped."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model went on to say.

    Args:
        tokens: how many it made.
        complete: False when the limit cut it off.
    """

    text: str
    tokens: int
    complete: bool


class LlamaServer:
    """One model in memory. Calls from several threads take turns.

    Args:
        model: a GGUF file.
        context_tokens: prompt and continuation together; 23 KB of memory a token for
            SmolLM2-135M.
        threads: of llama.cpp. One is best beside busy neighbours: two fell from 50 tokens a
            second to 1, spinning. No more than the machine has cores are used.

    Attributes:
        context_tokens: the same, but no more than the model was trained on.

    Raises:
        ModelUnavailable: no GGUF file, or one that llama.cpp cannot load; or this machine's
            loopback interface is down.
    """

    def __init__(self, model: Path, context_tokens: int, threads: int = 1) -> None:
        self._lock = threading.Lock()
        self._key = secrets.token_hex(16)
        self._server: Any = _start(model, context_tokens, threads, self._key)
        self._address = urlsplit(self._server.listening_address).netloc
        self.complete([0], max_tokens=1)  # a server closed before its loop runs never returns
        running = self._request("/props")["default_generation_settings"]
        self.context_tokens = min(context_tokens, int(running["n_ctx"]))

    def tokenize(self, text: str, *, is_template: bool = False) -> list[int]:
        """Token ids. Only a template's own text may hold special tokens (``<|im_end|>``); in any
        other text such a string is spelled out, so that nothing quoted can end a turn. What is no
        character (half of a surrogate pair) is read as a question mark."""
        content = text.encode("utf-8", "replace").decode("utf-8")
        wish = {"content": content, "add_special": is_template, "parse_special": is_template}
        reply = self._post("/tokenize", wish)
        return [int(token) for token in reply["tokens"]]

    def chat(self, text: str) -> list[int]:
        """Token ids of a user's turn of ``text`` and the opening of the model's turn, by the
        chat template inside the GGUF file."""
        mark = f"mark{self._key}"
        message = {"role": "user", "content": mark}
        prompt = str(self._post("/apply-template", {"messages": [message]})["prompt"])
        before, found, after = prompt.partition(mark)
        if not found:
            raise ModelUnavailable("The model's chat template does not print the user's words.")
        opening = self.tokenize(before, is_template=True)
        closing = self.tokenize(after, is_template=True) if after else []
        return [*opening, *self.tokenize(text.strip()), *closing]

    def log_likelihoods(
        self, prompt: Sequence[int], continuations: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """For each continuation, ln p(token | prompt, its earlier tokens) for each of its tokens.

        Token ids in, of which ``prompt`` has at least two. Continuations may share beginnings.
        """
        with self._lock:
            self._complete(list(prompt[:-1]), n_predict=0, cache_prompt=False)
            return [
                [
                    self._log_probability([*prompt, *continuation[:done]], token)
                    for done, token in enumerate(continuation)
                ]
                for continuation in continuations
            ]

    def complete(
        self, prompt: Sequence[int], max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Completion:
        """Let the model go on after ``prompt``; greedy at temperature 0."""
        with self._lock:
            reply = self._complete(
                list(prompt),
                n_predict=max_tokens,
                cache_prompt=False,
                temperature=temperature,
                seed=seed,
            )
        return Completion(
            text=str(reply["content"]),
            tokens=int(reply["tokens_predicted"]),
            complete=reply["stop_type"] != "limit",
        )

    def close(self) -> None:
        """Free the model."""
        with self._lock:
            self._server = None

    def _log_probability(self, prompt: list[int], token: int) -> float:
        reply = self._complete(
            prompt,
            n_predict=1,
            cache_prompt=True,
            temperature=0.0,
            n_probs=1,
            logit_bias=[[token, _FORCED]],
        )
        chosen = reply["completion_probabilities"][0]
        if chosen["id"] != token:
            raise ModelUnavailable(
                f"llama.cpp chose token {chosen['id']} where {token} was forced; "
                "this version of xllamacpp cannot score options."
            )
        return float(chosen["logprob"])

    def _complete(self, prompt: list[int], **settings: Any) -> Mapping[str, Any]:
        return self._request("/completion", {"prompt": prompt, **settings})

    def _post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            return self._request(path, body)

    def _request(self, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """One call on a connection of its own: the server drops those that idle for 5 s."""
        method, content = ("GET", None) if body is None else ("POST", json.dumps(body))
        if self._server is None:
            raise ModelUnavailable("The model was closed before it was asked.")
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        connection = http.client.HTTPConnection(self._address, timeout=_TIMEOUT_S)
        try:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            reply: Mapping[str, Any] = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelUnavailable(f"llama.cpp did not reply: {error}.") from error
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            detail = reply.get("error", {}).get("message", reply)
            raise ModelUnavailable(f"llama.cpp refused {path} ({response.status}): {detail}.")
        return reply


def _start(model: Path, context_tokens: int, threads: int, key: str) -> Any:
    _check_is_gguf(model)
    _check_loopback()
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.hostnames = [_LOOPBACK]
    settings.port = 0
    settings.api_keys = [key]
    settings.ui = False
    settings.endpoint_slots = False
    settings.verbosity = 0
    settings.n_ctx = context_tokens
    settings.n_gpu_layers = 0
    settings.fit_params = False
    settings.warmup = False
    settings.n_parallel = 1
    settings.cache_ram_mib = 0
    settings.n_ctx_checkpoints = 0
    settings.ctx_shift = False
    for pool in (settings.cpuparams, settings.cpuparams_batch):
        pool.n_threads = usable_threads(threads)
        pool.poll = 0
    settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    try:
        return xllamacpp.Server(settings)
    except (RuntimeError, ValueError) as error:
        raise ModelUnavailable(
            f"llama.cpp cannot load {str(model)!r}: {str(error).rstrip(chr(46))}."
        ) from error


def _check_loopback() -> None:
    """Without it llama.cpp's server waits for itself for ever."""
    try:
        with (
            socket.create_server((_LOOPBACK, 0)) as listening,
            socket.create_connection(listening.getsockname(), _LOOPBACK_TIMEOUT_S),
        ):
            pass
    except OSError as error:
        raise ModelUnavailable(
            f"The model is spoken to over {_LOOPBACK}, and this machine's loopback interface does "
            f"not work ({error.strerror or error}); bring it up, e.g. with: ip link set lo up."
        ) from error


def _check_is_gguf(model: Path) -> None:
    try:
        with model.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise ModelUnavailable(f"Cannot read the model {str(model)!r}: {error}.") from error
    if magic != _GGUF_MAGIC:
        raise ModelUnavailable(f"{str(model)!r} is not a GGUF file: it starts with {magic!r}.")
