"""A GGUF model run by llama.cpp in this process: tokens, exact log likelihoods, free text, and
prompts with pictures where a projector is loaded beside it.

``xllamacpp`` starts llama.cpp's own server on a free port of 127.0.0.1, behind a key that only
this object knows; no other door gives token ids and log probabilities.

**Same request, same answer.** llama.cpp rounds differently when it reads a token alone and when it
reads it in a batch, and its cache decides which happens: log probabilities move by up to 0.18.
Here every prompt is read anew from its first token up to its last but one, and everything after
that one token at a time, so that the cache only ever holds what would be computed again alike. A
prompt with pictures is read anew as a whole each time.
"""

from __future__ import annotations

import base64
import http.client
import json
import math
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reasoning.llama.interrupts import held_back
from reasoning.llama.start import ModelUnavailable, start

__all__ = ["Completion", "LlamaServer", "ModelUnavailable", "Seen"]

_TIMEOUT_S = 900.0
"""For one call; 8192 tokens of prompt on a core that is busy otherwise took under 300 s."""

_FORCED = 1e4
"""Logit bias that makes the wanted token win. The log probability that the server reports is taken
before the bias (measured: " Paris" after "The capital of France is", -0.2589 with and without)."""


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


@dataclass(frozen=True, slots=True)
class Seen:
    """A prompt with pictures, ready to be read.

    Args:
        text: with special tokens, and the server's own mark where a picture stands.
        pictures: base64 of JPEG files, in order.
        tokens: its length, those of the pictures included.
    """

    text: str
    pictures: tuple[str, ...]
    tokens: int


class LlamaServer:
    """One model in memory. Calls from several threads take turns.

    Args:
        model: a GGUF file.
        context_tokens: prompt and continuation together; 23 KB of memory a token for
            SmolLM2-135M.
        threads: of llama.cpp. One is best beside busy neighbours: two fell from 50 tokens a
            second to 1, spinning. No more than the machine has cores are used.
        projector: a GGUF file that makes tokens of pictures for this model; None = text only.

    Attributes:
        context_tokens: the same, but no more than the model was trained on.

    Raises:
        ModelUnavailable: no GGUF file, or one that llama.cpp cannot load; or this machine's
            loopback interface is down.
        KeyboardInterrupt: one came while the model was loaded; it is raised when that is done.
    """

    def __init__(
        self, model: Path, context_tokens: int, threads: int = 1, projector: Path | None = None
    ) -> None:
        self._lock = threading.Lock()
        self._key = secrets.token_hex(16)
        with held_back():  # a server closed before its loop runs never returns
            self._server: Any = start(model, projector, context_tokens, threads, self._key)
            self._address = urlsplit(self._server.listening_address).netloc
            self.complete([0], max_tokens=1)
        running = self._request("/props")
        trained = int(running["default_generation_settings"]["n_ctx"])
        self.context_tokens = min(context_tokens, trained)
        if projector is not None and not running["modalities"]["vision"]:
            raise ModelUnavailable(f"The projector {str(projector)!r} makes nothing of pictures.")

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
        before, after = self._turn()
        opening = self.tokenize(before, is_template=True)
        closing = self.tokenize(after, is_template=True) if after else []
        return [*opening, *self.tokenize(text.strip()), *closing]

    def chat_text(self, text: str) -> str:
        """``chat`` as a person reads it: special tokens by their names."""
        before, after = self._turn()
        return before + text.strip() + after

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
        self,
        prompt: Sequence[int],
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Let the model go on after ``prompt``, held to JSON of ``schema`` where one is given;
        greedy at temperature 0."""
        return self._said(list(prompt), max_tokens, temperature, seed, schema)

    def chat_seen(self, parts: Sequence[str | bytes]) -> Seen:
        """A user's turn of texts and pictures (JPEG files) in order, and the opening of the model's
        turn. A special token that stands in a text is spelled with a space in it."""
        pictures = [
            base64.b64encode(part).decode("ascii") for part in parts if isinstance(part, bytes)
        ]
        coming = iter(pictures)
        content = [
            {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{next(coming)}"}}
            if isinstance(part, bytes)
            else {"type": "text", "text": self._spelled_out(part)}
            for part in parts
        ]
        asked = {"messages": [{"role": "user", "content": content}]}
        text = str(self._post("/apply-template", asked)["prompt"])
        counted = self._post("/v1/chat/completions/input_tokens", asked)
        return Seen(text, tuple(pictures), int(counted["input_tokens"]))

    def complete_seen(
        self,
        prompt: Seen,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """The same after a prompt with pictures."""
        return self._said(_multimodal(prompt), max_tokens, temperature, seed, schema)

    def next_words(self, prompt: Seen) -> dict[str, float]:
        """What may come next after a prompt with pictures: ln p by the token's text, that of
        tokens of the same text but for spaces around it summed."""
        vocabulary = int(self._models()["meta"]["n_vocab"])
        with self._lock:
            reply = self._complete(
                _multimodal(prompt),
                n_predict=1,
                cache_prompt=False,
                temperature=0.0,
                n_probs=vocabulary,
            )
        found: dict[str, float] = {}
        for token in reply["completion_probabilities"][0]["top_logprobs"]:
            words = str(token["token"]).strip()
            found[words] = _log_sum(found.get(words, -math.inf), float(token["logprob"]))
        return found

    def close(self) -> None:
        """Free the model."""
        with self._lock:
            self._server = None

    def _said(
        self,
        prompt: list[int] | dict[str, Any],
        max_tokens: int,
        temperature: float,
        seed: int,
        schema: Mapping[str, Any] | None,
    ) -> Completion:
        settings: dict[str, Any] = {} if schema is None else {"json_schema": schema}
        with self._lock:
            reply = self._complete(
                prompt,
                n_predict=max_tokens,
                cache_prompt=False,
                temperature=temperature,
                seed=seed,
                **settings,
            )
        return Completion(
            text=str(reply["content"]),
            tokens=int(reply["tokens_predicted"]),
            complete=reply["stop_type"] != "limit",
        )

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

    def _turn(self) -> tuple[str, str]:
        """What the chat template puts before and after a user's words."""
        mark = f"mark{self._key}"
        message = {"role": "user", "content": mark}
        prompt = str(self._post("/apply-template", {"messages": [message]})["prompt"])
        before, found, after = prompt.partition(mark)
        if not found:
            raise ModelUnavailable("The model's chat template does not print the user's words.")
        return before, after

    def _spelled_out(self, text: str) -> str:
        """``text`` in which the tokenizer finds no special token: "<|im_end|>" is "< |im_end|>"."""
        readable = text.encode("utf-8", "replace").decode("utf-8")
        while True:
            wish = {"content": readable, "parse_special": True, "with_pieces": True}
            found = self._post("/tokenize", wish)["tokens"]
            plain = set(self.tokenize(readable))
            suspects = {str(each["piece"]): each["id"] for each in found if each["id"] not in plain}
            special = [
                piece
                for piece, id in suspects.items()
                if len(piece) > 1 and piece in readable and self.tokenize(piece) != [id]
            ]
            if not special:
                return readable
            for piece in special:
                readable = readable.replace(piece, f"{piece[0]} {piece[1:]}")

    def _models(self) -> Mapping[str, Any]:
        with self._lock:
            model: Mapping[str, Any] = self._request("/v1/models")["data"][0]
        return model

    def _complete(self, prompt: list[int] | dict[str, Any], **settings: Any) -> Mapping[str, Any]:
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


def _multimodal(prompt: Seen) -> dict[str, Any]:
    return {"prompt_string": prompt.text, "multimodal_data": list(prompt.pictures)}


def _log_sum(left: float, right: float) -> float:
    """ln(exp(left) + exp(right))."""
    high, low = max(left, right), min(left, right)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
