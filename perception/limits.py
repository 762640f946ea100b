"""Numbers in options that must lie between limits, checked in one way."""

from __future__ import annotations

import os
from collections.abc import Mapping

from perception.errors import BadInput

__all__ = ["THREADS", "check_limits", "usable_threads"]

THREADS = (1, 256)
"""What ``threads`` may be: as many as the largest single machines have cores for, and below the 512
at which llama.cpp ends the process (``GGML_MAX_N_THREADS``)."""


def check_limits(
    options: object, limits: Mapping[str, tuple[float, float]], owner: str = ""
) -> None:
    """Check the fields of ``options`` that ``limits`` names; None passes, not-a-number does not.

    Args:
        options: a dataclass of settings.
        limits: field -> least and greatest value, both allowed.
        owner: what the message puts before a field's name, e.g. ``"The speech recognizer's "``.

    Raises:
        BadInput: a value lies outside; names the field, the value and the limits.
    """
    for name, (least, most) in limits.items():
        value = getattr(options, name)
        if value is not None and not least <= value <= most:
            raise BadInput(
                f"{owner}{name} is {value}; give a number from {_plain(least)} to {_plain(most)}."
            )


def usable_threads(wanted: int) -> int:
    """``wanted``, but no more than the machine has cores: threads beyond them only spin (with 512
    on two cores llama.cpp did not end a token within minutes)."""
    return max(1, min(wanted, os.cpu_count() or 1))


def _plain(number: float) -> str:
    return f"{number:g}" if number < 1e6 else f"{number:.0e}"
