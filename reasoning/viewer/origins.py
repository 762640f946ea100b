"""Where tracks come from, in words for a person: settings line by line, checksums cut short."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fusion.quoting import visible
from perception.cue import CueTrack, Source

__all__ = ["Origins", "Short", "checkpoints", "origins", "settings"]

_SHOWN_DIGITS = 12
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Short:
    """A text that may have been cut: ``full`` is the whole of it, empty where ``text`` is."""

    text: str
    full: str = ""


@dataclass(frozen=True, slots=True)
class Origins:
    """What the page tells about the making of a track.

    Args:
        track: its id.
        state: how far the recognizer got.
        made_by: name, version and kind of what made it.
        checkpoints: sha256 of the weights, in the order of the recognizer's models.
        settings: (name, value); the name of a nested one is its path, joined by dots.
        notes: the track's, as one text.
    """

    track: str
    state: str
    made_by: str
    checkpoints: tuple[Short, ...]
    settings: tuple[tuple[str, Short], ...]
    notes: str


def origins(track: CueTrack) -> Origins:
    """The origins of ``track``; every text is free of characters that a page would obey."""
    source = track.source
    made_by = " ".join(filter(None, [source.name, source.version, f"({track.origin})"]))
    return Origins(
        visible(track.id),
        track.status.replace("_", " "),
        visible(made_by),
        checkpoints(source),
        settings(source.settings),
        visible(" ".join(track.notes)),
    )


def checkpoints(source: Source) -> tuple[Short, ...]:
    """The checksum of each checkpoint, shown by its first 12 digits."""
    return tuple(_short(each) for each in source.checkpoint_sha256.split("+") if each)


def settings(values: Mapping[str, Any]) -> tuple[tuple[str, Short], ...]:
    """``{"tracker": {"max_gap_s": 1.0}}`` as ``tracker.max_gap_s`` with the value ``1.0``."""
    return tuple(
        (visible(name), _short(text) if _SHA256.fullmatch(text) else Short(text))
        for name, text in _flat(values)
    )


def _short(sha256: str) -> Short:
    full = visible(sha256)
    return Short(full[:_SHOWN_DIGITS], full if len(full) > _SHOWN_DIGITS else "")


def _flat(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", _words(value)


def _words(value: Any) -> str:
    """A setting's value as a person writes it, without the marks of JSON or Python."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        text = ", ".join(f"{name}: {inner}" for name, inner in _flat(value))
    elif isinstance(value, list | tuple):
        text = ", ".join(map(_words, value))
    else:
        text = visible(str(value))
    return text or "(empty)"
