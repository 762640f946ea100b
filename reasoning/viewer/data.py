"""What the page's script works with, as JSON: columns in place of objects, each text once.

A cue is known by its number; cues are numbered lane by lane, in a lane by time. ``words`` holds
each text once, and where a text belongs stands its index::

    {"words": ["person 1 waves", "label", ...], "lanes": [{"label": ..., "count": 2, ...}],
     "cues": {"ids": [...], "starts": float64, "ends": float64, "texts": [0, ...], "shorts": [...],
              "scores": uint16, "calibrated": uint16, "others": [[word, share, word, share], ...],
              "details": [[word, word], ...], "watermarks": [number, ...]},
     "review": {"action-1": {"verdict": "right"}}, "aside": {"action-1": [{"verdict": "wrong"}]},
     "blocks": [{"states": [["kept", "in the prompt"], ...], "of": [0, ...]}], ...}

Arrays with a type are base64 of little-endian numbers. Scores and shares are ten-thousandths;
``calibrated`` is null where nothing is, and 65535 where that cue is not. ``review`` is what a
person said of cues, and ``aside`` what was said of other cues that had one's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fusion.quoting import visible
from perception.cue import CueTimeline
from reasoning.tools.review import Review
from reasoning.viewer.drawn import drawn, packed, packed_times
from reasoning.viewer.extras import Extras
from reasoning.viewer.given import State
from reasoning.viewer.studied import studied
from reasoning.viewer.view import CueView, View

__all__ = ["data"]

_WHOLE = 10_000
_NOT_CALIBRATED = 65_535


def data(
    timeline: CueTimeline, shown: View, became: Sequence[Mapping[str, State]], extras: Extras
) -> dict[str, Any]:
    """See the module's description.

    Args:
        timeline: what is drawn.
        shown: its lanes and cues.
        became: what became of each cue in each block, by id.
        extras: what else is known.

    Raises:
        BadInput: the traces are ill-shaped.
    """
    info = timeline.video
    start_s = info.start_s if extras.player_start_s is None else extras.player_start_s
    times_s = np.zeros(0) if extras.frame_times_s is None else extras.frame_times_s
    said, aside = _review(timeline, extras.review or Review())
    numbers = shown.numbers
    words: dict[str, int] = {}
    return {
        "name": visible(info.name),
        "sha256": info.sha256,
        "start_s": start_s,
        "extent_s": shown.extent_s,
        "rate_hz": info.rate_hz,
        "width": info.width,
        "height": info.height,
        "lanes": shown.lanes,
        "cues": _columns(shown.cues, words),
        "words": list(words),
        "blocks": [_block(shown.cues, each) for each in became],
        "frames": packed_times(times_s),
        "study": None if extras.study is None else studied(extras.study, numbers),
        "review": said,
        "aside": aside,
        "save_url": extras.save_url,
        "review_tag": extras.review_tag,
        "review_name": extras.review_name or f"{visible(Path(info.name).stem)}.review.json",
        **drawn(timeline, extras.traces, numbers),
    }


def _review(
    timeline: CueTimeline, review: Review
) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """What is said of the cues and of ids that are not there; what was said of other cues of an id
    that is there."""
    cues = {cue.id: cue for _, cue in timeline.cues()}
    said = {}
    for id, each in review.cues.items():
        applied = review.about(cues[id]) if id in cues else each
        if applied is not None:
            said[id] = applied.document()
    aside = review.aside(timeline).items()
    return said, {id: [each.document() for each in left] for id, left in aside if id in cues}


def _columns(cues: Sequence[CueView], words: dict[str, int]) -> dict[str, Any]:
    """The cues by columns; texts that are new are added to ``words``."""

    def number(text: str) -> int:
        return words.setdefault(text, len(words))

    sure = [each.calibrated for each in cues]
    spans = [each.cue.span for each in cues]
    return {
        "ids": [each.cue.id for each in cues],
        "starts": packed_times(np.array([span.start_s for span in spans], np.float64)),
        "ends": packed_times(np.array([span.end_s for span in spans], np.float64)),
        "texts": [number(each.text) for each in cues],
        "shorts": [number(each.short) for each in cues],
        "scores": packed(_shares([each.cue.confidence for each in cues]), "<u2"),
        "calibrated": None if sure.count(None) == len(sure) else packed(_shares(sure), "<u2"),
        "others": [
            [part for label, share in each.others for part in (number(label), _share(share))]
            for each in cues
        ],
        "details": [[number(text) for pair in each.details for text in pair] for each in cues],
        "watermarks": [each.number for each in cues if each.is_watermark],
    }


def _block(cues: Sequence[CueView], became: Mapping[str, State]) -> dict[str, Any]:
    states: dict[State, int] = {}
    of = [states.setdefault(became.get(each.cue.id, State()), len(states)) for each in cues]
    return {"states": [[state.name, state.why] for state in states], "of": of}


def _shares(values: Sequence[float | None]) -> Any:
    return np.array([_NOT_CALIBRATED if each is None else _share(each) for each in values])


def _share(value: float) -> int:
    return round(value * _WHOLE)
