"""What holds for every family of models."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from perception.plugins import names, take
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.videollm import Request, Text, VideoLLM
from reasoning.videollms.embedded import Options as EmbeddedOptions
from reasoning.videollms.gemini import Options as GeminiOptions
from reasoning.videollms.huggingface import Options as HuggingFaceOptions
from reasoning.videollms.openai_compatible import Options as ServerOptions
from reasoning.videollms.scripted import Options as ScriptedOptions
from reasoning.videollms.scripted import Rule
from tests.reasoning import gemini_api, tiny_videollms
from tests.reasoning.chat_server import Reply, Served, error, says, serving_by

FOLDER = "reasoning.videollms"
LONG = "word " * 900
CHOICE = Request((Text("Cues:\n- walks"), Text("Question: who?")), ("she walks", "he runs"))


def reply_of(body: dict[str, object]) -> Reply:
    """A server that knows a little: it answers A, and takes no prompt of 900 words."""
    if "word word" in str(body["messages"]):
        return error(400, "the prompt is longer than the context", "context_length_exceeded")
    return says("A", "length" if body.get("max_tokens") == 1 else "stop")


def gemini_reply_of(body: dict[str, Any]) -> gemini_api.Reply:
    """The same as Google says it."""
    if "word word" in str(body["contents"]):
        return gemini_api.error(400, "The input exceeds the maximum number of tokens allowed")
    limit = body["generationConfig"]["maxOutputTokens"]
    return gemini_api.says("A", "MAX_TOKENS" if limit == 1 else "STOP")


@pytest.fixture(
    params=[
        "scripted",
        "openai_compatible",
        "gemini",
        "huggingface",
        pytest.param("embedded", marks=pytest.mark.weights),
    ]
)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VideoLLM]:
    with ExitStack() as stack:
        if request.param == "openai_compatible":
            pytest.importorskip("openai")
            served: Served = stack.enter_context(serving_by(reply_of))
            options: object = ServerOptions(model="tiny", base_url=served.url)
        elif request.param == "gemini":
            pytest.importorskip("google.genai", reason="needs google-genai of the extra gemini")
            api: gemini_api.Api = stack.enter_context(gemini_api.serving_by(gemini_reply_of))
            options = GeminiOptions(base_url=api.url, thinking_tokens=None)
        elif request.param == "huggingface":
            folder = tiny_videollms.save("qwen3_vl", tmp_path)
            options = HuggingFaceOptions(str(folder), context_tokens=500)
        elif request.param == "embedded":
            options = EmbeddedOptions(context_tokens=512)
        else:
            options = ScriptedOptions((Rule(reply="A"),), context_tokens=500)
        built: VideoLLM = take(FOLDER, request.param).build(options)
        stack.callback(built.close)
        yield built


def test_every_family_is_tested_here() -> None:
    assert names(FOLDER) == [
        "embedded",
        "gemini",
        "huggingface",
        "openai_compatible",
        "scripted",
    ]


def test_a_choice_is_one_of_the_options_and_the_same_twice(model: VideoLLM) -> None:
    first, second = model.answer(CHOICE), model.answer(CHOICE)
    assert isinstance(first, Answer)
    assert first.option is not None
    assert first.text == CHOICE.options[first.option]
    assert first.sees_video is False
    assert first == second


def test_a_free_answer_is_the_same_twice(model: VideoLLM) -> None:
    request = Request((Text("Say one word."),), max_new_tokens=3)
    first, second = model.answer(request), model.answer(request)
    assert isinstance(first, Answer)
    assert first.text
    assert first == second


def test_what_was_asked_is_stored_with_the_answer(model: VideoLLM) -> None:
    reply = model.answer(CHOICE)
    assert reply.request["parts"] == [{"text": "Cues:\n- walks"}, {"text": "Question: who?"}]
    assert reply.request["options"] == ["she walks", "he runs"]
    assert reply.model


@pytest.mark.parametrize("options", [(), ("yes", "no")])
def test_a_prompt_longer_than_the_context_is_too_long(
    model: VideoLLM, options: tuple[str, ...]
) -> None:
    reply = model.answer(Request((Text(LONG),), options))
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.TOO_LONG
    assert reply.reason


@pytest.mark.parametrize("options", [(), ("yes", "no")])
def test_an_empty_prompt_does_not_raise(model: VideoLLM, options: tuple[str, ...]) -> None:
    reply = model.answer(Request((), options, max_new_tokens=3))
    assert isinstance(reply, Answer | Failure)


def test_tokens_are_counted(model: VideoLLM) -> None:
    assert model.count_tokens("") == 0
    assert 0 < model.count_tokens("A man walks.") < model.count_tokens("A man walks. " * 5)


def test_a_prompt_is_counted_as_a_whole(model: VideoLLM) -> None:
    count = model.count(CHOICE)
    assert count.tokens >= model.count_tokens("Cues:\n- walks")
    assert model.answer(CHOICE).request["prompt_tokens"] == count.tokens
    assert model.context_tokens is None or model.context_tokens > count.tokens


def test_an_answer_cut_off_at_the_limit_says_so(model: VideoLLM) -> None:
    reply = model.answer(Request((Text("Count from one to a thousand."),), max_new_tokens=1))
    assert isinstance(reply, Answer)
    assert reply.complete is (model.name == "scripted")
