"""Lanes and cues as the page's template and script take them: numbers, words and nothing that a
browser would obey."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fusion.quoting import visible
from fusion.render import span_words
from perception.cue import Cue, CueTimeline, Source
from reasoning.viewer.given import State
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

__all__ = ["percent_words", "view"]

_SHOWN_ELSEWHERE = {"person", *TOP_ATTRIBUTES}
_MAX_ATTRIBUTE_CHARS = 200
_MOST_ALTERNATIVES = 5
_COLOURED = {"action", "screen_text", "speech"}


def percent_words(probability: float) -> str:
    """``"62 %"``, rounded half up."""
    return f"{int(probability * 100 + 0.5)} %"


def view(
    timeline: CueTimeline, states: Mapping[str, State], calibrated: Mapping[str, float]
) -> dict[str, Any]:
    """``extent_s``, ``lanes`` with their rows of cue numbers, and ``cues``, numbered in the order
    of the lanes.

    Args:
        states: what became of each cue, by id.
        calibrated: by id, the probability that it is right, where a calibration is known.
    """
    cues: list[dict[str, Any]] = []
    strips = []
    for number, lane in enumerate(lanes(timeline)):
        rows = []
        for row in lane.rows:
            first = len(cues)
            for at, cue in enumerate(row, first):
                state = states.get(cue.id, State())
                cues.append(_cue(at, cue, lane, number, state, calibrated.get(cue.id)))
            rows.append(list(range(first, len(cues))))
        strips.append(_strip(lane, rows))
    return {"extent_s": extent_s(timeline), "cues": cues, "lanes": strips}


def _strip(lane: Lane, rows: list[list[int]]) -> dict[str, Any]:
    source = lane.track.source
    return {
        "label": lane.label,
        "track": visible(lane.track.id),
        "kind": lane.track.kind,
        "hue": lane.track.kind if lane.track.kind in _COLOURED else "other",
        "person": lane.person,
        "rows": rows,
        "count": sum(map(len, rows)),
        "state": state_words(lane.track.status),
        "notes": list(lane.notes),
        "details": [
            ["recognizer", visible(f"{source.name} {source.version}".strip())],
            *_checkpoint(source),
        ],
    }


def _cue(
    number: int, cue: Cue, lane: Lane, place: int, state: State, probability: float | None
) -> dict[str, Any]:
    others = alternatives(cue.attributes)[:_MOST_ALTERNATIVES]
    return {
        "number": number,
        "id": cue.id,
        "lane": place,
        "start_s": cue.span.start_s,
        "end_s": cue.span.end_s,
        "when": span_words(cue.span),
        "text": visible(cue.text),
        "short": short_text(cue, lane.person),
        "confidence": round(cue.confidence, 4),
        "calibrated": None if probability is None else round(probability, 4),
        "alternatives": [[label, percent_words(each)] for label, each in others],
        "details": list(_attributes(cue)),
        "watermark": cue.attributes.get("watermark") is True,
        "state": state.name,
        "why": state.why,
    }


def _attributes(cue: Cue) -> Iterator[list[str]]:
    for name, value in cue.attributes.items():
        if name not in _SHOWN_ELSEWHERE:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = visible(text)
            if len(text) > _MAX_ATTRIBUTE_CHARS:
                text = text[: _MAX_ATTRIBUTE_CHARS - 1] + "…"
            yield [kind_words(name), text]


def _checkpoint(source: Source) -> Iterator[list[str]]:
    if source.checkpoint_sha256:
        yield ["checkpoint", " + ".join(each.text for each in checkpoints(source))]
