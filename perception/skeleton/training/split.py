"""Which spans train, which calibrate, which test: by subject and video, never by window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from perception.skeleton.training.spans import PARTS, LabelledSpan

__all__ = ["SHARES", "Split", "split"]

SHARES = {"train": 0.6, "calibration": 0.15, "test": 0.25}


@dataclass(frozen=True)
class Split:
    """Where each span goes.

    Args:
        parts: one of ``PARTS`` for each span.
        groups: for each span the name of what must stay together: its subject and its video, and
            whatever shares one of them.
        leaks: subjects and videos that are in several parts, one sentence each.
        chosen: whether the parts were chosen here, not given.
    """

    parts: tuple[str, ...]
    groups: tuple[str, ...]
    leaks: tuple[str, ...] = ()
    chosen: bool = True

    def count(self, part: str) -> int:
        """Groups in a part."""
        return len({g for g, p in zip(self.groups, self.parts, strict=True) if p == part})


def split(spans: Sequence[LabelledSpan], seed: int = 0) -> Split:
    """The parts that the spans give, else parts that share no subject and no video.

    Every label is spread over the parts as ``SHARES`` says, as well as whole groups allow, and has
    spans to train on. One group trains only; of two one tests; three and more have all three parts,
    as far as training can spare a group: testing has the first, calibration the next.
    """
    groups = _groups(spans)
    if spans and spans[0].part:
        parts = tuple(each.part for each in spans)
        return Split(parts, groups, tuple(_leaks(spans, parts)), chosen=False)
    names = sorted(set(groups))
    order = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
    wanted = PARTS[:1] if len(names) == 1 else ("train", "test") if len(names) == 2 else PARTS
    labels = {name: Counter[str]() for name in names}
    for each, group in zip(spans, groups, strict=True):
        labels[group][each.label] += 1
    where = _assigned(sorted(order, key=lambda n: -labels[n].total()), labels, wanted)
    return Split(tuple(where[group] for group in groups), groups)


def _groups(spans: Sequence[LabelledSpan]) -> tuple[str, ...]:
    """Spans that share a subject or a video share a name."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for each in spans:
        video = f"video {each.traces}"
        if each.subject:
            parent[root(video)] = root(f"subject {each.subject}")
        root(video)
    return tuple(root(f"video {each.traces}") for each in spans)


def _assigned(
    order: Iterable[str], labels: dict[str, Counter[str]], parts: Sequence[str]
) -> dict[str, str]:
    """Each group to the part that lacks its labels most (iterative stratification after Sechidis,
    Tsoumakas and Vlahavas, ECML 2011, with whole groups in place of examples)."""
    whole = sum(SHARES[part] for part in parts)
    totals = sum(labels.values(), Counter[str]())
    lacking = {
        part: {label: n * SHARES[part] / whole for label, n in totals.items()} for part in parts
    }
    where: dict[str, str] = {}
    for group in order:

        def need(part: str, group: str = group) -> float:
            return sum(n * lacking[part][label] for label, n in labels[group].items())

        where[group] = max(parts, key=need)
        for label, n in labels[group].items():
            lacking[where[group]][label] -= n
    _train_all(where, labels)
    for part in reversed(parts):
        spare = _spare(where, labels, "calibration" if part == "test" else "")
        if part not in where.values() and spare:
            sizes = Counter(where.values())
            where[min(spare, key=lambda each: (-sizes[where[each]], labels[each].total()))] = part
    return where


def _train_all(where: dict[str, str], labels: dict[str, Counter[str]]) -> None:
    """See that every label has spans to train on: the smallest group that has one comes over, from
    the test part first."""
    for label in sorted(sum(labels.values(), Counter[str]())):
        mine = [group for group in where if labels[group][label]]
        if not any(where[group] == "train" for group in mine):
            from_test = [group for group in mine if where[group] == "test"]
            where[min(from_test or mine, key=lambda group: labels[group].total())] = "train"


def _spare(where: dict[str, str], labels: dict[str, Counter[str]], may_empty: str) -> list[str]:
    """The groups that another part can have: no part is empty then, save ``may_empty``, and no
    label is without spans to train on."""
    sizes = Counter(where.values())
    trained = Counter(
        label for group, part in where.items() if part == "train" for label in labels[group]
    )
    return [
        group
        for group, part in where.items()
        if (sizes[part] > 1 or part == may_empty)
        and (part != "train" or all(trained[label] > 1 for label in labels[group]))
    ]


def _leaks(spans: Sequence[LabelledSpan], parts: Sequence[str]) -> Iterable[str]:
    for what in ("subject", "video"):
        seen: dict[str, set[str]] = {}
        for each, part in zip(spans, parts, strict=True):
            name = each.subject if what == "subject" else str(each.traces)
            if name:
                seen.setdefault(name, set()).add(part)
        for name, where in seen.items():
            if len(where) > 1:
                ordered = " and ".join(part for part in PARTS if part in where)
                yield f"{what} {name} is in {ordered}"
