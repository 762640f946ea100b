"""One run of a study at a time: two would pay for every call twice."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from perception.errors import BadInput
from reasoning.records import digest

__all__ = ["alone"]


@contextlib.contextmanager
def alone(records: Path, model: str) -> Iterator[None]:
    """While the block asks ``model`` for ``records``; the lock falls with its process.

    Raises:
        BadInput: another process on this machine is at it.
    """
    from filelock import FileLock, Timeout

    name = digest(str(records.resolve()), model)[:32]
    lock = FileLock(Path(tempfile.gettempdir()) / f"cuelight-{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BadInput(
            f"Another run asks {model} for {str(records)!r} at this moment, and both would make "
            "every call. Wait for it; --workers makes calls at once."
        ) from None
    try:
        yield
    finally:
        lock.release()
