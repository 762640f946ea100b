"""An HTTP server for tests that does not keep a failure of its own to itself."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.faults: list[BaseException] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.faults.append(error)


@contextmanager
def running(
    handler: type[BaseHTTPRequestHandler], before_end: Callable[[], object] = lambda: None
) -> Iterator[str]:
    """Serves on this machine while the block runs; gives the address, ``http://127.0.0.1:PORT``.

    What ``handler`` raised meanwhile is raised after the block; a client that hangs up is no fault.

    Args:
        handler: answers each request, in a thread of its own.
        before_end: wakes those that wait.
    """
    server = _Server(handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        before_end()
        server.shutdown()
        server.server_close()
        thread.join()
    if server.faults:
        raise ExceptionGroup("The test's server failed.", server.faults)  # type: ignore[type-var]


def closed_address() -> str:
    """The address of a server that is not up."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{door.getsockname()[1]}/v1"
