"""Conditions against negative controls, which hold no information: a gain that a control shows too
is no grounding."""

from __future__ import annotations

from reasoning import statistics, tradeoff
from reasoning.reports.given import Given, averaged
from reasoning.reports.table import Section, Table, count, interval, probability, signed

__all__ = ["section"]


def section(given: Given) -> Section | None:
    """None where the study has no control."""
    outcomes = averaged(given.outcomes)
    found = []
    for control in given.controls:
        for condition in given.held_against(control):
            difference = tradeoff.beyond_control(outcomes, control, condition)
            if difference is not None:
                found.append((condition, control, difference))
    if not found:
        return None
    holm = statistics.holm([difference.p_clustered for *_, difference in found])
    body = tuple(
        (
            condition,
            control,
            count(difference.n),
            signed(difference.value),
            interval(difference.interval, of_difference=True),
            probability(difference.p_mcnemar),
            probability(difference.p_clustered),
            probability(adjusted),
            _told(difference, adjusted),
        )
        for (condition, control, difference), adjusted in zip(found, holm, strict=True)
    )
    table = Table(
        "controls",
        "What conditions have over controls",
        (
            *("Condition", "Control", "Questions", "Difference", "95 % interval"),
            *("McNemar p", "Clustered p", "Holm (clustered)", "In words"),
        ),
        body,
    )
    words = (
        "A control has the form of cues and none of their information: what it gains over the "
        "baseline comes from more words, not from grounding.",
    )
    return Section("controls", "Against controls", words, (table,))


def _told(difference: statistics.Difference, adjusted: float) -> str:
    if difference.clusters < 2:
        return "one video tells nothing of others"
    if difference.within_noise:
        return "within noise"
    if adjusted >= 0.05:
        return "not clear after Holm"
    return "better than the control" if difference.value > 0 else "worse than the control"
