"""``cuelight export`` and ``cuelight import-cues``: to another tool and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from perception.cue import Cue, CueTimeline, CueTrack, Origin, Source, Span, VideoInfo
from reasoning.cli import main
from tests.perception import clips

Run = Callable[..., tuple[int, str, str]]

VIDEO = VideoInfo("clip.mp4", "ab" * 32, 2.5, 10.0, 640, 360, 25.0)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    action = CueTrack(
        "action",
        "action",
        Source("action", "1"),
        (Cue("action-1", Span(1, 2), "waves", 0.5, {"label": "wave"}),),
    )
    speech = CueTrack(
        "speech", "speech", Source("speech", "1"), (Cue("speech-1", Span(3, 4), "Hello", 0.9),)
    )
    write(tmp_path / "clip.cues.json", CueTimeline(VIDEO, (action, speech)))

    def command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return int(ended.value.code or 0), printed.out, printed.err

    return command


def write(path: Path, timeline: CueTimeline) -> None:
    path.write_text(timeline.to_json(), encoding="utf-8")


def imported(tmp_path: Path) -> CueTimeline:
    return CueTimeline.read(tmp_path / "clip.imported.cues.json")


def test_a_text_of_any_length_comes_back_from_a_table(run: Run, tmp_path: Path) -> None:
    long = "a,b" * 100_000
    cue = Cue("speech-1", Span(3, 4), long, 0.9)
    track = CueTrack("speech", "speech", Source("speech", "1"), (cue,))
    write(tmp_path / "clip.cues.json", CueTimeline(VIDEO, (track,)))
    assert run("export", "clip.cues.json", "--to", "csv")[0] == 0
    code, _, err = run("import-cues", "clip.csv", "--cues", "clip.cues.json")
    assert code == 0, err
    assert {cue.text for _, cue in imported(tmp_path).cues()} == {long}


def test_captions_are_written_and_what_is_lost_is_told(run: Run, tmp_path: Path) -> None:
    code, out, err = run("export", "clip.cues.json", "--to", "webvtt", "--only", "speech")
    assert (code, out) == (0, "Wrote 1 cue to clip.vtt\n")
    assert (tmp_path / "clip.vtt").read_text() == (
        "WEBVTT\n\nspeech-1\n00:00:03.000 --> 00:00:04.000\nHello\n"
    )
    assert "webvtt does not carry: confidence, cue kinds.\n" in err
    assert "starts at 2.5 s on the clock of players" in err


def test_the_clock_of_players_there_and_back(run: Run, tmp_path: Path) -> None:
    run(
        "export", "clip.cues.json", "--out", "out/a.srt", "--only", "speech", "--player-clock", "-q"
    )
    assert "00:00:05,500 --> 00:00:06,500" in (tmp_path / "out" / "a.srt").read_text()
    code, _, err = run(
        *("import-cues", "out/a.srt", "--cues", "clip.cues.json"),
        *("--kind", "speech", "--replace", "--player-clock"),
    )
    assert (code, err) == (0, "")
    track = imported(tmp_path).track("speech")
    assert track is not None
    assert [cue.span for cue in track.cues] == [Span(3, 4)]


def test_a_folder_takes_the_name_of_the_cues(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    code, out, _ = run("export", "clip.cues.json", "--to", "csv", "--out", "out", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"file": "out/clip.csv", "format": "csv_table", "cues": 2, "lost": []},
    )


def test_an_option_of_a_format(run: Run, tmp_path: Path) -> None:
    run("export", "clip.cues.json", "--to", "labelstudio", "--set", "url_prefix=/data/")
    (task,) = json.loads((tmp_path / "clip.labelstudio.json").read_text())
    assert task["data"] == {"video": "/data/clip.mp4"}


def test_a_human_track_stands_beside_the_recognizers(run: Run, tmp_path: Path) -> None:
    run("export", "clip.cues.json", "--to", "elan")
    code, out, _ = run(
        "import-cues",
        "clip.eaf",
        "--cues",
        "clip.cues.json",
        "--tier",
        "action",
        "--kind",
        "action",
    )
    assert code == 0
    assert out.splitlines() == [
        "action-human: 1 cue of kind action",
        "Wrote clip.imported.cues.json",
    ]
    timeline = imported(tmp_path)
    assert [track.id for track in timeline.tracks] == ["action", "speech", "action-human"]
    human = timeline.tracks[2]
    assert (human.kind, human.origin, human.source.name) == ("action", Origin.HUMAN, "elan")
    (cue,) = human.cues
    assert (cue.id, cue.confidence, cue.attributes) == ("action-human-1", 1.0, {"label": "waves"})


def test_a_human_track_takes_the_recognizers_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("start_s,end_s,text\n0.5,2.5,pulls a rope\n8,12,falls\n")
    code, out, _ = run(
        "import-cues", "gold.csv", "--cues", "clip.cues.json", "--kind", "action", "--replace"
    )
    assert code == 0
    assert "1 cue that lasts longer than the video was cut at its end." in out
    timeline = imported(tmp_path)
    assert [track.id for track in timeline.tracks] == ["speech", "action"]
    action = timeline.track("action")
    assert action is not None
    assert [(cue.span, cue.text) for cue in action.cues] == [
        (Span(0.5, 2.5), "pulls a rope"),
        (Span(8, 10), "falls"),
    ]
    code, out, _ = run("fuse", "clip.imported.cues.json", "What does he do?", "-q")
    assert code == 0
    assert "0:00.5-0:02.5 action: pulls a rope" in out
    assert "waves" not in out


def test_a_video_without_cues_gets_them(run: Run, tmp_path: Path) -> None:
    video = clips.write_clip(tmp_path / "made.mp4", clips.moving_square(20))
    (tmp_path / "a.vtt").write_text("WEBVTT\n\n00:00.500 --> 00:01.000\nHi\n")
    code, out, _ = run("import-cues", "a.vtt", "--video", str(video), "--kind", "speech", "--json")
    assert code == 0
    assert json.loads(out) == {
        "file": "made.imported.cues.json",
        "tracks": [{"id": "speech", "kind": "speech", "cues": 1, "notes": []}],
    }


def test_of_several_videos_the_one_meant(run: Run, tmp_path: Path) -> None:
    rows = "video,start_s,end_s,text,kind\nclip.mp4,1,2,mine,action\nother.mp4,1,2,no,action\n"
    (tmp_path / "all.csv").write_text(rows)
    assert run("import-cues", "all.csv", "--cues", "clip.cues.json", "--replace")[0] == 0
    assert [cue.text for _, cue in imported(tmp_path).cues()] == ["Hello", "mine"]
    (tmp_path / "all.csv").write_text(rows.replace("clip.mp4", "third.mp4"))
    code, _, err = run("import-cues", "all.csv", "--cues", "clip.cues.json")
    assert code == 2
    assert "speaks of 'other.mp4', 'third.mp4', and not of 'clip.mp4'" in err


VTT = "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("export", "clip.cues.json"), "Say the format: cuelight export"),
        (("export", "clip.cues.json", "--to", "docx"), "There is no format 'docx'"),
        (("export", "clip.cues.json", "--to", "vtt", "--only", "pose"), "no track 'pose'"),
        (("export", "clip.cues.json", "--to", "vtt", "--set", "x=1"), "no key in webvtt 'x'"),
        (("export", "clip.cues.json", "--out", "a.json"), "may be one of fiftyone, labelstudio"),
        (
            ("export", "clip.cues.json", "--to", "via", "--out", "clip.cues.json"),
            "is the file that holds the cues",
        ),
        (("export", "none.cues.json", "--to", "vtt"), "Cannot read the timeline 'none.cues.json'"),
        (("import-cues", "a.vtt"), "--video VIDEO, or --cues NAME.cues.json"),
        (("import-cues", "a.vtt", "--cues", "clip.cues.json"), "say it with --kind"),
        (
            ("import-cues", "none.vtt", "--cues", "clip.cues.json", "--kind", "speech"),
            "Cannot read the webvtt file 'none.vtt'",
        ),
        (
            ("import-cues", "a.vtt", "--cues", "clip.cues.json", "--tier", "x"),
            "There is no tier 'x'. Available: none",
        ),
        (
            ("import-cues", "a.vtt", "--cues", "clip.cues.json", "--format", "srt"),
            "'a.vtt' does not read as srt: line 1: a subtitle has its times here",
        ),
        (
            ("import-cues", "empty.vtt", "--cues", "clip.cues.json", "--kind", "speech"),
            "'empty.vtt' holds no annotation",
        ),
        (
            ("import-cues", "late.vtt", "--cues", "clip.cues.json", "--kind", "speech"),
            "A span begins at 61 s, and 'clip.mp4' ends at 10 s",
        ),
        (
            ("import-cues", "a.vtt", "--cues", "clip.cues.json", "--kind", "x", "--player-clock"),
            "before the video starts at 2.5 s",
        ),
    ],
)
def test_a_mistake_is_one_sentence(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "a.vtt").write_text(VTT)
    (tmp_path / "late.vtt").write_text(VTT.replace("00:0", "01:0"))
    (tmp_path / "empty.vtt").write_text("WEBVTT\n")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert sorted(path.name for path in tmp_path.glob("*.cues.json")) == ["clip.cues.json"]
