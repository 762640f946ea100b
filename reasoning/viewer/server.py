"""The timeline page and its video over HTTP, for this machine: ``cuelight inspect --serve``.

Only the files that it was given are there, each under its own name below a secret path; everything
else is 404. Byte ranges are answered as RFC 9110 section 14 says, which browsers need to seek.
Corrections come in by ``PUT`` and are checked before they are written.
"""

from __future__ import annotations

import io
import ipaddress
import re
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

from perception.errors import BadInput, CuelightError

__all__ = ["LOOPBACK", "Content", "PageServer"]

LOOPBACK = "127.0.0.1"
MAX_REVIEW_BYTES = 16 << 20
_BLOCK_BYTES = 1 << 20
_MOST_DIGITS = 12
"""Of a length; more are not worth counting."""
_TOKEN_BYTES = 16
_OF_FILE, _OF_REVIEW = "GET, HEAD", "PUT"
_CHANGED = (
    "The review was changed by another page or program since this page was opened, and is left as "
    "it is."
)
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class Content:
    """What is behind a name: the file at ``path``, or what ``make`` returns."""

    kind: str
    path: Path | None = None
    make: Callable[[], bytes] = bytes


class PageServer(ThreadingHTTPServer):
    """Serves until ``shutdown``; ``url`` is where the page is.

    Args:
        contents: by name; names hold no slash.
        first: the name of the page.
        on_review: takes the text of a review that came in, and the tag of what it was made from
            (None = not told); returns the tag of what is kept now, or None where something else
            was kept since. Raises ``BadInput`` where it is no review.
        host: a loopback address of this machine.
        port: 0 = any that is free.

    Raises:
        BadInput: ``host`` is not loopback, or the port is taken.
    """

    daemon_threads = True

    def __init__(
        self,
        contents: Mapping[str, Content],
        first: str,
        on_review: Callable[[str, str | None], str | None],
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        if not _is_loopback(host):
            raise BadInput(
                f"{host!r} is an address that other machines reach, and a page shows people's "
                f"pictures; take {LOOPBACK}."
            )
        self.token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.contents, self.on_review = dict(contents), on_review
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise BadInput(
                f"Cannot listen at {host}:{port} ({error.strerror}); another --port may be free, "
                "and 0 is any that is."
            ) from None
        name = f"[{host}]" if ":" in host else host
        self.hosts = {f"{each}:{self.server_port}" for each in (name, "localhost")}
        self.url = f"http://{name}:{self.server_port}/{self.token}/{quote(first, safe='')}"
        self.review_url = f"/{self.token}/review"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes a connection in the middle of a video is no error."""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Cuelight", ""
    timeout = 60

    def do_GET(self) -> None:
        """A file, or a range of it."""
        self._serve(with_body=True)

    def do_HEAD(self) -> None:
        """The same without its bytes."""
        self._serve(with_body=False)

    def do_PUT(self) -> None:
        """A review."""
        self.close_connection = True
        if self._allowed() != _OF_REVIEW:
            self._refuse()
            return
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]+", length):
            self._say(HTTPStatus.LENGTH_REQUIRED, "A review tells its length (Content-Length).")
            return
        if len(length) > _MOST_DIGITS or int(length) > MAX_REVIEW_BYTES:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The review is too long.")
            return
        try:
            text = self.rfile.read(int(length)).decode("utf-8")
            tag = self.server.on_review(text, self.headers.get("If-Match"))
        except UnicodeDecodeError:
            self._say(HTTPStatus.BAD_REQUEST, "A review is UTF-8.")
        except BadInput as error:
            self._say(HTTPStatus.BAD_REQUEST, str(error))
        except CuelightError as error:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        else:
            if tag is None:
                self._say(HTTPStatus.PRECONDITION_FAILED, _CHANGED)
            else:
                self._say(HTTPStatus.OK, "Saved.", ETag=tag)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A request that is no HTTP, or one of another method, in a sentence."""
        self.close_connection = True
        self.request_version = self.protocol_version
        if code == HTTPStatus.NOT_IMPLEMENTED:
            self._refuse()
        else:
            self._say(HTTPStatus(code), f"{message or HTTPStatus(code).phrase}.")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal belongs to the command."""

    def _is_ours(self) -> bool:
        """Whether the request is for this server, by name and origin: a page elsewhere that has
        its own name resolved to this machine is refused."""
        origin = self.headers.get("Origin")
        return self.headers.get("Host", "") in self.server.hosts and (
            origin is None or urlsplit(origin).netloc in self.server.hosts
        )

    def _content(self) -> Content | None:
        prefix = f"/{self.server.token}/"
        if not self._is_ours() or not self.path.startswith(prefix):
            return None
        wanted = self.path.removeprefix(prefix)
        known = {quote(name, safe=""): each for name, each in self.server.contents.items()}
        return known.get(wanted)

    def _allowed(self) -> str:
        """The methods of the place that is asked for; empty where nothing is."""
        if self._is_ours() and self.path == self.server.review_url:
            return _OF_REVIEW
        return _OF_FILE if self._content() else ""

    def _refuse(self, with_body: bool = True) -> None:
        """What was sent along is read first, as far as it may be a review: a connection that is
        closed before takes the words with it."""
        length = self.headers.get("Content-Length", "")
        if re.fullmatch(f"[0-9]{{1,{_MOST_DIGITS}}}", length) and int(length) <= MAX_REVIEW_BYTES:
            self.rfile.read(int(length))
        if allowed := self._allowed():
            words = f"This place takes {allowed}, not {self.command}."
            self._say(HTTPStatus.METHOD_NOT_ALLOWED, words, with_body, Allow=allowed)
        else:
            self._say(HTTPStatus.NOT_FOUND, "There is nothing here.", with_body)

    def _serve(self, with_body: bool) -> None:
        content = self._content()
        if content is None:
            self._refuse(with_body)
            return
        try:
            file = io.BytesIO(content.make()) if content.path is None else content.path.open("rb")
        except OSError as error:
            self._say(HTTPStatus.NOT_FOUND, f"It cannot be read: {error.strerror}.", with_body)
            return
        except CuelightError as error:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, str(error), with_body)
            return
        with file:
            self._answer(content.kind, file, with_body)

    def _answer(self, kind: str, file: BinaryIO, with_body: bool) -> None:
        size = file.seek(0, io.SEEK_END)
        part = _part(self.headers.get("Range", ""), size)
        if part is None:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        first, end = part.first, part.end
        self.send_response(HTTPStatus.OK if part.whole else HTTPStatus.PARTIAL_CONTENT)
        if not part.whole:
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{size}")
        self._head(kind, end - first)
        if not with_body:
            return
        file.seek(first)
        while first < end and (block := file.read(min(_BLOCK_BYTES, end - first))):
            self.wfile.write(block)
            first += len(block)
        if first < end:
            self.close_connection = True

    def _say(self, status: HTTPStatus, words: str, with_body: bool = True, **headers: str) -> None:
        body = words.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self._head("text/plain; charset=utf-8", len(body))
        if with_body:
            self.wfile.write(body)

    def _head(self, kind: str, length: int) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()


@dataclass(frozen=True, slots=True)
class _Part:
    """Bytes from ``first`` to before ``end``; ``whole``: the header asks for no part of a file, or
    for what a server may ignore (several ranges, other units, an end before the start)."""

    first: int
    end: int
    whole: bool = False


def _part(header: str, size: int) -> _Part | None:
    """What a ``Range`` header asks for; None where it lies outside of the file."""
    match = _RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return _Part(0, size, whole=True)
    first, last = match.groups()
    if not first:
        length = min(int(last), size)
        return _Part(size - length, size) if length else None
    if last and int(last) < int(first):
        return _Part(0, size, whole=True)
    end = min(int(last) + 1, size) if last else size
    return _Part(int(first), end) if int(first) < size else None
