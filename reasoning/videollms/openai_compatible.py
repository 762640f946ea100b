"""Any server that speaks OpenAI's chat completions: OpenAI, vLLM, SGLang, llama.cpp, Ollama.

Frames go out as JPEG pictures, or as one small video of exactly these frames for servers that take
a video, where the prompt has them; the instruction lists their times. Defaults are GPT-4o's of the
seed's Appendix C.2: one frame a second, at most 64, 512×512, at most 128 new tokens, temperature 0.
A server elsewhere than on this machine is only called after ``egress`` was shown to somebody
(``reasoning.ask``).
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from perception.errors import BadInput
from perception.limits import check_limits
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.chat_facts import ServerFacts, counted, counted_text, facts, without_cache
from reasoning.chat_reply import chosen, said, schema
from reasoning.chat_server import ChatServer
from reasoning.clip import clip_url
from reasoning.egress import Egress
from reasoning.jpeg import data_url
from reasoning.outgoing import abbreviated, frame_times, is_loopback, record
from reasoning.prices import cost_usd
from reasoning.prompt import CHOOSE
from reasoning.rate_limit import RateOptions
from reasoning.retry import NotAnswered, RetryOptions
from reasoning.videollm import Frames, FrameSampling, Request, Text, TokenCount

__all__ = ["FramesAs", "OpenAICompatible", "Options", "build", "build_draft"]

_OPENAI = "https://api.openai.com/v1"
_OPENAI_KEY = "OPENAI_API_KEY"

_BYTES_PER_TOKEN = 3
"""English has about four bytes a token (OpenAI's help pages); three makes it an upper bound."""

_MESSAGE_TOKENS = 32
"""For what a chat template puts around one message; SmolLM2's has 30 with its system prompt."""

_CONTEXT_TOKENS = {"gpt-4o": 128_000, "gpt-4o-mini": 128_000, "o3": 200_000}
"""From OpenAI's model pages."""

_LIMITS = {
    "frame_rate_hz": (0, 1000),
    "max_frames": (1, 10_000),
    "frame_px": (1, 8192),
    "jpeg_quality": (1, 100),
    "tokens_per_frame": (0, 1e6),
    "context_tokens": (1, 1e9),
    "reasoning_tokens": (0, 1e6),
    "timeout_s": (0.001, 86_400),
    "usd_per_million_prompt_tokens": (0, 1e9),
    "usd_per_million_reply_tokens": (0, 1e9),
}
"""What makes sense at any server there is; mistakes in a digit lie beyond."""

_BAD_REQUEST = frozenset({400, 422})


class FramesAs(StrEnum):
    """How frames go out."""

    IMAGES = "images"
    """Each as a JPEG (``image_url``)."""
    VIDEO = "video"
    """All that stand together as an MP4 with their times (``video_url``: vLLM, SGLang)."""


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
        frames_as: images or video.
        jpeg_quality: 1 to 100.
        tokens_per_frame: by which a picture counts where the server does not count; 255 is
            GPT-4o's count for 512×512 (85 + 170 for each tile of 512 px).
        context_tokens: of prompt and answer together; None = as the server on this machine says,
            or as OpenAI documents.
        structured: ask for JSON of a schema when there are options. A server that refuses it is
            asked without.
        send_temperature: False for reasoning models that take none (o3).
        reasoning_tokens: room for thoughts on top of the answer's, for models whose limit holds
            for both (o3).
        max_tokens_field: what the server calls the limit; empty = ``max_completion_tokens`` at
            OpenAI, ``max_tokens`` elsewhere.
        mm_processor_kwargs: passed through to the model's processor (vLLM, SGLang), e.g.
            ``{"max_pixels": 401408}``.
        extra_body: further fields of the request, e.g. ``{"reasoning_effort": "low"}``.
        reuse_cache: let the server reuse what it has computed for other prompts, where it can be
            told not to (llama.cpp, vLLM, SGLang): faster, and the same request may then be
            answered otherwise.
        timeout_s: of one try.
        retry: how often.
        rate: how many calls and tokens a minute.
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
    frames_as: FramesAs = FramesAs.IMAGES
    jpeg_quality: int = 90
    tokens_per_frame: int = 255
    context_tokens: int | None = None
    structured: bool = True
    send_temperature: bool = True
    reasoning_tokens: int = 0
    max_tokens_field: str = ""
    mm_processor_kwargs: Mapping[str, Any] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    reuse_cache: bool = False
    timeout_s: float = 120.0
    retry: RetryOptions = field(default_factory=RetryOptions)
    rate: RateOptions = field(default_factory=RateOptions)
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_reply_tokens: float | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadInput(
                f"base_url is {self.base_url!r}; give an http address, "
                "e.g. http://localhost:8000/v1."
            )
        if parts.username or parts.password or parts.query:
            raise BadInput(
                "base_url holds a name, a password or a query; put a key into the environment."
            )
        if not self.model:
            raise BadInput("The model's name is empty; give the one the server uses, e.g. gpt-4o.")
        check_limits(self, _LIMITS)


class OpenAICompatible:
    """A model behind a server."""

    def __init__(self, options: Options, key_variable: str = "", key: str = "") -> None:
        self.options = options
        self._is_here = is_loopback(options.base_url)
        self._key_variable, self._key = key_variable, key
        self._structured = options.structured
        self._server: ChatServer | None = None
        self._known: ServerFacts | None = None
        self._tokens_of = functools.lru_cache(maxsize=4096)(self._counted_text)

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
        """False: the prompt lists the times. A server that is sent a video takes its first frame
        for time 0, which it is not where a part of a video is asked about."""
        return False

    @property
    def context_tokens(self) -> int | None:
        """As in the options, else as documented or as the server on this machine says."""
        options = self.options
        if options.context_tokens is not None:
            return options.context_tokens
        if _at_openai(options):
            return _CONTEXT_TOKENS.get(options.model)
        return self._facts().context_tokens if self._is_here else None

    def count_tokens(self, text: str) -> int:
        """By the server on this machine where it counts, else rather too many: a token for every
        three bytes."""
        return self._tokens_of(text)

    def count(self, request: Request) -> TokenCount:
        """By the server on this machine where it counts, else estimated from the words' bytes and
        ``tokens_per_frame``."""
        frames = len(frame_times(request))
        pictures = frames * self.options.tokens_per_frame
        if self._is_here and (owner := self._facts().owner):
            body = self._body(request)
            found = counted(self._connected(), owner, _root(self.options), body)
            if found is not None:
                tokens, with_pictures = found
                left_out = 0 if with_pictures else pictures
                return TokenCount(tokens + left_out, estimated=left_out > 0)
        words = [part.text for part in request.parts if isinstance(part, Text)]
        words += [CHOOSE] if request.options else []
        spoken = sum(_at_most(text) for text in words)
        return TokenCount(_MESSAGE_TOKENS + spoken + pictures, estimated=True)

    def egress(self, request: Request) -> Egress | None:
        """What ``answer`` would send away; None for a server on this machine."""
        if self._is_here:
            return None
        options = self.options
        frames, tokens = len(frame_times(request)), self.count(request).tokens
        cost = cost_usd(
            options.model if _at_openai(options) else "",
            tokens,
            request.max_new_tokens + options.reasoning_tokens,
            options.usd_per_million_prompt_tokens,
            options.usd_per_million_reply_tokens,
        )
        return Egress(urlsplit(options.base_url).hostname or "", frames, tokens, cost)

    def draft(self, request: Request) -> dict[str, Any]:
        """The body that ``answer`` would post, pictures by type, size and sha256."""
        body = self._body(request)
        further = body.pop("extra_body", {})
        drafted: dict[str, Any] = abbreviated({**body, **further})
        return {"url": f"{self.options.base_url}/chat/completions", "body": drafted}

    def answer(self, request: Request) -> Answer | Failure:
        """Call the server and read its reply.

        Raises:
            MissingExtra: the package ``openai`` is not installed.
            BadInput: the key is missing or refused, or the server has no such model.
        """
        server, count = self._connected(), self.count(request)
        new_tokens = request.max_new_tokens + self.options.reasoning_tokens
        expected = count.tokens + new_tokens
        further = {} if self.options.reuse_cache else without_cache(self._facts().owner)
        reply = server.complete(self._body(request, further), expected)
        if isinstance(reply, NotAnswered) and self._is_about_structure(reply, request):
            plain = server.complete(self._body(request, further, structured=False), expected)
            if not isinstance(plain, NotAnswered):
                self._structured = False
            reply = plain
        sent = self._record(request, count)
        if isinstance(reply, NotAnswered):
            return Failure(reply.kind, reply.sentence(), self.name, request=sent)
        return self._read(reply, request, sent)

    def close(self) -> None:
        """Close the connections."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _connected(self) -> ChatServer:
        if self._server is None:
            options = self.options
            self._server = ChatServer(
                options.base_url,
                self._key,
                self._key_variable,
                options.timeout_s,
                options.retry,
                options.rate,
            )
        return self._server

    def _facts(self) -> ServerFacts:
        """What the server says of itself; OpenAI's is known and not asked."""
        if self._known is None:
            at_openai = _at_openai(self.options)
            self._known = (
                ServerFacts() if at_openai else facts(self._connected(), self.options.model)
            )
        return self._known

    def _counted_text(self, text: str) -> int:
        count = None
        if text and self._is_here and (owner := self._facts().owner):
            server, root = self._connected(), _root(self.options)
            count = counted_text(server, owner, root, self.options.model, text)
        return _at_most(text) if count is None else count

    def _body(
        self,
        request: Request,
        further: Mapping[str, Any] | None = None,
        structured: bool | None = None,
    ) -> dict[str, Any]:
        """The request as the client takes it: what the client does not know in ``extra_body``."""
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
        if request.options and (self._structured if structured is None else structured):
            body["response_format"] = schema(request.options)
        extra: dict[str, Any] = {limit: request.max_new_tokens + options.reasoning_tokens}
        if options.mm_processor_kwargs:
            extra["mm_processor_kwargs"] = dict(options.mm_processor_kwargs)
        body["extra_body"] = {**extra, **(further or {}), **options.extra_body}
        return body

    def _content(self, request: Request) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = []
        for part in request.parts:
            if isinstance(part, Text):
                content.append({"type": "text", "text": part.text})
            else:
                content.extend(self._shown(part))
        if request.options:
            content.append({"type": "text", "text": CHOOSE})
        return content

    def _shown(self, part: Frames) -> list[dict[str, Any]]:
        options = self.options
        if not part.frames:
            return []
        if options.frames_as is FramesAs.VIDEO:
            url = clip_url(part.frames, options.frame_px, options.keep_aspect)
            return [{"type": "video_url", "video_url": {"url": url}}]
        urls = (
            data_url(frame, options.frame_px, options.jpeg_quality, options.keep_aspect)
            for frame in part.frames
        )
        return [{"type": "image_url", "image_url": {"url": url}} for url in urls]

    def _is_about_structure(self, reply: NotAnswered, request: Request) -> bool:
        return bool(request.options) and self._structured and reply.status in _BAD_REQUEST

    def _record(self, request: Request, count: TokenCount) -> dict[str, Any]:
        options = self.options
        return record(
            request,
            count,
            model=options.model,
            base_url=options.base_url,
            frames_as=str(options.frames_as),
            frame_px=options.frame_px,
            structured=bool(request.options) and self._structured,
            closing=CHOOSE if request.options else "",
            mm_processor_kwargs=dict(options.mm_processor_kwargs),
            extra_body=dict(options.extra_body),
        )

    def _read(
        self, reply: Mapping[str, Any], request: Request, sent: dict[str, Any]
    ) -> Answer | Failure:
        model = str(reply.get("model") or self.name)
        words, ending, wrong = said(reply)
        if wrong is not None:
            return Failure(wrong[0], wrong[1], model, words, sent)
        used = reply.get("usage")
        usage = {**(used if isinstance(used, dict) else {}), "finish_reason": ending}
        sees_video = bool(frame_times(request))
        option, text = None, words
        if request.options:
            option = chosen(words, request.options)
            if option is None:
                kind = FailureKind.TRUNCATED if ending == "length" else FailureKind.UNPARSED
                reason = "The reply names none of the options, or more than one."
                return Failure(kind, reason, model, words, sent)
            text = request.options[option]
        complete = ending != "length"
        return Answer(text, model, sees_video, option, request=sent, usage=usage, complete=complete)


def _at_most(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def _root(options: Options) -> str:
    return options.base_url.rstrip("/").removesuffix("/v1")


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
    return OpenAICompatible(options, *_key(options))


def build_draft(options: Options) -> OpenAICompatible:
    """The same without a key: it drafts requests and cannot answer them elsewhere."""
    return OpenAICompatible(options)
