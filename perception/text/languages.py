"""Languages of the text reader and their scripts."""

from __future__ import annotations

import unicodedata

from perception.errors import UnknownName

__all__ = ["ANY", "check_language", "is_in_script"]

ANY = "any"
"""Everything that the model reads: Chinese, Japanese and the languages in Latin letters."""

_LATIN = "af az bs ca cs cy da de en es et eu fi fr ga gl hr hu id is it ku la lb lt lv mi ms mt nl"
_LATIN_TOO = "no oc pl pt qu rm ro sk sl sq sv sw tl tr uz vi"
_SCRIPTS = {
    "zh": ("CJK",),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    **dict.fromkeys(f"{_LATIN} {_LATIN_TOO}".split(), ("LATIN",)),
}
"""Of PP-OCRv6 small (RapidOCR 3.10, ``default_models.yaml``), by first word of the Unicode name."""


def check_language(code: str) -> None:
    """Accept ``"any"`` and the codes of the languages that the reader knows.

    Raises:
        UnknownName: another language; lists those that there are.
    """
    if code != ANY and code not in _SCRIPTS:
        raise UnknownName("language of the screen text reader", code, [ANY, *_SCRIPTS])


def is_in_script(text: str, code: str) -> bool:
    """Whether at least half of the letters belong to the language's script (none: yes)."""
    letters = [character for character in text if unicodedata.category(character)[0] == "L"]
    if code == ANY or not letters:
        return True
    fitting = sum(unicodedata.name(letter, "").startswith(_SCRIPTS[code]) for letter in letters)
    return 2 * fitting >= len(letters)
