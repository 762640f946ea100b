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
    kept: list[KeptCue] = []
    dropped: list[DroppedCue] = []
    for track, cue in timeline.cues():
        reason = _reason(cue, question.span, options.threshold(track.kind))
        if reason is None:
            kept.append(KeptCue(track.kind, cue, cue.confidence, value=cue.confidence))
        else:
            dropped.append(DroppedCue(track.kind, cue, reason))
    dropped.sort(key=lambda item: (item.cue.span, item.kind, item.cue.id))
    return Selection(in_order(kept), tuple(dropped))


def _reason(cue: Cue, span: Span | None, threshold: float) -> str | None:
    if span is not None and not cue.span.overlaps(span):
        whole = float(span.start_s).is_integer() and float(span.end_s).is_integer()
        return f"outside {span_words(span, tenths=not whole)}"
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
