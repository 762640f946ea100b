"""The places in braces of a benchmark's options: ``{here}`` is the folder of the study's file, a
checkpoint's name its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perception import weights
from perception.errors import UnknownName

__all__ = ["placed"]

_PLACE = re.compile(r"\{(\w+)\}")


def placed(options: Mapping[str, Any], fetch: Sequence[str], here: Path | str) -> dict[str, Any]:
    """``options`` with every place filled in.

    Args:
        fetch: checkpoints that may be named.
        here: the folder of the study's file.

    Raises:
        UnknownName: another name stands in braces.
    """

    def place(match: re.Match[str]) -> str:
        if match[1] == "here":
            return str(here)
        if match[1] not in fetch:
            raise UnknownName("place in braces", match[1], ("here", *fetch))
        return str(weights.location(match[1]))

    return {
        key: _PLACE.sub(place, value) if isinstance(value, str) else value
        for key, value in options.items()
    }
