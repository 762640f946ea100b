from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.fuse import fuse
from fusion.gate import gate, top_labels
from fusion.options import FusionOptions
from fusion.policy import ScoreMap, Tools
from fusion.question import Question
from fusion.render import RenderOptions
from perception.cue import Cue, CueTimeline, CueTrack, Origin, Source, Span
from perception.errors import BadInput
from tests.fusion.timelines import KINDS, ROOF, any_timeline, cue, timeline

WHAT = Question("What happens?")


def reasons(cues: CueTimeline, question: Question, options: FusionOptions) -> dict[str, str]:
    return {item.cue.id: item.reason for item in gate(cues, question, options).dropped}


def test_defaults_are_the_papers_for_actions() -> None:
    options = FusionOptions()
    assert options.threshold("action") == 0.6
    assert options.threshold("some new kind") == 0.5


def test_one_threshold_given_leaves_the_others() -> None:
    options = FusionOptions(thresholds={"speech": 0.9, "shots": 0.1})
    assert [options.threshold(kind) for kind in ("action", "speech", "shots")] == [0.6, 0.9, 0.1]


def test_under_the_threshold_of_its_kind() -> None:
    selection = gate(ROOF, WHAT, FusionOptions())
    assert [item.cue.id for item in selection.kept] == [
        "action-1",
        "screen_text-1",
        "action-3",
        "speech-1",
    ]
    assert [(item.kind, item.cue.id, item.reason) for item in selection.dropped] == [
        ("action", "action-2", "confidence 0.41 is under 0.60")
    ]


def test_probability_and_value_are_the_confidence() -> None:
    first = gate(ROOF, WHAT, FusionOptions()).kept[0]
    assert (first.probability, first.value, first.calibrated) == (0.96, 0.96, False)


def test_of_a_persons_cues_only_certainty_is_told_in_no_score() -> None:
    """A map is no good for them: they are not the scores that it was fitted to."""
    top = {"top": [["waves", 0.71], ["claps", 0.2]]}
    cues = [Cue(f"a-{at}", Span(at, 2), "waves", score, top) for at, score in ((0, 1.0), (1, 0.71))]
    track = CueTrack("a", "action", Source("csv"), tuple(cues), Origin.HUMAN)
    options = FusionOptions(policies=("hedged",), render=RenderOptions(notice="none"))
    tools = Tools(calibration=lambda _: lambda score, _: score / 2)
    prompt = fuse(CueTimeline(ROOF.video, (track,)), WHAT, options, tools)
    assert prompt.text.split("\n")[1:] == [
        "- 0:00.0-0:02.0 action: waves (annotated)",
        "- 0:01.0-0:02.0 action: apparently waves (score 0.71), or claps (score 0.20)",
    ]


def test_exactly_at_the_threshold_is_in() -> None:
    options = FusionOptions(thresholds={"speech": 0.6, "action": 1.0, "screen_text": 0.94})
    assert reasons(ROOF, WHAT, options) == {
        "action-1": "confidence 0.96 is under 1.00",
        "action-2": "confidence 0.41 is under 1.00",
        "action-3": "confidence 0.69 is under 1.00",
        "screen_text-1": "confidence 0.93 is under 0.94",
    }


def test_a_near_miss_is_told_with_enough_decimals() -> None:
    near = timeline(action=[cue("a", 0, 1, "waves", 0.59996)])
    assert reasons(near, WHAT, FusionOptions()) == {"a": "confidence 0.59996 is under 0.60000"}


@pytest.mark.parametrize(
    ("span", "words"),
    [(Span(80, 105), "outside 1:20-1:45"), (Span(80.25, 105), "outside 1:20.3-1:45.0")],
)
def test_outside_the_part_that_is_asked_about(span: Span, words: str) -> None:
    cues = timeline(
        speech=[
            cue("before", 70, 80, "before", 0.9),
            cue("into", 70, 80.5, "reaches into it", 0.9),
            cue("after", 105, 106, "after", 0.2),
        ]
    )
    selection = gate(cues, Question("What?", span=span), FusionOptions())
    assert [item.cue.id for item in selection.kept] == ["into"]
    assert [(item.cue.id, item.reason) for item in selection.dropped] == [
        ("before", words),
        ("after", words),
    ]


def test_an_open_end_is_the_end_of_the_video() -> None:
    cues = timeline(speech=[cue("a", 1, 2, "early", 0.9)])
    assert reasons(cues, Question("What?", span=Span(80, 1e9)), FusionOptions()) == {
        "a": "outside 1:20-2:00"
    }


def test_text_that_nobody_can_see_is_dropped() -> None:
    cues = timeline(screen_text=[cue("a", 0, 1, "\u202e\u200b \n", 0.99)])
    assert reasons(cues, WHAT, FusionOptions()) == {"a": "has no visible text"}


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan")])
def test_a_threshold_is_a_probability(wrong: float) -> None:
    with pytest.raises(BadInput, match="threshold for action"):
        FusionOptions(thresholds={"action": wrong})
    with pytest.raises(BadInput, match="threshold for every other kind"):
        FusionOptions(default_threshold=wrong)


def test_a_calibrated_score_is_a_probability_and_says_so() -> None:
    def halved(track: CueTrack) -> ScoreMap | None:
        return (lambda score, others: score / 2) if track.kind == "action" else None

    selection = gate(ROOF, WHAT, FusionOptions(thresholds={"action": 0.4}), halved)
    first = selection.kept[0]
    assert (first.cue.id, first.probability, first.calibrated) == ("action-1", 0.48, True)
    assert [item.calibrated for item in selection.kept] == [True, False, False]
    assert [item.reason for item in selection.dropped] == [
        "probability 0.20 is under 0.40",
        "probability 0.35 is under 0.40",
    ]


def test_what_was_checked_and_rejected_is_dropped_for_that_reason() -> None:
    rejected = {"action-1": "nobody sees it", "action-2": "nor this"}
    selection = gate(ROOF, WHAT, FusionOptions(), rejected=rejected)
    assert {item.cue.id: item.reason for item in selection.dropped} == {
        "action-1": "nobody sees it",
        "action-2": "confidence 0.41 is under 0.60",
    }


def test_a_margin_lets_in_what_lies_around_the_part() -> None:
    near = Question("What?", span=Span(6, 7))
    assert reasons(ROOF, near, FusionOptions(margin_s=1.5)) == {
        "action-1": "outside 0:04.5-0:08.5",
        "action-2": "outside 0:04.5-0:08.5",
        "screen_text-1": "outside 0:04.5-0:08.5",
    }


@pytest.mark.parametrize(
    ("top", "read"),
    [
        ([["a", 0.2], ["b", 0.7]], (("b", 0.7), ("a", 0.2))),
        ([["a", 2], ["b"], "c", [1, 0.5], ["d", None], ["e", 0.1]], (("e", 0.1),)),
        ("ab", ()),
        (None, ()),
    ],
)
def test_labels_are_read_as_far_as_they_are_labels(top: object, read: object) -> None:
    assert top_labels(Cue("a", Span(0, 1), "x", 0.5, {"top": top})) == read


@given(any_timeline(), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_adds_a_cue(cues: CueTimeline, one: float, two: float) -> None:
    def kept(threshold: float) -> set[str]:
        options = FusionOptions(thresholds=dict.fromkeys(KINDS, threshold))
        return {item.cue.id for item in gate(cues, WHAT, options).kept}

    assert kept(max(one, two)) <= kept(min(one, two))
