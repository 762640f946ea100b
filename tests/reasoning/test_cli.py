"""The command as a user meets it: results on stdout, exit codes, one sentence for every mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from perception import traces
from perception.cue import CueTimeline, Status
from tests.perception import clips
from tests.reasoning import commands
from tests.reasoning.commands import Ran, Run

EARS_AND_EYES = "recognizers: {screen_text: {}, speech: {}}\nvideollm: scripted\n"
NOTHING = (
    "recognizers: {}\nvideollm: scripted\n"
    "videollms: {scripted: {rules: [{pattern: answer, reply: A rope.}]}}\n"
)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def command(*arguments: str) -> Ran:
        return commands.run(capsys, *arguments)

    return command


@pytest.fixture
def config(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "settings.yaml"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return clips.write_clip(tmp_path / "clip.mp4", clips.moving_square(20), sound=clips.tone(2.0))


def test_inspect_leaves_the_page_of_an_answer_as_it_is(
    run: Run, config: Callable[[str], str], clip: Path, tmp_path: Path
) -> None:
    settings = config(NOTHING)
    assert run("ask", str(clip), "What is it?", "--config", settings).code == 0
    answered = (tmp_path / "clip.html").read_bytes()
    for _ in range(2):
        shown = run("inspect", str(clip), "--no-open", "--config", settings)
        assert (shown.code, shown.out.split()[1]) == (0, "clip.timeline.html")
        assert "clip.html holds the answer to a question and is left as it is" in shown.err
        assert (tmp_path / "clip.html").read_bytes() == answered
    (tmp_path / "clip.html").unlink()
    assert run("inspect", str(clip), "--no-open", "-q", "--config", settings).out == "clip.html\n"
    assert run("inspect", str(clip), "--no-open", "-q", "--config", settings).out == "clip.html\n"


def test_ask_answers_and_leaves_timeline_and_page(
    run: Run, config: Callable[[str], str], clip: Path, tmp_path: Path
) -> None:
    ran = run("ask", str(clip), "What is it?", "--config", config(NOTHING), "--out", "results")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "A rope."
    assert "was given no cues" in ran.out
    written = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert written == ["clip.cues.json", "clip.html"]
    assert CueTimeline.read(tmp_path / "results" / "clip.cues.json").video.name == "clip.mp4"
    assert "A rope." in (tmp_path / "results" / "clip.html").read_text()


def test_ask_prints_one_json_document(run: Run, config: Callable[[str], str], clip: Path) -> None:
    ran = run("ask", str(clip), "What is it?", "--config", config(NOTHING), "--json", "--quiet")
    document = json.loads(ran.out)
    assert document["answer"]["text"] == "A rope."
    assert document["answer"]["sees_video"] is False
    assert document["rests_on"] == []
    assert "What is it?" in document["prompt"]
    assert [Path(file).name for file in document["files"]] == ["clip.cues.json", "clip.html"]


def test_ask_without_an_answer_exits_with_1_and_keeps_what_was_perceived(
    run: Run, config: Callable[[str], str], clip: Path, tmp_path: Path
) -> None:
    failing = (
        "recognizers: {}\nvideollm: scripted\nvideollms: {scripted: {rules: [{failure: refused}]}}"
    )
    ran = run("ask", str(clip), "What is it?", "--config", config(failing))
    assert ran.code == 1
    assert "No answer (refused)" in ran.err
    assert (tmp_path / "clip.cues.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "clip.mp4", "  "], "The question is empty"),
        (["ask", "clip.mp4", "Q?", "--option", "one"], "at least two options"),
        (["ask", "clip.mp4", "Q?", "--option", "a", "--option", "a"], "repeat each other"),
        (["ask", "clip.mp4", "Q?", "--from", "soon"], "--from takes seconds or H:MM:SS"),
        (["ask", "clip.mp4", "Q?", "--from", "1:75"], "--from takes seconds or H:MM:SS"),
        (["ask", "clip.mp4", "Q?", "--from", "2", "--to", "1"], "--to 1 is not after --from 2"),
        (["ask", "clip.mp4", "Q?", "--from", "1:00:00"], "lasts 2."),
        (["ask", "clip.mp4", "Q?", "--from", "100"], "between 100 s and the end; it lasts 2."),
        (["ask", "clip.mp4", "Q?", "--from", "90", "--to", "1:40"], "between 90 s and 100 s;"),
        (["ask", "clip.cues.json", "Q?"], "is a file of cues, and a video is wanted here"),
        (["perceive", "clip.cues.json"], "cuelight fuse and cuelight inspect take the cues"),
        (["ask", "clip.mp4", "Q?", "--from", "9" * 400], "later than any video ends"),
        (["ask", "clip.mp4", "Q?", "--to", "0"], "--to 0 is not after --from 0."),
        (["ask", "clip.mp4", "Q?", "--from", "3", "--only", "speech"], "between 3 s and the end"),
        (["ask", "clip.mp4", "Q?", "--only", "actoin"], "Did you mean 'action'?"),
        (["ask", "clip.mp4", "Q?", "--set", "fusion.polices=[]"], "Did you mean 'policies'?"),
        (["ask", "clip.mp4", "Q?", "--base-url", "localhost:8000"], "give an http address"),
        (["ask", "missing.mp4", "Q?"], "There is no file 'missing.mp4'"),
        (["perceive", "https://example.org/clip.mp4"], "Download it first"),
        (["perceive", "clip.mp4", "--only", "speech,"], "--only 'speech,' has no name"),
        (["perceive", "clip.mp4", "--only", "speech,actoin"], "Did you mean 'action'?"),
        (["perceive", "."], "'.'"),
        (["fuse", "clip.mp4", "Q?"], "Cannot read the timeline"),
        (["fuse", "missing.cues.json", "Q?"], "Cannot read the timeline"),
        (["inspect", "missing.cues.json"], "Cannot read the timeline"),
        (["inspect", "a.cues.json", "--config", "nope.yaml"], "--config says how a video is"),
        (["inspect", "a.cues.json", "--set", "answer.seed=1"], "--set says how a video is"),
        (["perceive", "-x.mp4", "--quiet"], "Give the file as ./-x.mp4"),
        (["cache", "--older-than", "30d"], "--older-than goes with --prune"),
        (["cache", "--prune", "--older-than", "long"], "takes a number and m, h, d or w"),
        (["checkpoints", "path", "wisper_base"], "Did you mean 'whisper_base'?"),
        (["perceiv", "clip.mp4"], "Did you mean 'perceive'?"),
        (["ask", "clip.mp4"], "Missing argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    run: Run, clip: Path, arguments: list[str], said: str
) -> None:
    clip.with_name("-x.mp4").write_bytes(b"")
    clip.with_name("clip.cues.json").write_text("{}")
    ran = run(*arguments)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())
    assert ran.out == ""


@pytest.mark.parametrize(
    "arguments", [["perceive", "clip.mp4"], ["ask", "clip.mp4", "Q?"], ["inspect", "clip.mp4"]]
)
def test_a_folder_that_takes_no_files_is_told_before_any_work(
    run: Run, clip: Path, tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "taken").touch()
    for place in ("taken", "taken/in/it"):
        ran = run(*arguments, "--out", place)
        assert (ran.code, ran.out) == (2, "")
        which = "it" if place == "taken" else repr(str(tmp_path / "taken"))
        assert f"--out {place!r}: {which} is a file; give a folder.\n" in ran.err
    if Path("/proc/self").exists():
        ran = run(*arguments, "--out", "/proc/results")
        assert ran.code == 2
        assert ran.err.startswith("Error: Cannot write into the folder '/proc': ")
    assert {path.name for path in tmp_path.iterdir()} == {"clip.mp4", "taken"}


@pytest.mark.parametrize("limit", ["nan", "-1", "0.0001"])
def test_nothing_is_sent_that_is_not_known_to_be_within_the_cost(
    run: Run, clip: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = ["--model", "gpt-4o", "--max-cost", limit, "--yes", "--set", "recognizers={}"]
    ran = run("ask", str(clip), "What is it?", *asked)
    assert ran.code == 2
    assert f"--max-cost {limit} does not allow that" in ran.err
    assert ran.err.endswith("What was perceived is kept: clip.cues.json\n")


def test_a_part_never_replaces_the_whole(
    run: Run, config: Callable[[str], str], clip: Path, tmp_path: Path
) -> None:
    settings = config(NOTHING)
    for part in ([], ["--from", "0.5", "--to", "1.25"], ["--from", "0:01"]):
        assert run("ask", str(clip), "What is it?", "--config", settings, *part).code == 0
    assert sorted(path.name for path in tmp_path.glob("*.html")) == [
        "clip.html",
        "clip_0.5-1.25s.html",
        "clip_1-end.html",
    ]


@pytest.mark.weights
def test_what_was_perceived_before_stays_beside_what_is_perceived_now(
    run: Run, clip: Path, tmp_path: Path
) -> None:
    for kind in ("speech", "screen_text"):
        assert run("perceive", str(clip), "--only", kind, "--quiet").code == 0
    timeline = CueTimeline.read(tmp_path / "clip.cues.json")
    assert [track.id for track in timeline.tracks] == ["screen_text", "speech"]
    assert any(name.startswith("speech/") for name in traces.load(tmp_path / "clip.traces.npz"))
    both = run("perceive", str(clip), "--only", "speech, screen_text").out
    assert "speech: 0 cues" in both
    assert "screen_text: 0 cues" in both
    other = clips.write_clip(clip, clips.moving_square(10))
    assert run("perceive", str(other), "--only", "screen_text", "--quiet").code == 0
    timeline = CueTimeline.read(tmp_path / "clip.cues.json")
    assert [track.id for track in timeline.tracks] == ["screen_text"]
    left = tmp_path / "clip.traces.npz"
    assert not left.exists() or not any(name.startswith("speech/") for name in traces.load(left))


def test_two_videos_of_one_name_are_refused_before_anything_is_done(
    run: Run, tmp_path: Path
) -> None:
    ran = run("perceive", "a/cam01.mp4", "b/cam01.mov", "--out", "out")
    assert ran.code == 2
    assert "would both write cam01.cues.json" in ran.err
    assert not (tmp_path / "out").exists()


def text_file(path: Path) -> None:
    path.write_text("This is no video.\n" * 100)


def truncated(path: Path) -> None:
    whole = clips.write_clip(path.with_name("whole.mp4"), clips.moving_square(20)).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    "make", [text_file, truncated, folder, Path.touch], ids=["text", "truncated", "folder", "empty"]
)
def test_what_is_no_video_is_one_sentence(
    run: Run, config: Callable[[str], str], tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "video.mp4")
    ran = run("perceive", "video.mp4", "--config", config(EARS_AND_EYES), "--quiet")
    assert ran.code == 2
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    assert "video.mp4" in ran.err
    assert not list(tmp_path.glob("*.json"))


def test_a_video_that_cannot_be_used_does_not_keep_the_others_from_it(
    run: Run, clip: Path, tmp_path: Path
) -> None:
    text_file(tmp_path / "text.mp4")
    names = ["missing.mp4", "clip.mp4", "text.mp4"]
    ran = run("perceive", *names, "--set", "recognizers={}", "--json", "--quiet")
    assert ran.code == 2
    assert ran.err.count("Error: ") == 2
    documents = json.loads(ran.out)
    assert [document["video"] for document in documents] == names
    assert "There is no file" in documents[0]["error"]
    assert documents[1]["files"] == ["clip.cues.json"]
    assert (tmp_path / "clip.cues.json").is_file()


def still(path: Path) -> None:
    clips.write_clip(path, [clips.plain()] * 3)


def one_pixel(path: Path) -> None:
    picture = np.zeros((1, 1, 3), np.uint8)
    clips.write_clip(path, [picture] * 5, codec="ffv1", pix_fmt="bgr0", container="matroska")


def sound_only(path: Path) -> None:
    clips.write_clip(path, sound=clips.tone(1.0))


@pytest.mark.weights
@pytest.mark.parametrize(
    "name", ["-x 😀.mp4", "with spaces.mp4", "sample", "percent%20#?.mp4", "новый фильм.mp4"]
)
@pytest.mark.parametrize("make", [still, one_pixel, sound_only])
def test_odd_names_and_odd_contents_give_empty_tracks(
    run: Run,
    config: Callable[[str], str],
    tmp_path: Path,
    name: str,
    make: Callable[[Path], None],
) -> None:
    made = tmp_path / "made.mp4"
    make(made)
    made.rename(tmp_path / name)
    ran = run("inspect", "--no-open", "--config", config(EARS_AND_EYES), "--quiet", "--", name)
    assert (ran.code, ran.err) == (0, "")
    stem = Path(name).stem
    timeline = CueTimeline.read(tmp_path / f"{stem}.cues.json")
    assert [track.status for track in timeline.tracks] == [Status.NO_SIGNAL, Status.NO_SIGNAL]
    assert [track.cues for track in timeline.tracks] == [(), ()]
    assert (tmp_path / f"{stem}.html").is_file()


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
from reasoning.cli import main
from tests.reasoning import commands
from tests.reasoning.commands import Ran, Run
main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_disk_that_takes_no_more_is_one_sentence_and_leaves_nothing(
    clip: Path, config: Callable[[str], str], tmp_path: Path
) -> None:
    command = ["perceive", str(clip), "--config", config(NOTHING), "--out", str(tmp_path / "out")]
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, *command], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("Error: Cannot write")
    assert ran.stderr.count("\n") == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_a_cache_that_is_no_folder_is_one_sentence(
    run: Run, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "file"))
    ran = run("perceive", str(clip), "--only", "action", "--quiet")
    assert ran.code == 2
    assert "Set CUELIGHT_CACHE" in ran.err


@pytest.mark.parametrize("place", ["perception.plugins.load", "reasoning.config.load"])
def test_an_interrupt_is_one_line_and_exit_code_130(
    run: Run, clip: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupt)
    ran = run("perceive", str(clip))
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == "Interrupted; finished tracks are kept and will be reused.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_result_that_cannot_be_printed_is_one_sentence(unbuffered: str) -> None:
    command = "from reasoning.cli import main; main(['checkpoints', 'list'])"
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-c", command],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert ran.returncode == 1
    assert ran.stderr == b"Error: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_enough_gets_no_more_and_no_words(unbuffered: str) -> None:
    command = "from reasoning.cli import main; main(['checkpoints', 'list'])"
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        ran = subprocess.run(
            [sys.executable, "-c", command],
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert (ran.returncode, ran.stderr) == (1, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["ask", "--help"],
        ["checkpoints", "--help"],
        ["checkpoints", "fetch", "-h"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_help_is_there(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments)
    assert ran.code == 0
    assert ran.out.strip()


def test_the_terminal_breaks_the_lines_of_help(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    line = (
        "Exit code 1 when a file is missing or not as published, 2 when there is no such benchmark,"
    )
    assert f"{line} option or folder." in run("benchmark", "check", "--help").out
    summary = "differences with intervals and tests, grounding gained and reasoning lost in each"
    assert summary in run("compare", "--help").out
    assert summary in run("--help").out


def test_every_command_has_help_json_and_quiet(run: Run) -> None:
    from perception import plugins

    for name in plugins.names("reasoning.cli"):
        grouped = getattr(plugins.load("reasoning.cli", name), "commands", {})
        shown = run(name, *list(grouped)[-1:], "--help").out
        assert "--json" in shown, name
        assert "--quiet" in shown, name


def test_doctor_reports_as_json(run: Run) -> None:
    findings = json.loads(run("doctor", "--json").out)
    jobs = {finding["job"] for finding in findings}
    assert {"machine", "video", "pose", "action", "screen text", "speech", "reasoning"} <= jobs
    assert all(finding["remedy"] for finding in findings if finding["level"] == "problem")


def test_cache_counts_and_prunes(
    run: Run, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "cache"))
    assert json.loads(run("cache", "--json").out)["tracks"] == 0
    track = tmp_path / "cache" / "tracks" / "ab.json"
    track.parent.mkdir(parents=True)
    track.write_bytes(b"x" * 1000)
    assert json.loads(run("cache", "--json").out)["tracks_bytes"] == 1000
    pruned = json.loads(run("cache", "--prune", "--json").out)
    assert (pruned["removed_tracks"], pruned["tracks"]) == (1, 0)
    assert not track.exists()
