"""``cuelight ask`` of a server: what is told before anything goes out, and while it is awaited."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.perception import clips
from tests.reasoning import commands
from tests.reasoning.commands import Ran, Run
from tests.reasoning.http_server import closed_address

RETRY = "videollms.openai_compatible.retry"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    clips.write_clip(tmp_path / "clip.mp4", clips.moving_square(30))

    def command(*arguments: str) -> Ran:
        return commands.run(
            capsys, "ask", "clip.mp4", "What is it?", "--set", "recognizers={}", *arguments
        )

    return command


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stdin", [io.StringIO(), Terminal("n\n")], ids=["nobody", "no"])
def test_what_would_leave_is_told_once_where_it_is_not_agreed_to(
    run: Run, monkeypatch: pytest.MonkeyPatch, stdin: io.StringIO
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    ran = run("--model", "gpt-4o")
    assert ran.code == 2
    assert ran.err.count("This sends 3 pictures of the video") == 1
    assert "Error: Nothing was sent; agree to it first (--yes)." in ran.err


@pytest.mark.parametrize(
    ("name", "meant"),
    [("embeded", "embedded"), ("qwen2.5-vl-7B", "qwen2.5-vl-7b"), ("gpt4o", "gpt-4o")],
)
@pytest.mark.parametrize("how", [["--dry-run"], ["--yes"]])
def test_a_slip_in_a_models_name_sends_nothing_to_openai(
    run: Run, name: str, meant: str, how: list[str]
) -> None:
    ran = run("--model", name, *how)
    assert (ran.code, ran.out) == (2, "")
    assert f"OpenAI has no model {name!r}. Did you mean {meant!r}?" in ran.err


def test_a_server_that_is_tried_again_is_told_of(run: Run) -> None:
    closed = closed_address()
    asked = ["--base-url", closed, "--model", "x", "--set", f"{RETRY}.first_pause_s=0.01"]
    ran = run(*asked, "--set", f"{RETRY}.tries=3")
    assert ran.code == 1
    told = [line for line in ran.err.splitlines() if "trying again in" in line]
    assert [line.partition(" s (")[2] for line in told] == ["try 2 of 3).", "try 3 of 3)."]
    assert all(line.startswith(closed) and "refused" in line for line in told)
    assert "trying again" not in run(*asked, "--set", f"{RETRY}.tries=2", "--quiet").err
