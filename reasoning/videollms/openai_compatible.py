"""Any server that speaks OpenAI's chat completions: OpenAI, vLLM, SGLang, llama.cpp, Ollama.

Frames go out as JPEG pictures, or as one small video of exactly these frames for servers that take
a video, where the prompt has them; the instruction lists their times. Defaults are GPT-4o's of the
seed's Appendix C.2: one frame a second, at most 64, 512×512, at most 128 new tokens, temperature 0.
A server elsewhere than on this machine is only called after ``egress`` was shown to somebody
(``reasoning.ask``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from reasoning.answer import Answer, Failure, FailureKind
from reasoning.chat import request as chat_request
from reasoning.chat.facts import ServerFacts, counted, counted_text, facts, without_cache
from reasoning.chat.options import FramesAs, Options, at_openai, check_name, key, reply_tokens, root
from reasoning.chat.reply import chosen, said, schema
from reasoning.chat.server import ChatServer
from reasoning.egress import Egress
from reasoning.outgoing import abbreviated, frame_times, is_loopback, record
from reasoning.prompt import CHOOSE
from reasoning.transport.prices import cost_usd
from reasoning.transport.retry import NotAnswered
from reasoning.videollm import FrameSampling, Request, TokenCount

__all__ = ["FramesAs", "OpenAICompatible", "Options", "build", "build_draft"]

_CONTEXT_TOKENS = {"gpt-4o": 128_000, "gpt-4o-mini": 128_000, "o3": 200_000}
"""From OpenAI's model pages."""


class OpenAICompatible:
    """A model behind a server."""

    parallel = True
    """Several threads may call ``answer`` at once."""

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
        if at_openai(options):
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
            found = counted(self._connected(), owner, root(self.options), body)
            if found is not None:
                tokens, with_pictures = found
                left_out = 0 if with_pictures else pictures
                return TokenCount(tokens + left_out, estimated=left_out > 0)
        return TokenCount(chat_request.at_most_tokens(self.options, request), estimated=True)

    def egress(self, request: Request) -> Egress | None:
        """What ``answer`` would send away; None for a server on this machine."""
        if self._is_here:
            return None
        options = self.options
        frames, tokens = len(frame_times(request)), self.count(request).tokens
        cost = cost_usd(
            options.model if at_openai(options) else "",
            tokens,
            reply_tokens(options, request.max_new_tokens),
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
        expected = count.tokens + reply_tokens(self.options, request.max_new_tokens)
        further = {} if self.options.reuse_cache else without_cache(self._facts().owner)
        reply = server.complete(self._body(request, further=further), expected)
        if isinstance(reply, NotAnswered) and self._is_about_structure(reply, request):
            plain = server.complete(
                self._body(request, further=further, structured=False), expected
            )
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
            options = self.options
            self._known = (
                ServerFacts() if at_openai(options) else facts(self._connected(), options.model)
            )
        return self._known

    def _counted_text(self, text: str) -> int:
        count = None
        if text and self._is_here and (owner := self._facts().owner):
            options, server = self.options, self._connected()
            count = counted_text(server, owner, root(options), options.model, text)
        return chat_request.text_at_most_tokens(text) if count is None else count

    def _body(self, request: Request, **changes: Any) -> dict[str, Any]:
        return chat_request.body(
            self.options, request, **{"structured": self._structured, **changes}
        )

    def _is_about_structure(self, reply: NotAnswered, request: Request) -> bool:
        may_be = reply.kind is FailureKind.REJECTED and self._structured
        return may_be and schema(request) is not None

    def _record(self, request: Request, count: TokenCount) -> dict[str, Any]:
        options = self.options
        return record(
            request,
            count,
            model=options.model,
            base_url=options.base_url,
            frames_as=str(options.frames_as),
            frame_px=options.frame_px,
            structured=schema(request) is not None and self._structured,
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


def build(options: Options) -> OpenAICompatible:
    """A model behind a server; nothing is sent yet.

    Raises:
        BadInput: the server needs a key and the environment holds none, or it is OpenAI's and the
            name is none of its models'.
    """
    check_name(options)
    return OpenAICompatible(options, *key(options))


def build_draft(options: Options) -> OpenAICompatible:
    """The same without a key: it drafts requests and cannot answer them elsewhere."""
    check_name(options)
    return OpenAICompatible(options)
