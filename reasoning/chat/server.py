"""Calls to a server that speaks OpenAI's chat completions, by OpenAI's own client.

The client's retries are off; ours are bounded, counted and heed ``Retry-After``. Redirects are not
followed, so that nothing goes to a host that was not named. The key never shows: it is struck out
of whatever the server says before anybody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from perception import strict_json
from perception.errors import BadInput, MissingExtra
from reasoning.answer import FailureKind
from reasoning.outgoing import is_loopback, without_key
from reasoning.transport.deadline import within
from reasoning.transport.rate_limit import RateLimiter, RateOptions
from reasoning.transport.retry import (
    BAD_REQUEST,
    SERVER_ERROR,
    NotAnswered,
    RetryOptions,
    asked_for_s,
    persevere,
)

__all__ = ["ChatServer"]

_NOT_ALLOWED = frozenset({401, 403})
_NOT_FOUND = 404
_TOO_LARGE = 413
_REASON_CHARS = 500

_QUESTION_TIMEOUT_S = 5.0
"""Of a question about the server itself, which none that is up takes long to reply to."""


class ChatServer:
    """One server.

    Args:
        base_url: up to and with ``/v1``.
        key: sent as a bearer token; empty = none needed.
        key_variable: where the key came from, for the error that names it.
        timeout_s: of one try, from its start to the last byte of the reply.
        retry: how often a call is tried.
        rate: how many calls and tokens a minute.

    Raises:
        MissingExtra: the package ``openai`` is not installed.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        key_variable: str,
        timeout_s: float,
        retry: RetryOptions,
        rate: RateOptions | None = None,
    ) -> None:
        self._openai = _package()
        self._base_url, self._key, self._key_variable = base_url, key, key_variable
        self._timeout_s, self._retry = timeout_s, retry
        self._limiter = RateLimiter(rate or RateOptions())
        self._client = self._connected()

    def complete(self, body: Mapping[str, Any], tokens: int = 0) -> Mapping[str, Any] | NotAnswered:
        """Send one chat completion; the reply as JSON values.

        Args:
            body: as the endpoint takes it; what the client does not know in ``extra_body``.
            tokens: that the call is expected to take, for the rate.

        Raises:
            BadInput: the key is refused, or the server has no such model or address.
        """
        return persevere(self._retry, lambda: self._try(body, tokens))

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
        """A question besides the chat: GET, or POST with a body; the reply's JSON object, None when
        there is none in time (a few seconds for GET).

        Args:
            path: below the base address, or an address of its own on the same server.
        """
        client = self._client
        call: Callable[[], Any] = lambda: (  # noqa: E731
            client.get(path, cast_to=object)
            if body is None
            else client.post(path, cast_to=object, body=body)
        )
        limit_s = self._timeout_s if body is not None else _QUESTION_TIMEOUT_S
        with suppress(TimeoutError, ValueError, self._openai.OpenAIError):
            reply = within(min(self._timeout_s, limit_s), call)
            return reply if isinstance(reply, dict) else None
        return None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _connected(self) -> Any:
        return self._openai.OpenAI(
            api_key=self._key or "none",
            base_url=self._base_url,
            timeout=self._timeout_s,
            max_retries=0,
            http_client=self._openai.DefaultHttpxClient(
                timeout=self._timeout_s,
                follow_redirects=False,
                trust_env=not is_loopback(self._base_url),
            ),
        )

    def _text(self, body: Mapping[str, Any]) -> str:
        """The reply to one try, read to its end. A try that is given up loses its connection."""
        client = self._client

        def read() -> str:
            raw = client.chat.completions.with_raw_response.create(**body)
            return raw.text if isinstance(raw.text, str) else str(raw.text())

        try:
            return without_key(within(self._timeout_s, read), self._key)
        except TimeoutError:
            client.close()
            self._client = self._connected()
            raise

    def _try(self, body: Mapping[str, Any], tokens: int) -> Mapping[str, Any] | NotAnswered:
        api = self._openai
        slot = self._limiter.wait(tokens)
        try:
            reply = _as_json(self._text(body))
        except (TimeoutError, api.APITimeoutError):
            return self._lost(f"{self._base_url} did not reply within {self._timeout_s:g} s")
        except api.APIStatusError as error:
            return self._refused(error)
        except (api.APIConnectionError, api.APIError) as error:
            cause = error.__cause__ or error
            return self._lost(f"{self._base_url} could not be reached or broke off ({cause})")
        if not isinstance(reply, NotAnswered):
            slot.tokens = _tokens_used(reply) or tokens
        return reply

    def _lost(self, reason: str) -> NotAnswered:
        return NotAnswered(FailureKind.UNAVAILABLE, self._clean(reason))

    def _refused(self, error: Any) -> NotAnswered:
        status = int(error.status_code)
        code = str(getattr(error, "code", None) or "")
        detail = self._clean(str(error.message)).rstrip(".")
        if status in _NOT_ALLOWED:
            where = self._key_variable or "no key was sent"
            raise BadInput(f"{self._base_url} refused the key ({where}): {detail}.") from None
        if status == _NOT_FOUND:
            raise BadInput(f"{self._base_url} has no such model or address: {detail}.") from None
        kind = FailureKind.REJECTED if status in BAD_REQUEST else FailureKind.UNAVAILABLE
        if status == _TOO_LARGE or "context_length" in code or "context" in detail.lower():
            kind = FailureKind.TOO_LONG if status < SERVER_ERROR else kind
        elif "content_filter" in code or "content_policy" in code:
            kind = FailureKind.REFUSED
        return NotAnswered(
            kind,
            f"{self._base_url} replied {status}: {detail}",
            status,
            final="insufficient_quota" in f"{code} {detail}",
            asked_s=asked_for_s(error.response.headers),
        )

    def _clean(self, text: str) -> str:
        return " ".join(without_key(text, self._key).split())[:_REASON_CHARS]


def _as_json(text: str) -> Mapping[str, Any] | NotAnswered:
    try:
        reply = strict_json.loads(text)
    except BadInput:
        reply = None
    if isinstance(reply, dict):
        return reply
    shown = " ".join(text.split())[:80]
    return NotAnswered(
        FailureKind.UNAVAILABLE, f"The server's reply is not a JSON object: {shown!r}"
    )


def _tokens_used(reply: Mapping[str, Any]) -> int | None:
    usage = reply.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and total >= 0 else None


def _package() -> Any:
    try:
        import openai
    except ImportError:
        raise MissingExtra("openai", "openai", "Asking a chat server") from None
    return openai
