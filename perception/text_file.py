"""Text files that a user names: read whole, and only so far as a person or a program writes."""

from __future__ import annotations

from pathlib import Path

from perception.errors import BadInput

__all__ = ["MAX_BYTES", "read_text"]

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
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) <= MAX_BYTES:
            return content.decode("utf-8-sig")
        reason = f"it has more than {MAX_BYTES >> 20} MB"
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8 text ({error.reason})"
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error)
    raise BadInput(f"Cannot read the {what} {str(path)!r}: {reason}.")
