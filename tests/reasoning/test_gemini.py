import base64
import hashlib
import io
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import av
import pytest

from perception import video
from perception.cue import Span
from perception.errors import BadInput, MissingExtra, UnknownName
from perception.plugins import take
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.ask import AnswerOptions, request_for
from reasoning.cli import main
from reasoning.prompt import CuePlacement
from reasoning.transport.rate_limit import RateOptions
from reasoning.transport.retry import RetryOptions
from reasoning.videollm import Frames, FrameSampling, Request, Text, VideoFile
from reasoning.videollms.gemini import Gemini, Options
from tests.perception import clips
from tests.reasoning.gemini_api import Reply, error, says, serving

pytest.importorskip("google.genai", reason="needs google-genai of the extra gemini")

QUICK = RetryOptions(tries=3, first_pause_s=0.001, longest_pause_s=0.5)
CHOICES = ("walks", "runs", "jumps")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with sound."""
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    return clips.write_clip(path, clips.moving_square(30), sound=clips.tone(3.0))


def request(
    path: Path,
    *times_s: float,
    options: tuple[str, ...] = (),
    part: Span | None = None,
    sound: bool = False,
) -> Request:
    shown = Frames(tuple(video.frames_at(path, times_s or [0.0, 1.0, 2.0], 64)))
    parts = (Text("Look."), shown, Text("- walks"), Text("Question: ?"))
    return Request(parts, options, video=VideoFile(path, part), sound=sound)


def model_at(url: str, **options: Any) -> Gemini:
    settings = {"model": "tiny", "base_url": url, "retry": QUICK, "poll_s": 0.01, **options}
    model = take("reasoning.videollms", "gemini").build(Options(**settings))
    assert isinstance(model, Gemini)
    return model


@pytest.fixture
def asked(clip: Path) -> Request:
    return request(clip)


def answered(reply: Answer | Failure) -> Answer:
    assert isinstance(reply, Answer), reply
    return reply


def failed(reply: Answer | Failure) -> Failure:
    assert isinstance(reply, Failure), reply
    return reply


def parts_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    (content,) = body["contents"]
    assert content["role"] == "user"
    parts: list[dict[str, Any]] = content["parts"]
    return parts


def kinds(content: bytes) -> list[str]:
    with av.open(io.BytesIO(content)) as file:
        return [stream.type for stream in file.streams]


def test_a_short_file_goes_inside_the_request_before_the_text_and_without_sound(
    asked: Request,
) -> None:
    with serving(says(" She walks. ")) as api:
        reply = answered(model_at(api.url).answer(asked))
    assert (reply.text, reply.model, reply.sees_video) == ("She walks.", "tiny-001", True)
    assert reply.usage == {
        "prompt_tokens": 12,
        "completion_tokens": 3,
        "total_tokens": 15,
        "finish_reason": "STOP",
    }
    shown, *texts = parts_of(api.asked[0])
    assert [text["text"] for text in texts] == ["Look.", "- walks", "Question: ?"]
    assert shown["inlineData"]["mimeType"] == "video/mp4"
    content = base64.urlsafe_b64decode(shown["inlineData"]["data"])
    assert kinds(content) == ["video"]
    assert shown["videoMetadata"] == {"fps": 1.0}
    assert api.calls == [("POST", "/v1beta/models/tiny:generateContent")]
    assert reply.request["sound"] is False
    assert reply.request["uploaded"] is False
    assert reply.request["parts"][1] == {"frame_times_s": [0.0, 1.0, 2.0]}


def test_the_sound_goes_with_it_where_the_model_may_hear_it(clip: Path) -> None:
    with serving(says("x")) as api:
        reply = answered(model_at(api.url).answer(request(clip, sound=True)))
    content = base64.urlsafe_b64decode(parts_of(api.asked[0])[0]["inlineData"]["data"])
    assert content == clip.read_bytes()
    assert reply.request["sound"] is True


def test_settings_go_out_as_google_names_them(asked: Request) -> None:
    with serving(says("x")) as api:
        model_at(api.url, resolution="low").answer(asked)
        model_at(api.url, thinking_tokens=None).answer(asked)
    first, second = (body["generationConfig"] for body in api.asked)
    assert (first["temperature"], first["seed"], first["maxOutputTokens"]) == (0.0, 0, 128 + 1024)
    assert first["mediaResolution"] == "MEDIA_RESOLUTION_LOW"
    assert first["thinkingConfig"] == {"thinkingBudget": 1024}
    assert second["maxOutputTokens"] == 128
    assert "thinkingConfig" not in second


def test_the_model_looks_at_the_sampled_times_only(clip: Path) -> None:
    part = Span(0.5, 2.5)
    with serving(says("x")) as api:
        model = model_at(api.url, frame_rate_hz=2.0, max_frames=3)
        assert model.sampling == FrameSampling(2.0, 3, 64)
        model.answer(request(clip, 0.5, 1.0, 1.5, 2.0, part=part))
        model.answer(request(clip, 0.5, 1.25, 2.0, part=part))
        model.answer(request(clip, 0.5, part=part))
    shown = [parts_of(body)[0]["videoMetadata"] for body in api.asked]
    assert [each["fps"] for each in shown] == [2.0, pytest.approx(4 / 3), 2.0]
    assert (shown[0]["startOffset"], shown[0]["endOffset"]) == ("0.500s", "2.500s")


def test_a_cue_block_stands_where_the_condition_says(clip: Path) -> None:
    from fusion.question import Question
    from fusion.selection import CuePrompt, Selection

    frames = video.frames_at(clip, [0.0, 1.0], 64)
    cues = CuePrompt("Cues:\n- walks", Selection())

    def order(placement: CuePlacement) -> list[str]:
        with serving(says("x")) as api:
            model = model_at(api.url)
            settings = AnswerOptions(cue_placement=placement)
            model.answer(
                request_for(
                    Question("What?"), cues, model, frames, 3.0, settings, video=VideoFile(clip)
                )
            )
        texts = [part.get("text", "VIDEO").split("\n")[0] for part in parts_of(api.asked[0])]
        return [text.split(" ")[0] for text in texts]

    assert order(CuePlacement.BEFORE_QUESTION) == ["VIDEO", "You", "Cues:", "Question:"]
    assert order(CuePlacement.BEFORE_VIDEO) == ["You", "Cues:", "VIDEO", "Question:"]


def test_cues_between_the_frames_are_refused(clip: Path, asked: Request) -> None:
    shown = asked.parts[1]
    parts = (Text("Look."), shown, Text("- walks"), shown, Text("?"))
    with serving(says("x")) as api, pytest.raises(BadInput, match=r"answer\.cue_placement"):
        model_at(api.url).answer(Request(parts, video=VideoFile(clip)))
    with serving(says("x")) as api, pytest.raises(BadInput, match="VideoFile"):
        model_at(api.url).answer(Request(parts[:2]))
    assert api.calls == []


def test_a_request_without_frames_sends_no_video(clip: Path) -> None:
    with serving(says("x")) as api:
        reply = answered(model_at(api.url).answer(Request((Text("Question: ?"),))))
    assert reply.sees_video is False
    assert parts_of(api.asked[0]) == [{"text": "Question: ?"}]


def test_a_long_file_is_uploaded_waited_for_and_deleted(asked: Request) -> None:
    with serving(says("x"), states=("PROCESSING", "PROCESSING")) as api:
        model = model_at(api.url, inline_bytes=100)
        reply = answered(model.answer(asked))
        (name,) = api.files
        model.close()
        assert api.files == {}
    assert [method for method, _ in api.calls] == ["POST", "POST", "GET", "GET", "POST", "DELETE"]
    ((kind, content),) = api.received
    assert (kind, kinds(content)) == ("video/mp4", ["video"])
    shown = parts_of(api.asked[0])[0]
    assert shown["fileData"] == {"fileUri": f"{api.url}/v1beta/{name}", "mimeType": "video/mp4"}
    assert shown["videoMetadata"] == {"fps": 1.0}
    assert reply.request["uploaded"] is True


def test_neither_the_files_name_nor_its_folder_is_told(asked: Request, clip: Path) -> None:
    with serving(says("x")) as api:
        model = model_at(api.url, inline_bytes=100)
        model.answer(asked)
        model.close()
    assert str(clip.parent) not in json.dumps([api.headers, api.asked, api.calls])
    assert "clip" not in json.dumps(api.headers)


def test_one_upload_serves_all_questions_about_a_video(asked: Request, clip: Path) -> None:
    with serving(says("x")) as api:
        model = model_at(api.url, inline_bytes=100)
        for _ in range(3):
            model.answer(asked)
        assert len(api.received) == 1
        model.answer(request(clip, sound=True))
        assert (len(api.received), len(api.files)) == (2, 1)
        model.close()
        assert api.files == {}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(500, "oops"), FailureKind.UNAVAILABLE),
        (says("no", "SAFETY"), FailureKind.REFUSED),
    ],
)
def test_a_call_that_gives_no_answer_leaves_nothing_behind(
    asked: Request, reply: Reply, kind: FailureKind
) -> None:
    with serving(reply) as api:
        model = model_at(api.url, inline_bytes=100)
        assert failed(model.answer(asked)).kind is kind
        left = dict(api.files)
        model.close()
        assert api.files == {}
    assert not left or kind is FailureKind.REFUSED


def test_a_video_that_google_cannot_use_is_a_failure_and_deleted(asked: Request) -> None:
    with serving(says("x"), states=("PROCESSING", "FAILED")) as api:
        reply = failed(model_at(api.url, inline_bytes=100).answer(asked))
        assert api.files == {}
    assert "cannot use the video: no video in it" in reply.reason
    assert len(api.started) == 1


def test_a_video_that_never_becomes_usable_is_given_up_and_deleted(asked: Request) -> None:
    with serving(says("x"), states=("PROCESSING",) * 1000) as api:
        model = model_at(api.url, inline_bytes=100, upload_timeout_s=0.2)
        reply = failed(model.answer(asked))
        assert api.files == {}
    assert "within 0.2 s" in reply.reason


def test_an_upload_that_breaks_is_tried_again_and_what_it_left_is_deleted(asked: Request) -> None:
    with serving(says("x")) as api:
        broken = [Reply({}, 503, {"X-Goog-Upload-Status": "final"})]

        def before(method: str, path: str) -> Reply | None:
            return broken.pop() if broken and "upload_id" in path else None

        api.before = before
        model = model_at(api.url, inline_bytes=100)
        assert answered(model.answer(asked)).text == "x"
        first, second = api.started
        assert list(api.files) == [second]
        assert ("DELETE", f"/v1beta/{first}") in api.calls
        model.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no such signal to a process")
@pytest.mark.parametrize("place", ["upload_id", "/v1beta/files/", "generateContent"])
def test_an_interrupt_deletes_what_was_uploaded(asked: Request, place: str) -> None:
    with serving(says("x"), states=("PROCESSING",) * 3) as api:
        sent = []

        def before(method: str, path: str) -> Reply | None:
            if place in path and method != "DELETE" and not sent:
                sent.append(path)
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.05)
            return None

        api.before = before
        model = model_at(api.url, inline_bytes=100)
        kept = signal.signal(signal.SIGINT, signal.default_int_handler)  # off in a shell's "&"
        try:
            with pytest.raises(KeyboardInterrupt):
                model.answer(asked)
        finally:
            signal.signal(signal.SIGINT, kept)
        _wait_until(lambda: not api.files)
        assert api.files == {}
        assert len(api.started) == 1


def _wait_until(holds: Any) -> None:
    for _ in range(100):
        if holds():
            return
        time.sleep(0.02)


def test_a_model_that_nobody_closes_deletes_its_files(asked: Request) -> None:
    with serving(says("x")) as api:
        model = model_at(api.url, inline_bytes=100)
        model.answer(asked)
        assert len(api.files) == 1
        del model
        assert api.files == {}


def test_options_are_asked_for_as_json_of_a_schema(clip: Path) -> None:
    with serving(says('{"option": "C"}')) as api:
        reply = answered(model_at(api.url).answer(request(clip, options=CHOICES)))
    assert (reply.option, reply.text) == (2, "jumps")
    config = api.asked[0]["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert "'enum': ['A', 'B', 'C']" in str(config)
    assert parts_of(api.asked[0])[-1]["text"] == reply.request["closing"] != ""


def test_a_model_without_structured_output_is_asked_without_it(clip: Path) -> None:
    choice = request(clip, options=CHOICES)
    with serving(error(400, "JSON mode is not enabled"), says("(B) runs")) as api:
        model = model_at(api.url)
        assert [answered(model.answer(choice)).option for _ in range(2)] == [1, 1]
    asked = ["responseMimeType" in body["generationConfig"] for body in api.asked]
    assert asked == [True, False, False]


def test_a_prompt_that_is_too_long_is_not_sent_again(clip: Path) -> None:
    long = error(400, "The input token count exceeds the maximum number of tokens allowed")
    with serving(long) as api:
        reply = failed(model_at(api.url).answer(request(clip, options=CHOICES)))
    assert reply.kind is FailureKind.TOO_LONG
    assert len(api.asked) == 1


BLOCKED = Reply({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
NO_CANDIDATE = Reply({"usageMetadata": {"promptTokenCount": 3}})


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (BLOCKED, FailureKind.REFUSED),
        (says("I", "SAFETY"), FailureKind.REFUSED),
        (says(None, "PROHIBITED_CONTENT"), FailureKind.REFUSED),
        (says(None, "MAX_TOKENS"), FailureKind.TRUNCATED),
        (says("  "), FailureKind.TRUNCATED),
        (says(None, "A_REASON_OF_TOMORROW"), FailureKind.TRUNCATED),
        (NO_CANDIDATE, FailureKind.UNAVAILABLE),
        (Reply(b"<html>proxy</html>"), FailureKind.UNAVAILABLE),
        (Reply(b'{"candidates": [{"con'), FailureKind.UNAVAILABLE),
        (Reply({"candidates": 5}), FailureKind.UNAVAILABLE),
        (Reply(b"{}", cut=True), FailureKind.UNAVAILABLE),
        (Reply(b"", 302, {"Location": "http://127.0.0.1:9/"}), FailureKind.UNAVAILABLE),
        (error(400, "no such field"), FailureKind.REJECTED),
        (
            error(
                400, "The input token count (9) exceeds the maximum number of tokens allowed (8)"
            ),
            FailureKind.TOO_LONG,
        ),
        (error(413, "too large"), FailureKind.TOO_LONG),
    ],
)
@pytest.mark.filterwarnings("ignore:A_REASON_OF_TOMORROW")
def test_a_bad_reply_is_a_failure_of_its_kind(
    asked: Request, reply: Reply, kind: FailureKind
) -> None:
    with serving(reply) as api:
        assert failed(model_at(api.url).answer(asked)).kind is kind


def test_thoughts_are_no_words(asked: Request) -> None:
    thinking = says("x").body
    thinking["candidates"][0]["content"]["parts"] = [
        {"text": "hm", "thought": True},
        {"text": "She walks."},
    ]
    with serving(Reply(thinking)) as api:
        assert answered(model_at(api.url).answer(asked)).text == "She walks."


def test_an_answer_cut_off_at_the_limit_says_so(asked: Request) -> None:
    with serving(says("She walks to", "MAX_TOKENS")) as api:
        assert answered(model_at(api.url).answer(asked)).complete is False


@pytest.mark.parametrize("words", ["A or B", "none of these"])
def test_a_reply_that_names_no_option_is_never_guessed(clip: Path, words: str) -> None:
    with serving(says(words)) as api:
        reply = failed(model_at(api.url).answer(request(clip, options=CHOICES)))
    assert (reply.kind, reply.raw) == (FailureKind.UNPARSED, words)


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}
PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}


@pytest.mark.parametrize(
    "busy", [error(429, "slow", details=[RETRY_INFO]), error(429, "slow", Retry_After="0.2")]
)
def test_a_busy_server_is_tried_again_after_the_time_it_asks_for(
    asked: Request, busy: Reply
) -> None:
    with serving(busy, says("yes")) as api:
        assert answered(model_at(api.url).answer(asked)).text == "yes"
    first_s, second_s = api.times_s
    assert second_s - first_s >= 0.2


def test_the_clients_own_retries_are_off(asked: Request) -> None:
    with serving(error(500, "oops")) as api:
        reply = failed(model_at(api.url).answer(asked))
    assert len(api.asked) == 3
    assert "replied 500: oops (after 3 tries)" in reply.reason


@pytest.mark.parametrize(
    "reply", [error(429, "no more today", details=[PER_DAY]), error(400, "bad")]
)
def test_what_does_not_pass_is_not_sent_again(asked: Request, reply: Reply) -> None:
    with serving(reply) as api:
        failed(model_at(api.url).answer(asked))
    assert len(api.asked) == 1


def test_silence_ends_in_a_failure_and_the_next_call_works(asked: Request) -> None:
    with serving(Reply({}, silent_s=30), says("yes")) as api:
        model = model_at(api.url, timeout_s=0.3, retry=RetryOptions(tries=1))
        reply = failed(model.answer(asked))
        assert answered(model.answer(asked)).text == "yes"
    assert reply.kind is FailureKind.UNAVAILABLE
    assert "0.3 s" in reply.reason


def test_calls_are_held_to_the_rate(asked: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    class Held(Exception):
        pass

    def hold(seconds: float) -> None:
        assert 59 < seconds <= 60
        raise Held

    with serving(says("x")) as api:
        model = model_at(api.url, rate=RateOptions(requests_per_minute=1))
        model.answer(asked)
        assert model._server is not None
        monkeypatch.setattr(model._server._limiter, "_sleep", hold)
        with pytest.raises(Held):
            model.answer(asked)
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [error(401, "wrong"), error(403, "wrong"), error(404, "wrong"), error(400, "API key wrong")],
)
def test_what_the_user_must_mend_is_an_error(asked: Request, reply: Reply) -> None:
    with serving(reply) as api, pytest.raises(BadInput, match="wrong"):
        model_at(api.url).answer(asked)


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-very-secret/key")
    return "AIza-very-secret/key"


def test_the_key_goes_to_the_server_and_shows_nowhere_else(
    asked: Request,
    secret: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    echoed = f"odd key {secret}"
    replies = (
        error(400, echoed),
        says(f"The key is {secret}."),
        says(secret, "SAFETY"),
        Reply(f"<html>{secret}</html>".encode()),
        error(403, "x" * 488 + secret),
    )
    shown: list[str] = []
    with serving(*replies) as api:
        for _ in replies:
            model = model_at(api.url, inline_bytes=100, retry=RetryOptions(tries=1))
            shown.append(repr(model))
            try:
                reply = model.answer(asked)
            except BadInput as told:
                shown.append(str(told))
            else:
                shown.append(f"{reply!r} {reply.request}")
            model.close()
        assert secret in {headers.get("x-goog-api-key") for headers in api.headers}
    printed = capfd.readouterr()
    everything = "\n".join([*shown, caplog.text, printed.out, printed.err])
    for piece in (secret, secret[:8]):
        assert piece not in everything
    assert secret not in json.dumps([api.calls, api.asked])


def test_what_would_leave_the_machine_and_its_price(clip: Path, secret: str) -> None:
    model = model_at("https://generativelanguage.googleapis.com", model="gemini-2.5-pro")
    sent = model.egress(request(clip))
    assert sent is not None
    # 16, 2 + 3 + 4 tokens for 5, 7 and 11 bytes of text, and 3 × 268 for the frames.
    assert sent.tokens == 829
    # 829 × $1.25 and (128 + 1024) × $10 for a million.
    assert sent.cost_usd == pytest.approx(0.01255625)
    assert sent.sentence().startswith(
        "This sends the whole video file without its sound (3 pictures of the video are looked at)"
        " and the prompt (about 829 tokens) to generativelanguage.googleapis.com, for about $0.0126"
    )
    heard = model.egress(request(clip, sound=True))
    assert heard is not None
    assert heard.tokens == 829 + 3 * 32
    assert "with its sound" in heard.sentence()
    assert model_at("http://localhost:9").egress(request(clip)) is None


def test_the_draft_is_what_goes_out(asked: Request) -> None:
    with serving(says("x")) as api:
        model = model_at(api.url)
        draft = model.draft(asked)
        assert api.calls == []
        model.answer(asked)
    shown = parts_of(api.asked[0])
    content = base64.urlsafe_b64decode(shown[0]["inlineData"]["data"])
    digest = hashlib.sha256(content).hexdigest()
    video = draft["contents"][0]["video"]
    assert video == f"inline (video/mp4, {len(content)} bytes, sha256 {digest})"
    assert [part.get("text") for part in draft["contents"]] == [part.get("text") for part in shown]
    assert (
        draft["config"]["max_output_tokens"] == api.asked[0]["generationConfig"]["maxOutputTokens"]
    )


def test_the_command_asks_gemini_and_leaves_no_file_there(
    clip: Path,
    tmp_path: Path,
    secret: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(says("A square."), states=("PROCESSING",)) as api:
        settings = {"base_url": api.url, "inline_bytes": 100, "poll_s": 0.01}
        chosen = [f"videollms.gemini.{name}={value}" for name, value in settings.items()]
        command = ["ask", str(clip), "What is it?", "--model", "gemini", "--from", "1", "--json"]
        for each in ("recognizers={}", "answer.sound=true", *chosen):
            command += ["--set", each]
        with pytest.raises(SystemExit) as ended:
            main([*command, "--quiet"])
        assert api.files == {}
    printed = capsys.readouterr()
    assert (ended.value.code, printed.err) == (0, "")
    document = json.loads(printed.out)
    assert document["answer"]["text"] == "A square."
    assert document["answer"]["sees_video"] is True
    ((_, content),) = api.received
    assert content == clip.read_bytes()
    shown = parts_of(api.asked[0])[0]["videoMetadata"]
    assert shown["startOffset"] == "1.000s"
    assert float(shown["endOffset"].rstrip("s")) == pytest.approx(3.0, abs=0.2)
    written = [path.read_bytes() for path in tmp_path.iterdir()]
    assert not any(secret.encode() in content for content in [*written, printed.out.encode()])


def test_no_key_is_told_with_the_variables_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(BadInput, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        take("reasoning.videollms", "gemini").build(Options())


def test_a_missing_package_is_told_with_its_install_line(
    asked: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.genai", None)
    monkeypatch.delattr("google.genai", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'cuelight\[gemini\]'"):
        model_at("http://localhost:9").answer(asked)


@pytest.mark.parametrize(
    ("name", "value"),
    [("frame_rate_hz", 25.0), ("max_frames", 0), ("inline_bytes", -1), ("thinking_tokens", -1)],
)
def test_a_number_that_makes_no_sense_is_a_mistake_of_the_user(name: str, value: float) -> None:
    with pytest.raises(BadInput, match=f"Gemini's {name} is {value}; give a number from"):
        Options(**{name: value})  # type: ignore[arg-type]


def test_words_that_are_none_are_mistakes_of_the_user() -> None:
    with pytest.raises(UnknownName, match="resolution"):
        Options(resolution="ultra")
    for url in ("localhost", "http://u:p@h", "http://h?key=1"):
        with pytest.raises(BadInput, match="base_url"):
            Options(base_url=url)
    with pytest.raises(BadInput, match="name is empty"):
        Options(model="")


@pytest.fixture(autouse=True)
def _no_google_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
        monkeypatch.delenv(variable, raising=False)
