import numpy as np
import pytest

from perception.errors import BadInput
from perception.plugins import take
from perception.recognizer import Frame
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.videollm import Frames, FrameSampling, Request, Text, TokenCount
from reasoning.videollms.scripted import Options, Rule, Scripted


def asked(words: str, *options: str) -> Request:
    return Request((Text(words),), options)


def scripted(*rules: Rule, default: str | None = None, context_tokens: int = 100_000) -> Scripted:
    plugin = take("reasoning.videollms", "scripted")
    model = plugin.build(Options(rules=rules, default=default, context_tokens=context_tokens))
    assert isinstance(model, Scripted)
    return model


def test_the_first_rule_that_fits_replies() -> None:
    model = scripted(Rule("walk", "She walks."), Rule("w", "second"), default="otherwise")
    replies = [model.answer(asked(words)) for words in ("Who WALKS?", "why?", "hm")]
    assert [reply.text for reply in replies if isinstance(reply, Answer)] == [
        "She walks.",
        "second",
        "otherwise",
    ]


def test_a_reply_can_quote_the_prompt() -> None:
    reply = scripted(Rule(r'text: "([A-Z ]+)"', r"It says \1.")).answer(
        asked('- 0:01.0-0:02.0 screen text: "NO ENTRY" (93 %)')
    )
    assert isinstance(reply, Answer)
    assert reply.text == "It says NO ENTRY."


def test_a_choice_is_parsed_as_a_real_models_is() -> None:
    model = scripted(Rule("first", "A"), Rule("second", "The woman walks"), default="maybe")
    first, second, third = (
        model.answer(asked(words, "the man walks", "the woman walks"))
        for words in ("first", "second", "third")
    )
    assert isinstance(first, Answer)
    assert (first.option, first.text) == (0, "the man walks")
    assert isinstance(second, Answer)
    assert second.option == 1
    assert isinstance(third, Failure)
    assert (third.kind, third.raw) == (FailureKind.UNPARSED, "maybe")


def test_it_fails_on_purpose() -> None:
    reply = scripted(Rule("", "I cannot.", FailureKind.REFUSED)).answer(asked("x"))
    assert isinstance(reply, Failure)
    assert (reply.kind, reply.raw) == (FailureKind.REFUSED, "I cannot.")


def test_no_rule_that_fits_is_a_failure() -> None:
    reply = scripted(Rule("walk", "yes")).answer(asked("run"))
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.UNAVAILABLE


def test_a_prompt_longer_than_the_context_is_too_long() -> None:
    reply = scripted(default="yes", context_tokens=3).answer(asked("one two three four"))
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.TOO_LONG
    assert "4 words" in reply.reason


def test_requests_are_recorded_in_order() -> None:
    model = scripted(default="yes")
    requests = [asked("one"), asked("two")]
    for request in requests:
        model.answer(request)
    assert model.requests == requests


def test_it_takes_frames_when_told_to() -> None:
    assert scripted().sampling is None
    assert Scripted(Options(frame_rate_hz=2, max_frames=8)).sampling == FrameSampling(2, 8)


def test_frames_count_as_a_token_each() -> None:
    frame = Frame(0.5, np.zeros((4, 6, 3), np.uint8))
    request = Request((Text("one two"), Frames((frame, frame))))
    assert Scripted(Options()).count(request) == TokenCount(4)


def test_a_pattern_that_is_no_expression_is_a_mistake_of_the_user() -> None:
    with pytest.raises(BadInput, match="regular expression"):
        Rule("(")
