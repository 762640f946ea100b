import numpy as np
import pytest

from fusion.budget import fit
from fusion.question import Question
from fusion.render import RenderOptions
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.cue import Cue, Span
from perception.errors import BadInput
from perception.recognizer import Frame
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.ask import AnswerOptions, ask, fitted
from reasoning.egress import Egress, total_of
from reasoning.outgoing import is_loopback, record
from reasoning.prompt import CuePlacement, build
from reasoning.videollm import Frames, Request, Text, TokenCount
from reasoning.videollms.scripted import Options, Rule, Scripted

CUE = Cue("action-1", Span(1, 2), "person 1, left, walks", 0.9)
CUES = CuePrompt("Cues:\n- walks", Selection((KeptCue("action", CUE, 0.9),)))
FRAME = Frame(0.5, np.zeros((4, 6, 3), np.uint8))
QUESTION = Question("What does she do?")


class Remote(Scripted):
    def egress(self, request: Request) -> Egress:
        return Egress("api.example.org", 3, 1200, 0.0123)


def test_the_answer_comes_with_the_cues_it_rests_on() -> None:
    asked = ask(QUESTION, CUES, Scripted(Options(default="She walks.")))
    assert asked.answer is not None
    assert asked.answer.text == "She walks."
    assert asked.failure is None
    assert [item.cue for item in asked.rests_on] == [CUE]


def test_the_block_stands_before_the_question_and_not_in_the_prior() -> None:
    model = Scripted(Options(default="yes"))
    ask(QUESTION, CUES, model)
    (request,) = model.requests
    assert request.parts[-2:] == (Text(CUES.text), Text("Question: What does she do?"))
    assert [part for part in request.parts if part != Text(CUES.text)] == list(request.prior_parts)


def test_a_failure_is_no_answer() -> None:
    model = Scripted(Options((Rule("", "", FailureKind.REFUSED),)))
    asked = ask(QUESTION, CUES, model)
    assert asked.answer is None
    assert isinstance(asked.failure, Failure)


def test_frames_reach_only_a_model_that_takes_them() -> None:
    blind, seeing = Scripted(Options(default="a")), Scripted(Options(default="a", frame_rate_hz=1))
    replies = [ask(QUESTION, CUES, model, (FRAME,), 2.0).reply for model in (blind, seeing)]
    assert [reply.sees_video for reply in replies if isinstance(reply, Answer)] == [False, True]
    assert not any(isinstance(part, Frames) for part in blind.requests[0].parts)
    assert any(isinstance(part, Frames) for part in seeing.requests[0].parts)
    assert "not the video" in blind.requests[0].prompt()
    assert "1 frames are uniformly sampled" in seeing.requests[0].prompt()


def test_without_cues_there_is_no_block() -> None:
    asked = ask(QUESTION, None, Scripted(Options(default="hm")))
    assert asked.request.parts == asked.request.prior_parts
    assert asked.rests_on == ()


def test_nothing_leaves_the_machine_without_consent() -> None:
    model = Remote(Options(default="yes"))
    with pytest.raises(BadInput, match=r"3 pictures.*api\.example\.org.*\$0\.0123"):
        ask(QUESTION, CUES, model)
    with pytest.raises(BadInput, match="Nothing was sent"):
        ask(QUESTION, CUES, model, confirm=lambda _: False)
    assert model.requests == []


def test_what_would_leave_is_shown_to_whoever_consents() -> None:
    shown: list[Egress] = []

    def agree(sent: Egress) -> bool:
        shown.append(sent)
        return True

    assert ask(QUESTION, CUES, Remote(Options(default="yes")), confirm=agree).answer is not None
    assert shown == [Egress("api.example.org", 3, 1200, 0.0123)]


def test_limits_are_handed_on() -> None:
    model = Scripted(Options(default="yes"))
    ask(QUESTION, CUES, model, options=AnswerOptions(7, 0.5, 3))
    (request,) = model.requests
    assert (request.max_new_tokens, request.temperature, request.seed) == (7, 0.5, 3)


def test_the_record_holds_times_in_place_of_pictures() -> None:
    request = Request((Text("look"), Frames((FRAME,)), Text("what?")), options=("a", "b"))
    assert record(request, model="m") == {
        "parts": [{"text": "look"}, {"frame_times_s": [0.5]}, {"text": "what?"}],
        "options": ["a", "b"],
        "max_new_tokens": 128,
        "temperature": 0.0,
        "seed": 0,
        "model": "m",
    }


def test_the_record_holds_the_count() -> None:
    sent = record(Request(()), TokenCount(7, estimated=True))
    assert (sent["prompt_tokens"], sent["prompt_tokens_estimated"]) == (7, True)


def test_a_prompt_that_cannot_fit_calls_nothing() -> None:
    model = Remote(Options(default="yes", context_tokens=140, frame_rate_hz=1))
    asked = ask(QUESTION, CUES, model, (FRAME,), 2.0, confirm=lambda _: True)
    assert model.requests == []
    assert asked.failure is not None
    assert asked.failure.kind is FailureKind.TOO_LONG
    words = len(asked.request.prompt().split())
    assert f"{words + 1} tokens and the answer may have 128" in asked.failure.reason
    assert "max_frames" in asked.failure.reason
    assert asked.failure.request["prompt_tokens"] == words + 1


def trimmed(context_tokens: int, placement: CuePlacement, budget_tokens: int = 1000) -> CuePrompt:
    """Four cues of rising value, fitted beside three frames."""
    kept = tuple(
        KeptCue("action", Cue(f"c{n}", Span(n, n + 1), "walks", 0.9), 0.9, value=n / 4)
        for n in range(4)
    )
    options = RenderOptions(notice="none", confidence=False)
    model = Scripted(Options(default="y", context_tokens=context_tokens, frame_rate_hz=1))

    def fuse_within(tokens: int) -> CuePrompt:
        return fit(Selection(kept), Selection(kept), tokens, options, model.count_tokens)

    frames = tuple(Frame(time_s, FRAME.rgb) for time_s in (0.0, 1.0, 2.0))
    answer = AnswerOptions(10, cue_placement=placement)
    cues = fitted(fuse_within, QUESTION, model, frames, 3.0, answer, budget_tokens=budget_tokens)
    reply = ask(QUESTION, cues, model, frames, 3.0, answer)
    assert reply.answer is not None or context_tokens < 100
    return cues


@pytest.mark.parametrize("placement", CuePlacement)
def test_the_least_cues_make_room_for_the_frames(placement: CuePlacement) -> None:
    whole = trimmed(1000, placement)
    assert len(whole.selection.kept) == 4
    bare = Request(build(QUESTION, None, (FRAME,) * 3, 3.0))
    room = len(bare.prompt().split()) + 3 + 10 + len(whole.text.split())
    assert trimmed(room, placement).selection == whole.selection
    tight = trimmed(room - 1, placement)
    assert [item.cue.id for item in tight.selection.kept] == ["c1", "c2", "c3"]
    assert [item.cue.id for item in tight.selection.dropped] == ["c0"]
    assert "budget" in tight.selection.dropped[0].reason
    assert trimmed(20, placement).text == ""


def test_a_budget_is_kept_where_there_is_room() -> None:
    assert trimmed(1000, CuePlacement.BEFORE_QUESTION, 0).text == ""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.3.2.1/v1", True),
        ("http://[::1]:80/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.example.org/v1", False),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://192.168.0.7:8000/v1", False),
        ("http://127.0.0.1@example.org/v1", False),
    ],
)
def test_loopback_is_this_machine_and_no_other(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


def test_an_unknown_price_is_said_to_be_unknown() -> None:
    assert "not known" in Egress("h", 0, 5).sentence()


def test_calls_together_send_what_any_of_them_sends() -> None:
    first, second = Egress("h", 8, 100, 0.5), Egress("h", 2, 20, 0.25, whole_file=True, sound=True)
    assert total_of([first, second]) == Egress("h", 10, 120, 0.75, whole_file=True, sound=True)
    assert total_of([first, Egress("h", 1, 1)]) == Egress("h", 9, 101, None)
