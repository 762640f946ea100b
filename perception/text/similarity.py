"""Whether two readings are of one text."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter

__all__ = ["FORGIVING", "MISREAD", "edits", "folded", "is_beginning", "is_piece", "is_similar"]

FORGIVING = 4
"""Letters from which on one wrong letter is forgiven: "cat" and "hat" are two captions."""

FLICKER = 0.1
"""Share of wrong letters that is forgiven: one in every ten or part of ten."""

MISREAD = 0.4
"""The same for a place that looks as it did."""


LEAST_BEGINNING, LEAST_PIECE = 2, 3
"""Letters that two readings of one growing line have in common at least."""

MISREAD_AT_CUT = 2
"""Letters that may be wrong where the picture's border cuts a line."""


def is_similar(one: str, other: str, wrong: float = FLICKER, forgiving: int = FORGIVING) -> bool:
    """Whether two readings are of one text: case, spaces and punctuation do not matter, nor does
    a share ``wrong`` of the letters (rounded up) of texts of ``forgiving`` letters or more;
    another number is another text."""
    one, other = folded(one), folded(other)
    if one == other:
        return True
    longer = max(len(one), len(other))
    allowed = math.ceil(longer * wrong)
    if min(len(one), len(other)) < forgiving or not _may_be_within(one, other, allowed):
        return False
    digits, other_digits = (
        [character for character in text if character.isdigit()] for text in (one, other)
    )
    if len(digits) == len(other_digits) and digits != other_digits:
        return False
    return edits(one, other) <= allowed


def _may_be_within(one: str, other: str, allowed: int) -> bool:
    """False where the letters alone tell that more than ``allowed`` edits lie between two texts."""
    if abs(len(one) - len(other)) > allowed:
        return False
    here, there = Counter(one), Counter(other)
    return max((here - there).total(), (there - here).total()) <= allowed


def is_beginning(one: str, other: str) -> bool:
    """Whether one of two readings, of two letters or more, begins the other."""
    shorter, longer = sorted((folded(one), folded(other)), key=len)
    return len(shorter) >= LEAST_BEGINNING and longer.startswith(shorter)


def is_piece(one: str, other: str) -> bool:
    """Whether one of two readings is a piece of the other, or the one's end the other's beginning,
    in three letters or more; up to two letters at a cut are misread."""
    shorter, longer = sorted((folded(one), folded(other)), key=len)
    for misread in range(MISREAD_AT_CUT + 1):
        length = len(shorter) - misread
        if length >= LEAST_PIECE and (shorter[:length] in longer or shorter[misread:] in longer):
            return True
    half = max(LEAST_PIECE, len(shorter) // 2)
    return any(
        shorter[-length:] == longer[:length] or shorter[:length] == longer[-length:]
        for length in range(half, len(shorter))
    )


def folded(text: str) -> str:
    """``text`` without case, spaces and punctuation, full-width letters made plain."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in plain if unicodedata.category(character)[0] in "LMN")


def edits(one: str, other: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]
