"""Lanes and cues as the page's template and script take them: numbers, words and nothing that a
browser would obey."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fusion.quoting import visible
from fusion.render import span_words
from perception.cue import Cue, CueTimeline, Source
from reasoning.viewer.lanes import (
    TOP_ATTRIBUTES,
    Lane,
    alternatives,
    extent_s,
    kind_words,
    lanes,
    short_text,
    state_words,
)
from reasoning.viewer.origins import checkpoints

__all__ = ["CueView", "View", "view"]

_SHOWN_ELSEWHERE = {"person", *TOP_ATTRIBUTES}
_MAX_ATTRIBUTE_CHARS = 200
_MOST_ALTERNATIVES = 5
_COLOURED = {"action", "screen_text", "speech"}


@dataclass(frozen=True, slots=True, eq=False)
class CueView:
    """A cue as it is shown.

    Args:
        number: by which the page knows it.
        lane: number of its lane.
        text, short: with, and without whose it is.
        calibrated: the probability that it is right, None where it is not known.
        others: (label, share) of what else it may be.
        details: (name, value) of its attributes.
    """

    number: int
    cue: Cue
    lane: int
    text: str
    short: str
    calibrated: float | None
    others: tuple[tuple[str, float], ...]
    details: tuple[tuple[str, str], ...]

    @property
    def when(self) -> str:
        """Its span in words."""
        return span_words(self.cue.span)

    @property
    def is_watermark(self) -> bool:
        """Whether its recognizer says so."""
        return self.cue.attributes.get("watermark") is True


@dataclass(frozen=True, eq=False)
class View:
    """A timeline as it is shown.

    Args:
        extent_s: end of the axis.
        lanes: from top to bottom; ``count`` is how many cues each has.
        cues: lane by lane, in a lane by time.
    """

    extent_s: float
    lanes: tuple[dict[str, Any], ...]
    cues: tuple[CueView, ...]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """By cue id."""
        return {each.cue.id: each.number for each in self.cues}

    @cached_property
    def by_time(self) -> tuple[CueView, ...]:
        """In order of time."""
        return tuple(sorted(self.cues, key=lambda each: (each.cue.span, each.number)))


def view(timeline: CueTimeline, calibrated: Mapping[str, float]) -> View:
    """What is shown of a timeline.

    Args:
        calibrated: by id, the probability that it is right, where a calibration is known.
    """
    cues: list[CueView] = []
    strips = []
    for place, lane in enumerate(lanes(timeline)):
        for cue in sorted((cue for row in lane.rows for cue in row), key=lambda cue: cue.order):
            cues.append(_cue(len(cues), cue, lane, place, calibrated.get(cue.id)))
        strips.append(_strip(lane))
    return View(extent_s(timeline), tuple(strips), tuple(cues))


def _strip(lane: Lane) -> dict[str, Any]:
    source = lane.track.source
    return {
        "label": lane.label,
        "track": visible(lane.track.id),
        "kind": lane.track.kind,
        "hue": lane.track.kind if lane.track.kind in _COLOURED else "other",
        "person": lane.person,
        "count": sum(map(len, lane.rows)),
        "state": state_words(lane.track.status),
        "notes": list(lane.notes),
        "details": [
            ["recognizer", visible(f"{source.name} {source.version}".strip())],
            *_checkpoint(source),
        ],
    }


def _cue(number: int, cue: Cue, lane: Lane, place: int, probability: float | None) -> CueView:
    return CueView(
        number,
        cue,
        place,
        visible(cue.text),
        short_text(cue, lane.person),
        probability,
        alternatives(cue.attributes)[:_MOST_ALTERNATIVES],
        tuple(_attributes(cue)),
    )


def _attributes(cue: Cue) -> Iterator[tuple[str, str]]:
    for name, value in cue.attributes.items():
        if name not in _SHOWN_ELSEWHERE:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = visible(text)
            if len(text) > _MAX_ATTRIBUTE_CHARS:
                text = text[: _MAX_ATTRIBUTE_CHARS - 1] + "…"
            yield kind_words(name), text


def _checkpoint(source: Source) -> Iterator[list[str]]:
    if source.checkpoint_sha256:
        yield ["checkpoint", " + ".join(each.text for each in checkpoints(source))]
