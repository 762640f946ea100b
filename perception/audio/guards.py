"""Guards against invented speech: a model that must write something writes on silence too.

Each guard is named, and says in words what it saw, so that what was dropped can tell why.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from perception.audio.transcription import WINDOW_S, Segment, Word
from perception.audio.utterances import Utterance
from perception.cue import Span
from perception.limits import check_limits

__all__ = [
    "Doubt",
    "Guard",
    "GuardRules",
    "backwards",
    "doubt",
    "loop",
    "misplaced",
    "past_end",
    "unvoiced",
]

GRID_S = 0.1
"""How near Whisper's own times lie to the ends of its window when they are the window's."""

_LIMITS = {
    "no_speech_prob": (0, 1),
    "low_logprob": (-100, 0),
    "lowest_logprob": (-100, 0),
    "doubtful_logprob": (-100, 0),
    "surer_backwards": (0, 100),
    "word_probability": (0, 1),
    "compression_ratio": (1, 1000),
    "repeats": (2, 1000),
    "voice_margin_s": (0, 30),
    "past_end_s": (0, 30),
    "grid_words_per_s": (0, 100),
    "unaligned": (0, 1),
    "silence": (0, 1),
}
"""A guard is off at the far end of its limits."""


class Guard(StrEnum):
    """Which guard dropped something."""

    SILENT = "silent"
    NO_VOICE = "no_voice"
    NO_LETTER = "no_letter"
    NO_SPEECH = "no_speech"
    UNSURE = "unsure"
    UNLIKELY = "unlikely"
    BACKWARDS = "backwards"
    COMPRESSION = "compression"
    LOOP = "loop"
    GRID = "grid"
    UNALIGNED = "unaligned"
    PAST_END = "past_end"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why something is not believed: the guard, and what it saw."""

    guard: Guard
    why: str


@dataclass(frozen=True, slots=True)
class GuardRules:
    """What is not believed."""

    no_speech_prob: float = 0.2
    """Together with ``low_logprob``: what Whisper base made up had 0.2 to 0.99, true speech 0.55 at
    most."""
    low_logprob: float = -0.9
    """Segments over ``no_speech_prob`` need more; true ones over it had -0.84 or more."""
    lowest_logprob: float = -1.1
    """Nothing less sure is believed. The Whisper paper's -1.0 (section 4.5) drops true speech in
    noise, which had -1.09 or more; what else is so unsure, the guards below know better."""
    doubtful_logprob: float = -0.6
    """What is less sure is heard backwards too."""
    surer_backwards: float = 0.2
    """What is surer backwards by as much is dropped: true speech was by 0.13 at most, and speech
    that was played backwards by 0.28 or more in 5 clips of 7."""
    word_probability: float = 0.2
    """Mean over the words of an utterance that it needs: words made up on silence, noise and music
    had 0.12 at most (a lone "You"), true speech 0.4 or more."""
    compression_ratio: float = 2.4
    """Text that zlib shrinks more is a loop (Whisper paper, section 4.5)."""
    repeats: int = 4
    """As many times in a row, two to four words are a loop; a single word twice as often."""
    voice_margin_s: float = 0.5
    """A word may lie this far off the nearest voice activity; alignment is that coarse."""
    past_end_s: float = 1.0
    """Text that the model itself lets begin this long after the end of the sound is invented."""
    grid_words_per_s: float = 0.5
    """Text that the model lays over its whole window of 30 s needs as many words a second."""
    unaligned: float = 0.5
    """Share of its words without a place in the sound from which on an utterance is invented."""
    silence: float = 0.001
    """Root mean square of the sound under which nobody was heard (-60 dB of full scale)."""

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The speech recognizer's guards.")


def misplaced(segment: Segment, end_s: float, rules: GuardRules) -> Doubt | None:
    """What the model's own times around a segment betray.

    Args:
        segment: on a clock on which the piece of sound starts at 0.
        end_s: length of the piece.
        rules: limits.
    """
    start_s, stop_s = segment.stamped_start_s, segment.stamped_end_s
    if start_s is not None and start_s > end_s + rules.past_end_s:
        return Doubt(
            Guard.PAST_END, f"past the end of the sound ({start_s:.1f} s of {end_s:.1f} s)"
        )
    if start_s is None or stop_s is None or stop_s - start_s < WINDOW_S - GRID_S:
        return None
    if abs(start_s - WINDOW_S * round(start_s / WINDOW_S)) > GRID_S:
        return None
    if len(segment.words) < rules.grid_words_per_s * (stop_s - start_s):
        return Doubt(
            Guard.GRID, f"on the model's grid of {WINDOW_S:g} s ({len(segment.words)} words)"
        )
    return None


def loop(words: Sequence[Word], rules: GuardRules) -> Doubt | None:
    """Whether the text repeats itself as a decoder does that is caught in a loop."""
    raw = "".join(word.text for word in words).strip().encode()
    ratio = len(raw) / len(zlib.compress(raw))
    if ratio > rules.compression_ratio:
        return Doubt(Guard.COMPRESSION, f"a loop (compression ratio {ratio:.1f})")
    return None


def past_end(word: Word, end_s: float) -> Doubt | None:
    """Whether a word begins when the sound has ended."""
    return Doubt(Guard.PAST_END, "past the end of the sound") if word.start_s >= end_s else None


def unvoiced(word: Word, voiced: Sequence[Span], rules: GuardRules) -> Doubt | None:
    """Whether nobody speaks where a word lies; all on one clock."""
    margin_s = rules.voice_margin_s
    for span in voiced:
        if word.start_s <= span.end_s + margin_s and word.end_s >= span.start_s - margin_s:
            return None
    return Doubt(Guard.NO_VOICE, "no voice activity there")


def doubt(utterance: Utterance, sound: npt.NDArray[np.float32], rules: GuardRules) -> Doubt | None:
    """Why an utterance is not believed; None when it is.

    Args:
        utterance: what was heard.
        sound: float32 [n], the samples from its start to its end.
        rules: limits.
    """
    if len(sound) and float(np.sqrt(np.mean(np.square(sound)))) < rules.silence:
        return Doubt(Guard.SILENT, "the sound is silent there")
    if not any(unicodedata.category(character)[0] in "LN" for character in utterance.text):
        return Doubt(Guard.NO_LETTER, "no letter in it")
    logprob, no_speech = utterance.avg_logprob, utterance.no_speech_prob
    if logprob < rules.lowest_logprob:
        return Doubt(Guard.UNSURE, f"the model is unsure (mean log probability {logprob:.2f})")
    if no_speech >= rules.no_speech_prob and logprob < rules.low_logprob:
        return Doubt(
            Guard.NO_SPEECH,
            f"probably no speech (no-speech probability {no_speech:.2f}, "
            f"mean log probability {logprob:.2f})",
        )
    words = utterance.words
    probability = sum(word.probability for word in words) / len(words)
    if probability < rules.word_probability:
        return Doubt(Guard.UNLIKELY, f"unlikely words (mean probability {probability:.2f})")
    return loop(words, rules) or _repeated(words, rules) or _unaligned(words, rules)


def backwards(utterance: Utterance, logprob: float, rules: GuardRules) -> Doubt | None:
    """Whether the sound makes more sense backwards.

    Args:
        utterance: what was heard forwards.
        logprob: mean natural log probability of what is heard backwards.
        rules: limits.
    """
    if logprob < utterance.avg_logprob + rules.surer_backwards:
        return None
    return Doubt(
        Guard.BACKWARDS,
        f"it makes more sense backwards (mean log probability {logprob:.2f}, "
        f"forwards {utterance.avg_logprob:.2f})",
    )


def _repeated(words: Sequence[Word], rules: GuardRules) -> Doubt | None:
    texts = [_bare(word.text) for word in words]
    for length in range(1, 5):
        times = rules.repeats * 2 if length == 1 else rules.repeats
        matches = 0
        for text, earlier in zip(texts[length:], texts, strict=False):
            matches = matches + 1 if text == earlier else 0
            if matches >= length * (times - 1):
                return Doubt(Guard.LOOP, f"a loop (the same words {times} times in a row or more)")
    return None


def _unaligned(words: Sequence[Word], rules: GuardRules) -> Doubt | None:
    lost = sum(word.interpolated for word in words)
    if lost == 0 or lost < rules.unaligned * len(words):
        return None
    return Doubt(
        Guard.UNALIGNED, f"{lost} of its {len(words)} words could not be aligned with the sound"
    )


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
