"""The questions whose verdict changed against the baseline, each with both answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reasoning import tradeoff
from reasoning.reports.given import Given, short
from reasoning.reports.table import NONE, Section, Table, count
from reasoning.results.outcomes import Pair

__all__ = ["between", "section"]

_COLUMNS = (
    *("Question", "Asked", "Category", "Model", "Verdict"),
    *("Answer before", "Answer after", "Reference", "Cues in the prompt"),
)


def section(given: Given) -> Section | None:
    """Every condition against the baseline."""
    return between(given, [(given.baseline, other) for other in given.others])


def between(given: Given, pairs: Sequence[tuple[str, str]]) -> Section | None:
    """How many questions went either way, and a list for each pair of conditions."""
    counted, lists = [], []
    for number, (before, after) in enumerate(pairs, start=1):
        flips = tradeoff.flips(given.outcomes, before, after)
        counted.append((after, before, count(len(flips.gained)), count(len(flips.lost))))
        body = [
            *_lines(flips.lost, given.asked, "right to wrong"),
            *_lines(flips.gained, given.asked, "wrong to right"),
        ]
        if body:
            title = f"What changed from {before} to {after}"
            lists.append(Table(f"flips_{number}", title, _COLUMNS, tuple(body), folded=True))
    if not counted:
        return None
    table = Table(
        "flips",
        "Verdicts that changed",
        ("Condition", "Against", "Wrong to right", "Right to wrong"),
        tuple(counted),
        note="Every repeat of every model counts for itself; of partial scores any rise and fall.",
    )
    return Section("flips", "Flips", (), (table, *lists))


def _lines(
    pairs: tuple[Pair, ...], asked: Mapping[str, str], verdict: str
) -> Iterator[tuple[object, ...]]:
    for before, after in pairs:
        repeat = f" (repeat {after.repeat})" if after.repeat else ""
        yield (
            f"{after.question}{repeat}",
            asked.get(after.question) or NONE,
            short(after.category),
            after.model,
            verdict,
            before.answer or NONE,
            after.answer or NONE,
            after.reference or NONE,
            "; ".join(f"{cue.kind}: {cue.text}" for cue in after.cues) or NONE,
        )
