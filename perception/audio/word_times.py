"""Times of words put right: inside the sound, in order, with a place for those that have none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from perception.audio.transcription import Segment, Word
from perception.audio.voice_activity import WINDOW_S
from perception.cue import Span

__all__ = ["in_voice", "timed"]

VOICE_EDGE_S = 2 * WINDOW_S
"""Voice activity begins late and ends early by up to two windows of 32 ms."""

LONGEST_S = 0.5
"""Of a word that is interpolated, and by which one is lengthened at most: three syllables (5 to 8 a
second, Pellegrino et al. 2011)."""


def timed(segments: Sequence[Segment], limit: Span) -> list[Segment]:
    """Clamp all words into ``limit`` so that none begins before the one before has ended.

    Words without a place of their own (no duration, inverted or no numbers) share the room between
    their neighbours, at most ``LONGEST_S`` each, and are flagged ``interpolated``.
    """
    words = [word for segment in segments for word in segment.words]
    placed: list[Word] = []
    waiting: list[Word] = []
    clock_s = limit.start_s
    for word in words:
        start_s, end_s = _within(word.start_s, clock_s, limit), _within(word.end_s, clock_s, limit)
        if not end_s > start_s:
            waiting.append(word)
            continue
        placed.extend(_spread(waiting, clock_s, start_s))
        placed.append(replace(word, start_s=start_s, end_s=end_s))
        waiting, clock_s = [], end_s
    placed.extend(_spread(waiting, clock_s, limit.end_s))
    return _with_words(segments, placed)


def in_voice(segments: Sequence[Segment], voiced: Sequence[Span]) -> list[Segment]:
    """Fit words, in order, to the voice: no word spans a pause, and the last one before a pause
    lasts as long as the voice. Whisper stretches the first word after a pause over it, and lets
    the last one before it end early."""
    words = [_trimmed(word, voiced) for segment in segments for word in segment.words]
    lasting = [
        _lengthened(word, voiced, after.start_s if after else math.inf)
        for word, after in zip_longest(words, words[1:])
    ]
    return _with_words(segments, lasting)


def _with_words(segments: Sequence[Segment], words: Sequence[Word]) -> list[Segment]:
    rest = iter(words)
    return [
        replace(segment, words=tuple(next(rest) for _ in segment.words)) for segment in segments
    ]


def _within(time_s: float, earliest_s: float, limit: Span) -> float:
    """Not a number stays what it is."""
    return time_s if math.isnan(time_s) else min(max(time_s, earliest_s), limit.end_s)


def _spread(words: Sequence[Word], begin_s: float, end_s: float) -> list[Word]:
    """The words one after another from ``begin_s`` on; right before ``end_s`` where they begin."""
    if not words:
        return []
    each_s = min((end_s - begin_s) / len(words), LONGEST_S)
    return [
        replace(
            word,
            start_s=begin_s + number * each_s,
            end_s=begin_s + (number + 1) * each_s,
            interpolated=True,
        )
        for number, word in enumerate(words)
    ]


def _trimmed(word: Word, voiced: Sequence[Span]) -> Word:
    """The part of the word in the last stretch of voice that it reaches well into."""

    def shared_s(span: Span) -> float:
        return min(word.end_s, span.end_s) - max(word.start_s, span.start_s)

    touched = [span for span in voiced if shared_s(span) > 0]
    if not touched:
        return word
    place = ([span for span in touched if shared_s(span) >= WINDOW_S] or touched)[-1]
    return replace(
        word,
        start_s=max(word.start_s, place.start_s - VOICE_EDGE_S),
        end_s=min(word.end_s, place.end_s + VOICE_EDGE_S),
    )


def _lengthened(word: Word, voiced: Sequence[Span], next_s: float) -> Word:
    """The word up to the end of its stretch of voice, if no other word begins before that."""
    end_s = next((span.end_s for span in voiced if span.start_s <= word.end_s < span.end_s), 0.0)
    lasts = 0 < end_s - word.end_s <= LONGEST_S and end_s <= next_s
    return replace(word, end_s=end_s) if lasts else word
