"""Files that a user names: read whole, and only so far as a person or a program writes."""

from __future__ import annotations

from pathlib import Path

from perception.errors import BadInput

__all__ = ["MAX_BYTES", "looked_in", "read_bytes", "read_text"]

MAX_BYTES = 256 << 20
"""A thousand times a timeline of an hour; a device without an end is not read into memory."""


def read_text(path: Path, what: str) -> str:
    """The text of a UTF-8 file.

    Args:
        path: the file; a pipe is waited for.
        what: it should be, for error messages, e.g. ``"timeline"``.

    Raises:
        BadInput: it cannot be read, is no UTF-8, or has more than ``MAX_BYTES``.
    """
    try:
        return read_bytes(path, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(path, what, f"it is not UTF-8 text ({error.reason})") from None


def read_bytes(path: Path, what: str) -> bytes:
    """The content of a file, as ``read_text`` but of any bytes.

    Raises:
        BadInput: it cannot be read, or has more than ``MAX_BYTES``.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error)
        if isinstance(error, FileNotFoundError):
            reason += looked_in(path)
        raise _unreadable(path, what, reason) from None
    if len(content) > MAX_BYTES:
        raise _unreadable(path, what, f"it has more than {MAX_BYTES >> 20} MB")
    return content


def looked_in(path: Path) -> str:
    """The folder that a relative path is looked for in, to be put behind "there is no such file";
    empty for an absolute one."""
    return "" if path.is_absolute() else f" in {str(Path.cwd())!r}"


def _unreadable(path: Path, what: str, reason: str) -> BadInput:
    return BadInput(f"Cannot read the {what} {str(path)!r}: {reason}.")
