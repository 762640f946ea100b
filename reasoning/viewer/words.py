"""Numbers as the page and the terminal word them."""

from __future__ import annotations

__all__ = ["percent_words", "score_words"]


def percent_words(probability: float) -> str:
    """``"62 %"``, rounded half up: a probability."""
    return f"{int(probability * 100 + 0.5)} %"


def score_words(score: float) -> str:
    """``"0.62"``, rounded half up: a recognizer's confidence, which nobody compared with the
    truth."""
    hundredths = int(score * 100 + 0.5)
    return f"{hundredths // 100}.{hundredths % 100:02}"
