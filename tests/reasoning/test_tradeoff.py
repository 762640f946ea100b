"""The trade-off by hand: gains, losses, frontier, echo, confidence, correctness, controls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perception.errors import BadInput
from reasoning import tradeoff
from reasoning.results.outcomes import InjectedCue, Outcome, Outcomes, State
from reasoning.statistics import Difference, Interval
from reasoning.tradeoff import Trade

pytest.importorskip("scipy", reason="needs the extra 'studies'")

GROUNDING, MIND = "Grounding the Imagined", "Theory of Mind"


def row(
    question: str,
    condition: str,
    score: float,
    category: str = GROUNDING,
    answer: str = "",
    reference: str = "a rope",
    cues: tuple[InjectedCue, ...] = (),
) -> Outcome:
    video = question.partition("-")[0]
    return Outcome(
        question,
        video,
        category,
        "",
        condition,
        "m",
        0,
        State.SCORED,
        score,
        answer,
        reference,
        cues=cues,
    )


def cue(text: str, confidence: float = 0.7, right: bool | None = None) -> InjectedCue:
    return InjectedCue("c", "action", text, confidence, right)


def study(*pairs: tuple[str, str, float, float]) -> Outcomes:
    rows = []
    for question, category, before, after in pairs:
        rows += [row(question, "none", before, category), row(question, "cues", after, category)]
    return Outcomes(tuple(rows))


def test_grounding_gains_while_theory_of_mind_loses() -> None:
    outcomes = study(
        ("a-1", GROUNDING, 0, 1),
        ("b-1", GROUNDING, 0, 1),
        ("c-1", GROUNDING, 1, 1),
        ("a-2", MIND, 1, 0),
        ("b-2", "Social Judgment", 1, 1),
        ("c-2", "Temporal", 0, 1),
    )
    found = tradeoff.trade(outcomes, "none", "cues")
    assert found.grounding is not None
    assert found.reasoning is not None
    assert found.grounding.value == pytest.approx(2 / 3)
    assert (found.reasoning.value, found.reasoning.n) == (-0.5, 2)
    changed = tradeoff.flips(outcomes, "none", "cues")
    assert [pair.before.question for pair in changed.gained] == ["a-1", "b-1", "c-2"]
    assert [pair.before.question for pair in changed.lost] == ["a-2"]


def test_a_side_without_questions_is_none() -> None:
    found = tradeoff.trade(study(("a-1", GROUNDING, 0, 1)), "none", "cues")
    assert found.reasoning is None


def test_the_frontier_leaves_out_what_another_beats() -> None:
    def made(name: str, grounding: float, reasoning: float) -> Trade:
        sides = [
            Difference(value, 10, 5, Interval(-1, 1), 0, 0, 1.0, 1.0)
            for value in (grounding, reasoning)
        ]
        return Trade(name, *sides)

    trades = [
        made("a", 0.2, -0.1),
        made("b", 0.1, -0.1),
        made("c", 0.05, 0.0),
        made("d", 0.2, -0.3),
    ]
    assert [t.condition for t in tradeoff.frontier([*trades, Trade("e", None, None)])] == ["c", "a"]


@pytest.mark.parametrize(
    ("answer", "reference", "text", "expected"),
    [
        ("He is vomiting.", "They quarrel.", "nausea or vomiting condition", True),
        ("He is pulling a rope.", "He pulls a rope.", "pulls something", False),
        ("He holds a rope.", "He climbs a ladder.", "walks", False),
        ("", "They quarrel.", "walks", False),
    ],
)
def test_an_echo_is_a_cue_that_the_reference_does_not_hold(
    answer: str, reference: str, text: str, expected: bool
) -> None:
    outcome = row("a-1", "cues", 0, reference=reference)
    assert (tradeoff.echoed(answer, outcome, [cue(text)]) is not None) is expected


def test_the_echo_is_held_against_that_without_cues() -> None:
    told = (cue("walks"),)
    rows = []
    for question, without, with_cues in [
        ("a-1", "He sleeps.", "He walks."),
        ("b-1", "He walks.", "He walks away."),
        ("c-1", "He sings.", "He eats."),
        ("d-1", "He eats.", "He walks."),
    ]:
        rows += [
            row(question, "none", 0, answer=without),
            row(question, "cues", 0, answer=with_cues, cues=told),
        ]
    rows += [row("e-1", "none", 0), row("e-1", "cues", 1, answer="He walks.", cues=told)]
    echo = tradeoff.cue_echo(Outcomes(tuple(rows)), "none", "cues")
    assert echo.with_cues is not None
    assert echo.without is not None
    assert (echo.with_cues.value, echo.with_cues.n) == (0.75, 4)
    assert (echo.without.value, echo.without.n) == (0.2, 5)
    assert [pair.after.question for pair, _ in echo.repeats] == ["a-1", "b-1", "d-1"]


def test_effects_by_confidence_and_by_correctness() -> None:
    rows = []
    for question, confidence, right, before, after in [
        ("a-1", 0.65, True, 0, 1),
        ("b-1", 0.95, False, 1, 0),
        ("c-1", 1.0, False, 1, 1),
        ("d-1", 0.95, None, 0, 0),
    ]:
        cues = (cue("walks", confidence, right),)
        rows += [row(question, "none", before), row(question, "cues", after, cues=cues)]
    outcomes = Outcomes(tuple(rows))
    groups = {e.name: e for e in tradeoff.by_confidence(outcomes, "none", "cues")}
    assert {name: effect.n for name, effect in groups.items()} == {
        "0 to 0.6": 0,
        "0.6 to 0.7": 1,
        "0.7 to 0.8": 0,
        "0.8 to 0.9": 0,
        "0.9 to 1": 3,
    }
    assert groups["0.9 to 1"].difference is not None
    assert groups["0.9 to 1"].difference.value == pytest.approx(-1 / 3)
    labelled = {e.name: e for e in tradeoff.by_correctness(outcomes, "none", "cues")}
    assert {name: effect.n for name, effect in labelled.items()} == {
        "all right": 1,
        "mixed": 0,
        "all wrong": 2,
    }
    with pytest.raises(BadInput, match="must rise"):
        tradeoff.by_confidence(outcomes, "none", "cues", [0.8, 0.7])


def test_a_gain_that_a_control_shows_too_is_none() -> None:
    outcomes = study(("a-1", GROUNDING, 0, 1), ("b-1", GROUNDING, 0, 1))
    control = Outcomes(tuple(replace(r, condition="shuffled") for r in outcomes.under("cues").rows))
    beyond = tradeoff.beyond_control(Outcomes.joined([outcomes, control]), "shuffled", "cues")
    assert beyond is not None
    assert (beyond.value, beyond.gained, beyond.lost) == (0, 0, 0)
