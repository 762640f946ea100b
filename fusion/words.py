"""The words of a text, for comparing one cue with another."""

from __future__ import annotations

import re

from fusion.selection import KeptCue

__all__ = ["content", "subject_and_predicate", "words_of"]

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits without regard to case, in order."""
    return _WORD.findall(text.casefold())


def content(item: KeptCue) -> str:
    """What a cue says apart from who does it: its label where its recognizer has labels, else its
    text; two cues of one content say the same thing."""
    label = item.cue.attributes.get("label")
    return label if isinstance(label, str) and label else " ".join(words_of(item.cue.text))


def subject_and_predicate(item: KeptCue) -> tuple[str, str]:
    """``("person 1, left", "waves")`` of "person 1, left, waves", by the attributes ``person`` and
    ``where``; an empty subject where the text does not begin with it."""
    text, person = item.cue.text, item.cue.attributes.get("person")
    where = item.cue.attributes.get("where")
    for subject, comma in ((f"person {person}, {where}", ","), (f"person {person}", "")):
        head = f"{subject}{comma} "
        if person is not None and text.startswith(head):
            return subject, text.removeprefix(head)
    return "", text
