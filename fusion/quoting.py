"""What a video says is data, never instruction: text from a video made safe to put into a prompt.

After ``plain`` a text is one line that can neither close the double quotes around it nor form a
chat template's special token (``<|im_end|>``, ``</s>``, ``[INST]``, ``<video>``), and that reads
for a model as it looks to a person: nothing invisible is left in it.
"""

from __future__ import annotations

import unicodedata

__all__ = ["plain", "quoted", "visible"]

_QUOTES = '"“”„‟«»″‶〝〞〟＂❝❞🙶🙷🙸'
_SINGLE = "'"
_BRACKETS = {
    **dict.fromkeys("<＜﹤≮", "‹"),
    **dict.fromkeys(">＞﹥≯", "›"),
    **dict.fromkeys("[［﹇", "("),
    **dict.fromkeys("]］﹈", ")"),
}
"""All characters that compatibility normalisation, with which some tokenizers begin, would turn
into a bracket."""
_HARMLESS = str.maketrans({**dict.fromkeys(_QUOTES, _SINGLE), **_BRACKETS})

_JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners belong to the spelling of Persian, Indic scripts and emoji."""

_ELLIPSIS = "…"


def _visible(character: str) -> str:
    """``character``, or what stands for it where it could not be seen."""
    category = unicodedata.category(character)
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    if category in {"Cs", "Co"}:
        return "\N{REPLACEMENT CHARACTER}"
    if category == "Cf" and character not in _JOINERS:
        return ""
    if "\U000e0100" <= character <= "\U000e01ef":
        return ""
    return character


def visible(text: str) -> str:
    """``text`` as one line that shows all that is in it.

    Runs of white space, line breaks and control characters become one space; format characters
    (bidirectional overrides and isolates, zero-width spaces, tag characters) and variation
    selectors 17-256 go; lone surrogates and private-use characters become U+FFFD.
    """
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFC", "".join(map(_visible, text)))
    return " ".join(text.split()).strip(_JOINERS + " ")


def plain(text: str, max_chars: int) -> str:
    """``visible(text)`` without quotes and brackets, at most ``max_chars`` characters of it.

    Double quotes of every form become ``'``, angle brackets ``‹ ›`` and square brackets ``( )``.
    What is cut off is marked by an ellipsis. Applied twice it changes nothing more.
    """
    line = visible(text.translate(_HARMLESS))
    if len(line) <= max_chars:
        return line
    return line[: max_chars - 1].rstrip(_JOINERS + " ") + _ELLIPSIS


def quoted(text: str, max_chars: int) -> str:
    """``plain(text)`` between double quotes, of which there are none inside."""
    return f'"{plain(text, max_chars)}"'
