"""Which option a model's words name: exactly one, or none. Never a guess."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from reasoning.prompt import letter

__all__ = ["parse_option"]

_EDGE = " \t\n.,:;!*_`\"'()[]{}-"
"""What may stand around an option or a letter without changing what is named."""

_ANSWER = re.compile(
    r"^(?:(?:so|therefore|thus),? )?(?:(?:the|my) )?(?:(?:final|correct|right|best) )?"
    r"(?:answer|option|choice)(?: would be| is)?\b[\s:*_`\"'(]*"
)
"""Opens a reply without adding to it: "The right answer is: ", "**Answer:** ", "Option "."""

_DENIAL = re.compile(r"\b(?:not|no|never|neither|nor|except|unlike|cannot|none)\b|n't\b")
"""With one of these in a longer reply, an option that is named may be one that is ruled out."""


def parse_option(reply: str, options: Sequence[str]) -> int | None:
    """Index of the one option that ``reply`` names, else None.

    Understood, without regard to case, quotes and emphasis, and behind "The answer is" too:

    1. a letter alone ("B", "(b)", "**B.**");
    2. an option's text alone, or its letter and its text;
    3. a longer reply that opens with one letter as a mark ("B. Because …", "(B) …", "B: …"), or
       that holds exactly one option's text as whole words and denies nothing.

    None where letter and text contradict each other, where two options are named, or none is.
    """
    words = _plain(reply)
    bare = _ANSWER.sub("", words.strip(_EDGE)).strip(_EDGE)
    texts = [_plain(option).strip(_EDGE) for option in options]
    letters = [letter(index).lower() for index in range(len(options))]
    for names in (texts, letters):
        if names.count(bare) == 1:
            return names.index(bare)
    marked, rest = _mark(bare, letters)
    if rest in texts:
        return marked if texts.index(rest) == marked else None
    brackets = re.findall(rf"\(({'|'.join(letters)})\)", words)
    named = _found(rest, texts) | {letters.index(name) for name in brackets}
    if marked is not None:
        return marked if named <= {marked} else None
    if len(named) != 1 or _DENIAL.search(_without(bare, texts)):
        return None
    return named.pop()


def _plain(text: str) -> str:
    """Folded case, plain quotes, single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.translate(str.maketrans("“”‘’", "\"\"''")).split())


def _mark(bare: str, letters: Sequence[str]) -> tuple[int | None, str]:
    """The option whose letter opens ``bare`` as a mark, and what follows it."""
    found = re.match(rf"({'|'.join(letters)})[\s\"'*_`]*[.:)\]*-]+(?=\s|$|[\"'*_`(])", bare)
    if found is None:
        return None, bare
    return letters.index(found.group(1)), bare[found.end() :].strip(_EDGE)


def _found(words: str, texts: Sequence[str]) -> set[int]:
    """Options whose text stands in ``words`` as whole words and not inside a longer option."""
    spans = [
        (match.start(), match.end(), index)
        for index, text in enumerate(texts)
        for match in re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", words)
    ]
    return {
        index
        for start, end, index in spans
        if not any(s <= start and end <= e and e - s > end - start for s, e, _ in spans)
    }


def _without(words: str, texts: Sequence[str]) -> str:
    for text in texts:
        words = words.replace(text, " ")
    return words
