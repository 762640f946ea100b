import numpy as np
import pytest

from fusion.question import Question
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.cue import Cue, Span
from perception.errors import BadInput
from perception.recognizer import Frame
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.ask import ask
from reasoning.egress import Egress
from reasoning.outgoing import is_loopback, record
from reasoning.videollm import Frames, Request, Text
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
    ask(QUESTION, CUES, model, max_new_tokens=7, temperature=0.5, seed=3)
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
