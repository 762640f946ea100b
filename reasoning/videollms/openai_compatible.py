"""Any server that speaks OpenAI's chat completions: OpenAI, vLLM, SGLang, llama.cpp, Ollama.

Frames go out as JPEG pictures between the instruction, which lists their times, and the cues.
Defaults are GPT-4o's of the seed's Appendix C.2: one frame a second, at most 64, 512×512, at most
128 new tokens, temperature 0. A server elsewhere than on this machine is only called after
``egress`` was shown to somebody (``reasoning.ask``).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from perception.errors import BadInput
from perception.limits import check_limits
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.chat_reply import chosen, said, schema
from reasoning.chat_server import ChatServer, NotAnswered
from reasoning.egress import Egress
from reasoning.jpeg import data_url
from reasoning.outgoing import frame_times, is_loopback, record
from reasoning.retry import RetryOptions
from reasoning.videollm import FrameSampling, Request, Text, TokenCount

__all__ = ["OpenAICompatible", "Options", "build"]

_OPENAI = "https://api.openai.com/v1"
_OPENAI_KEY = "OPENAI_API_KEY"

_BYTES_PER_TOKEN = 3
"""English has about four bytes a token (OpenAI's help pages); three makes it an upper bound."""

_PRICES_USD = {"gpt-4o": (2.5, 10.0), "gpt-4o-mini": (0.15, 0.6), "o3": (2.0, 8.0)}
"""OpenAI's list prices for a million prompt tokens and a million reply tokens (end of 2025)."""

_CHOOSE = "Reply with the letter of the right option and nothing else."

_LIMITS = {
    "frame_rate_hz": (0, 1000),
    "max_frames": (1, 10_000),
    "frame_px": (1, 8192),
    "jpeg_quality": (1, 100),
    "tokens_per_frame": (0, 1e6),
    "timeout_s": (0.001, 86_400),
    "usd_per_million_prompt_tokens": (0, 1e9),
    "usd_per_million_reply_tokens": (0, 1e9),
}
"""What makes sense at any server there is; mistakes in a digit lie beyond."""

_BAD_REQUEST = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Options:
    """Which server, which model, how it is asked.

    Args:
        model: as the server calls it.
        base_url: up to and with ``/v1``.
        api_key_variable: environment variable that holds the key; empty = ``OPENAI_API_KEY`` for
            a server elsewhere and no key for one on this machine.
        frame_rate_hz, max_frames: of the frames sent; a rate of 0 = no pictures.
        frame_px: pictures are frame_px × frame_px.
        keep_aspect: only the longer side is scaled, to ``frame_px``.
        jpeg_quality: 1 to 100.
        tokens_per_frame: by which a picture counts; 255 is GPT-4o's count for 512×512
            (85 + 170 for each tile of 512 px).
        structured: ask for JSON of a schema when there are options. A server that refuses it is
            asked without.
        send_temperature: False for reasoning models that take none (o3).
        max_tokens_field: what the server calls the limit; empty = ``max_completion_tokens`` at
            OpenAI, ``max_tokens`` elsewhere.
        timeout_s: of one try.
        retry: how often.
        usd_per_million_prompt_tokens, usd_per_million_reply_tokens: for the estimate of the cost;
            None = OpenAI's list price where the model is known.
    """

    model: str = "gpt-4o"
    base_url: str = _OPENAI
    api_key_variable: str = ""
    frame_rate_hz: float = 1.0
    max_frames: int = 64
    frame_px: int = 512
    keep_aspect: bool = False
    jpeg_quality: int = 90
    tokens_per_frame: int = 255
    structured: bool = True
    send_temperature: bool = True
    max_tokens_field: str = ""
    timeout_s: float = 120.0
    retry: RetryOptions = field(default_factory=RetryOptions)
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_reply_tokens: float | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadInput(
                f"base_url is {self.base_url!r}; give an http address, "
                "e.g. http://localhost:8000/v1."
            )
        if parts.username or parts.password:
            raise BadInput("base_url holds a name or password; put a key into the environment.")
        if not self.model:
            raise BadInput("The model's name is empty; give the one the server uses, e.g. gpt-4o.")
        check_limits(self, _LIMITS)


class OpenAICompatible:
    """A model behind a server."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._key_variable, self._key = _key(options)
        self._structured = options.structured
        self._server: ChatServer | None = None

    @property
    def name(self) -> str:
        """The model's name at the server."""
        return self.options.model

    @property
    def weights(self) -> tuple[str, ...]:
        """None: the model is at the server."""
        return ()

    @property
    def sampling(self) -> FrameSampling | None:
        """As in the options."""
        options = self.options
        if not options.frame_rate_hz:
            return None
        return FrameSampling(options.frame_rate_hz, options.max_frames, options.frame_px)

    @property
    def native_video(self) -> bool:
        """False: the prompt lists the times of the pictures."""
        return False

    @property
    def context_tokens(self) -> int | None:
        """None: only the server knows."""
        return None

    def count_tokens(self, text: str) -> int:
        """Estimated, rather too many: a token for every three bytes."""
        return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)

    def count(self, request: Request) -> TokenCount:
        """Estimated by ``count_tokens`` and ``tokens_per_frame``."""
        frames = len(frame_times(request)) * self.options.tokens_per_frame
        return TokenCount(self.count_tokens(request.prompt()) + frames, estimated=True)

    def egress(self, request: Request) -> Egress | None:
        """What ``answer`` would send away; None for a server on this machine."""
        if is_loopback(self.options.base_url):
            return None
        frames, tokens = len(frame_times(request)), self.count(request).tokens
        host = urlsplit(self.options.base_url).hostname or ""
        return Egress(host, frames, tokens, self._cost_usd(tokens, request.max_new_tokens))

    def answer(self, request: Request) -> Answer | Failure:
        """Call the server and read its reply.

        Raises:
            MissingExtra: the package ``openai`` is not installed.
            BadInput: the key is missing or refused, or the server has no such model.
        """
        if self._server is None:
            options = self.options
            self._server = ChatServer(
                options.base_url, self._key, self._key_variable, options.timeout_s, options.retry
            )
        reply = self._server.complete(self._body(request))
        if isinstance(reply, NotAnswered) and self._is_about_structure(reply, request):
            self._structured = False
            reply = self._server.complete(self._body(request))
        if isinstance(reply, NotAnswered):
            return Failure(reply.kind, reply.reason, self.name, request=self._record(request))
        return self._read(reply, request)

    def close(self) -> None:
        """Close the connections."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _cost_usd(self, prompt_tokens: int, reply_tokens: int) -> float | None:
        options = self.options
        prompt, reply = None, None
        if _at_openai(options) and self.name in _PRICES_USD:
            prompt, reply = _PRICES_USD[self.name]
        if options.usd_per_million_prompt_tokens is not None:
            prompt = options.usd_per_million_prompt_tokens
        if options.usd_per_million_reply_tokens is not None:
            reply = options.usd_per_million_reply_tokens
        if prompt is None or reply is None:
            return None
        return (prompt_tokens * prompt + reply_tokens * reply) / 1e6

    def _body(self, request: Request) -> dict[str, Any]:
        options = self.options
        limit = options.max_tokens_field or (
            "max_completion_tokens" if _at_openai(options) else "max_tokens"
        )
        body: dict[str, Any] = {
            "model": options.model,
            "messages": [{"role": "user", "content": self._content(request)}],
            "seed": request.seed,
        }
        if options.send_temperature:
            body["temperature"] = request.temperature
        if limit == "max_tokens" or limit == "max_completion_tokens":
            body[limit] = request.max_new_tokens
        else:
            body["extra_body"] = {limit: request.max_new_tokens}
        if request.options and self._structured:
            body["response_format"] = schema(request.options)
        return body

    def _content(self, request: Request) -> list[dict[str, Any]]:
        options = self.options
        content: list[dict[str, Any]] = []
        for part in request.parts:
            if isinstance(part, Text):
                content.append({"type": "text", "text": part.text})
                continue
            for frame in part.frames:
                url = data_url(frame, options.frame_px, options.jpeg_quality, options.keep_aspect)
                content.append({"type": "image_url", "image_url": {"url": url}})
        if request.options:
            content.append({"type": "text", "text": _CHOOSE})
        return content

    def _is_about_structure(self, reply: NotAnswered, request: Request) -> bool:
        return bool(request.options) and self._structured and reply.status in _BAD_REQUEST

    def _record(self, request: Request) -> dict[str, Any]:
        options = self.options
        return record(
            request,
            self.count(request),
            model=options.model,
            base_url=options.base_url,
            frame_px=options.frame_px,
            structured=bool(request.options) and self._structured,
            closing=_CHOOSE if request.options else "",
        )

    def _read(self, reply: Mapping[str, Any], request: Request) -> Answer | Failure:
        sent = self._record(request)
        model = str(reply.get("model") or self.name)
        words, ending, wrong = said(reply)
        if wrong is not None:
            return Failure(wrong[0], wrong[1], model, words, sent)
        used = reply.get("usage")
        usage = {**(used if isinstance(used, dict) else {}), "finish_reason": ending}
        sees_video = bool(frame_times(request))
        complete = ending != "length"
        if not request.options:
            return Answer(words, model, sees_video, request=sent, usage=usage, complete=complete)
        option = chosen(words, request.options)
        if option is None:
            kind = FailureKind.TRUNCATED if ending == "length" else FailureKind.UNPARSED
            reason = "The reply names none of the options, or more than one."
            return Failure(kind, reason, model, words, sent)
        text = request.options[option]
        return Answer(text, model, sees_video, option, request=sent, usage=usage)


def _at_openai(options: Options) -> bool:
    return urlsplit(options.base_url).hostname == urlsplit(_OPENAI).hostname


def _key(options: Options) -> tuple[str, str]:
    """The variable that was read and the key in it; two empty strings where none is needed."""
    if not options.api_key_variable and is_loopback(options.base_url):
        return "", ""
    variable = options.api_key_variable or _OPENAI_KEY
    key = os.environ.get(variable, "").strip()
    if not key:
        raise BadInput(
            f"{options.base_url} needs a key, and the environment variable {variable} is not set. "
            f"Set it, or use a server on this machine (--base-url http://localhost:8000/v1)."
        )
    return variable, key


def build(options: Options) -> OpenAICompatible:
    """A model behind a server; nothing is sent yet.

    Raises:
        BadInput: the server needs a key and the environment holds none.
    """
    return OpenAICompatible(options)
