"""A real HTTP server on this machine that speaks the calls that Google's client makes: resumable
upload, look, delete, generate; and misbehaves when told to."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.reasoning.http_server import running


@dataclass(frozen=True)
class Reply:
    """One reply: JSON (or bytes), status, headers, how long it keeps silent first."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    silent_s: float = 0.0
    cut: bool = False


def says(words: str | None, finish_reason: str = "STOP", **more: Any) -> Reply:
    parts = [] if words is None else [{"text": words}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish_reason}
    counts = {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15}
    return Reply(
        {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "tiny-001", **more}
    )


def error(status: int, message: str, kind: str = "", details: Any = (), **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"code": status, "message": message, "status": kind, "details": list(details)}
    return Reply({"error": body}, status, named)


@dataclass
class Api:
    """What came in and what lies there.

    Args:
        asked: the bodies of calls to generate.
        calls: method and path of every call, in order; ``times_s`` when each came.
        files: what was uploaded and not deleted, by name.
        received: everything that was ever uploaded, with its type.
        states: what a look at a file says, one after the other, then ACTIVE.
    """

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    received: list[tuple[str, bytes]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    before: Callable[[str, str], Reply | None] = lambda method, path: None

    def told(self, name: str, state: str) -> dict[str, Any]:
        file = {
            "name": name,
            "uri": f"{self.url}/v1beta/{name}",
            "mimeType": self.files.get(name, ""),
            "state": state,
        }
        if state == "FAILED":
            file["error"] = {"code": 3, "message": "no video in it"}
        return file


def _in_camel_case(fields: dict[str, Any]) -> dict[str, Any]:
    """Protocol buffers' JSON takes both spellings of a field, and the client uses both."""
    return {re.sub("_([a-z])", lambda found: found[1].upper(), k): v for k, v in fields.items()}


def serving(*replies: Reply, states: tuple[str, ...] = ()) -> AbstractContextManager[Api]:
    """Generates ``replies`` one after the other, the last one again and again."""
    waiting = list(replies)
    return serving_by(lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0], states)


@contextmanager
def serving_by(  # noqa: C901
    rule: Callable[[dict[str, Any]], Reply], states: tuple[str, ...] = ()
) -> Iterator[Api]:
    """Generates what ``rule`` makes of the request's JSON body."""
    stop = threading.Event()
    api = Api(states=list(states))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if (early := self._noted("POST")) is not None:
                return self._send(early)
            if self.path.startswith("/upload/"):
                return self._send(self._upload(body))
            api.asked.append(json.loads(body, object_hook=_in_camel_case))
            return self._send(rule(api.asked[-1]))

        def do_GET(self) -> None:
            if (early := self._noted("GET")) is not None:
                return self._send(early)
            if self._name() not in api.files:
                return self._send(error(404, "no such file"))
            state = api.states.pop(0) if api.states else "ACTIVE"
            return self._send(Reply(api.told(self._name(), state)))

        def do_DELETE(self) -> None:
            if (early := self._noted("DELETE")) is not None:
                return self._send(early)
            if api.files.pop(self._name(), None) is None:
                return self._send(error(404, "no such file"))
            return self._send(Reply({}))

        def _noted(self, method: str) -> Reply | None:
            api.calls.append((method, self.path))
            api.times_s.append(time.monotonic())
            api.headers.append({name.lower(): value for name, value in self.headers.items()})
            return api.before(method, self.path)

        def _name(self) -> str:
            return self.path.removeprefix("/v1beta/")

        def _upload(self, body: bytes) -> Reply:
            if self.headers["X-Goog-Upload-Command"] == "start":
                name = json.loads(body)["file"]["name"]
                api.started.append(name)
                api.files[name] = self.headers["X-Goog-Upload-Header-Content-Type"]
                api.received.append((api.files[name], b""))
                at = f"{api.url}/upload/v1beta/files?upload_id={name}"
                status = {"X-Goog-Upload-URL": at, "X-Goog-Upload-Status": "active"}
                return Reply({}, headers=status)
            kind, content = api.received[-1]
            api.received[-1] = kind, content + body
            if "finalize" not in self.headers["X-Goog-Upload-Command"]:
                return Reply({}, headers={"X-Goog-Upload-Status": "active"})
            state = api.states.pop(0) if api.states else "ACTIVE"
            told = {"file": api.told(api.started[-1], state)}
            return Reply(told, headers={"X-Goog-Upload-Status": "final"})

        def _send(self, reply: Reply) -> None:
            stop.wait(reply.silent_s)
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) + (100 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = reply.cut

        def log_message(self, format: str, *args: object) -> None:
            pass

    with running(Handler, stop.set) as api.url:
        yield api
