"""The first step of fusion: every cue of the timeline is let in or dropped with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from fusion.options import FusionOptions
from fusion.policy import Calibrations, ScoreMap
from fusion.question import Question
from fusion.quoting import visible
from fusion.render import in_order, span_words
from fusion.selection import DroppedCue, KeptCue, Selection
from perception.cue import Cue, CueTimeline, CueTrack, Origin, Span, id_order

__all__ = ["gate", "top_labels"]

_DECIMALS = range(2, 17)


def gate(
    timeline: CueTimeline,
    question: Question,
    options: FusionOptions,
    calibration: Calibrations | None = None,
    rejected: Mapping[str, str] | None = None,
) -> Selection:
    """Let in what touches ``question.span``, says something and reaches its kind's threshold.

    A cue's probability is its recognizer's confidence, calibrated where a map exists; a person's
    cue of confidence 1 is certain, and any other confidence that came with it is a raw score. The
    value, until a policy knows better, is that probability. Both lists are in order of time.

    Args:
        timeline, question, options: as for ``fuse``.
        calibration: None = no score is calibrated.
        rejected: cue id -> reason, of cues that were checked and found wanting.
    """
    part = question.span and _widened(question.span, options.margin_s)
    rejected = rejected or {}
    maps = {track.id: calibration(track) if calibration else None for track in timeline.tracks}
    origins = {track.id: _origin(track) for track in timeline.tracks}
    kept: list[KeptCue] = []
    dropped: list[DroppedCue] = []
    for track, cue in timeline.cues():
        item = _kept(track.kind, cue, maps[track.id], origins[track.id])
        if part is not None and not cue.span.overlaps(part):
            reason: str | None = f"outside {_part_words(part, timeline.video.duration_s)}"
        else:
            reason = _reason(item, options.threshold(track.kind)) or rejected.get(cue.id)
        if reason is None:
            kept.append(item)
        else:
            dropped.append(DroppedCue(track.kind, cue, reason))
    dropped.sort(key=lambda item: (item.cue.span, item.kind, id_order(item.cue.id)))
    return Selection(in_order(kept), tuple(dropped))


def top_labels(cue: Cue) -> tuple[tuple[str, float], ...]:
    """The labels that the recognizer named with their scores, best first: its ``top`` attribute;
    empty where that is missing or is no list of labels with probabilities."""
    top = cue.attributes.get("top")
    if not isinstance(top, list | tuple):
        return ()
    pairs = [tuple(pair) for pair in top if isinstance(pair, list | tuple) and len(pair) == 2]
    labels = [
        (label, float(score))
        for label, score in pairs
        if isinstance(label, str) and isinstance(score, int | float) and 0 <= score <= 1
    ]
    return tuple(sorted(labels, key=lambda pair: (-pair[1], pair[0])))


def _origin(track: CueTrack) -> Origin:
    """Who made the track, or the one that it is a control of: a model is told the same of both."""
    is_of_human = track.source.settings.get("of_origin") == Origin.HUMAN
    return Origin.HUMAN if track.origin is Origin.HUMAN or is_of_human else Origin.RECOGNIZER


def _kept(kind: str, cue: Cue, calibrated: ScoreMap | None, origin: Origin) -> KeptCue:
    """With its scores as probabilities; its own confidence stands in for the first label's score,
    which is rounded."""
    if origin is Origin.HUMAN and cue.confidence == 1:
        return KeptCue(kind, cue, 1.0, calibrated=True, value=1.0, origin=origin)
    top = top_labels(cue)
    if calibrated is None or origin is Origin.HUMAN:
        return KeptCue(kind, cue, cue.confidence, value=cue.confidence, top=top, origin=origin)
    scores = [score for _, score in top]
    probability = calibrated(cue.confidence, scores[1:])
    labels = tuple(
        (label, calibrated(score, scores[:at] + scores[at + 1 :]))
        for at, (label, score) in enumerate(top)
    )
    return KeptCue(
        kind, cue, probability, calibrated=True, value=probability, top=labels, origin=origin
    )


def _widened(span: Span, margin_s: float) -> Span:
    return Span(max(0.0, span.start_s - margin_s), span.end_s + margin_s) if margin_s else span


def _part_words(part: Span, duration_s: float) -> str:
    """``"1:20-1:45"``; a part with an open end ends with the video."""
    shown = Span(part.start_s, max(part.start_s, min(part.end_s, duration_s)))
    whole = float(shown.start_s).is_integer() and float(shown.end_s).is_integer()
    return span_words(shown, tenths=not whole)


def _reason(item: KeptCue, threshold: float) -> str | None:
    if not visible(item.cue.text):
        return "has no visible text"
    if item.probability < threshold:
        return _under("probability" if item.calibrated else "confidence", item, threshold)
    return None


def _under(what: str, item: KeptCue, threshold: float) -> str:
    """With as many decimals as it takes to see the difference."""
    for decimals in _DECIMALS:
        low, high = f"{item.probability:.{decimals}f}", f"{threshold:.{decimals}f}"
        if low != high:
            return f"{what} {low} is under {high}"
    return f"{what} {item.probability!r} is under {threshold!r}"
