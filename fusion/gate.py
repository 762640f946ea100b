"""The first step of fusion: every cue of the timeline is let in or dropped with its reason."""

from __future__ import annotations

from fusion.options import FusionOptions
from fusion.question import Question
from fusion.quoting import visible
from fusion.render import in_order, span_words
from fusion.selection import DroppedCue, KeptCue, Selection
from perception.cue import Cue, CueTimeline, Span

__all__ = ["gate"]

_DECIMALS = range(2, 17)


def gate(timeline: CueTimeline, question: Question, options: FusionOptions) -> Selection:
    """Let in what touches ``question.span``, says something and reaches its kind's threshold.

    A cue's probability is its recognizer's confidence, and its value, until a policy knows
    better, is that probability. Both lists are in order of time.
    """
    part = question.span
    kept: list[KeptCue] = []
    dropped: list[DroppedCue] = []
    for track, cue in timeline.cues():
        if part is not None and not cue.span.overlaps(part):
            reason: str | None = f"outside {_part_words(part, timeline.video.duration_s)}"
        else:
            reason = _reason(cue, options.threshold(track.kind))
        if reason is None:
            kept.append(KeptCue(track.kind, cue, cue.confidence, value=cue.confidence))
        else:
            dropped.append(DroppedCue(track.kind, cue, reason))
    dropped.sort(key=lambda item: (item.cue.span, item.kind, item.cue.id))
    return Selection(in_order(kept), tuple(dropped))


def _part_words(part: Span, duration_s: float) -> str:
    """``"1:20-1:45"``; a part with an open end ends with the video."""
    shown = Span(part.start_s, max(part.start_s, min(part.end_s, duration_s)))
    whole = float(shown.start_s).is_integer() and float(shown.end_s).is_integer()
    return span_words(shown, tenths=not whole)


def _reason(cue: Cue, threshold: float) -> str | None:
    if not visible(cue.text):
        return "has no visible text"
    if cue.confidence < threshold:
        return _under(cue.confidence, threshold)
    return None


def _under(confidence: float, threshold: float) -> str:
    """With as many decimals as it takes to see the difference."""
    for decimals in _DECIMALS:
        low, high = f"{confidence:.{decimals}f}", f"{threshold:.{decimals}f}"
        if low != high:
            return f"confidence {low} is under {high}"
    return f"confidence {confidence!r} is under {threshold!r}"
