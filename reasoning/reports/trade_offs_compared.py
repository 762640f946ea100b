"""What each of two runs gains in grounding and loses in reasoning against its own baseline, and how
much more of it the second run has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reasoning import tradeoff
from reasoning.reports.table import NONE, Cell, Section, Table, count, counted, interval, signed
from reasoning.results.outcomes import Outcomes, Pair
from reasoning.statistics import Difference
from reasoning.tradeoff import Split, Trade

__all__ = ["Compared", "section"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One of the two runs.

    Args:
        name: how it is called.
        outcomes: of models that have the same names in both runs.
        baseline: against which its conditions gain and lose.
    """

    name: str
    outcomes: Outcomes
    baseline: str

    def of_model(self, model: str) -> Compared:
        """Its share of one model, repeats averaged."""
        own = self.outcomes.where(lambda row: row.model == model)
        return Compared(self.name, own.averaged(), self.baseline)

    def changes(self, condition: str) -> tuple[Pair, ...]:
        """Each question under the baseline and under ``condition``."""
        there = {self.baseline, condition} <= set(self.outcomes.conditions)
        return self.outcomes.pairs(self.baseline, condition) if there else ()


def section(
    first: Compared, second: Compared, pairs: Sequence[tuple[str, str]], split: Split
) -> Section | None:
    """A table for each model; None where no question asks for grounding or for reasoning.

    Args:
        pairs: the condition of the first run and that of the second that are compared.
    """
    models = [each for each in first.outcomes.models if each in second.outcomes.models]
    tables, lines = [], []
    for number, model in enumerate(models, start=1):
        own = (first.of_model(model), second.of_model(model))
        trades = [found for pair in pairs for found in _trades(*own, pair, split)]
        trades = [each for each in trades if each.grounding or each.reasoning]
        if not trades:
            continue
        told = f"{model}, " if len(models) > 1 else ""
        lines += [f"{told}{_sentence(each)}" for each in trades]
        tables.append(_table(number, model, trades))
    if not tables:
        return None
    words = (
        f"Grounding is {', '.join(split.grounding)}; reasoning is {', '.join(split.reasoning)}. "
        "Percentage points, paired by question, repeats averaged first, with intervals of 95 % "
        "from the bootstrap over videos. A run's gains are against its own baseline; what the "
        "second run has over the first is of the questions with a score in all four, and where "
        "its interval holds 0, the runs cannot be told apart.",
        *lines,
    )
    return Section("trade_off", "Grounding against reasoning", words, tuple(tables))


def _trades(
    first: Compared, second: Compared, pair: tuple[str, str], split: Split
) -> Iterator[Trade]:
    before, after = pair
    told = f"{second.name}: {after} less {first.name}: {before}"
    if before == first.baseline or after == second.baseline:
        yield tradeoff.trade_of(_across(first, second, pair), split, told)
        return
    changes = []
    for run, condition in zip((first, second), pair, strict=True):
        changes.append(run.changes(condition))
        name = f"{run.name}: {condition} against {run.baseline}"
        yield tradeoff.trade_of(changes[-1], split, name)
    yield tradeoff.trade_beyond(changes[0], changes[1], split, f"{told}, each against its own")


def _across(first: Compared, second: Compared, pair: tuple[str, str]) -> tuple[Pair, ...]:
    """Each question under a condition of the first run and under one of the second."""
    mine = {row.question: row for row in first.outcomes.rows if row.condition == pair[0]}
    theirs = {row.question: row for row in second.outcomes.rows if row.condition == pair[1]}
    return tuple(Pair(mine[name], theirs[name]) for name in mine if name in theirs)


def _table(number: int, model: str, trades: Sequence[Trade]) -> Table:
    side = ("Difference", "95 % interval", "Questions")
    return Table(
        f"trade_off_{number}",
        f"Gains and losses of {model}",
        ("Compared", *side, *side),
        tuple((each.condition, *_side(each.grounding), *_side(each.reasoning)) for each in trades),
        ((("", 1), ("Grounding", 3), ("Reasoning", 3)),),
    )


def _side(difference: Difference | None) -> tuple[Cell, str, Cell]:
    if difference is None:
        return Cell(NONE), NONE, count(0)
    told = interval(difference.interval, of_difference=True)
    return signed(difference.value), told, count(difference.n)


def _sentence(each: Trade) -> str:
    sides = []
    for name, found in (("grounding", each.grounding), ("reasoning", each.reasoning)):
        if found is not None:
            between = interval(found.interval, of_difference=True)
            sides.append(
                f"{name} {signed(found.value)} points ({between}) over "
                f"{counted(found.n, 'question')}"
            )
    return f"{each.condition}: {'; '.join(sides)}"
