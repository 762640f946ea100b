"""What single cues do to answers: how often wrong answers repeat them, and what their confidence
and correctness have to do with gains and losses."""

from __future__ import annotations

from collections.abc import Sequence

from reasoning import tradeoff
from reasoning.reports.given import Given
from reasoning.reports.table import NONE, Cell, Section, Table, count, interval, percent, signed
from reasoning.statistics import Accuracy
from reasoning.tradeoff import Echo, Effect

__all__ = ["section"]

_LEVEL = 0.05
"""Of the clustered test: intervals of few videos leave out 0 too easily."""


def section(given: Given) -> Section | None:
    """None where no prompt held a cue."""
    with_cues = dict.fromkeys(row.condition for row in given.outcomes.scored.rows if row.cues)
    conditions = [each for each in given.others if each in with_cues]
    if not conditions:
        return None
    echoes = [
        (each, tradeoff.cue_echo(given.outcomes, given.baseline, each)) for each in conditions
    ]
    tables = [_echo_table(echoes), *_repeats(echoes)]
    outcomes = given.outcomes.averaged()
    by_confidence = [
        (each, tradeoff.by_confidence(outcomes, given.baseline, each)) for each in conditions
    ]
    tables += _effects("confidence", "by the mean confidence of the cues", by_confidence)
    by_correctness = [
        (each, tradeoff.by_correctness(outcomes, given.baseline, each)) for each in conditions
    ]
    correct = _effects("correctness", "by whether the labelled cues are right", by_correctness)
    words = [
        "A wrong answer echoes a cue when it repeats words of it that the reference does not hold. "
        "What the model says without the cues, held against the same cues, shows what chance and "
        "the topic repeat anyway.",
        *(_told(condition, echo) for condition, echo in echoes if echo.with_cues),
    ]
    if not correct:
        words.append("No cue has a label that says whether it is right.")
    return Section("cue_effects", "Echoes and harm of cues", tuple(words), (*tables, *correct))


def _told(condition: str, echo: Echo) -> str:
    assert echo.with_cues is not None
    given, chance = echo.with_cues, echo.without
    told = f"{condition}: {percent(given.value)} % of {given.n} wrong answers echo a cue"
    if chance is None:
        return f"{told}; without cues no answer to these questions is wrong."
    apart = given.interval.low > chance.interval.high or given.interval.high < chance.interval.low
    verdict = "the intervals lie apart" if apart else "within noise, the intervals overlap"
    return f"{told}, {percent(chance.value)} % without them: {verdict}."


def _share(found: Accuracy | None) -> tuple[Cell, str, Cell]:
    if found is None:
        return Cell(NONE), NONE, count(0)
    return percent(found.value), interval(found.interval), count(found.n)


def _echo_table(echoes: Sequence[tuple[str, Echo]]) -> Table:
    side = ("Echoed, %", "95 % interval", "Wrong answers")
    return Table(
        "cue_echo",
        "Wrong answers that repeat a cue",
        ("Condition", *side, *side),
        tuple((name, *_share(echo.with_cues), *_share(echo.without)) for name, echo in echoes),
        ((("", 1), ("With the cues", 3), ("Without them", 3)),),
    )


def _repeats(echoes: Sequence[tuple[str, Echo]]) -> list[Table]:
    body = tuple(
        (name, pair.after.question, pair.after.model, f"{cue.kind}: {cue.text}", pair.after.answer)
        for name, echo in echoes
        for pair, cue in echo.repeats
    )
    if not body:
        return []
    columns = ("Condition", "Question", "Model", "Cue", "Answer")
    return [Table("cue_echo_answers", "Answers that repeat a cue", columns, body, folded=True)]


def _effects(name: str, words: str, found: Sequence[tuple[str, Sequence[Effect]]]) -> list[Table]:
    body = []
    for condition, effects in found:
        for each in effects:
            if each.difference is None:
                continue
            told = interval(each.difference.interval, of_difference=True)
            noise = each.difference.within_noise or each.difference.p_clustered >= _LEVEL
            within = "within noise" if noise else "beyond noise"
            body.append(
                (condition, each.name, count(each.n), signed(each.difference.value), told, within)
            )
    if not body:
        return []
    columns = ("Condition", "Cues", "Questions", "Difference", "95 % interval", "In words")
    title = f"Difference from the baseline {words}"
    note = "Groups are not drawn by lot: questions with sure cues may be other questions."
    return [Table(f"effect_of_{name}", title, columns, tuple(body), note=note)]
