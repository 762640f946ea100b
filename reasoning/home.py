"""Where a user's own things are kept that no command can make again."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["home_folder"]


def home_folder() -> Path:
    """``CUELIGHT_HOME``, else the platform's folder for Cuelight's data; it may not exist yet."""
    if chosen := os.environ.get("CUELIGHT_HOME"):
        return Path(os.path.expanduser(chosen)).absolute()  # noqa: PTH111 - ~nobody stays as it is
    import platformdirs

    return platformdirs.user_data_path("cuelight", appauthor=False)
