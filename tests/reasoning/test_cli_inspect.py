"""``cuelight inspect``: blocks for questions, a study's answers, copies for browsers, serving."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perception import video
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span
from perception.errors import BadInput
from reasoning.answer import Answer, Verdict
from reasoning.cli import main
from reasoning.cli._studied import video_of
from reasoning.records import Call, Records
from reasoning.viewer.drawn import frame_times_s
from reasoning.viewer.playable import plays_in_browsers
from tests.reasoning.browser import TIMES_S, film, launched, shows, wait
from tests.reasoning.page_data import of_page


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["inspect", *arguments])
    return int(end.value.code or 0)


def cues_of(path: Path) -> Path:
    cues = (
        Cue("a-1", Span(0.4, 0.9), "person 1 waves", 0.9, {"person": 1}),
        Cue("a-2", Span(1.2, 2.0), "person 1 walks", 0.3, {"person": 1}),
    )
    timeline = CueTimeline(video.probe(path), (CueTrack("a", "action", Source("action"), cues),))
    target = path.with_name(f"{path.stem}.cues.json")
    target.write_text(timeline.to_json(), encoding="utf-8")
    return target


@pytest.fixture
def cues(tmp_path: Path) -> Path:
    film(tmp_path / "film.mp4")
    return cues_of(tmp_path / "film.mp4")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


def test_the_block_of_every_question_under_every_policy(cues: Path) -> None:
    folder = str(cues.parent)
    asked = ("--question", "Does he wave?", "--question", "Why?")
    assert run(str(cues), "--no-open", "-q", "-o", folder, *asked) == 0
    assert len(of_page(cues.parent / "film.html")["blocks"]) == 2
    chosen = ("--policy", "every_cue", "--policy", "routed+hedged")
    assert run(str(cues), "--no-open", "-q", "-o", folder, *asked, *chosen) == 0
    html = (cues.parent / "film.html").read_text(encoding="utf-8")
    assert re.findall(r'data-question="(.*?)" data-policy="(.*?)"', html) == [
        ("Does he wave?", "every_cue"),
        ("Does he wave?", "routed+hedged"),
        ("Why?", "every_cue"),
        ("Why?", "routed+hedged"),
    ]
    states = list(of_page(cues.parent / "film.html")["blocks"][0].values())
    assert states == [["kept", "in the prompt"], ["dropped", "confidence 0.30 is under 0.60"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policy", "routed"), "give --question too"),
        (("--question", "Why?", "--policy", "route"), "Did you mean 'routed'?"),
        (("--text", "--serve"), "leave one out"),
        (("--text", "--question", "Why?"), "leave one out"),
        (("--serve", "--embed-video"), "leave out --embed-video"),
        (("--serve", "--host", "0.0.0.0"), "other machines reach"),
        (("--study", "none.sqlite"), "There is no file 'none.sqlite'"),
        (("--video", "x"), "names a video of a study"),
    ],
)
def test_what_does_not_go_together_is_told(
    cues: Path, arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(cues), "--no-open", "-o", str(cues.parent), *arguments) == 2
    assert words in capsys.readouterr().err


def test_another_file_of_the_videos_name_is_neither_played_nor_embedded(
    cues: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = cues.parent / "film.html"
    assert run(str(cues), "--no-open") == 0
    assert 'src="./film.mp4"' in page.read_text(encoding="utf-8")
    capsys.readouterr()
    (cues.parent / "film.mp4").write_bytes(b"somebody's secret")
    assert run(str(cues), "--no-open", "--embed-video") == 2
    assert "no file 'film.mp4' with the sha256 that the cues tell" in capsys.readouterr().err
    assert run(str(cues), "--no-open") == 0
    assert "shows the timeline without its video" in capsys.readouterr().err
    assert 'src="./film.mp4"' not in page.read_text(encoding="utf-8")


def recorded(path: Path, film_path: Path) -> None:
    records = Records(path)
    records.stamp({"benchmark": "csv_questions", "videos": {"film": str(film_path)}})
    for place, (condition, right) in enumerate((("no cues", 0.0), ("all cues", 1.0))):
        call = Call("q1", "", condition, condition, "m", {})
        facts = {
            "order": [place],
            "video": "film",
            "category": "Temporal",
            "question": "What is done from 0:01.2 to 0:02?",
            "reference": "He walks.",
            "model": "m",
            "cues": [{"id": "a-1", "kind": "action", "text": "waves", "confidence": 0.9}],
        }
        key = records.plan(condition, "q1", 0, call, facts)
        records.keep(call, Answer(f"an answer with {condition}", "m", sees_video=False), 1.0)
        records.judge(key, "j", Verdict(right, f"judged so with {condition}", "j"))
    records.close()


def test_a_study_is_shown_beside_the_video_it_asks_about(
    cues: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cues.parent
    records = folder / "study.sqlite"
    recorded(records, folder / "film.mp4")
    assert run(str(cues), "--no-open", "-q", "-o", str(folder), "--study", str(records)) == 0
    study = of_page(folder / "film.html")["study"]
    (question,) = study["questions"]
    assert study["conditions"] == ["no cues", "all cues"]
    assert (question["flipped"], question["wrong"], question["span"]) == (True, True, [1.2, 2.0])
    assert question["reference"] == "He walks."
    ((before,), (after,)) = question["answers"]
    assert (before["verdict"], before["reason"]) == ("wrong", "judged so with no cues")
    assert (after["verdict"], after["text"]) == ("right", "an answer with all cues")
    assert after["cues"] == [0]
    other = folder / "other.mp4"
    film(other)
    assert run(str(cues_of(other)), "--no-open", "-o", str(folder), "--study", str(records)) == 2
    assert "Available: film." in capsys.readouterr().err


def test_a_study_knows_where_its_videos_are(cues: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = cues.parent / "study.sqlite"
    recorded(records, cues.parent / "film.mp4")
    assert Path(video_of(records, None)) == cues.parent / "film.mp4"
    assert run(str(records), "--no-open", "--video", "flim") == 2
    assert "Did you mean 'film'?" in capsys.readouterr().err
    (cues.parent / "film.mp4").unlink()
    assert run(str(records), "--no-open") == 2
    assert "is not where the study had it" in capsys.readouterr().err


STUDY = """
benchmark: csv_questions
benchmarks:
  csv_questions: {table: "{here}/tables/asked.csv", videos: "PLACE"}
videollm: scripted
videollms:
  scripted: {default: "A"}
conditions: [{name: no cues, cues: none}]
"""


@pytest.mark.parametrize("place", ["{here}/clips", "clips", ""])
def test_a_video_of_a_study_is_found_wherever_its_file_says_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    clips = tmp_path / ("clips" if place else "tables")
    for folder in {clips, tmp_path / "tables", tmp_path / "elsewhere"}:
        folder.mkdir(exist_ok=True)
    for name in ("one.mp4", "two.mp4"):
        film(clips / name)
    head = "video,question,option_a,option_b,answer\n"
    rows = "one.mp4,What?,he waves,he bows,A\ntwo,Why?,to win,to rest,A\n"
    (tmp_path / "tables" / "asked.csv").write_text(head + rows)
    (tmp_path / "study.yaml").write_text(STUDY.replace("PLACE", place))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["ablate", "study.yaml", "--records", "r.sqlite", "-q"])
    assert not end.value.code
    records = tmp_path / "r.sqlite"
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert Path(video_of(records, "one.mp4")) == clips / "one.mp4"
    assert Path(video_of(records, "two")) == clips / "two.mp4"
    with pytest.raises(BadInput, match=r"asks about 2 videos; say which by --video"):
        video_of(records, None)


def test_pictures_are_where_the_packets_say(tmp_path: Path) -> None:
    for start_s in (0.0, 2.5):
        film(tmp_path / "film.mp4", start_s)
        assert frame_times_s(tmp_path / "film.mp4") == pytest.approx(TIMES_S, abs=1e-6)
        decoded = video.frames(tmp_path / "film.mp4", 1e6)
        assert [frame.time_s for frame in decoded] == pytest.approx(TIMES_S, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "codec", "plays"),
    [
        ("film.mp4", "libx264", True),
        ("film.mkv", "libx264", False),
        ("film.avi", "mpeg4", False),
        ("film.mp4", "mpeg4", False),
        ("film.ts", "libx264", False),
    ],
)
def test_what_browsers_play(tmp_path: Path, name: str, codec: str, plays: bool) -> None:
    film(tmp_path / name, 0.0, codec)
    assert plays_in_browsers(tmp_path / name) is plays


def test_a_copy_is_made_where_browsers_need_one_and_used_again(
    browser: Any, tmp_path: Path
) -> None:
    original = tmp_path / "film.ts"
    film(original, 2.5)
    cues = cues_of(original)
    assert run(str(cues), "--no-open", "-q", "-o", str(tmp_path)) == 0
    copy = tmp_path / "film.proxy.mp4"
    assert frame_times_s(copy) == pytest.approx(TIMES_S, abs=1e-4)
    assert of_page(tmp_path / "film.html")["start_s"] == 0
    made = copy.stat().st_mtime_ns
    assert run(str(cues), "--no-open", "-q", "-o", str(tmp_path)) == 0
    assert copy.stat().st_mtime_ns == made
    page = browser.new_page()
    page.goto((tmp_path / "film.html").as_uri())
    wait(page, "player.readyState >= 2")
    page.evaluate("cuelight.seek(1.3)")
    assert shows(page, 26)
    page.close()
    assert run(str(cues), "--no-open", "-q", "-o", str(tmp_path), "--no-proxy") == 0
    assert 'src="./film.ts"' in (tmp_path / "film.html").read_text(encoding="utf-8")


def test_a_single_file_holds_the_video(cues: Path) -> None:
    assert run(str(cues), "--no-open", "-q", "-o", str(cues.parent), "--embed-video") == 0
    html = (cues.parent / "film.html").read_text(encoding="utf-8")
    assert 'data-kind="video/mp4"' in html
    assert "film.mp4" not in re.findall(r'src="([^"]*)"', html)


def test_a_review_beside_the_cues_is_shown_again(cues: Path) -> None:
    review = cues.with_name("film.review.json")
    said = {"a-1": {"verdict": "wrong", "text": "person 1 claps"}}
    review.write_text(json.dumps({"schema": "cuelight.review/1", "cues": said}))
    assert run(str(cues), "--no-open", "-q", "-o", str(cues.parent)) == 0
    assert of_page(cues.parent / "film.html")["review"] == said


def test_a_review_is_shown_in_the_terminal_and_as_json(
    cues: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waved = {"text": "person 1 waves", "start_s": 0.4, "end_s": 0.9}
    other = {"text": "person 1 sits", "start_s": 1.2, "end_s": 2.0}
    said = {
        "a-1": {"verdict": "wrong", "text": "person 1 claps", "end_s": 0.7, "of": waved},
        "a-2": {"verdict": "right", "of": other, "earlier": [{"verdict": "right"}]},
    }
    review = cues.with_name("film.review.json")
    review.write_text(json.dumps({"schema": "cuelight.review/1", "cues": said}))
    assert run(str(cues), "--text") == 0
    out, err = capsys.readouterr()
    line = next(line for line in out.splitlines() if "0:00.4-0:00.7" in line)
    assert "person 1 claps" in line
    assert "✗ wrong, corrected" in line
    assert "✓ right" in next(line for line in out.splitlines() if "0:01.2" in line)
    assert "film.review.json: 1 correction is of a cue that is not, or no longer, there" in err
    assert run(str(cues), "--text", "--json") == 0
    (lane,) = json.loads(capsys.readouterr().out)["lanes"]
    assert [each["text"] for each in lane["cues"]] == ["person 1 waves", "person 1 walks"]
    assert [each["review"] for each in lane["cues"]] == [said["a-1"], {"verdict": "right"}]


@pytest.mark.usefixtures("interruptible")
def test_serving_ends_with_ctrl_c(cues: Path) -> None:
    command = [sys.executable, "-m", "reasoning", "inspect", str(cues), "--serve", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cues.parent) as process:
        assert process.stdout is not None
        document, read = "", json.JSONDecoder()
        for line in process.stdout:
            document += line
            with contextlib.suppress(json.JSONDecodeError):
                told, _ = read.raw_decode(document)
                break
        assert told["url"].startswith("http://127.0.0.1:")
        with urllib.request.urlopen(told["url"], timeout=10) as reply:
            assert b"Cuelight" in reply.read()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(10) == 0
        finally:
            process.kill()
