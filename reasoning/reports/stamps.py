"""With what a study was run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reasoning.reports.table import Section, Table

__all__ = ["facts", "flat", "made_with", "section"]

_COLUMNS = ("What", "Value")
_SHA_CHARS = 12
_OF_THE_MACHINE = frozenset({"videos"})
"""Where a run found its files: no part of what it was made with, and nothing for other eyes."""


def facts(stamps: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The last run's, for the head of a report."""
    if not stamps:
        return ()
    last = stamps[-1]
    told = [str(last[key]) for key in ("benchmark", "model") if last.get(key)]
    if last.get("cuelight"):
        told.append(f"Cuelight {last['cuelight']}")
    if last.get("commit"):
        commit, _, changes = str(last["commit"]).partition("+")
        told.append(f"commit {commit[:_SHA_CHARS]}{' with changes' if changes else ''}")
    if last.get("limit"):
        told.append(f"not more than {last['limit']} of each video's questions")
    return tuple(told)


def section(stamps: Sequence[Mapping[str, Any]]) -> Section:
    """Everything in the last stamp, and which earlier runs differ from it."""
    if not stamps:
        none = "These outcomes carry no stamp: nothing is known of what they were made with."
        return Section("stamp", "Made with", (none,))
    stamps = [made_with(each) for each in stamps]
    last = stamps[-1]
    single = [(key, _told(value)) for key, value in last.items() if not isinstance(value, Mapping)]
    tables = [Table("stamp", "The run", _COLUMNS, tuple(single))] if single else []
    tables += [
        Table(f"stamp_{key}", key.capitalize(), _COLUMNS, tuple(flat(value)), folded=True)
        for key, value in last.items()
        if isinstance(value, Mapping)
    ]
    words: list[str] = []
    changed = sorted({key for each in stamps[:-1] for key in last if each.get(key) != last[key]})
    if changed:
        words.append(
            f"The study was run {len(stamps)} times, and not always with the same: "
            f"{', '.join(changed)}. What follows is of the last run."
        )
    return Section("stamp", "Made with", tuple(words), tuple(tables))


def made_with(stamp: Mapping[str, Any]) -> dict[str, Any]:
    """The stamp without folders of the machine that it was run on."""
    return {key: value for key, value in stamp.items() if key not in _OF_THE_MACHINE}


def flat(value: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """Path and value of everything in a mapping of mappings."""
    lines: list[tuple[str, str]] = []
    for key, inner in value.items():
        name = f"{above}{key}"
        if isinstance(inner, Mapping) and inner:
            lines += flat(inner, f"{name}.")
        else:
            lines.append((name, _told(inner)))
    return lines


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
