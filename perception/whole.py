"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
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
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file that replaces ``path`` when the block ends well, and vanishes when it does not.

    It is written beside ``path``, synced and renamed; missing parent folders are made.

    Raises:
        StorageError: the disk is full, read-only, or the place is no folder.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if error.errno not in _STORAGE_ERRORS:
            raise
        raise StorageError(
            f"Cannot write {str(path)!r}: {error.strerror or error}. "
            "Free some space or choose a folder that can be written."
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, whole or not at all.

    Raises:
        StorageError: as ``whole_file``.
    """
    with whole_file(path) as file:
        file.write(content)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
