"""Calls to Google's Gemini API by Google's own client (``google-genai``).

The client's retries are off; ours are bounded, counted and heed what the server asks for. Files are
uploaded under names that are chosen here, so that each can be deleted even when the upload's reply
never came: after a failure, an interrupt, and at the latest when the process ends. The key never
shows: it is struck out of whatever the server says before anybody reads it.
"""

from __future__ import annotations

import functools
import re
import secrets
import ssl
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

from perception.errors import BadInput, MissingExtra
from reasoning.answer import FailureKind
from reasoning.outgoing import is_loopback, without_key
from reasoning.transport.deadline import within
from reasoning.transport.rate_limit import RateLimiter, RateOptions
from reasoning.transport.retry import (
    BAD_REQUEST,
    NotAnswered,
    RetryOptions,
    asked_for_s,
    persevere,
)

__all__ = ["GeminiServer", "SharedFile"]

_VERSION = "v1beta"
"""The one whose documentation has the sampling rate and the offsets of a clip."""

_NOT_ALLOWED = frozenset({401, 403})
_NOT_FOUND = 404
_TOO_LARGE = 413
_REASON_CHARS = 500


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file that lies at the server.

    Args:
        name: to delete it by, ``files/…``.
        uri: to speak of it in a prompt.
    """

    name: str
    uri: str
    mime_type: str


class GeminiServer:
    """The API at one address.

    Args:
        base_url: without a version.
        key: sent as a header.
        key_variable: where the key came from, for the error that names it.
        timeout_s: of one try to generate.
        upload_timeout_s: until an uploaded file can be used; of each block that is sent, too.
        poll_s: between two looks whether it can.
        retry: how often a call is tried.
        rate: how many calls and tokens a minute.

    Raises:
        MissingExtra: the package ``google-genai`` is not installed.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        key_variable: str,
        *,
        timeout_s: float,
        upload_timeout_s: float,
        poll_s: float,
        retry: RetryOptions,
        rate: RateOptions,
    ) -> None:
        self._genai, self._transport_errors = _package()
        self._base_url, self._key, self._key_variable = base_url, key, key_variable
        self._timeout_s, self._upload_timeout_s = timeout_s, upload_timeout_s
        self._poll_s, self._retry = poll_s, retry
        self._limiter = RateLimiter(rate)
        self._connected = functools.partial(
            _client, self._genai, base_url, key, max(timeout_s, upload_timeout_s)
        )
        self._client = self._connected()
        self._names: set[str] = set()
        self._forget_all = weakref.finalize(self, _delete, self._connected, self._names)

    def generate(
        self, model: str, contents: list[Any], config: Mapping[str, Any], tokens: int
    ) -> Any | NotAnswered:
        """The client's ``GenerateContentResponse``.

        Args:
            contents, config: as ``types.Content`` and ``types.GenerateContentConfig`` have them.
            tokens: that the call is expected to take, for the rate.

        Raises:
            BadInput: the key is refused, or there is no such model or address.
        """
        types = self._genai.types
        settings = types.GenerateContentConfig.model_validate(
            {**config, "automatic_function_calling": {"disable": True}}
        )
        asked = [types.Content.model_validate(each) for each in contents]

        def attempt() -> Any | NotAnswered:
            slot = self._limiter.wait(tokens)
            client = self._client
            try:
                reply = within(
                    self._timeout_s,
                    lambda: client.models.generate_content(
                        model=model, contents=asked, config=settings
                    ),
                )
            except TimeoutError:
                client.close()
                self._client = self._connected()
                reason = f"{self._base_url} did not reply within {self._timeout_s:g} s"
                return NotAnswered(FailureKind.UNAVAILABLE, reason)
            except Exception as error:
                return self._failed(error)
            usage = reply.usage_metadata
            slot.tokens = (usage and usage.total_token_count) or tokens
            return self._without_key(reply)

        return persevere(self._retry, attempt)

    def share(self, file: BinaryIO, mime_type: str) -> SharedFile | NotAnswered:
        """Upload ``file`` from its start and wait until it can be used. What fails or is
        interrupted is deleted again.

        Raises:
            BadInput: the key is refused.
        """

        def attempt() -> SharedFile | NotAnswered:
            name = f"files/cuelight-{secrets.token_hex(12)}"
            self._names.add(name)
            shared: SharedFile | NotAnswered | None = None
            try:
                shared = self._uploaded(file, name, mime_type)
            except Exception as error:
                shared = self._failed(error)
            finally:
                if not isinstance(shared, SharedFile):
                    self.forget(name)
            return shared

        return persevere(self._retry, attempt)

    def forget(self, name: str) -> None:
        """Delete a file that was shared, as far as the server can be reached."""
        _delete(self._connected, self._names, (name,))

    def close(self) -> None:
        """Delete what is still shared and close the connections."""
        self._forget_all()
        self._client.close()

    def _uploaded(self, file: BinaryIO, name: str, mime_type: str) -> SharedFile | NotAnswered:
        until = time.monotonic() + self._upload_timeout_s
        file.seek(0)
        found = self._client.files.upload(file=file, config={"name": name, "mime_type": mime_type})
        while (state := str(getattr(found.state, "value", found.state))) != "ACTIVE":
            if state == "FAILED":
                detail = self._clean(str((found.error and found.error.message) or "no reason"))
                reason = f"{self._base_url} cannot use the video: {detail}"
                return NotAnswered(FailureKind.UNAVAILABLE, reason, final=True)
            if time.monotonic() > until:
                reason = (
                    f"{self._base_url} has not made the uploaded video usable within "
                    f"{self._upload_timeout_s:g} s"
                )
                return NotAnswered(FailureKind.UNAVAILABLE, reason, final=True)
            time.sleep(self._poll_s)
            found = self._client.files.get(name=name)
        return SharedFile(name, str(found.uri), str(found.mime_type or mime_type))

    def _failed(self, error: Exception) -> NotAnswered:
        """What the client's error means; raises again what is no error of the server or client."""
        if isinstance(error, self._genai.errors.APIError):
            return self._refused(error)
        if isinstance(error, self._transport_errors):
            reason = f"{self._base_url} could not be reached or broke off ({error})"
            return NotAnswered(FailureKind.UNAVAILABLE, self._clean(reason))
        if isinstance(error, (ValueError, KeyError, TypeError, AttributeError)):
            reason = f"{self._base_url} sent a reply that is none: {error}"
            return NotAnswered(FailureKind.UNAVAILABLE, self._clean(reason))
        raise error

    def _refused(self, error: Any) -> NotAnswered:
        status, details = int(error.code or 0), str(error.details)
        detail = self._clean(str(error.message or error.status or "no reason")).rstrip(".")
        is_key = status in _NOT_ALLOWED or "API_KEY_INVALID" in details
        if is_key or (status in BAD_REQUEST and "api key" in detail.lower()):
            raise BadInput(
                f"{self._base_url} refused the key ({self._key_variable}): {detail}."
            ) from None
        if status == _NOT_FOUND:
            raise BadInput(f"{self._base_url} has no such model or address: {detail}.") from None
        kind = FailureKind.REJECTED if status in BAD_REQUEST else FailureKind.UNAVAILABLE
        if status == _TOO_LARGE or "exceeds the maximum number of tokens" in detail:
            kind = FailureKind.TOO_LONG
        return NotAnswered(
            kind,
            f"{self._base_url} replied {status}: {detail}",
            status,
            final="PerDay" in details,
            asked_s=_asked_s(error, details),
        )

    def _without_key(self, reply: Any) -> Any:
        told = reply.model_dump_json(exclude={"sdk_http_response"})
        cleaned = without_key(told, self._key)
        return reply if cleaned == told else type(reply).model_validate_json(cleaned)

    def _clean(self, text: str) -> str:
        return " ".join(without_key(text, self._key).split())[:_REASON_CHARS]


def _client(genai: Any, base_url: str, key: str, timeout_s: float) -> Any:
    """A client that tries once, follows nobody elsewhere, and uses no proxy to this machine."""
    settings = {"follow_redirects": False, "trust_env": not is_loopback(base_url)}
    trusted: dict[str, Any] = {}
    if base_url.startswith("http:"):  # certificates take 0.2 s to load, and none is looked at
        trusted = {"verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
    return genai.Client(
        vertexai=False,
        api_key=key,
        http_options={
            "base_url": base_url,
            "api_version": _VERSION,
            "timeout": round(timeout_s * 1000),
            "client_args": {**settings, **trusted},
            "async_client_args": trusted,
        },
    )


def _delete(
    connected: Callable[[], Any], names: set[str], which: tuple[str, ...] | None = None
) -> None:
    """Delete files by a client of its own: the one at work may be broken or closed."""
    for name in tuple(names) if which is None else which:
        names.discard(name)
        with suppress(Exception):
            client = connected()
            try:
                client.files.delete(name=name)
            finally:
                client.close()


def _asked_s(error: Any, details: str) -> float | None:
    """Seconds that an error asks to wait: ``Retry-After``, or google.rpc.RetryInfo."""
    asked = asked_for_s(getattr(error.response, "headers", {}))
    found = re.search(r"'retryDelay': '([\d.]+)s'", details)
    return asked if found is None else max(asked or 0.0, float(found[1]))


def _package() -> tuple[Any, tuple[type[Exception], ...]]:
    """The client's package, and the root errors of the HTTP packages that it may use."""
    try:
        from google import genai
    except ImportError:
        raise MissingExtra("google-genai", "gemini", "Asking Gemini") from None
    roots: list[type[Exception]] = [OSError]
    for name in ("httpx", "httpx2"):
        with suppress(ImportError):
            roots.append(__import__(name).HTTPError)
    return genai, tuple(roots)
