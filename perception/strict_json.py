"""JSON as Cuelight writes and reads it: text that UTF-8 can hold, and fields of the right type.

A file name may hold bytes that are no UTF-8, which Python keeps as lone surrogates; they are
written as the escapes that JSON has for them, so that any string makes the round trip.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from perception.errors import BadInput

__all__ = ["MAX_DEPTH", "Fields", "dumps", "loads"]

MAX_DEPTH = 50
"""Deepest nesting of a value that belongs to a kind of cue; recognizers write three levels."""

_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Lone surrogates, which UTF-8 cannot hold, and what turns or moves text on a terminal."""

_REQUIRED: Any = object()


def dumps(value: Any, *, ascii_only: bool = False, indent: int | None = 1) -> str:
    """``value`` as JSON text, of ASCII characters only where that is wished.

    Args:
        value: plain JSON values.
        ascii_only: whether other characters are written as escapes.
        indent: spaces for each level; None = all on one line.

    Raises:
        BadInput: it holds a number that is not finite.
    """
    try:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, allow_nan=False)
    except ValueError as error:
        raise BadInput(f"There is no JSON for a number that is not finite: {error}.") from None
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def loads(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        BadInput: it is not JSON, holds NaN or Infinity, or is nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise BadInput("it is nested too deeply") from None
    except ValueError as error:
        raise BadInput(f"it is not JSON: {error}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


class Fields:
    """The fields of a JSON object, taken one by one as what they must be.

    Args:
        raw: what should be an object.
        where: leads to it from the top, e.g. ``"tracks[0].source"``; empty = it is the top.

    Every method raises ``BadInput``, which names the field, where it is missing without a
    ``default`` or has another type. The name is the full path.
    """

    def __init__(self, raw: Any, where: str = "") -> None:
        if not isinstance(raw, dict):
            raise BadInput(f"{where or 'the whole'} must be an object, not {_shown(raw)}")
        self._raw, self._where = raw, where

    @property
    def where(self) -> str:
        """Leads to it from the top."""
        return self._where

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._raw.get(name) is not None

    def names(self) -> tuple[str, ...]:
        """The names of its fields."""
        return tuple(self._raw)

    def items(self) -> Iterator[tuple[str, Fields]]:
        """Its fields by name, each of which must be an object."""
        for name in self._raw:
            yield name, self.fields(name)

    def text(self, name: str, default: str = _REQUIRED) -> str:
        """A string."""
        value = self._take(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a string", value)
        return value

    def number(self, name: str, default: float = _REQUIRED) -> float:
        """A number, as a float."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "a number", value)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._wrong(name, "a finite number", value)
        return number

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self._take(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(name, "a whole number", value)
        return value

    def flag(self, name: str, default: bool = _REQUIRED) -> bool:
        """True or false."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def mapping(self, name: str, default: Mapping[str, Any] = _REQUIRED) -> dict[str, Any]:
        """An object with any fields, nested at most ``MAX_DEPTH`` levels deep; anything else is
        ``BadInput``."""
        value = self._take(name, default)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        if _is_deeper(value, MAX_DEPTH):
            raise BadInput(f"{self._path(name)} is nested more than {MAX_DEPTH} levels deep")
        return dict(value)

    def fields(self, name: str) -> Fields:
        """An object."""
        return Fields(self._take(name), self._path(name))

    def each(self, name: str) -> Iterator[Fields]:
        """The objects of an array."""
        for at, value in enumerate(self.array(name)):
            yield Fields(value, f"{self._path(name)}[{at}]")

    def numbers(self, name: str) -> tuple[float, ...]:
        """An array of numbers."""
        values = {f"{name}[{at}]": value for at, value in enumerate(self.array(name))}
        inner = Fields(values, self._where)
        return tuple(map(inner.number, values))

    def texts(self, name: str) -> tuple[str, ...]:
        """An array of strings."""
        values = self.array(name)
        for at, value in enumerate(values):
            if not isinstance(value, str):
                raise self._wrong(f"{name}[{at}]", "a string", value)
        return tuple(values)

    def array(self, name: str) -> list[Any]:
        """An array of anything."""
        value = self._take(name)
        if not isinstance(value, list):
            raise self._wrong(name, "an array", value)
        return value

    def _take(self, name: str, default: Any = _REQUIRED) -> Any:
        value = self._raw.get(name, default)
        if value is _REQUIRED:
            raise BadInput(f"the field {self._path(name)!r} is missing")
        return value

    def _path(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where else name

    def _wrong(self, name: str, wanted: str, value: Any) -> BadInput:
        return BadInput(f"{self._path(name)} must be {wanted}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """A value of any size, short enough for an error message."""
    if isinstance(value, list):
        return "an array"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 128:
        return "a number with too many digits"
    text = repr(value) if not isinstance(value, str) else repr(value[:40])
    return "null" if value is None else text


def _is_deeper(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not layer:
            return False
    return True
