"""Conditions against negative controls: a gain that a control shows too is no grounding. Where a
control cannot change the prompt, as when there is one cue to shuffle, it is counted so."""

from __future__ import annotations

from reasoning import statistics, tradeoff
from reasoning.reports.given import Given
from reasoning.reports.table import Section, Table, count, interval, probability, signed

__all__ = ["section"]


def section(given: Given) -> Section | None:
    """None where the study has no control."""
    outcomes = given.outcomes.averaged()
    found = []
    for control in given.controls:
        for condition in given.held_against(control):
            difference = tradeoff.beyond_control(outcomes, control, condition)
            if difference is not None:
                alike = sum(pair.is_same for pair in outcomes.pairs(control, condition))
                found.append((condition, control, difference, alike))
    if not found:
        return None
    holm = statistics.holm([difference.p_clustered for *_, difference, _ in found])
    body = tuple(
        (
            condition,
            control,
            count(difference.n),
            count(alike),
            signed(difference.value),
            interval(difference.interval, of_difference=True),
            probability(difference.p_mcnemar),
            probability(difference.p_clustered),
            probability(adjusted),
            _told(difference, alike, adjusted),
        )
        for (condition, control, difference, alike), adjusted in zip(found, holm, strict=True)
    )
    table = Table(
        "controls",
        "What conditions have over controls",
        (
            *("Condition", "Control", "Questions", "Asked alike", "Difference", "95 % interval"),
            *("McNemar p", "Clustered p", "Holm (clustered)", "In words"),
        ),
        body,
    )
    words = (
        "A control has the form of cues without what they tell: without any of it (foreign, drawn, "
        "filler, empty), or without when it is and of whom (shuffled, shifted). What it gains over "
        "the baseline comes from what it keeps and from more words. Asked alike: questions whose "
        "prompt the control could not change; they pull the difference towards 0.",
    )
    return Section("controls", "Against controls", words, (table,))


def _told(difference: statistics.Difference, alike: int, adjusted: float) -> str:
    if alike == difference.n:
        return "the control changed no prompt"
    if difference.clusters < 2:
        return "one video tells nothing of others"
    if difference.within_noise:
        return "within noise"
    if adjusted >= 0.05:
        return "not clear after Holm"
    return "better than the control" if difference.value > 0 else "worse than the control"
