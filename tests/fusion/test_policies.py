"""Each policy on cues that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from fusion.fuse import FusionOptions, Tools, fuse
from fusion.policies import budget, hedged, retrieved, routed, summarised
from fusion.policy import ScoreMap
from fusion.question import Question, QuestionType
from fusion.render import RenderOptions
from fusion.selection import CuePrompt
from perception.cue import Cue, CueTimeline, CueTrack, Span
from perception.errors import BadInput
from tests.fusion.timelines import ROOF, cue, timeline

WHAT = Question("What happens?")
BARE = RenderOptions(notice="none")


def action(
    id: str,
    start_s: float,
    end_s: float,
    label: str,
    confidence: float = 0.8,
    person: int = 1,
    where: str = "left",
    top: Sequence[tuple[str, float]] = (),
) -> Cue:
    attributes: dict[str, Any] = {"person": person, "where": where, "label": label}
    if top:
        attributes["top"] = [list(pair) for pair in top]
    text = f"person {person}, {where}, {label}s"
    return Cue(id, Span(start_s, end_s), text, confidence, attributes)


def by(
    policies: str,
    cues: CueTimeline,
    question: Question = WHAT,
    tools: Tools | None = None,
    options: Mapping[str, Any] | None = None,
    **fusion: Any,
) -> CuePrompt:
    names = tuple(policies.split("+"))
    made = FusionOptions(policies=names, policy_options=options or {}, render=BARE, **fusion)
    return fuse(cues, question, made, tools)


def lines(prompt: CuePrompt) -> list[str]:
    return prompt.text.split("\n")[1:]


def reasons(prompt: CuePrompt) -> dict[str, str]:
    return {item.cue.id: item.reason for item in prompt.selection.dropped}


def as_it_is(score: float, others: Sequence[float]) -> float:
    return score


def calibrated(track: CueTrack) -> ScoreMap | None:
    return as_it_is if track.kind == "action" else None


CALIBRATED = Tools(calibration=calibrated)


# routed


@pytest.mark.parametrize("type", QuestionType)
def test_literal_labels_are_kept_from_the_questions_they_hurt(type: QuestionType) -> None:
    kinds = {item.kind for item in by("routed", ROOF, Question("?", type=type)).selection.kept}
    hurt = type in {QuestionType.THEORY_OF_MIND, QuestionType.SOCIAL_JUDGMENT}
    assert kinds == {"screen_text", "speech"} | (set() if hurt else {"action"})


def test_routes_can_be_chosen() -> None:
    leave_out = {QuestionType.TEMPORAL: ("speech", "screen_text")}
    prompt = by(
        "routed",
        ROOF,
        Question("?", type=QuestionType.TEMPORAL),
        options={"routed": routed.Options(leave_out)},
    )
    assert reasons(prompt)["screen_text-1"] == (
        "screen text cues are left out of questions of Temporal"
    )


def test_a_type_that_is_not_annotated_is_told_or_all_stay() -> None:
    tools = Tools(question_type=lambda question: QuestionType.THEORY_OF_MIND)
    told = by("routed", ROOF, WHAT, tools)
    assert reasons(told)["action-1"] == (
        "action cues are left out of questions of Theory of Mind, which this seems to be"
    )
    annotated = by("routed", ROOF, Question("?", type=QuestionType.TEMPORAL), tools)
    untold = by("routed", ROOF, WHAT, Tools(question_type=lambda question: None))
    assert lines(annotated) == lines(untold) == lines(by("routed", ROOF, WHAT, Tools()))


# hedged


def test_doubt_in_words_with_what_else_it_may_be() -> None:
    climb = action("a", 0, 2, "climb", 0.43, top=[("climb", 0.43), ("pull", 0.31), ("none", 0.2)])
    sure = action("b", 3, 4, "wave", 0.97, top=[("wave", 0.97), ("jump", 0.01)])
    sign = cue("s", 5, 6, "NO ENTRY", 0.93)
    prompt = by(
        "hedged",
        timeline(action=[climb, sure], screen_text=[sign]),
        tools=CALIBRATED,
        thresholds={"action": 0.4},
    )
    assert lines(prompt) == [
        "- 0:00.0-0:02.0 action: perhaps person 1, left, climbs (43 %), or pull (31 %), or no "
        "known action (20 %)",
        "- 0:03.0-0:04.0 action: almost certainly person 1, left, waves (97 %)",
        '- 0:05.0-0:06.0 screen text: apparently "NO ENTRY" (score 0.93)',
    ]


def test_as_many_rivals_as_are_asked_for() -> None:
    climb = action("a", 0, 2, "climb", 0.7, top=[("climb", 0.7), ("pull", 0.2), ("run", 0.1)])
    one = {"hedged": hedged.Options(top=1)}
    (line,) = lines(by("hedged", timeline(action=[climb]), tools=CALIBRATED, options=one))
    assert line == "- 0:00.0-0:02.0 action: probably person 1, left, climbs (70 %)"


def test_rivals_are_calibrated_as_the_label_is() -> None:
    """Squared and divided by their sum: 0.49, 0.04, 0.01 of 0.54."""

    def sharpened(score: float, others: Sequence[float]) -> float:
        return score**2 / (score**2 + sum(other**2 for other in others))

    climb = action("a", 0, 2, "climb", 0.7, top=[("climb", 0.7), ("pull", 0.2), ("run", 0.1)])
    tools = Tools(calibration=lambda track: sharpened)
    (line,) = lines(by("hedged", timeline(action=[climb]), tools=tools))
    assert line.endswith("probably person 1, left, climbs (91 %), or pull (7 %)")


# summarised


def test_a_run_is_one_line() -> None:
    run = [
        action("a", 20, 30, "climb", 0.9),
        action("b", 35, 45, "climb", 0.7),
        action("c", 55, 70, "climb", 0.8, person=2, where="right"),
        action("d", 90, 95, "climb", 0.8),
    ]
    prompt = by("summarised", timeline(action=run), tools=CALIBRATED)
    # Covered 35 of 50 s. Person 1: 20 of 35 s, under three fifths; weighted mean 28 / 35.
    assert lines(prompt) == [
        "- 0:20.0-1:10.0 action: climbs, on and off, person 1 and person 2 (80 %)",
        "- 1:30.0-1:35.0 action: person 1, left, climbs (80 %)",
    ]
    assert prompt.lines == ((1, "a"), (1, "b"), (1, "c"), (2, "d"))


def test_who_does_most_of_it_is_named() -> None:
    run = [
        action("a", 0, 10, "climb"),
        action("b", 10, 20, "climb"),
        action("c", 20, 25, "climb", person=2, where="right"),
    ]
    (line,) = lines(by("summarised", timeline(action=run), tools=CALIBRATED))
    assert line == "- 0:00.0-0:25.0 action: climbs, mostly person 1, left (80 %)"


def test_one_person_who_moves_about_keeps_only_the_number() -> None:
    run = [action("a", 0, 5, "climb"), action("b", 5, 10, "climb", where="centre")]
    (line,) = lines(by("summarised", timeline(action=run), tools=CALIBRATED))
    assert line == "- 0:00.0-0:10.0 action: person 1 climbs (80 %)"


def test_a_sign_that_comes_back_is_one_line_and_its_note_outside_of_the_quotes() -> None:
    signs = [cue("s", 0, 2, "No entry!", 0.9), cue("t", 10, 12, "NO ENTRY", 0.7)]
    (line,) = lines(by("summarised", timeline(screen_text=signs)))
    assert line == '- 0:00.0-0:12.0 screen text: "No entry!", on and off (score 0.80)'


def test_a_run_has_no_rivals_of_its_own() -> None:
    top = [("climb", 0.8), ("pull", 0.2)]
    two = [action("a", 0, 2, "climb", top=top), action("b", 2, 4, "climb", top=top)]
    expected = "- 0:00.0-0:04.0 action: probably person 1, left, climbs (80 %)"
    for policies in ("summarised+hedged", "hedged+summarised"):
        assert lines(by(policies, timeline(action=two), tools=CALIBRATED)) == [expected]


def test_a_longer_gap_is_another_run() -> None:
    two = [action("a", 0, 2, "climb"), action("b", 4, 5, "climb")]
    short = {"summarised": summarised.Options(max_gap_s=1)}
    assert len(lines(by("summarised", timeline(action=two), options=short))) == 2


def test_what_was_folded_leaves_together() -> None:
    two = [action("a", 0, 2, "climb"), action("b", 4, 5, "climb")]
    mind = Question("?", type=QuestionType.THEORY_OF_MIND)
    prompt = by("summarised+routed", timeline(action=two), mind)
    assert prompt.text == ""
    assert reasons(prompt)["b"].startswith("merged into a: action cues are left out")


# retrieved


def counted(word: str) -> Callable[[str, Sequence[str]], list[float]]:
    return lambda question, texts: [float(text.count(word)) for text in texts]


def test_relevance_by_hand() -> None:
    """Half-life 10 s; the closest says "rope" twice. 0.3 + 0.7 × closeness, times the decay."""
    cues = timeline(
        speech=[
            cue("in", 50, 52, "a rope", 0.8),
            cue("near", 70, 72, "rope, rope", 0.8),
            cue("far", 100, 101, "rope, rope", 0.8),
            cue("other", 53, 54, "a cat", 0.8),
        ]
    )
    asked = Question("What of the rope from 0:50 to 1:00?")
    prompt = by("retrieved", cues, asked, Tools(similarity=counted("rope")))
    relevance = {item.cue.id: item.relevance for item in prompt.selection.kept}
    assert relevance == {
        "in": pytest.approx(0.3 + 0.7 / 2),
        "near": pytest.approx(0.5),
        "other": pytest.approx(0.3),
        "far": pytest.approx(1 / 16),
    }
    assert prompt.selection.kept[0].value == pytest.approx(0.8 * 0.65)


def test_only_the_most_relevant_are_kept() -> None:
    cues = timeline(speech=[cue(str(n), n, n + 1, "rope " * n, 0.8) for n in range(1, 6)])
    few = {"retrieved": retrieved.Options(top=2, least_relevance=0.5)}
    prompt = by("retrieved", cues, WHAT, Tools(similarity=counted("rope")), few)
    assert [item.cue.id for item in prompt.selection.kept] == ["4", "5"]
    assert reasons(prompt) == {
        "3": "relevance 0.720 to the question is not among the 2 highest",
        "2": "relevance 0.580 to the question is not among the 2 highest",
        "1": "relevance 0.440 to the question is under 0.5",
    }


def test_the_questions_span_counts_before_what_its_words_say() -> None:
    cues = timeline(speech=[cue("a", 0, 1, "x", 0.8), cue("b", 30, 31, "x", 0.8)])
    asked = Question("What at 0:00?", span=Span(30, 32))
    prompt = by("retrieved", cues, asked, Tools(similarity=counted("z")), margin_s=60)
    relevance = {item.cue.id: item.relevance for item in prompt.selection.kept}
    assert relevance == {"a": pytest.approx(0.5**2.9), "b": 1.0}


def test_where_nothing_is_shared_and_no_time_named_all_are_alike() -> None:
    prompt = by("retrieved", ROOF, WHAT, Tools(similarity=counted("zebra")))
    assert {item.relevance for item in prompt.selection.kept} == {1.0}


@pytest.mark.parametrize("name", ["retrieved", "budget"])
def test_without_a_similarity_a_policy_says_what_it_needs(name: str) -> None:
    with pytest.raises(BadInput, match=rf"'{name}' compares cues.*reasoning\.tools\.assemble"):
        by(name, ROOF)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("From timestamp 01 min:05.50 sec to 01 min:10.00 sec, why?", Span(65.5, 70)),
        ("What is at 1:02:03.5?", Span(3723.5, 3723.5)),
        ("between 0:10 and 12 s?", Span(10, 12)),
        ("after 20 seconds?", Span(20, 20)),
        ("3:4 or 12 people, 7 songs, 1:234", None),
    ],
)
def test_times_in_a_question(text: str, span: Span | None) -> None:
    assert Question(text).mentioned == span


# budget


def test_value_is_probability_times_relevance_times_novelty() -> None:
    cues = timeline(
        action=[
            action("a", 0, 1, "climb", 0.8),
            action("b", 2, 3, "climb", 0.9),
            action("c", 4, 5, "jump", 0.7),
        ],
        speech=[cue("s", 6, 7, "climb the rope", 0.6)],
    )
    prompt = by("budget", cues, WHAT, Tools(similarity=counted("rope")))
    factors = {item.cue.id: (item.relevance, item.novelty) for item in prompt.selection.kept}
    # In the order s (0.6), b (0.225), a (0.2), c (0.175): "climb" was said by s, then by b.
    assert factors == {
        "s": (1.0, 1.0),
        "b": (0.25, 0.5),
        "a": (0.25, pytest.approx(1 / 3)),
        "c": (0.25, 1.0),
    }
    values = {item.cue.id: item.value for item in prompt.selection.kept}
    assert values["a"] == pytest.approx(0.8 * 0.25 / 3)


def test_relevance_that_was_told_before_is_kept() -> None:
    tools = Tools(similarity=counted("NO"))
    both = by("retrieved+budget", ROOF, WHAT, tools).selection.kept
    alone = by("retrieved", ROOF, WHAT, tools).selection.kept
    assert [item.relevance for item in both] == [item.relevance for item in alone]


def test_repetitions_make_room_first() -> None:
    cues = timeline(action=[action(f"{n}", n, n + 1, "climb") for n in range(4)])
    more = timeline(action=[*cues.tracks[0].cues, action("z", 50, 51, "jump", 0.65)])
    tools = Tools(count_tokens=lambda text: text.count("\n- "), similarity=counted("?"))
    kept = by("budget", more, WHAT, tools, budget_tokens=2).selection.kept
    assert [item.cue.id for item in kept] == ["0", "z"]
    alike = {"budget": budget.Options(novelty=False)}
    kept = by("budget", more, WHAT, tools, alike, budget_tokens=2).selection.kept
    assert [item.cue.id for item in kept] == ["0", "1"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: retrieved.Options(top=0),
        lambda: retrieved.Options(meaning=2),
        lambda: hedged.Options(top=0),
        lambda: summarised.Options(max_gap_s=-1),
        lambda: budget.Options(least_relevance=2),
        lambda: FusionOptions(margin_s=-1),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(BadInput):
        wrong()
