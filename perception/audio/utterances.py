"""Words become utterances: what one would write on one line of a subtitle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perception.audio.transcription import Segment, Word

__all__ = ["Utterance", "words_to_utterances"]

_SENTENCE_ENDS = (".", "?", "!", "…", "。", "？", "！", "．")
_CLOSING = "\"')]}»”’」』"
_TITLES = frozenset({"mr.", "mrs.", "ms.", "dr.", "st.", "prof.", "vs."})
"""Abbreviations that a name follows: no sentence ends there."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Consecutive words of one breath or sentence.

    Args:
        words: at least one, in order of time.
        avg_logprob: mean over the words of their segment's mean natural log probability.
        no_speech_prob: the greatest of the words' segments.
    """

    words: tuple[Word, ...]
    avg_logprob: float
    no_speech_prob: float

    @property
    def start_s(self) -> float:
        """Start of the first word."""
        return self.words[0].start_s

    @property
    def end_s(self) -> float:
        """End of the last word."""
        return self.words[-1].end_s

    @property
    def text(self) -> str:
        """The words with the model's own spacing."""
        return "".join(word.text for word in self.words).strip()

    @property
    def confidence(self) -> float:
        """Geometric mean probability of a token: exp(``avg_logprob``), in [0, 1]."""
        return min(1.0, math.exp(self.avg_logprob))


def words_to_utterances(segments: Iterable[Segment], pause_s: float) -> list[Utterance]:
    """Group words: a new utterance after a pause of ``pause_s`` and after a sentence's end.

    A segment's own times are not used: they span silence that nobody spoke in.
    """
    utterances: list[Utterance] = []
    group: list[tuple[Word, Segment]] = []
    for segment in segments:
        for word in segment.words:
            if group and _parts(group[-1][0], word, pause_s):
                utterances.append(_utterance(group))
                group = []
            group.append((word, segment))
    if group:
        utterances.append(_utterance(group))
    return utterances


def _parts(before: Word, after: Word, pause_s: float) -> bool:
    return after.start_s - before.end_s >= pause_s or _ends_sentence(before.text)


def _ends_sentence(text: str) -> bool:
    word = text.strip().rstrip(_CLOSING)
    is_initial = len(word) == 2 and word[0].isupper() and word[1] == "." and word != "I."
    return word.endswith(_SENTENCE_ENDS) and word.lower() not in _TITLES and not is_initial


def _utterance(group: Sequence[tuple[Word, Segment]]) -> Utterance:
    return Utterance(
        words=tuple(word for word, _ in group),
        avg_logprob=sum(segment.avg_logprob for _, segment in group) / len(group),
        no_speech_prob=max(segment.no_speech_prob for _, segment in group),
    )
