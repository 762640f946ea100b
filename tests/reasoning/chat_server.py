"""A real HTTP server on this machine that speaks chat completions, and misbehaves when told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.reasoning.http_server import running


@dataclass(frozen=True)
class Reply:
    """One reply: status, body (JSON or bytes), headers, how long it keeps silent first, and how
    long before every single byte of the body."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    silent_s: float = 0.0
    drip_s: float = 0.0
    cut: bool = False


def says(
    content: Any, finish_reason: str = "stop", refusal: str | None = None, **more: Any
) -> Reply:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Reply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny-2026",
            "choices": [choice],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
            **more,
        }
    )


def error(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    return Reply({"error": {"message": message, "code": code}}, status, headers)


@dataclass
class Served:
    """What came in, in order: the JSON bodies, the headers and the times of chats; path and JSON
    body of questions about the server."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    asked: list[tuple[str, Any]] = field(default_factory=list)


def _drops(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


def serving(
    *replies: Reply, about: Mapping[str, Any] | None = None
) -> AbstractContextManager[Served]:
    """Gives ``replies`` one after the other, the last one again and again.

    Args:
        about: by path, the JSON that questions about the server get; others find nothing.
    """
    waiting = list(replies)
    return serving_by(lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0], about)


@contextmanager
def serving_by(
    rule: Callable[[dict[str, Any]], Reply], about: Mapping[str, Any] | None = None
) -> Iterator[Served]:
    """Gives the reply that ``rule`` makes of the request's JSON body."""
    stop = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            served.asked.append((self.path, None))
            self._send(self._about())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.endswith("/chat/completions"):
                served.asked.append((self.path, body))
                return self._send(self._about())
            served.bodies.append(body)
            served.times_s.append(time.monotonic())
            served.headers.append({name.lower(): value for name, value in self.headers.items()})
            return self._send(rule(body))

        def _about(self) -> Reply:
            told = (about or {}).get(self.path)
            return error(404, "not found") if told is None else Reply(told)

        def _send(self, reply: Reply) -> None:
            stop.wait(reply.silent_s)
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body) + (100 if reply.cut else 0)))
            self.end_headers()
            for part in _drops(body) if reply.drip_s else [body]:
                self.wfile.write(part)
                if reply.drip_s and stop.wait(reply.drip_s):
                    break
            self.close_connection = reply.cut

        def log_message(self, format: str, *args: object) -> None:
            pass

    with running(Handler, stop.set) as address:
        served = Served(f"{address}/v1")
        yield served
