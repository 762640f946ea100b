"""Guards against invented speech: a model that must write something writes on silence too.

Every guard returns its reason in words, so that a dropped utterance can say why.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from perception.audio.transcription import Segment, Word
from perception.audio.utterances import Utterance
from perception.audio.voice_activity import WINDOW_S
from perception.cue import Span
from perception.limits import check_limits

__all__ = ["GuardRules", "doubt", "in_order", "spoken_words"]

VOICE_EDGE_S = 2 * WINDOW_S
"""Voice activity begins late and ends early by up to two windows of 32 ms."""

_LIMITS = {
    "no_speech_prob": (0, 1),
    "low_logprob": (-100, 0),
    "lowest_logprob": (-100, 0),
    "compression_ratio": (1, 1000),
    "repeats": (2, 1000),
    "voice_margin_s": (0, 30),
}
"""A guard is off at the far end of its limits."""


@dataclass(frozen=True, slots=True)
class GuardRules:
    """Limits measured on Whisper base int8: 20 minutes of noise, tones, tunes and applause (nothing
    kept), 35 spoken clips, quiet, in noise or over music (every right one kept), and 27 clips of
    speech played backwards (5 kept: a known failure, it is speech to the ear of the detector)."""

    no_speech_prob: float = 0.2
    """Together with ``low_logprob``: false segments had 0.23 or more, true ones 0.55 at most."""
    low_logprob: float = -0.8
    """Segments over ``no_speech_prob`` need more: false ones had -0.97 or less, true -0.73."""
    lowest_logprob: float = -0.95
    """Nothing less sure is believed: of what was heard right, all had -0.86 or more."""
    compression_ratio: float = 2.4
    """Text that zlib shrinks more is a loop (Whisper paper, section 4.5)."""
    repeats: int = 4
    """As many times in a row, one to four words are a loop."""
    voice_margin_s: float = 0.5
    """A word may lie this far off the nearest voice activity; alignment is that coarse."""

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The speech recognizer's guards.")


def spoken_words(
    segments: Sequence[Segment], voiced: Sequence[Span], end_s: float, rules: GuardRules
) -> tuple[list[Segment], list[tuple[Word, str]]]:
    """Keep the words that lie in the sound and near voice activity, trimmed to the voice: Whisper
    stretches the first word after a pause over the pause.

    Args:
        segments: with times on the clock of ``voiced``.
        voiced: where voice activity was found.
        end_s: end of the sound.
        rules: how far off the voice a word may lie.

    Returns:
        The segments with the words that stay (none without words), and the dropped words, each
        with the reason.
    """
    kept: list[Segment] = []
    dropped: list[tuple[Word, str]] = []
    for segment in segments:
        words = []
        for word in segment.words:
            if reason := _unspoken(word, voiced, end_s, rules.voice_margin_s):
                dropped.append((word, reason))
            else:
                words.append(_trimmed(word, voiced))
        if words:
            kept.append(replace(segment, words=tuple(words)))
    return kept, dropped


def _unspoken(word: Word, voiced: Sequence[Span], end_s: float, margin_s: float) -> str:
    if word.start_s >= end_s:
        return "past the end of the sound"
    near = any(
        word.start_s <= span.end_s + margin_s and word.end_s >= span.start_s - margin_s
        for span in voiced
    )
    return "" if near else "no voice activity there"


def _trimmed(word: Word, voiced: Sequence[Span]) -> Word:
    """The part of the word in the last stretch that it reaches well into: no word spans a pause."""

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


def in_order(segments: Sequence[Segment], limit: Span) -> list[Segment]:
    """Clamp all words into ``limit`` so that none begins before the one before has ended."""
    ordered = []
    clock_s = limit.start_s
    for segment in segments:
        words = []
        for word in segment.words:
            start_s = min(max(word.start_s, clock_s), limit.end_s)
            end_s = min(max(word.end_s, start_s), limit.end_s)
            clock_s = end_s
            words.append(replace(word, start_s=start_s, end_s=end_s))
        ordered.append(replace(segment, words=tuple(words)))
    return ordered


def doubt(utterance: Utterance, rules: GuardRules) -> str:
    """Why this utterance is not believed; empty when it is."""
    text = utterance.text
    if not any(unicodedata.category(character)[0] in "LN" for character in text):
        return "no letter in it"
    if utterance.avg_logprob < rules.lowest_logprob:
        return f"the model is unsure (mean log probability {utterance.avg_logprob:.2f})"
    if (
        utterance.no_speech_prob >= rules.no_speech_prob
        and utterance.avg_logprob < rules.low_logprob
    ):
        return (
            f"probably no speech (no-speech probability {utterance.no_speech_prob:.2f}, "
            f"mean log probability {utterance.avg_logprob:.2f})"
        )
    raw = text.encode()
    ratio = len(raw) / len(zlib.compress(raw))
    if ratio > rules.compression_ratio:
        return f"a loop (compression ratio {ratio:.1f})"
    if _loops(utterance.words, rules.repeats):
        return f"a loop (the same words {rules.repeats} times in a row or more)"
    if all(word.end_s <= word.start_s for word in utterance.words):
        return "its words could not be aligned with the sound"
    return ""


def _loops(words: Sequence[Word], repeats: int) -> bool:
    texts = [_bare(word.text) for word in words]
    for length in range(1, 5):
        matches = 0
        for text, earlier in zip(texts[length:], texts, strict=False):
            matches = matches + 1 if text == earlier else 0
            if matches >= length * (repeats - 1):
                return True
    return False


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
