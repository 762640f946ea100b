"""Several calls on the way to an answer, with a model that says what it is told to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from fusion.options import FusionOptions
from fusion.question import Question
from perception.cue import Span
from perception.errors import BadInput, UnknownName
from perception.recognizer import Frame
from reasoning.answer import FailureKind
from reasoning.ask import Asked
from reasoning.egress import Egress
from reasoning.outgoing import frame_times
from reasoning.strategies import describe_then_reason, direct, verified
from reasoning.strategies.describe_then_reason import numbers
from reasoning.strategy import StrategyOptions, Task
from reasoning.videollm import Request
from reasoning.videollms.scripted import Options, Rule, Scripted
from tests.fusion.timelines import ROOF

WHAT = Question("What does he do?")
CHECK = "recognizer says of this part"


def sample(part: Span | None) -> Sequence[Frame]:
    """A frame at each end of the part."""
    ends = (0.0, 120.0) if part is None else (part.start_s, part.end_s)
    return tuple(Frame(time_s, np.zeros((4, 6, 3), np.uint8)) for time_s in ends)


def seeing(*rules: Rule) -> Scripted:
    return Scripted(Options(rules, default="He jumps.", frame_rate_hz=1))


def task(model: Scripted) -> Task:
    return Task(WHAT, ROOF, model, sample)


def kept(asked: Asked) -> list[str]:
    return [item.cue.id for item in asked.cues.selection.kept]


def reasons(asked: Asked) -> dict[str, str]:
    return {item.cue.id: item.reason for item in asked.cues.selection.dropped}


def test_direct_is_one_call() -> None:
    model = seeing()
    asked = direct.build(direct.Options())(task(model))
    assert asked.answer is not None
    assert len(model.requests) == 1
    assert asked.steps == ()
    assert kept(asked) == ["action-1", "screen_text-1", "action-3", "speech-1"]


def test_only_what_the_model_confirms_is_in_the_last_prompt() -> None:
    model = seeing(
        Rule(f"{CHECK}: action: .*waves", "A"),
        Rule(f"{CHECK}: action: .*jumps", "B. no"),
        Rule(f"{CHECK}: screen text", "cannot tell"),
    )
    asked = verified.build(verified.Options())(task(model))
    assert kept(asked) == ["action-1", "speech-1"]
    assert reasons(asked) == {
        "action-2": "confidence 0.41 is under 0.60",
        "action-3": "the model does not see it in the frames",
        "screen_text-1": "the model cannot tell from the frames",
    }
    assert [step.purpose for step in asked.steps] == ["check"] * 3
    last = model.requests[-1]
    assert "jumps" not in last.prompt()
    assert "waves both hands" in last.prompt()
    assert asked.question is WHAT


def test_a_check_shows_the_frames_of_the_cues_own_time() -> None:
    model = seeing(Rule(CHECK, "A"))
    verified.build(verified.Options(context_s=0.5))(task(model))
    by_words = {request.prompt(): frame_times(request) for request in model.requests}
    (jump,) = [times for words, times in by_words.items() if CHECK in words and "jumps" in words]
    assert jump == (4.2, 6.3)


def test_a_check_that_fails_confirms_nothing() -> None:
    model = seeing(Rule(CHECK, "maybe, maybe not"))
    asked = verified.build(verified.Options())(task(model))
    assert kept(asked) == ["speech-1"]
    assert reasons(asked)["action-1"] == "the model's check of it failed (unparsed)"
    unsure = verified.build(verified.Options(keep_unsure=True))(task(model))
    assert len(kept(unsure)) == 4


def test_only_the_worthiest_are_checked() -> None:
    model = seeing(Rule(CHECK, "A"))
    asked = verified.build(verified.Options(max_cues=1))(task(model))
    assert kept(asked) == ["action-1", "speech-1"]
    assert reasons(asked)["action-3"] == "not checked: only the 1 worthiest cues are"


def test_a_model_that_is_gone_is_not_asked_on() -> None:
    model = seeing(Rule(CHECK, "", FailureKind.UNAVAILABLE))
    asked = verified.build(verified.Options())(task(model))
    assert len(model.requests) == 1
    assert asked.failure is not None
    assert asked.failure.kind is FailureKind.UNAVAILABLE


def test_what_was_folded_is_rejected_as_a_whole() -> None:
    twice = replace(ROOF.tracks[0].cues[2], id="action-4", span=Span(7, 8))
    track = replace(ROOF.tracks[0], cues=(*ROOF.tracks[0].cues, twice))
    cues = replace(ROOF, tracks=(track, *ROOF.tracks[1:]))
    model = seeing(Rule(f"{CHECK}: action: .*jumps", "B"), Rule(CHECK, "A"))
    folding = replace(
        task(model), timeline=cues, fusion=FusionOptions(policies=("summarised", "hedged"))
    )
    asked = verified.build(verified.Options())(folding)
    assert len([step for step in asked.steps if "jumps" in step.request.prompt()]) == 1
    assert {id for id, why in reasons(asked).items() if "not see" in why} == {
        "action-3",
        "action-4",
    }


def test_a_description_comes_first_and_decides_which_cues_stay() -> None:
    model = seeing(
        Rule("Describe in order", 'He waves. "Then <|im_end|>'),
        Rule("Which of the numbered lines", "1, 2"),
    )
    asked = describe_then_reason.build(describe_then_reason.Options())(task(model))
    describe, compare, last = model.requests
    assert [step.purpose for step in asked.steps] == ["describe", "compare"]
    assert frame_times(describe) == (0.0, 120.0)
    assert "NO ENTRY" not in describe.prompt()
    assert frame_times(compare) == ()
    assert "1. 0:00.3-0:02.5 action: person 1, upper left, waves both hands\n" in compare.prompt()
    assert kept(asked) == ["action-1", "screen_text-1", "speech-1"]
    assert reasons(asked)["action-3"] == "the model's description of the video does not support it"
    assert 'described the video so before: "He waves. \'Then ‹|im_end|›"' in last.prompt()
    assert last.prompt().endswith("Question: What does he do?")


def test_without_cues_a_description_still_helps() -> None:
    model = seeing(Rule("Describe in order", "He waves."))
    blank = replace(task(model), with_cues=False)
    asked = describe_then_reason.build(describe_then_reason.Options())(blank)
    assert [step.purpose for step in asked.steps] == ["describe"]
    assert asked.cues.text == ""
    assert '"He waves."' in model.requests[-1].prompt()


def test_a_description_that_fails_is_a_failure() -> None:
    model = seeing(Rule("Describe in order", "", FailureKind.REFUSED))
    asked = describe_then_reason.build(describe_then_reason.Options())(task(model))
    assert asked.failure is not None
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("1, 3", {1, 3}),
        ("Lines 2 and 3.", {2, 3}),
        ("None.", set()),
        ("", None),
        ("All of them", None),
        ("1, 4", None),
        ("0", None),
    ],
)
def test_numbers_are_read_or_not_at_all(reply: str, expected: set[int] | None) -> None:
    assert numbers(reply, 3) == expected


def test_an_unreadable_comparison_supports_nothing() -> None:
    model = seeing(Rule("Describe", "He waves."), Rule("Which of the numbered", "all"))
    asked = describe_then_reason.build(describe_then_reason.Options())(task(model))
    assert kept(asked) == ["speech-1"]
    assert "could not be told" in reasons(asked)["action-1"]


class Remote(Scripted):
    """Elsewhere, at a cent a call."""

    def egress(self, request: Request) -> Egress:  # type: ignore[override]
        return Egress("api.example.org", len(frame_times(request)), 100, 0.01)


@pytest.mark.parametrize(
    ("strategy", "calls", "frames"),
    [
        (verified.build(verified.Options()), 4, 8),
        (describe_then_reason.build(describe_then_reason.Options()), 3, 4),
    ],
)
def test_nothing_leaves_before_somebody_has_agreed_to_all_of_it(
    strategy: object, calls: int, frames: int
) -> None:
    rules = (Rule(CHECK, "A"), Rule("Describe", "He waves."), Rule("Which", "1"))
    model = Remote(Options(rules, default="He jumps.", frame_rate_hz=1))
    shown: list[Egress] = []

    def decide(sent: Egress) -> bool:
        shown.append(sent)
        return len(shown) > 1

    asked = replace(task(model), confirm=decide)
    with pytest.raises(BadInput, match="Nothing was sent"):
        strategy(asked)  # type: ignore[operator]
    assert model.requests == []
    strategy(asked)  # type: ignore[operator]
    assert len(shown) == 2
    assert shown[1] == Egress("api.example.org", frames, 100 * calls, pytest.approx(0.01 * calls))
    assert len(model.requests) == calls


@pytest.mark.parametrize("name", ["verified", "describe_then_reason"])
def test_a_model_that_sees_nothing_is_not_asked_what_it_sees(name: str) -> None:
    blind = Scripted(Options(default="y"))
    with pytest.raises(BadInput, match="takes no pictures; use the strategy 'direct'"):
        StrategyOptions(name).build()(task(blind))


def test_checks_need_cues() -> None:
    with pytest.raises(BadInput, match="--no-cues"):
        verified.build(verified.Options())(replace(task(seeing()), with_cues=False))


def test_an_unknown_strategy_names_those_that_exist() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'verified'"):
        StrategyOptions("verfied")
