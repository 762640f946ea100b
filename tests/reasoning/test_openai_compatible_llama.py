"""The family against a real server: llama.cpp's own, with the embedded model, on loopback."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from perception import weights
from perception.errors import BadInput
from perception.plugins import take
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.chat.facts import facts, without_cache
from reasoning.chat.server import ChatServer
from reasoning.llama.server import LlamaServer
from reasoning.transport.retry import NotAnswered
from reasoning.videollm import Frames, Request, Text
from reasoning.videollms.openai_compatible import FramesAs, OpenAICompatible, Options
from tests.reasoning.test_embedded_pictures import BRIGHT, DARK
from tests.reasoning.tiny_projector import PICTURE_TOKENS, write_projector

pytest.importorskip("openai", reason="needs openai of the extra openai")
pytest.importorskip("gguf", reason="needs the package gguf of the extra test")
pytestmark = pytest.mark.weights

CONTEXT = 512
KEY_VARIABLE = "CUELIGHT_TEST_LLAMA_KEY"
COMMON = "Cues:\n- 0:01 action: person 1 walks\n- 0:02 action: person 2 jumps\n"
WHO = Request((Text(COMMON), Text("Question: who walks?")), max_new_tokens=4)
WHAT = Request((Text(COMMON), Text("Question: what does person 2 do?")), max_new_tokens=4)
CHOICE = Request(
    (Text(COMMON), Text("Question: who jumps?\nOptions:\nA. person 1\nB. person 2")),
    ("person 1", "person 2"),
    max_new_tokens=64,
)
SEEN = Request((Text("Look."), Frames((DARK, BRIGHT)), Text("Question: what?")), max_new_tokens=3)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    projector = write_projector(tmp_path_factory.mktemp("llama") / "mmproj.gguf")
    server = LlamaServer(weights.path("smollm2_135m_instruct"), CONTEXT, projector=projector)
    yield server
    server.close()


@pytest.fixture
def model(llama: LlamaServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAICompatible]:
    model = model_of(llama, monkeypatch)
    yield model
    model.close()


def model_of(
    llama: LlamaServer, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> OpenAICompatible:
    monkeypatch.setenv(KEY_VARIABLE, llama._key)
    url = f"http://{llama._address}/v1"
    settings = {"model": "tiny", "base_url": url, "api_key_variable": KEY_VARIABLE, **options}
    model = take("reasoning.videollms", "openai_compatible").build(Options(**settings))
    assert isinstance(model, OpenAICompatible)
    return model


def answered(reply: Answer | Failure) -> Answer:
    assert isinstance(reply, Answer), reply
    return reply


def test_words_are_counted_by_the_servers_tokenizer(
    model: OpenAICompatible, llama: LlamaServer
) -> None:
    assert model.count_tokens("A man walks.") == len(llama.tokenize("A man walks."))
    assert model.context_tokens == CONTEXT


def test_a_prompt_is_counted_exactly_pictures_included(model: OpenAICompatible) -> None:
    for request in (WHO, SEEN, CHOICE):
        count = model.count(request)
        assert not count.estimated
        reply = answered(model.answer(request))
        assert reply.usage["prompt_tokens"] == count.tokens == reply.request["prompt_tokens"]


def test_frames_reach_the_model(model: OpenAICompatible) -> None:
    reply = answered(model.answer(SEEN))
    assert reply.sees_video is True
    assert reply.complete is False
    assert reply.usage["completion_tokens"] == 3


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="llama.cpp reads videos by ffmpeg")
def test_frames_reach_the_model_as_a_video(
    llama: LlamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(llama, monkeypatch, frames_as=FramesAs.VIDEO, frame_px=64)
    reply = answered(model.answer(SEEN))
    assert reply.sees_video is True
    words = Request(tuple(part for part in SEEN.parts if isinstance(part, Text)))
    assert reply.usage["prompt_tokens"] >= model.count(words).tokens + PICTURE_TOKENS
    model.close()


def test_options_are_chosen_in_the_schema(model: OpenAICompatible) -> None:
    reply = answered(model.answer(CHOICE))
    assert reply.option in {0, 1}
    assert reply.request["structured"] is True


def test_a_prompt_longer_than_the_context_is_too_long(model: OpenAICompatible) -> None:
    reply = model.answer(Request((Text("word " * 2000),)))
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.TOO_LONG


def test_the_server_says_who_it_is(model: OpenAICompatible) -> None:
    found = facts(model._connected(), "tiny")
    assert (found.owner, found.context_tokens) == ("llamacpp", CONTEXT)
    assert without_cache(found.owner) == {"cache_prompt": False}


def log_probabilities(server: ChatServer, words: str, **further: Any) -> list[float]:
    body = {
        "model": "tiny",
        "messages": [{"role": "user", "content": words}],
        "temperature": 0.0,
        "logprobs": True,
        "max_tokens": 3,
        "extra_body": further,
    }
    reply = server.complete(body)
    assert not isinstance(reply, NotAnswered)
    return [token["logprob"] for token in reply["choices"][0]["logprobs"]["content"]]


def test_the_same_request_has_the_same_log_probabilities_cold_warm_and_in_any_order(
    model: OpenAICompatible,
) -> None:
    """What is sent along keeps the server's cache out of it."""
    server, further = model._connected(), without_cache(model._facts().owner)
    questions = [COMMON + each for each in ("Who walks?", "What does person 2 do?")]
    cold = [log_probabilities(server, each, **further) for each in questions]
    back = [log_probabilities(server, each, **further) for each in reversed(questions)]
    warm = [log_probabilities(server, questions[1], **further) for _ in range(2)]
    assert back == cold[::-1]
    assert warm == [cold[1], cold[1]]


def test_answers_do_not_depend_on_what_was_asked_before(
    model: OpenAICompatible, llama: LlamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [answered(model.answer(each)).text for each in (WHO, WHAT, SEEN)]
    other = model_of(llama, monkeypatch)
    assert [answered(other.answer(each)).text for each in (SEEN, WHAT, WHO)] == first[::-1]
    other.close()


def test_a_wrong_key_is_a_mistake_of_the_user(
    llama: LlamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "wrong")
    url = f"http://{llama._address}/v1"
    wrong = take("reasoning.videollms", "openai_compatible").build(
        Options(model="tiny", base_url=url, api_key_variable=KEY_VARIABLE)
    )
    with pytest.raises(BadInput, match=KEY_VARIABLE):
        wrong.answer(WHO)
