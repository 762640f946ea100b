"""One run of a study at a time: two would pay for every call twice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from perception.errors import BadInput, StorageError
from reasoning.records import digest

__all__ = ["alone"]


@contextlib.contextmanager
def alone(records: Path, model: str) -> Iterator[None]:
    """While the block asks ``model`` for ``records``; the lock falls with its process.

    Raises:
        BadInput: another process is at it.
        StorageError: the lock, a file beside the records, cannot be made.
    """
    from filelock import FileLock, Timeout

    path = records.resolve()
    lock = FileLock(path.with_name(f".{path.name}.{digest(model)[:8]}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BadInput(
            f"Another run asks {model} for {str(records)!r} at this moment, and both would make "
            "every call. Wait for it; --workers makes calls at once."
        ) from None
    except OSError as error:
        raise StorageError(
            f"Cannot lock {lock.lock_file!r} ({error.strerror}), which keeps a second run off "
            "these records. Make the folder writable, or remove the file if no run is at work."
        ) from None
    try:
        yield
    finally:
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)
