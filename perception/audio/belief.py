"""What is believed of a transcript, and what is dropped, each with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from perception.audio.guards import (
    Doubt,
    Guard,
    GuardRules,
    backwards,
    doubt,
    loop,
    misplaced,
    past_end,
    unvoiced,
)
from perception.audio.pieces import Piece
from perception.audio.transcription import Segment, Word
from perception.audio.utterances import Utterance, words_to_utterances
from perception.audio.word_times import in_voice, timed
from perception.cue import Span
from perception.errors import BadInput
from perception.recognizer import AUDIO_RATE_HZ, Traces
from perception.traces import group

__all__ = ["Belief", "Dropped", "believe", "dropped_traces", "read_dropped", "shifted"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Text that was not believed: when, what, and why."""

    span: Span
    text: str
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class Belief:
    """Of one piece, both in order of time."""

    kept: list[Utterance]
    dropped: list[Dropped]


def believe(
    piece: Piece,
    segments: Sequence[Segment],
    look_again: Callable[[], Sequence[Segment]],
    hear_backwards: Callable[[], Sequence[Segment]],
    rules: GuardRules,
    pause_s: float,
) -> Belief:
    """Judge what a model says about a piece of sound.

    Args:
        piece: the sound, on the video's clock.
        segments: what the model says, on the piece's own clock.
        look_again: gives what the model says at a second look, on the same clock; called only
            where it was caught in a loop, which another look often escapes.
        hear_backwards: gives what the model says of the sound played backwards; called only where
            an utterance is doubtful.
        rules: limits of the guards.
        pause_s: a pause that begins a new utterance.

    Returns:
        What is kept and dropped, on the video's clock.
    """
    belief = Belief([], [])
    if looping := loop(_words(segments), rules):
        belief.dropped.extend(_segment(piece, segment, looping) for segment in segments)
        segments = look_again()
        if loop(_words(segments), rules):
            return belief
    length_s = piece.end_s - piece.start_s
    placed = []
    for segment in segments:
        if reason := misplaced(segment, length_s, rules):
            belief.dropped.append(_segment(piece, segment, reason))
        else:
            placed.append(segment)
    spoken = _spoken(piece, placed, belief, rules)
    reversed_logprob: float | None = None
    for utterance in words_to_utterances(spoken, pause_s):
        reason = doubt(utterance, _sound(piece, utterance), rules)
        if reason is None and utterance.avg_logprob < rules.doubtful_logprob:
            if reversed_logprob is None:
                reversed_logprob = _logprob(hear_backwards(), rules)
            reason = backwards(utterance, reversed_logprob, rules)
        if reason is None:
            belief.kept.append(utterance)
        else:
            span = Span(utterance.start_s, utterance.end_s)
            belief.dropped.append(Dropped(span, utterance.text, reason))
    return belief


def _spoken(
    piece: Piece, segments: Sequence[Segment], belief: Belief, rules: GuardRules
) -> list[Segment]:
    """The segments with the words that lie in the sound and near the voice, in order."""
    inside = _without(
        shifted(segments, piece.start_s), belief, lambda word: past_end(word, piece.end_s)
    )
    ordered = timed(inside, Span(piece.start_s, piece.end_s))
    voiced = _without(ordered, belief, lambda word: unvoiced(word, piece.voiced, rules))
    return in_voice(voiced, piece.voiced)


def _without(
    segments: Sequence[Segment], belief: Belief, reason_of: Callable[[Word], Doubt | None]
) -> list[Segment]:
    """The segments without the words that there is a reason to drop."""
    kept = []
    for segment in segments:
        words = []
        for word in segment.words:
            if reason := reason_of(word):
                span = Span(max(0.0, word.start_s), max(0.0, word.start_s, word.end_s))
                belief.dropped.append(Dropped(span, word.text.strip(), reason))
            else:
                words.append(word)
        if words:
            kept.append(replace(segment, words=tuple(words)))
    return kept


def _logprob(segments: Sequence[Segment], rules: GuardRules) -> float:
    """Mean over the words of their segment's; minus infinity for a loop and without words."""
    each = [segment.avg_logprob for segment in segments for _ in segment.words]
    if not each or loop(_words(segments), rules):
        return -math.inf
    return sum(each) / len(each)


def _words(segments: Sequence[Segment]) -> list[Word]:
    return [word for segment in segments for word in segment.words]


def _sound(piece: Piece, utterance: Utterance) -> npt.NDArray[np.float32]:
    first, last = (
        round((time_s - piece.start_s) * AUDIO_RATE_HZ)
        for time_s in (utterance.start_s, utterance.end_s)
    )
    return piece.samples[max(0, first) : last]


def _segment(piece: Piece, segment: Segment, reason: Doubt) -> Dropped:
    """A segment that was dropped whole; its words may have no times that mean anything."""
    limit = Span(piece.start_s, piece.end_s)
    [in_order] = timed(shifted([segment], piece.start_s), limit)
    span = Span(in_order.words[0].start_s, in_order.words[-1].end_s) if in_order.words else limit
    return Dropped(span, segment.text, reason)


def shifted(segments: Sequence[Segment], by_s: float) -> list[Segment]:
    """The segments with their words moved by so many seconds."""
    return [
        replace(
            segment,
            words=tuple(
                replace(word, start_s=word.start_s + by_s, end_s=word.end_s + by_s)
                for word in segment.words
            ),
        )
        for segment in segments
    ]


def dropped_traces(track_id: str, dropped: Sequence[Dropped]) -> dict[str, npt.NDArray[np.generic]]:
    """What was dropped as traces ``TRACK/dropped/*``, all of it."""
    prefix = f"{track_id}/dropped"
    return {
        f"{prefix}/start": np.array([each.span.start_s for each in dropped], np.float64),
        f"{prefix}/end": np.array([each.span.end_s for each in dropped], np.float64),
        f"{prefix}/text": np.array([each.text for each in dropped], np.str_),
        f"{prefix}/guard": np.array([each.doubt.guard.value for each in dropped], np.str_),
        f"{prefix}/why": np.array([each.doubt.why for each in dropped], np.str_),
    }


def read_dropped(track_id: str, traces: Traces) -> tuple[Dropped, ...]:
    """What ``dropped_traces`` stored under ``track_id``; empty when there is none.

    Raises:
        BadInput: an array is missing or has another length than the rest, or a guard is unknown.
    """
    fields = group(traces, f"{track_id}/dropped", ("start", "end", "text", "guard", "why"))
    rows = zip(*fields.values(), strict=True) if fields else ()
    try:
        return tuple(
            Dropped(Span(float(start), float(end)), str(text), Doubt(Guard(str(guard)), str(why)))
            for start, end, text, guard, why in rows
        )
    except ValueError as error:
        raise BadInput(f"The traces {track_id}/dropped/guard: {error}.") from None
