"""What the conditions of a study are to each other, from the study's file in its stamp."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from perception.errors import UserError
from reasoning.reports.given import Kind, Pairing
from reasoning.studies.conditions import Condition, conditions_of

__all__ = ["Roles", "roles"]


@dataclass(frozen=True, slots=True)
class Roles:
    """See ``Given``."""

    pairings: tuple[Pairing, ...] = ()
    controls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    swept: Mapping[str, str] = field(default_factory=dict)


def roles(stamp: Mapping[str, Any], names: Sequence[str]) -> Roles:
    """Those of the conditions called ``names``.

    Args:
        stamp: of a run; one without a study's file tells nothing.
    """
    raw = stamp.get("file")
    if not isinstance(raw, Mapping):
        return Roles()
    try:
        told = conditions_of(raw.get("conditions"), raw.get("grid"), tuple(raw["recognizers"]))
    except (UserError, KeyError, TypeError):
        return Roles()  # a file of another version
    there = [each for each in told if each.name in names]
    pairs = itertools.permutations(there, 2)
    return Roles(
        tuple(found for a, b in pairs if (found := _pairing(a, b)) is not None),
        {each.name: _twins(each, there) for each in there if each.control is not None},
        {each.name: words for each in there if (words := _swept(each))},
    )


def _pairing(without: Condition, having: Condition) -> Pairing | None:
    """Of two conditions that differ in one of the things that the papers set side by side."""
    alike: dict[str, Any] = {"name": "", "benchmark": {}}
    kind = None
    if not without.video and having.video and without.benchmark == having.benchmark:
        kind, alike["video"] = Kind.VIDEO, True
    elif _switched(without, having, "titles"):
        kind = Kind.TITLE
    elif _switched(without, having, "chain_of_thought"):
        kind = Kind.CHAIN_OF_THOUGHT
    if kind is None:
        return None
    same = [dataclasses.replace(each, **alike) for each in (without, having)]
    return Pairing(kind, without.name, having.name) if same[0] == same[1] else None


def _switched(without: Condition, having: Condition, option: str) -> bool:
    """Whether only the benchmark's ``option`` is off here and on there."""
    off, on = dict(without.benchmark), dict(having.benchmark)
    return not off.pop(option, None) and bool(on.pop(option, None)) and off == on


def _twins(control: Condition, there: Sequence[Condition]) -> tuple[str, ...]:
    """The conditions that are the same but for the control."""
    bare = dataclasses.replace(control, name="", control=None, seed=0)
    return tuple(
        each.name
        for each in there
        if each.control is None and dataclasses.replace(each, name="", seed=0) == bare
    )


def _swept(condition: Condition) -> str:
    parts = [f"{kind} ≥ {at:g}" for kind, at in condition.thresholds.items()]
    parts += [] if condition.policies is None else ["+".join(condition.policies) or "no policy"]
    return ", ".join(parts)
