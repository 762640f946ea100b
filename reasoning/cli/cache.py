"""``cuelight cache``: how much finished work and how many weights lie on this disk."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from perception.errors import BadInput
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

_UNITS_S = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def command(
    prune: Annotated[bool, typer.Option("--prune", help="Remove finished tracks.")] = False,
    older_than: Annotated[
        str, typer.Option(help="With --prune: only what was written longer ago, e.g. 30d or 12h.")
    ] = "",
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Tell the size of the cache, and prune it.

    Finished tracks are kept by content and cost nothing to lose but the time to perceive again.
    Weights stay until their folder is deleted.
    """
    from perception.cache import TrackCache
    from perception.weights import cache_folder

    tracks = TrackCache()
    if older_than and not prune:
        raise BadInput("--older-than goes with --prune.")
    removed = tracks.prune(_age_s(older_than)) if prune else None
    left = tracks.usage()
    weights = sum(
        file.stat().st_size
        for file in cache_folder().rglob("*")
        if file.is_file() and tracks.folder not in file.parents
    )
    if json:
        output.emit(
            {
                "folder": str(cache_folder()),
                "tracks": left.tracks,
                "tracks_bytes": left.bytes,
                "weights_bytes": weights,
                "removed_tracks": removed.tracks if removed else 0,
                "freed_bytes": removed.bytes if removed else 0,
            }
        )
        return
    if removed and not quiet:
        tell(f"Removed {removed.tracks} tracks, {removed.bytes / 1e6:.1f} MB.")
    tell(f"{cache_folder()}")
    tell(f"tracks: {left.tracks}, {left.bytes / 1e6:.1f} MB")
    tell(f"weights and sample: {weights / 1e6:.1f} MB")


def _age_s(text: str) -> float:
    if not text:
        return 0.0
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text.strip())
    if match is None:
        raise BadInput(f"--older-than takes a number and m, h, d or w, e.g. 30d, not {text!r}.")
    return float(match[1]) * _UNITS_S[match[2]]
