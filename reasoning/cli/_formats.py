"""What ``export`` and ``import-cues`` share: which format, with which options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from perception.format import Format

__all__ = ["CUES_SUFFIX", "PlayerClock", "SetOption", "build_format", "stem_of"]

CUES_SUFFIX = ".cues.json"

PlayerClock = Annotated[
    bool,
    typer.Option(
        "--player-clock",
        help="Times of the file as players count that do not subtract the video's start.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="An option of the format, e.g. url_prefix=/data/. Repeatable."),
]


def build_format(name: str, set: Sequence[str]) -> Format:
    """The format of that name with its options.

    Raises:
        UnknownName: there is no such option; lists what there is.
        BadInput: a value of another type.
    """
    from perception import plugins
    from perception.format import FOLDER
    from reasoning import config

    plugin = plugins.take(FOLDER, name)
    options = config.typed(plugin.Options, config.overridden({}, set), name)
    format: Format = plugin.build(options)
    return format


def stem_of(cues: Path) -> str:
    """``NAME`` of ``NAME.cues.json``."""
    return cues.name.removesuffix(CUES_SUFFIX).removesuffix(".json") or cues.name
