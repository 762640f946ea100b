"""Words on a terminal: nothing that a video, a model or a file name says can steer it."""

from __future__ import annotations

import io
import sys
import unicodedata

import typer

__all__ = ["forgive_encodings", "is_utf8", "printable", "tell"]

_KEPT = "\n\t\u200c\u200d"
"""Line breaks are the text's own; joiners belong to the spelling of Persian and of emoji."""

_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    """``text`` with control, format and half characters as escapes, as Python writes them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character in _KEPT or unicodedata.category(character) not in _STEERING
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def tell(text: object, *, err: bool = False) -> None:
    """Print a line, or several, on stdout or stderr."""
    typer.echo(printable(str(text)), err=err)


def forgive_encodings() -> None:
    """Have characters that stdout or stderr cannot encode printed as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_utf8() -> bool:
    """Whether stdout takes every character."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().replace("-", "").replace("_", "") == "utf8"
