"""``cuelight ask --dry-run``: the request as it would go out, and nothing done with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.perception import clips
from tests.reasoning import commands
from tests.reasoning.chat_server import says, serving
from tests.reasoning.commands import Ran, Run

NO_CUES = ["--set", "recognizers={}", "--quiet", "--dry-run"]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)

    def command(*arguments: str) -> Ran:
        return commands.run(capsys, "ask", "clip.mp4", *arguments, *NO_CUES)

    return command


@pytest.fixture(autouse=True)
def clip(tmp_path: Path) -> Path:
    return clips.write_clip(tmp_path / "clip.mp4", clips.moving_square(30), sound=clips.tone(3.0))


def test_it_needs_no_key_writes_no_file_and_tells_what_would_be_sent(
    run: Run, tmp_path: Path
) -> None:
    ran = run("What is it?", "--model", "gpt-4o")
    assert ran.code == 0
    assert '"url": "https://api.openai.com/v1/chat/completions"' in ran.out
    assert ran.out.count("(image/jpeg, ") == 3
    assert "Question: What is it?" in ran.out
    assert "tokens (estimated); the answer may have 128; the context holds 128000." in ran.out
    assert "Asked for real: This sends 3 pictures of the video" in ran.out
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]


def test_as_json_the_count_stands_beside_the_request(run: Run) -> None:
    document = json.loads(run("What is it?", "--model", "scripted", "--json").out)
    assert "Question: What is it?" in document["request"]["prompt"]
    assert document["prompt_tokens"] == len(document["request"]["prompt"].split())
    assert document["prompt_tokens_estimated"] is False
    assert (document["fits"], document["would_send"]) == (True, None)


def test_gemini_is_drafted_with_its_video(run: Run) -> None:
    document = json.loads(run("What is it?", "--model", "gemini", "--json").out)
    video, *texts = document["request"]["contents"]
    assert video["video"].startswith("inline (video/mp4, ")
    assert video["video_metadata"] == {"fps": 1.0}
    assert texts[-1]["text"] == "Question: What is it?"
    assert "without its sound" in document["would_send"]


def test_a_server_on_this_machine_is_not_asked_to_chat(run: Run) -> None:
    pytest.importorskip("openai")
    with serving(says("x")) as served:
        ran = run("What is it?", "--base-url", served.url, "--model", "tiny")
    assert served.bodies == []
    assert ran.code == 0
    assert "Nothing would leave this machine." in ran.out


def test_what_would_not_fit_is_said_with_exit_code_1(run: Run) -> None:
    ran = run("What is it?", "--model", "scripted", "--set", "videollms.scripted.context_tokens=99")
    assert ran.code == 1
    assert "It does not fit: the model would not be called." in ran.out


@pytest.mark.weights
def test_the_embedded_model_counts_exactly(run: Run, tmp_path: Path) -> None:
    choice = ["What is it?", "--option", "a square", "--option", "a circle"]
    document = json.loads(run(*choice, "--json").out)
    prompt = document["request"]["prompt"]
    assert prompt.startswith("<|im_start|>system\n")
    assert prompt.endswith("<|im_start|>assistant\nThe answer is:")
    assert document["request"]["options"] == ["a square", "a circle"]
    assert document["prompt_tokens_estimated"] is False
    asked = json.loads(answered(choice, tmp_path))
    assert asked["answer"]["request"]["prompt_tokens"] == document["prompt_tokens"]


def answered(choice: list[str], folder: Path) -> str:
    import subprocess
    import sys

    command = [sys.executable, "-m", "reasoning", "ask", "clip.mp4", *choice, "--json", *NO_CUES]
    ran = subprocess.run(command[:-1], cwd=folder, capture_output=True, text=True, check=True)
    return ran.stdout


def test_a_strategy_of_several_calls_shows_the_first(run: Run) -> None:
    seeing = ["--model", "scripted", "--set", "videollms.scripted.frame_rate_hz=1.0"]
    ran = run("What is it?", *seeing, "--strategy", "describe_then_reason")
    assert "Describe in order of time" in ran.out
    assert "'describe_then_reason' calls again" in ran.out
