import base64
import hashlib
import io
import json
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from perception.errors import BadInput, MissingExtra
from perception.plugins import take
from perception.recognizer import Frame
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.cli import main
from reasoning.transport.rate_limit import RateOptions
from reasoning.transport.retry import RetryOptions, asked_for_s, pause_s
from reasoning.videollm import Frames, FrameSampling, Request, Text, TokenCount
from reasoning.videollms.openai_compatible import FramesAs, OpenAICompatible, Options
from tests.perception import clips
from tests.reasoning.chat_server import Reply, error, says, serving

pytest.importorskip("openai")

QUICK = RetryOptions(tries=3, first_pause_s=0.001, longest_pause_s=0.5)
RED = np.zeros((40, 80, 3), np.uint8) + np.array([255, 0, 0], np.uint8)
FREE = Request((Text("Look."), Frames((Frame(0.5, RED), Frame(1.5, RED))), Text("Question: ?")))
CHOICE = Request((Text("Question: ?"),), options=("walks", "runs", "jumps"))


OPEN: list[OpenAICompatible] = []


def model_at(url: str, **options: object) -> OpenAICompatible:
    plugin = take("reasoning.videollms", "openai_compatible")
    settings = {"model": "tiny", "base_url": url, "retry": QUICK, **options}
    model = plugin.build(Options(**settings))  # type: ignore[arg-type]
    assert isinstance(model, OpenAICompatible)
    OPEN.append(model)
    return model


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def answered(reply: Answer | Failure) -> Answer:
    assert isinstance(reply, Answer), reply
    return reply


def failed(reply: Answer | Failure) -> Failure:
    assert isinstance(reply, Failure), reply
    return reply


def test_a_free_answer() -> None:
    with serving(says(" She walks. ")) as served:
        reply = answered(model_at(served.url).answer(FREE))
    assert (reply.text, reply.model, reply.sees_video) == ("She walks.", "tiny-2026", True)
    assert reply.usage["prompt_tokens"] == 12
    assert reply.usage["finish_reason"] == "stop"
    assert reply.request["base_url"] == served.url
    assert reply.request["parts"][1] == {"frame_times_s": [0.5, 1.5]}


def test_an_answer_in_parts_and_without_usage() -> None:
    parts = [{"type": "text", "text": "She "}, {"type": "text", "text": "walks."}]
    with serving(says(parts, usage=5)) as served:
        reply = answered(model_at(served.url).answer(FREE))
    assert reply.text == "She walks."
    assert reply.usage == {"finish_reason": "stop"}


def test_frames_go_out_as_square_jpegs_in_the_order_of_the_parts() -> None:
    with serving(says("x")) as served:
        model_at(served.url).answer(FREE)
    (body,) = served.bodies
    content = body["messages"][0]["content"]
    kinds = [part["type"] for part in content]
    assert kinds == ["text", "image_url", "image_url", "text"]
    head, data = content[1]["image_url"]["url"].split(",")
    assert head == "data:image/jpeg;base64"
    picture = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape == (512, 512, 3)
    blue, green, red = picture[256, 256]
    assert red > 240
    assert max(blue, green) < 15


def test_frames_go_out_as_one_video_with_their_times_for_servers_that_take_it() -> None:
    walk = Request((Text("Look."), Frames((Frame(0.5, RED), Frame(2.0, RED))), Text("?")))
    with serving(says("x")) as served:
        reply = model_at(
            served.url,
            frames_as=FramesAs.VIDEO,
            frame_px=64,
            mm_processor_kwargs={"fps": 2, "do_sample_frames": False},
            extra_body={"top_k": 1},
        ).answer(walk)
    (body,) = served.bodies
    content = body["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "video_url", "text"]
    head, data = content[1]["video_url"]["url"].split(",")
    assert head == "data:video/mp4;base64"
    with av.open(io.BytesIO(base64.b64decode(data))) as file:
        frames = list(file.decode(video=0))
    assert [frame.time for frame in frames] == pytest.approx([0.5, 2.0])
    assert {(frame.width, frame.height) for frame in frames} == {(64, 64)}
    assert body["mm_processor_kwargs"] == {"fps": 2, "do_sample_frames": False}
    assert body["top_k"] == 1
    assert answered(reply).request["mm_processor_kwargs"] == body["mm_processor_kwargs"]


def test_frames_between_cues_are_videos_of_their_own() -> None:
    parts = (Frames((Frame(0.5, RED),)), Text("- walks"), Frames((Frame(1.5, RED),)))
    with serving(says("x")) as served:
        model_at(served.url, frames_as=FramesAs.VIDEO).answer(Request(parts))
    kinds = [part["type"] for part in served.bodies[0]["messages"][0]["content"]]
    assert kinds == ["video_url", "text", "video_url"]


def test_the_draft_is_what_goes_out() -> None:
    with serving(says("x")) as served:
        model = model_at(served.url)
        draft = model.draft(CHOICE)
        seen = model.draft(FREE)["body"]["messages"][0]["content"]
        assert served.bodies == []
        model.answer(CHOICE)
        model.answer(FREE)
    assert draft == {"url": f"{served.url}/chat/completions", "body": served.bodies[0]}
    url = served.bodies[1]["messages"][0]["content"][1]["image_url"]["url"]
    picture = base64.b64decode(url.split(",")[1])
    digest = hashlib.sha256(picture).hexdigest()
    shown = f"(image/jpeg, {len(picture)} bytes, sha256 {digest})"
    assert seen[1]["image_url"]["url"] == shown


VLLM = {"/v1/models": {"data": [{"id": "tiny", "owned_by": "vllm", "max_model_len": 900}]}}


def test_vllm_counts_words_and_shares_no_cache_between_requests() -> None:
    about = {**VLLM, "/tokenize": {"count": 40, "max_model_len": 900, "tokens": [1]}}
    with serving(says("x"), about=about) as served:
        model = model_at(served.url)
        assert model.context_tokens == 900
        assert model.count_tokens("any words") == 40
        assert model.count(CHOICE) == TokenCount(40)
        # The server's counter leaves the pictures out.
        assert model.count(FREE) == TokenCount(40 + 2 * 255, estimated=True)
        for _ in range(2):
            model.answer(CHOICE)
        model_at(served.url, reuse_cache=True).answer(CHOICE)
    salts = [body.get("cache_salt") for body in served.bodies]
    assert salts[2] is None
    assert salts[0] != salts[1]
    assert all(salts[:2])


@pytest.mark.parametrize(
    "models",
    [
        {"data": []},
        {"data": "none"},
        [],
        {"data": [{"owned_by": "vllm", "max_model_len": "long"}, 5]},
        {"data": [{"owned_by": "llamacpp", "meta": 5}]},
    ],
)
def test_a_server_that_tells_nothing_usable_is_counted_for(models: object) -> None:
    with serving(says("x"), about={"/v1/models": models}) as served:
        model = model_at(served.url)
        assert model.context_tokens is None
        assert model.count(FREE).estimated
        assert model.count_tokens("nine byte") == 3
        assert answered(model.answer(FREE)).text == "x"


def test_calls_are_held_to_the_rate_by_what_the_server_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Held(Exception):
        pass

    def hold(seconds: float) -> None:
        assert 59 < seconds <= 60
        raise Held

    # The estimate is 548 + 128 tokens; the reply's usage says 15, so that a second call fits.
    with serving(says("x")) as served:
        model = model_at(served.url, rate=RateOptions(tokens_per_minute=700))
        monkeypatch.setattr(model._connected()._limiter, "_sleep", hold)
        assert model.count(FREE).tokens == 548
        model.answer(FREE)
        model.answer(FREE)
    with serving(says("x", usage=None)) as served:
        model = model_at(served.url, rate=RateOptions(tokens_per_minute=700))
        monkeypatch.setattr(model._connected()._limiter, "_sleep", hold)
        model.answer(FREE)
        with pytest.raises(Held):
            model.answer(FREE)
    assert len(served.bodies) == 1


def test_openais_reasoning_models_get_room_for_thoughts_and_no_temperature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for name in ("o3", "o4-mini", "gpt-5-mini"):
        body = model_at("https://api.openai.com/v1", model=name).draft(FREE)["body"]
        assert body["max_completion_tokens"] == 128 + 4096
        assert "temperature" not in body
    body = model_at("https://api.openai.com/v1", model="gpt-4o").draft(FREE)["body"]
    assert (body["max_completion_tokens"], body["temperature"]) == (128, 0.0)
    priced = model_at("https://api.openai.com/v1", model="o3").egress(FREE)
    assert priced is not None
    # 548 × $2 and (128 + 4096) × $8 for a million.
    assert priced.cost_usd == pytest.approx(0.034888)


def test_room_for_thoughts_can_be_given() -> None:
    with serving(says("x")) as served:
        model_at(served.url, reasoning_tokens=4000, send_temperature=False).answer(FREE)
    assert served.bodies[0]["max_tokens"] == 4128
    assert "temperature" not in served.bodies[0]


@pytest.mark.parametrize("code", ["context_length_exceeded", "content_filter"])
def test_what_is_refused_for_what_it_says_is_not_sent_again(code: str) -> None:
    with serving(error(400, "no", code)) as served:
        failed(model_at(served.url).answer(CHOICE))
    assert len(served.bodies) == 1


def test_a_bad_request_is_not_taken_for_a_server_without_structured_output() -> None:
    with serving(error(400, "no"), error(400, "no"), says("B")) as served:
        model = model_at(served.url)
        failed(model.answer(CHOICE))
        assert answered(model.answer(CHOICE)).option == 1
    assert ["response_format" in body for body in served.bodies] == [True, False, True]


def test_the_aspect_can_be_kept() -> None:
    with serving(says("x")) as served:
        model_at(served.url, keep_aspect=True, frame_px=40).answer(FREE)
    data = served.bodies[0]["messages"][0]["content"][1]["image_url"]["url"].split(",")[1]
    picture = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape == (20, 40, 3)


def test_limits_are_sent_by_the_name_that_the_server_knows() -> None:
    with serving(says("x")) as served:
        model_at(served.url).answer(FREE)
        model_at(served.url, max_tokens_field="n_predict", send_temperature=False).answer(FREE)
    first, second = served.bodies
    assert (first["max_tokens"], first["temperature"], first["seed"]) == (128, 0.0, 0)
    assert second["n_predict"] == 128
    assert not {"max_tokens", "temperature"} & second.keys()


def test_the_same_request_is_sent_alike_twice() -> None:
    with serving(says("B")) as served:
        model = model_at(served.url)
        replies = [model.answer(CHOICE) for _ in range(2)]
    assert replies[0] == replies[1]
    assert served.bodies[0] == served.bodies[1]


def test_options_are_asked_for_as_json_of_a_schema() -> None:
    with serving(says('{"option": "C"}')) as served:
        reply = answered(model_at(served.url).answer(CHOICE))
    assert (reply.option, reply.text, reply.sees_video) == (2, "jumps", False)
    schema = served.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["option"]["enum"] == ["A", "B", "C"]


def test_a_server_without_structured_output_is_asked_without_it() -> None:
    refusing = error(400, "response_format is not supported")
    with serving(refusing, says("(B) runs")) as served:
        model = model_at(served.url)
        assert answered(model.answer(CHOICE)).option == 1
        assert answered(model.answer(CHOICE)).option == 1
    assert ["response_format" in body for body in served.bodies] == [True, False, False]


def test_a_free_answer_is_held_to_the_schema_that_the_request_names() -> None:
    wanted = {"type": "object", "properties": {"correct": {"type": "boolean"}}}
    judging = Request((Text("Is it right?"),), schema=wanted)
    refusal = error(400, "response_format is not supported")
    with serving(refusal, says('{"correct": true}')) as served:
        reply = answered(model_at(served.url).answer(judging))
    first, second = served.bodies
    assert first["response_format"]["json_schema"]["schema"] == wanted
    assert "response_format" not in second
    assert reply.text == '{"correct": true}'
    assert reply.request["schema"] == wanted
    assert not reply.request["structured"]


@pytest.mark.parametrize("words", ["A or B", "none of these", '{"option": "Z"}', '{"choice": 1}'])
def test_a_reply_that_names_no_option_is_never_guessed(words: str) -> None:
    with serving(says(words)) as served:
        reply = failed(model_at(served.url).answer(CHOICE))
    assert (reply.kind, reply.raw) == (FailureKind.UNPARSED, words)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (says(None, refusal="I cannot help."), FailureKind.REFUSED),
        (says("She", "content_filter"), FailureKind.REFUSED),
        (error(400, "blocked", "content_policy_violation"), FailureKind.REFUSED),
        (says("", "length"), FailureKind.TRUNCATED),
        (says("  "), FailureKind.TRUNCATED),
        (says(None), FailureKind.TRUNCATED),
        (error(400, "too many tokens", "context_length_exceeded"), FailureKind.TOO_LONG),
        (error(413, "too large"), FailureKind.TOO_LONG),
        (error(400, "no such field"), FailureKind.REJECTED),
        (Reply({"object": "chat.completion", "choices": []}), FailureKind.UNAVAILABLE),
        (Reply({"error": {"message": "down"}}), FailureKind.UNAVAILABLE),
        (Reply(b"<html>proxy</html>"), FailureKind.UNAVAILABLE),
        (Reply(b'{"choices": [{"mess'), FailureKind.UNAVAILABLE),
        (Reply([1, 2]), FailureKind.UNAVAILABLE),
        (Reply(b"[" * 100_000), FailureKind.UNAVAILABLE),
        (Reply(b'{"usage": {"prompt_tokens": NaN}, "choices": []}'), FailureKind.UNAVAILABLE),
        (says([{"type": "image", "text": 5}]), FailureKind.TRUNCATED),
        (Reply(b"{}", cut=True), FailureKind.UNAVAILABLE),
        (Reply(b"", 302, {"Location": "http://127.0.0.1:9/v1"}), FailureKind.UNAVAILABLE),
        (error(429, "pay first", "insufficient_quota"), FailureKind.UNAVAILABLE),
    ],
)
def test_a_bad_reply_is_a_failure_of_its_kind(reply: Reply, kind: FailureKind) -> None:
    with serving(reply) as served:
        assert failed(model_at(served.url).answer(FREE)).kind is kind


def test_an_answer_cut_off_at_the_limit_says_so() -> None:
    with serving(says("She walks to the", "length")) as served:
        reply = answered(model_at(served.url).answer(FREE))
    assert reply.usage["finish_reason"] == "length"


def test_a_choice_cut_off_before_an_option_is_truncated() -> None:
    with serving(says("The person who", "length")) as served:
        assert failed(model_at(served.url).answer(CHOICE)).kind is FailureKind.TRUNCATED


def test_a_busy_server_is_tried_again_after_the_time_it_asks_for() -> None:
    with serving(error(429, "slow down", Retry_After="0.2"), says("yes")) as served:
        assert answered(model_at(served.url).answer(FREE)).text == "yes"
    first_s, second_s = served.times_s
    assert second_s - first_s >= 0.2


def test_a_server_that_asks_for_too_long_a_pause_is_not_tried_again() -> None:
    with serving(error(429, "slow down", Retry_After="3600")) as served:
        reply = failed(model_at(served.url).answer(FREE))
    assert len(served.bodies) == 1
    assert "slow down" in reply.reason


def test_a_busy_server_that_names_no_time_is_tried_again_after_a_growing_pause() -> None:
    pauses = RetryOptions(tries=3, first_pause_s=0.1, longest_pause_s=0.5)
    with serving(error(429, "slow down"), error(429, "slow down"), says("yes")) as served:
        assert answered(model_at(served.url, retry=pauses).answer(FREE)).text == "yes"
    first_s, second_s, third_s = served.times_s
    assert second_s - first_s >= 0.1
    assert third_s - second_s >= 0.2


def test_tries_are_bounded() -> None:
    with serving(error(500, "oops")) as served:
        reply = failed(model_at(served.url).answer(FREE))
    assert len(served.bodies) == 3
    assert "after 3 tries" in reply.reason
    assert "500" in reply.reason


def test_errors_that_pass_are_survived() -> None:
    broken = (error(500, "a"), error(503, "b"), says("yes"))
    with serving(*broken) as served:
        assert answered(model_at(served.url).answer(FREE)).text == "yes"


def test_a_mistake_in_the_request_is_not_sent_again() -> None:
    with serving(error(400, "bad")) as served:
        model_at(served.url).answer(FREE)
    assert len(served.bodies) == 1


def test_silence_ends_in_a_failure() -> None:
    with serving(Reply({}, silent_s=30)) as served:
        model = model_at(served.url, timeout_s=0.2, retry=RetryOptions(tries=1))
        reply = failed(model.answer(FREE))
    assert reply.kind is FailureKind.UNAVAILABLE
    assert "0.2 s" in reply.reason


def test_a_reply_that_drips_in_does_not_hold_a_try_beyond_its_time() -> None:
    slow = says("x").body
    with serving(Reply(slow, drip_s=0.05), says("A rope.")) as served:
        model = model_at(served.url, timeout_s=1.0, retry=RetryOptions(tries=1))
        reply = failed(model.answer(FREE))
        again = model.answer(FREE)
    assert reply.kind is FailureKind.UNAVAILABLE
    assert "did not reply within 1 s" in reply.reason
    assert isinstance(again, Answer)
    assert again.text == "A rope."


def test_what_is_no_character_goes_out_as_one_that_stands_for_it() -> None:
    with serving(says("A")) as served:
        asked = Request((Text("which \ud800?"),), ("a\udcff", "b"))
        reply = model_at(served.url).answer(asked)
    assert isinstance(reply, Answer)
    assert reply.text == "a\ufffd"
    assert served.bodies[0]["messages"][0]["content"][0]["text"] == "which \ufffd?"


def test_nobody_listening_is_a_failure() -> None:
    with serving(says("x")) as served:
        pass
    reply = failed(model_at(served.url).answer(FREE))
    assert reply.kind is FailureKind.UNAVAILABLE
    assert served.url in reply.reason


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_the_user_must_mend_is_an_error(status: int) -> None:
    with serving(error(status, "wrong")) as served, pytest.raises(BadInput, match="wrong"):
        model_at(served.url).answer(FREE)


def test_a_key_for_another_machine_is_not_shown_to_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(says("x")) as served:
        model_at(served.url).answer(FREE)
    assert "sk-secret" not in json.dumps(served.headers)


SECRET = "sk-very-secret/key"


def test_the_key_shows_in_nothing_that_is_told_or_logged(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Whatever the server echoes: in an error, in an answer, in a refusal, where a text is cut."""
    monkeypatch.setenv("LAB_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    echoes = (
        error(400, f"odd key {SECRET}"),
        error(429, f"busy, {SECRET}"),
        *(error(400, "x" * length + SECRET) for length in (445, 470)),
        says(f"The key is {SECRET}."),
        says(None, refusal=f"I know {SECRET}."),
        says("x", model=SECRET, usage={SECRET: 1}),
        Reply(f"<html>{SECRET}</html>".encode()),
        Reply({"error": {"message": SECRET}}),
        error(401, f"bad key {SECRET}"),
    )
    shown: list[str] = []
    for echo in echoes:
        with serving(echo) as served:
            once = RetryOptions(tries=1)
            model = model_at(served.url, api_key_variable="LAB_KEY", retry=once)
            shown.append(f"{model!r} {model.options!r} {model.draft(FREE)}")
            try:
                reply = model.answer(FREE)
            except BadInput as told:
                shown.append(str(told))
            else:
                shown.append(f"{reply!r} {reply.request}")
        assert served.headers[0]["authorization"] == f"Bearer {SECRET}"
        assert SECRET not in json.dumps(served.bodies)
    printed = capfd.readouterr()
    everything = "\n".join([*shown, caplog.text, printed.out, printed.err])
    assert "refused the key (LAB_KEY)" in everything
    for piece in (SECRET, SECRET.replace("/", "\\/"), SECRET[:8]):
        assert piece not in everything


def test_the_key_is_in_no_file_that_a_command_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_KEY", SECRET)
    monkeypatch.chdir(tmp_path)
    clips.write_clip(tmp_path / "clip.mp4", clips.moving_square(5))
    command = ["ask", "clip.mp4", "What?", "--model", "tiny", "--set", "recognizers={}"]
    command += ["--set", "videollms.openai_compatible.api_key_variable=LAB_KEY"]
    for echo in (says(f"It is {SECRET}."), error(400, f"no {SECRET}"), error(403, f"no {SECRET}")):
        with serving(echo) as served, pytest.raises(SystemExit):
            main([*command, "--base-url", served.url, "--out", f"out{id(echo)}"])
    printed = capsys.readouterr()
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) >= 5
    assert SECRET not in printed.out + printed.err
    assert not any(SECRET.encode() in content for content in written)


def test_a_missing_key_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BadInput, match=r"OPENAI_API_KEY is not set.*localhost"):
        model_at("https://api.openai.com/v1", model="gpt-4o")


def test_what_would_leave_the_machine_and_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    sent = model_at("https://api.openai.com/v1", model="gpt-4o").egress(FREE)
    assert sent is not None
    assert (sent.host, sent.frames) == ("api.openai.com", 2)
    # "Look." has 5 bytes and "Question: ?" 11: 2 + 4 tokens, 32 for the message's marks, and
    # 2 × 255 for the pictures.
    assert sent.tokens == 548
    # 548 × $2.5 and 128 × $10 for a million.
    assert sent.cost_usd == pytest.approx(0.00265)


def test_an_unknown_model_has_no_price_but_can_be_given_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    unknown = model_at("https://example.org/v1").egress(FREE)
    priced = model_at(
        "https://example.org/v1",
        usd_per_million_prompt_tokens=1.0,
        usd_per_million_reply_tokens=2.0,
    ).egress(FREE)
    assert unknown is not None
    assert unknown.cost_usd is None
    assert priced is not None
    assert priced.cost_usd == pytest.approx((548 + 256) / 1e6)


def test_a_missing_package_is_told_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install 'cuelight\[openai\]'"):
        model_at("http://localhost:9/v1").answer(FREE)


def test_nothing_leaves_for_a_server_on_this_machine() -> None:
    assert model_at("http://localhost:8000/v1").egress(FREE) is None


def test_it_wants_frames_as_gpt_4o_in_the_paper() -> None:
    assert model_at("http://localhost:1/v1").sampling == FrameSampling(1.0, 64, 512)
    assert model_at("http://localhost:1/v1", frame_rate_hz=0.0).sampling is None


@pytest.mark.parametrize(
    "url",
    [
        *("localhost:8000", "ftp://x/v1", "http://", "http://u:p@h/v1", "http://h/v1?key=1"),
        *("http://[::1/v1", "http://h:port/v1", "http://h:99999/v1"),
    ],
)
def test_an_address_that_is_none_is_a_mistake_of_the_user(url: str) -> None:
    with pytest.raises(BadInput, match="base_url"):
        Options(base_url=url)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("frame_px", 0),
        ("frame_px", 1_000_000),
        ("max_frames", 0),
        ("frame_rate_hz", -1.0),
        ("frame_rate_hz", float("nan")),
        ("jpeg_quality", 101),
        ("timeout_s", 0.0),
        ("usd_per_million_prompt_tokens", -1.0),
    ],
)
def test_a_number_that_makes_no_sense_is_a_mistake_of_the_user(name: str, value: float) -> None:
    with pytest.raises(BadInput, match=f"{name} is {value}; give a number from"):
        Options(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [(0.0, 1), (float("nan"), 1), (1.0, 0), (1.0, 1, -1)])
def test_no_model_wants_frames_that_cannot_be(arguments: tuple[float, int]) -> None:
    with pytest.raises(BadInput, match="at least one frame at a positive rate"):
        FrameSampling(*arguments)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_what_a_reply_asks_for(headers: dict[str, str], expected: float | None) -> None:
    assert asked_for_s(headers) == expected


def test_a_date_in_the_past_asks_for_nothing() -> None:
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    future = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert asked_for_s({"retry-after": past}) == 0.0
    wait = asked_for_s({"retry-after": future})
    assert wait is not None
    assert 3500 < wait <= 3600


def test_pauses_double_up_to_the_longest_and_then_end() -> None:
    options = RetryOptions(tries=5, first_pause_s=1.0, longest_pause_s=3.0)
    first, second, third = (pause_s(options, failed, None) for failed in (1, 2, 3))
    assert first is not None
    assert 1.0 <= first <= 1.25
    assert second is not None
    assert 2.0 <= second <= 2.5
    assert third == 3.0
    assert pause_s(options, 1, 2.7) == 2.7
    assert pause_s(options, 1, 3.5) is None
    assert pause_s(options, 5, None) is None
