"""Where the shipped folders lie: at the root of a checkout, inside the rooms of a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from perception.errors import StorageError

__all__ = ["shipped"]

_IN_A_WHEEL = {"checkpoints": "perception", "configs": "reasoning"}
_PROOF = {"checkpoints": "manifest.yaml", "configs": "default.yaml"}


def shipped(folder: Literal["checkpoints", "configs"]) -> Path:
    """The folder ``checkpoints`` or ``configs`` that came with this installation.

    Raises:
        StorageError: it is not there, so that the installation is incomplete.
    """
    root = Path(__file__).resolve().parent.parent
    for place in (root / _IN_A_WHEEL[folder] / folder, root / folder):
        if (place / _PROOF[folder]).is_file():
            return place
    raise StorageError(
        f"The folder {folder!r} with {_PROOF[folder]!r} is neither in {str(root)!r} nor in its "
        f"room {_IN_A_WHEEL[folder]!r}. The installation is incomplete: install cuelight again."
    )
