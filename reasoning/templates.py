"""What the product's HTML pages are made with: templates that escape whatever is put into them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from fusion.quoting import visible

__all__ = ["templates_in"]


def templates_in(folder: Path, **filters: Callable[..., Any]) -> jinja2.Environment:
    """The templates of a folder, which have ``filters`` and ``visible``; what a template asks for
    and is not given is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"visible": visible, **filters}
    return made
