"""Languages of the speech models, by Whisper's codes."""

from __future__ import annotations

from collections.abc import Collection

from perception.errors import UnknownName

__all__ = ["check_language", "languages_of"]

_CODES = (
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he "
    "hi hr ht hu hy id is it ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne "
    "nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk "
    "ur uz vi yi yo zh"
)
_UP_TO_V2 = frozenset(_CODES.split())
"""Of the multilingual checkpoints up to large-v2 (``LANGUAGES`` in OpenAI's ``tokenizer.py``)."""

_ALL = _UP_TO_V2 | {"yue"}
"""From large-v3 on; Cantonese came with it."""

_ENDINGS = {"English": frozenset({"en"}), "multilingual": _UP_TO_V2}
"""Of the task, in the manifest, of a checkpoint that does not know all languages."""


def check_language(code: str, known: Collection[str] = _ALL) -> None:
    """Accept ``""`` (to be detected) and the codes in ``known``.

    Raises:
        UnknownName: another one, with the nearest match and all that there are.
    """
    if code and code not in known:
        raise UnknownName("language of the speech recognizer", code, known)


def languages_of(task: str) -> Collection[str]:
    """The codes that a checkpoint of this task in the manifest may know."""
    return next((codes for ending, codes in _ENDINGS.items() if task.endswith(ending)), _ALL)
