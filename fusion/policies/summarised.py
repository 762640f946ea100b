"""Runs of like cues folded into one: "0:20-1:10 climbs, on and off, mostly person 1, left".

A tracker or a window classifier says one long action many times; folded it takes one line, and the
order of events is easier to read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fusion.policy import Policy, Tools
from fusion.question import Question
from fusion.render import in_order
from fusion.selection import KeptCue, Selection
from fusion.words import content, subject_and_predicate
from perception.cue import Span
from perception.errors import BadInput

__all__ = ["Options", "build"]

_MOSTLY = 0.6
"""Share of the time from which on one person is named for several."""

_STEADY = 0.8
"""Share of a run's time that its cues cover, under which it is "on and off"."""


@dataclass(frozen=True, slots=True)
class Options:
    """What counts as one run.

    Args:
        max_gap_s: like cues further apart are two runs. 10 s is MimeQA's window.

    Raises:
        BadInput: a number lies outside its limits.
    """

    max_gap_s: float = 10.0

    def __post_init__(self) -> None:
        if not self.max_gap_s >= 0:
            raise BadInput(
                f"The policy summarised takes a max_gap_s of 0 or more, not {self.max_gap_s}."
            )


def build(options: Options) -> Policy:
    """The policy."""

    def summarised(selection: Selection, question: Question, tools: Tools) -> Selection:  # noqa: ARG001
        runs: dict[tuple[str, str], list[list[KeptCue]]] = {}
        ends_s: dict[tuple[str, str], float] = {}
        for item in in_order(selection.kept):
            like = (item.kind, content(item))
            if like in runs and item.when.start_s - ends_s[like] <= options.max_gap_s:
                runs[like][-1].append(item)
            else:
                runs.setdefault(like, []).append([item])
            ends_s[like] = max(item.when.end_s, ends_s.get(like, 0.0))
        kept = [_folded(run) for like in runs.values() for run in like]
        return replace(selection, kept=in_order(kept))

    return summarised


def _folded(run: list[KeptCue]) -> KeptCue:
    """The earliest cue with the time, the probability and the words of the whole run."""
    if len(run) == 1:
        return run[0]
    first = run[0]
    span = Span(first.when.start_s, max(item.when.end_s for item in run))
    notes = [] if _covered_s(run) >= _STEADY * span.duration_s else ["on and off"]
    said = [subject_and_predicate(item) for item in run]
    persons = list(dict.fromkeys(subject.split(",")[0] for subject, _ in said))
    phrasing = first.phrasing
    if len(persons) > 1:
        phrasing = said[0][1]
        notes.append(_whose(run, [subject for subject, _ in said]))
    elif len({subject for subject, _ in said}) > 1:
        phrasing = f"{persons[0]} {said[0][1]}"
    folded = replace(
        first,
        span=span,
        phrasing=phrasing,
        note=", ".join(filter(None, [first.note, *notes])),
        calibrated=all(item.calibrated for item in run),
        alternatives=(),
        merged_ids=tuple(id for item in run for id in item.ids)[1:],
    )
    return folded.valued(
        probability=_mean(run),
        relevance=max(item.relevance for item in run),
        novelty=max(item.novelty for item in run),
    )


def _mean(run: list[KeptCue]) -> float:
    """Of the probabilities, weighted by time; cues of no length count alike."""
    weights = [item.when.duration_s for item in run]
    if not sum(weights):
        weights = [1.0] * len(run)
    mean = sum(weight * item.probability for weight, item in zip(weights, run, strict=True)) / sum(
        weights
    )
    probabilities = [item.probability for item in run]
    return min(max(mean, min(probabilities)), max(probabilities))


def _covered_s(run: list[KeptCue]) -> float:
    """Length of the union of the spans; the run is in order of start."""
    covered_s, until_s = 0.0, run[0].when.start_s
    for item in run:
        covered_s += max(0.0, item.when.end_s - max(until_s, item.when.start_s))
        until_s = max(until_s, item.when.end_s)
    return covered_s


def _whose(run: list[KeptCue], subjects: list[str]) -> str:
    """``"mostly person 1, left"``, or all by their numbers where nobody does most of it."""
    time_s: dict[str, float] = {}
    where: dict[str, Counter[str]] = {}
    for item, subject in zip(run, subjects, strict=True):
        person = subject.split(",")[0]
        time_s[person] = time_s.get(person, 0.0) + item.when.duration_s
        where.setdefault(person, Counter())[subject] += 1
    person, most_s = max(time_s.items(), key=lambda pair: pair[1])
    if person and most_s > _MOSTLY * sum(time_s.values()):
        return f"mostly {where[person].most_common(1)[0][0]}"
    return _listed(each for each in time_s if each)


def _listed(persons: Iterable[str]) -> str:
    names = sorted(persons, key=lambda name: (len(name), name))
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
