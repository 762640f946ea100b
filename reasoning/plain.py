"""Frozen options and other values as plain JSON, for records, stamps and digests."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """``value`` with dataclasses and mappings as objects, tuples and sets as lists, and paths as
    words.

    Raises:
        TypeError: something in it has no such form.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (str, Path)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {each.name: plain(getattr(value, each.name)) for each in fields}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(inner) for inner in value), key=str)
    raise TypeError(f"{value!r} has no plain form")
