"""Languages and their scripts."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping

__all__ = ["LATIN", "SCRIPTS", "is_in_script"]

_CODES = (
    "af az bs ca cs cy da de en es et eu fi fr ga gl hr hu id is it ku la lb lt lv mi ms mt nl no "
    "oc pl pt qu rm ro sk sl sq sv sw tl tr uz vi"
)
LATIN = tuple(_CODES.split())
"""Languages in Latin letters that PP-OCRv6 small knows (RapidOCR 3.10, ``default_models.yaml``)."""

SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "zh": ("CJK",),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    **dict.fromkeys(LATIN, ("LATIN",)),
}
"""Language -> its scripts, by the first word of the Unicode names of their letters."""


def is_in_script(text: str, languages: Collection[str]) -> bool:
    """Whether at least half of the letters belong to the scripts of ``languages`` (no letters, or
    no languages: yes)."""
    letters = [character for character in text if unicodedata.category(character)[0] == "L"]
    if not languages or not letters:
        return True
    scripts = tuple({script for language in languages for script in SCRIPTS[language]})
    fitting = sum(unicodedata.name(letter, "").startswith(scripts) for letter in letters)
    return 2 * fitting >= len(letters)
