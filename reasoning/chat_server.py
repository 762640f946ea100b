"""Calls to a server that speaks OpenAI's chat completions, by OpenAI's own client.

The client's retries are off; ours are bounded, counted and heed ``Retry-After``. Redirects are not
followed, so that nothing goes to a host that was not named. The key never shows in a reason.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perception import strict_json
from perception.errors import BadInput, MissingExtra
from reasoning.answer import FailureKind
from reasoning.deadline import within
from reasoning.outgoing import is_loopback
from reasoning.retry import RetryOptions, asked_for_s, pause_s

__all__ = ["ChatServer", "NotAnswered"]

_BUSY = frozenset({408, 409, 425, 429})
_NOT_ALLOWED = frozenset({401, 403})
_NOT_FOUND = 404
_TOO_LARGE = 413
_SERVER_ERROR = 500
_REASON_CHARS = 500


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """The server gave no reply.

    Args:
        status: of the last reply; 0 when there was none.
        tries: made.
    """

    kind: FailureKind
    reason: str
    status: int
    tries: int


class ChatServer:
    """One server.

    Args:
        base_url: up to and with ``/v1``.
        key: sent as a bearer token; empty = none needed.
        key_variable: where the key came from, for the error that names it.
        timeout_s: of one try, from its start to the last byte of the reply.

    Raises:
        MissingExtra: the package ``openai`` is not installed.
    """

    def __init__(
        self, base_url: str, key: str, key_variable: str, timeout_s: float, retry: RetryOptions
    ) -> None:
        self._openai = _package()
        self._base_url, self._key, self._key_variable = base_url, key, key_variable
        self._timeout_s, self._retry = timeout_s, retry
        self._client = self._connected()

    def complete(self, body: Mapping[str, Any]) -> Mapping[str, Any] | NotAnswered:
        """Send one chat completion; the reply as JSON values.

        Raises:
            BadInput: the key is refused, or the server has no such model or address.
        """
        tries = 0
        while True:
            tries += 1
            outcome, asked_s = self._try(body, tries)
            if not isinstance(outcome, NotAnswered) or not _may_pass(outcome):
                return outcome
            pause = pause_s(self._retry, tries, asked_s)
            if pause is None:
                return outcome
            time.sleep(pause)

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
            return within(self._timeout_s, read)
        except TimeoutError:
            client.close()
            self._client = self._connected()
            raise

    def _try(
        self, body: Mapping[str, Any], tries: int
    ) -> tuple[Mapping[str, Any] | NotAnswered, float | None]:
        api = self._openai
        try:
            return _as_json(self._text(body), tries), None
        except (TimeoutError, api.APITimeoutError):
            reason = f"{self._base_url} did not reply within {self._timeout_s:g} s"
            return self._lost(reason, tries), None
        except api.APIStatusError as error:
            return self._refused(error, tries), asked_for_s(error.response.headers)
        except (api.APIConnectionError, api.APIError) as error:
            cause = error.__cause__ or error
            reason = f"{self._base_url} could not be reached or broke off ({cause})"
            return self._lost(reason, tries), None

    def _lost(self, reason: str, tries: int) -> NotAnswered:
        words = f"{self._clean(reason)}{_after(tries)}."
        return NotAnswered(FailureKind.UNAVAILABLE, words, 0, tries)

    def _refused(self, error: Any, tries: int) -> NotAnswered:
        status = int(error.status_code)
        code = str(getattr(error, "code", None) or "")
        detail = self._clean(str(error.message))
        if status in _NOT_ALLOWED:
            where = self._key_variable or "no key was sent"
            raise BadInput(f"{self._base_url} refused the key ({where}): {detail}")
        if status == _NOT_FOUND:
            raise BadInput(f"{self._base_url} has no such model or address: {detail}")
        kind = FailureKind.UNAVAILABLE
        if status == _TOO_LARGE or "context_length" in code or "context" in detail.lower():
            kind = FailureKind.TOO_LONG if status < _SERVER_ERROR else kind
        elif "content_filter" in code or "content_policy" in code:
            kind = FailureKind.REFUSED
        return NotAnswered(
            kind, f"{self._base_url} replied {status}{_after(tries)}: {detail}", status, tries
        )

    def _clean(self, text: str) -> str:
        words = " ".join(text.split())[:_REASON_CHARS]
        return words.replace(self._key, "…") if self._key else words


def _may_pass(outcome: NotAnswered) -> bool:
    """Whether the same call may succeed later."""
    if outcome.kind is not FailureKind.UNAVAILABLE or "insufficient_quota" in outcome.reason:
        return False
    return outcome.status == 0 or outcome.status in _BUSY or outcome.status >= _SERVER_ERROR


def _as_json(text: str, tries: int) -> Mapping[str, Any] | NotAnswered:
    try:
        reply = strict_json.loads(text)
    except BadInput:
        reply = None
    if isinstance(reply, dict):
        return reply
    shown = " ".join(text.split())[:80]
    reason = f"The server's reply is not a JSON object{_after(tries)}: {shown!r}."
    return NotAnswered(FailureKind.UNAVAILABLE, reason, 0, tries)


def _after(tries: int) -> str:
    return f" (after {tries} tries)" if tries > 1 else ""


def _package() -> Any:
    try:
        import openai
    except ImportError:
        raise MissingExtra("openai", "openai", "Asking a chat server") from None
    return openai
