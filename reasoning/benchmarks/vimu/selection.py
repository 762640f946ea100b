"""Letters that a reply selects, and ViMU's strict score of a set of them (its section I)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any

from reasoning.answer import Answer, Unscored, Verdict
from reasoning.benchmark import Item
from reasoning.scoring.json_reply import only_object

__all__ = ["FIELD", "SCHEMA", "ErrorKind", "error_kind", "score", "selected", "set_score"]

FIELD = "selected_options"

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {FIELD: {"type": "array", "items": {"type": "string"}}},
    "required": [FIELD],
    "additionalProperties": False,
}
"""The reply that the published code asks for."""


class ErrorKind(StrEnum):
    """How a selection differs from the right one."""

    EXACT = "exact"
    MISS_ONLY = "miss only"
    """It lacks right letters and has no wrong one."""
    EXTRA_ONLY = "extra only"
    """It has every right letter, and wrong ones."""
    MIXED = "mixed"
    """It lacks right letters and has wrong ones."""


def selected(reply: str, options: Collection[str]) -> list[str] | None:
    """The letters that ``reply`` selects, in its order; None where it holds no such list.

    The reply is, or holds, one JSON object with a list ``selected_options``. The list may be empty;
    what is no letter of ``options`` is discarded, repeats are folded, as in the published code.
    """
    said = only_object(reply, lambda value: isinstance(value.get(FIELD), list))
    if said is None:
        return None
    named = (str(each).strip() for each in said[FIELD])
    return list(dict.fromkeys(letter for letter in named if letter in options))


def set_score(chosen: Collection[str], gold: Collection[str]) -> float:
    """0 with a wrong letter, or where nothing is right; else the share of right letters found."""
    if not gold or set(chosen) - set(gold):
        return 0.0
    return len(set(chosen)) / len(set(gold))


def error_kind(chosen: Collection[str], gold: Collection[str]) -> ErrorKind:
    """How ``chosen`` differs from ``gold``."""
    misses, extras = set(gold) - set(chosen), set(chosen) - set(gold)
    if misses:
        return ErrorKind.MIXED if extras else ErrorKind.MISS_ONLY
    return ErrorKind.EXTRA_ONLY if extras else ErrorKind.EXACT


def score(item: Item, answer: Answer, scorer: str) -> Verdict | Unscored:
    """The set score; a reply without a list of letters is unscored."""
    options: Mapping[str, str] = item.details["options"]
    gold: Sequence[str] = item.details["gold"]
    chosen = selected(answer.text, options)
    if chosen is None:
        return Unscored(f"The reply holds no one list {FIELD!r}.", scorer, answer.text)
    kind = error_kind(chosen, gold)
    reason = f"{_listed(chosen)} selected, {_listed(gold)} right: {kind}."
    details: dict[str, Any] = {
        "task": item.category,
        "selected": chosen,
        "gold": list(gold),
        "options": list(options),
        "error": str(kind),
    }
    return Verdict(set_score(chosen, gold), reason, scorer, details)


def _listed(letters: Sequence[str]) -> str:
    return ", ".join(letters) or "none"
