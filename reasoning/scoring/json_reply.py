"""The JSON object in a model's reply, alone or with words around it: exactly one, or none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

__all__ = ["only_object"]


def only_object(reply: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """The one object in ``reply`` that ``wanted`` says yes to; None where there is none, or where
    several say different things."""
    decoder, found = json.JSONDecoder(), []
    for start in (match.start() for match in re.finditer(r"\{", reply)):
        try:
            value, _ = decoder.raw_decode(reply, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and wanted(value) and value not in found:
            found.append(value)
    return found[0] if len(found) == 1 else None
