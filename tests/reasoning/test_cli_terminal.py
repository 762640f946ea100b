"""Names and words of any kind: nothing steers the terminal, nothing breaks the output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from reasoning.cli import main
from reasoning.cli._terminal import printable
from tests.perception import clips

NO_EYES = ("--set", "recognizers={}", "--quiet")
COMMAND = "from reasoning.cli import main; main()"
WORDS = "stop \x1b[2J\x9b31m \u202egnp\u2066 \ud83d 😀 é"

NASTY_NAMES = [
    b"bad\xff\xfe.mp4",
    b"new\nline.mp4",
    b"\x1b[31mred.mp4",
    "rtl\u202egnp.mp4".encode(),
    b"quo\"te's $(x) `y` 100% #?&.mp4",
    "emo😀ji.mp4".encode(),
    b".mp4",
]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


@pytest.fixture
def timeline(tmp_path: Path) -> CueTimeline:
    track = CueTrack(
        "a\udcff", "kind\x1b[1m\udcff", Source("s"), (Cue("c\ud800", Span(0, 1), WORDS, 0.1),)
    )
    video = VideoInfo("v\udcff.mp4", "", 0.0, 2.0, 4, 4, 10.0)
    return CueTimeline(video, (track,))


@pytest.fixture
def cues(tmp_path: Path, timeline: CueTimeline) -> str:
    path = tmp_path / "clip.cues.json"
    path.write_text(timeline.to_json(), encoding="utf-8")
    return str(path)


def test_what_cannot_be_seen_is_printed_as_an_escape() -> None:
    assert printable("plain (text)") == "plain (text)"
    assert printable("two\nlines\tand 😀 é می‌خواهم") == "two\nlines\tand 😀 é می‌خواهم"
    assert printable("\x1b[2J\r\x9b\u202e\u2028\udcff\x00") == (
        "\\x1b[2J\\r\\x9b\\u202e\\u2028\\udcff\\x00"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="file names are any bytes on Linux only")
@pytest.mark.parametrize("name", NASTY_NAMES)
def test_a_file_of_any_name_is_perceived_and_inspected(
    tmp_path: Path, name: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / os.fsdecode(name)
    clips.write_clip(tmp_path / "clip.mp4", clips.moving_square(3)).rename(path)
    out = tmp_path / "out"
    assert run("perceive", str(path), *NO_EYES, "--out", str(out), "--json") == 0
    files = json.loads(capsys.readouterr().out)[0]["files"]
    assert CueTimeline.read(Path(files[0])).video.name == path.name
    assert run("inspect", files[0], "--out", str(out)) == 0
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert "\u202e" not in printed.out + printed.err
    assert len(list(out.glob("*.html"))) == 1


@pytest.mark.parametrize("name", ["y" * 300 + ".mp4", "a\0b.mp4"])
def test_a_name_that_no_file_can_have_is_one_sentence(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("perceive", name) == 2
    assert capsys.readouterr().err.startswith("Error: There is no file ")


@pytest.mark.skipif(sys.platform == "win32", reason="names may be longer there")
def test_a_name_too_long_for_what_is_written_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clips.write_clip(tmp_path / ("x" * 248 + ".mp4"), clips.moving_square(3))
    assert run("perceive", str(path), *NO_EYES, "--out", str(tmp_path / "out")) == 2
    assert "Give the video a shorter name." in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("arguments", [["fuse", "{}", "Q?"], ["inspect", "{}", "--text"]])
def test_cues_cannot_steer_the_terminal(
    cues: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*[argument.format(cues) for argument in arguments]) == 0
    printed = "".join(capsys.readouterr())
    assert "stop" in printed
    assert not {"\x1b", "\x9b", "\u202e", "\u2066", "\ud83d"} & set(printed)


def test_a_long_text_that_is_left_out_is_cut(
    tmp_path: Path, timeline: CueTimeline, capsys: pytest.CaptureFixture[str]
) -> None:
    cue = Cue("long", Span(0, 1), "word " * 100_000, 0.1)
    track = CueTrack("speech", "speech", Source("s"), (cue,))
    (tmp_path / "x.cues.json").write_text(CueTimeline(timeline.video, (track,)).to_json())
    assert run("fuse", str(tmp_path / "x.cues.json"), "Q?") == 0
    assert len(capsys.readouterr().err) < 300


def test_json_holds_any_words_to_the_letter(cues: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fuse", cues, "Q?", "--json") == 0
    out = capsys.readouterr().out
    assert not {"\x1b", "\x9b", "\u202e", "\u2066", "\ud83d"} & set(out)
    dropped = json.loads(out)["selection"]["dropped"]
    assert dropped[0]["cue"]["text"] == WORDS


@pytest.mark.parametrize("option", ["--text", "--json"])
def test_a_terminal_without_unicode_gets_escapes(
    cues: str, tmp_path: Path, timeline: CueTimeline, option: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", COMMAND, "inspect", cues, option, "-q", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.isascii()
    if option == "--json":
        shown = json.loads(ran.stdout)["lanes"][0]["cues"][0]["text"]
        assert shown == next(timeline.cues())[1].text
