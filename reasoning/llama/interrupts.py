"""Interrupts (Ctrl-C) held back while something is built that cannot be destroyed half built."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

__all__ = ["held_back"]


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """An interrupt that comes while the block runs is raised at its end, in place of any error.

    Only the main thread is ever interrupted: in any other the block just runs.

    Raises:
        KeyboardInterrupt: one came, and the handler there was before raises it.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: came.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came.is_set():
            handler(signal.SIGINT, None)
