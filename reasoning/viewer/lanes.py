"""How a timeline is laid out, on a page and in a terminal alike: lanes, rows and a time axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fusion.quoting import visible
from perception.cue import Cue, CueTimeline, CueTrack, Status
from perception.rows import rows

__all__ = [
    "TOP_ATTRIBUTES",
    "Lane",
    "alternatives",
    "extent_s",
    "kind_words",
    "lanes",
    "short_text",
    "state_words",
    "ticks",
]

TOP_ATTRIBUTES = ("top", "top5")
"""Names under which recognizers keep their likeliest labels."""

LEAST_SHOWN = 0.005
"""The least probability that does not read "0 %"."""

TICK_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
"""Distances between ticks that people read at a glance."""

_STATES = {
    Status.COMPLETE: "",
    Status.PARTIAL: "partial",
    Status.NO_SIGNAL: "no signal",
    Status.FAILED: "failed",
}


@dataclass(frozen=True, slots=True)
class Lane:
    """One strip of the drawing.

    Args:
        label: for a person, e.g. ``"action, person 1"``.
        track: where its cues come from.
        rows: the cues, each row free of overlaps and in order of time; empty where the track has
            none.
        person: whose cues they are, None where the track does not say.
        notes: the track's, in its first lane only.
    """

    label: str
    track: CueTrack
    rows: tuple[tuple[Cue, ...], ...]
    person: str | None = None
    notes: tuple[str, ...] = ()


def kind_words(kind: str) -> str:
    """``"screen_text"`` as ``"screen text"``."""
    return visible(kind.replace("_", " "))


def state_words(status: Status) -> str:
    """The status as a person calls it; empty for a complete track."""
    return _STATES[status]


def lanes(timeline: CueTimeline) -> tuple[Lane, ...]:
    """A lane for every track, and in it one for every person where cues carry ``person``."""
    found: list[Lane] = []
    for track in timeline.tracks:
        people: dict[str, list[Cue]] = {}
        for cue in track.cues:
            people.setdefault(str(cue.attributes.get("person", "")), []).append(cue)
        notes = tuple(visible(note) for note in track.notes)
        for place, person in enumerate(sorted(people, key=_natural) or [""]):
            cues = people.get(person, [])
            label = kind_words(track.kind) + (f", person {visible(person)}" if person else "")
            if track.id != track.kind:
                label += f" ({visible(track.id)})"
            spans = ((cue.span.start_s, cue.span.end_s, cue) for cue in cues)
            packed = tuple(tuple(cue for *_, cue in row) for row in rows(spans))
            found.append(Lane(label, track, packed, person or None, () if place else notes))
    return tuple(found)


def extent_s(timeline: CueTimeline) -> float:
    """Seconds from 0 to the end of the axis: of the video or of the last cue, never 0."""
    ends = [cue.span.end_s for _, cue in timeline.cues()]
    return max([timeline.video.duration_s, *ends]) or 1.0


def ticks(extent_s: float, at_most: int) -> tuple[float, ...]:
    """Times in seconds at which an axis from 0 to ``extent_s`` is labelled."""
    step_s = next((step for step in TICK_STEPS_S if extent_s / step <= at_most - 1), None)
    if step_s is None:
        step_s = TICK_STEPS_S[-1] * math.ceil(extent_s / (at_most - 1) / TICK_STEPS_S[-1])
    return tuple(round(n * step_s, 3) for n in range(int(extent_s / step_s + 1e-9) + 1))


def alternatives(attributes: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """(label, probability) of what else it may be, the likeliest first; empty where none are kept.

    The label that was chosen (``label``) is no alternative, nor is one of less than
    ``LEAST_SHOWN``. Each item may be ``[label, probability]`` or ``{"label": …, "probability":
    …}``; others, which another recognizer may have written, are passed over.
    """
    found = []
    chosen = attributes.get("label")
    top = next((attributes[name] for name in TOP_ATTRIBUTES if name in attributes), ())
    for item in top if isinstance(top, list | tuple) else ():
        if isinstance(item, Mapping):
            item = (item.get("label", item.get("text")), item.get("probability"))
        if not (isinstance(item, list | tuple) and len(item) == 2 and _is_probability(item[1])):
            continue
        if item[0] != chosen and item[1] >= LEAST_SHOWN:
            found.append((visible(str(item[0])), float(item[1])))
    return tuple(sorted(found, key=lambda pair: -pair[1]))


def short_text(cue: Cue, person: str | None) -> str:
    """The cue's text without whose it is, where its lane says that already."""
    text = visible(cue.text)
    if person is None:
        return text
    for whose in (f"person {person}, {cue.attributes.get('where')}, ", f"person {person} "):
        text = text.removeprefix(whose)
    return text


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _natural(text: str) -> tuple[int, float, str]:
    return (0, float(text), text) if text.isdecimal() else (1, 0.0, text)
