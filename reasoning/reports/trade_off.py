"""What cues gain where a model has to see against what they cost where it has to think: a table,
and the frontier over thresholds, policies and other conditions as a drawing."""

from __future__ import annotations

from collections.abc import Sequence

from reasoning import tradeoff
from reasoning.reports import plots
from reasoning.reports.given import Given
from reasoning.reports.table import (
    NONE,
    Cell,
    Plot,
    Section,
    Table,
    count,
    interval,
    signed,
)
from reasoning.results.outcomes import Outcomes
from reasoning.statistics import Difference
from reasoning.tradeoff import Trade

__all__ = ["section"]


def section(given: Given) -> Section | None:
    """One table and one drawing for each model; None where no condition has both sides."""
    tables, drawn = [], []
    for number, model in enumerate(given.outcomes.models, start=1):
        of_model = given.outcomes.where(lambda row, m=model: row.model == m)  # type: ignore[misc]
        trades = _trades(given, of_model)
        if not any(trade.grounding and trade.reasoning for trade in trades):
            continue
        best = [trade.condition for trade in tradeoff.frontier(trades)]
        tables.append(_table(number, model, given, trades, best))
        drawn.append(_plot(number, model, given.baseline, trades, best))
    if not tables:
        return None
    words = (
        f"Grounding is {', '.join(given.split.grounding)}; reasoning is "
        f"{', '.join(given.split.reasoning)}. Points gained against {given.baseline!r}, itself one "
        "of the points, with intervals of 95 % from the bootstrap over videos. On the frontier "
        "stands a condition that no other beats on both sides; where intervals overlap, another "
        "sample may put another one there.",
    )
    return Section("trade_off", "Grounding against reasoning", words, tuple(tables), tuple(drawn))


def _trades(given: Given, outcomes: Outcomes) -> list[Trade]:
    if given.baseline not in outcomes.conditions:
        return []
    outcomes = outcomes.averaged()
    wanted = [each for each in outcomes.conditions if each not in given.controls]
    return [tradeoff.trade(outcomes, given.baseline, each, given.split) for each in wanted]


def _side(difference: Difference | None, is_baseline: bool) -> tuple[Cell, str, Cell]:
    if difference is None:
        return Cell(NONE), NONE, count(0)
    told = NONE if is_baseline else interval(difference.interval, of_difference=True)
    return signed(difference.value), told, count(difference.n)


def _table(
    number: int, model: str, given: Given, trades: Sequence[Trade], best: Sequence[str]
) -> Table:
    body = tuple(
        (
            trade.condition,
            count(at),
            *_side(trade.grounding, trade.condition == given.baseline),
            *_side(trade.reasoning, trade.condition == given.baseline),
            given.swept.get(trade.condition, ""),
            "yes" if trade.condition in best else "no",
        )
        for at, trade in enumerate(_whole(trades) + _partial(trades), start=1)
    )
    side = ("Difference", "95 % interval", "Questions")
    return Table(
        f"trade_off_{number}",
        f"Gains and losses of {model}",
        ("Condition", "Point", *side, *side, "Thresholds and policies", "On the frontier"),
        body,
        ((("", 2), ("Grounding", 3), ("Reasoning", 3), ("", 2)),),
    )


def _whole(trades: Sequence[Trade]) -> list[Trade]:
    return [trade for trade in trades if trade.grounding and trade.reasoning]


def _partial(trades: Sequence[Trade]) -> list[Trade]:
    return [trade for trade in trades if not (trade.grounding and trade.reasoning)]


def _extent(difference: Difference, is_baseline: bool) -> tuple[float, tuple[float, float]]:
    """Value and interval in percentage points; the baseline differs from itself by nothing."""
    if is_baseline:
        return 0.0, (0.0, 0.0)
    ends = difference.interval
    return 100 * difference.value, (100 * ends.low, 100 * ends.high)


def _plot(
    number: int, model: str, baseline: str, trades: Sequence[Trade], best: Sequence[str]
) -> Plot:
    points = []
    for trade in _whole(trades):
        (x, across), (y, along) = (
            _extent(each, trade.condition == baseline)
            for each in (trade.grounding, trade.reasoning)
            if each is not None
        )
        points.append((trade.condition, x, y, across, along))
    told = "; ".join(
        f"{label}: grounding {x:+.1f}, reasoning {y:+.1f}" for label, x, y, *_ in points
    )
    title = f"Trade-off of {model}; points are numbered as in the table, the frontier is the line"
    return Plot(f"trade_off_{number}", title, plots.trade_off(points, best), told)
