"""The folders that files are written into."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from perception.errors import BadInput, StorageError

__all__ = ["check_folder"]


def check_folder(out: Path) -> None:
    """See, before any work is done for them, that files can be written into ``out``; what is
    missing of it is made later.

    Raises:
        BadInput: it, or a folder that it is to lie in, is a file.
        StorageError: it cannot be written.
    """
    there = next(each for each in (out, *out.absolute().parents) if os.path.lexists(each))
    if not there.is_dir():
        which = "it" if there == out else repr(str(there))
        raise BadInput(
            f"Nothing can be written to --out {str(out)!r}: {which} is a file; give a folder."
        )
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise StorageError(
            f"Cannot write into the folder {str(there)!r}: {error.strerror or error}. "
            "Choose one that can be written (--out)."
        ) from None
