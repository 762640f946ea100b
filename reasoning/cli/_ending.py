"""The end of the process where threads are still at work in a library."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from typing import Self

__all__ = ["Ending"]


class Ending:
    """Ends the process, after all else that is to be done at its end, with the exit code of the
    block and without Python's own last step where a thread of the block still runs: Python would
    tear it out of the library's code, which aborts the process."""

    def __init__(self) -> None:
        self._before = threading.enumerate()
        self._left: list[threading.Thread] = []
        self._code = 0
        atexit.register(self._leave)  # the first to be registered is the last to be called

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._left = [each for each in threading.enumerate() if each not in self._before]
        if self._left and isinstance(error, SystemExit):
            self._code = error.code if isinstance(error.code, int) else int(error.code is not None)
        else:
            atexit.unregister(self._leave)

    def _leave(self) -> None:
        if not any(thread.is_alive() for thread in self._left):
            return
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(self._code)
