"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from perception.errors import StorageError

__all__ = ["whole_file", "write_whole"]

_STORAGE_ERRORS = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EEXIST,
    errno.EFBIG,
    errno.EIO,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}


_TEMPORARY = ".cuelight-"

_STALE_S = 3600.0
"""A temporary file that was not written to for so long was left by a process that was killed."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file that replaces ``path`` when the block ends well, and vanishes when it does not.

    It is written beside ``path``, synced and renamed; missing parent folders are made. What a
    killed process left there an hour ago or earlier is removed.

    Raises:
        StorageError: the disk is full, read-only, or the place is no folder.
    """
    temporary = path.with_name(f"{_TEMPORARY}{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent)
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.errno not in _STORAGE_ERRORS:
            raise
        remedy = "Free some space or choose a folder that can be written."
        if error.errno == errno.ENAMETOOLONG:
            remedy = "Give the video a shorter name."
        raise StorageError(
            f"Cannot write {str(path)!r}: {error.strerror or error}. {remedy}"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _sweep(folder: Path) -> None:
    now = time.time()
    for left in folder.glob(f"{_TEMPORARY}{'[0-9a-f]' * 16}"):
        with contextlib.suppress(OSError):
            if now - left.lstat().st_mtime > _STALE_S:
                left.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, whole or not at all.

    Raises:
        StorageError: as ``whole_file``.
    """
    with whole_file(path) as file:
        file.write(content)
