"""How many distinct actions a corpus has: counted by hand, and through the command."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from perception import sample, video
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import BadInput
from reasoning.action_counts import count_actions
from reasoning.viewer.playable import write_proxy
from tests.perception import clips
from tests.reasoning import commands
from tests.reasoning.commands import Ran


def timeline(
    name: str,
    cues: list[tuple[str, float, float, float]],
    duration_s: float = 25.0,
    status: Status = Status.COMPLETE,
) -> CueTimeline:
    """Cues as label, start, end, confidence."""
    track = CueTrack(
        "action",
        "action",
        Source("action", version="1"),
        tuple(
            Cue(f"action-{i}", Span(start, end), f"person 1 {label}s", sure, {"label": label})
            for i, (label, start, end, sure) in enumerate(cues)
        ),
        status=status,
    )
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    video = VideoInfo(name, sha256, 0.0, duration_s, 640, 360, 25.0, has_video=True)
    return CueTimeline(video, (track,))


FIRST = timeline(
    "first.mp4",
    [
        ("wave", 1, 3, 0.9),
        ("wave", 4, 6, 0.7),
        ("jump", 8, 12, 0.6),
        ("walk", 20, 24, 0.59),
    ],
)
SECOND = timeline("second.mp4", [("wave", 0, 10, 0.8)], duration_s=10.0)


def test_pieces_videos_cues_and_seconds_are_counted() -> None:
    # pieces of 10 s: first has wave+jump | jump | nothing, second has wave
    counts = count_actions([FIRST, SECOND], threshold=0.6, per_s=10)
    rows = [(a.label, a.pieces, a.videos, a.cues, a.seconds) for a in counts.actions]
    assert rows == [("wave", 2, 2, 3, 14.0), ("jump", 2, 1, 1, 4.0)]
    assert (counts.videos, counts.pieces) == (2, 4)
    assert counts.distinct_in_piece == {0: 1, 1: 2, 2: 1}
    assert counts.mean_in_piece == 1.0


def test_a_lower_threshold_finds_more() -> None:
    counts = count_actions([FIRST], threshold=0.5, per_s=10)
    assert {a.label for a in counts.actions} == {"wave", "jump", "walk"}


def test_how_many_are_possible_is_told_only_where_it_is_known() -> None:
    labels = {"wave", "jump", "walk", "sit"}
    assert count_actions([FIRST], threshold=0.6, per_s=10, known=labels).possible == 4
    assert count_actions([FIRST], threshold=0.6, per_s=10, known={"sit"}).possible is None
    assert count_actions([FIRST], threshold=0.6, per_s=10).possible is None


def test_a_video_shorter_than_a_piece_is_one_piece() -> None:
    counts = count_actions([timeline("a.mp4", [("wave", 0, 0.4, 1.0)], 0.4)], threshold=0, per_s=10)
    assert counts.distinct_in_piece == {1: 1}


def test_a_timeline_without_actions_is_named() -> None:
    empty = CueTimeline(FIRST.video)
    with pytest.raises(BadInput, match=r"'first\.mp4' has no actions"):
        count_actions([empty], threshold=0.6, per_s=10)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    return commands.run(capsys, "actions", *arguments)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "deeper").mkdir(parents=True)
    for path, each in ((folder, FIRST), (folder / "deeper", SECOND)):
        (path / f"{Path(each.video.name).stem}.cues.json").write_text(each.to_json())
    (folder / "notes.txt").write_text("not a video")
    return folder


def test_cues_files_are_counted_in_a_folder_and_below(
    capsys: pytest.CaptureFixture[str], corpus: Path, tmp_path: Path
) -> None:
    table = tmp_path / "histogram.csv"
    code, out, err = run(capsys, str(corpus), "--json", "--csv", str(table))
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert (document["distinct"], document["possible"], document["videos"]) == (2, 37, 2)
    rows = list(csv.DictReader(table.open()))
    assert rows[0] == {
        "label": "wave",
        "pieces": "2",
        "videos": "2",
        "cues": "3",
        "seconds": "14.0",
    }


def test_the_histogram_is_printed(capsys: pytest.CaptureFixture[str], corpus: Path) -> None:
    code, out, _ = run(capsys, str(corpus))
    assert code == 0
    assert out.splitlines()[0].split()[0] == "wave"
    assert "2 in 2 videos" in out
    assert "Distinct actions at 0.6: 2 of 37" in out
    assert "46 of" in out


def test_what_cannot_be_used_is_listed_and_the_rest_counted(
    capsys: pytest.CaptureFixture[str], corpus: Path
) -> None:
    (corpus / "broken.cues.json").write_text("{")
    (corpus / "cut.cues.json").write_text(
        timeline("cut.mp4", [("sneeze", 0, 1, 0.9)], status=Status.PARTIAL).to_json()
    )
    code, out, err = run(capsys, str(corpus))
    assert code == 1
    assert "Distinct actions at 0.6: 3;" in out
    assert "broken.cues.json" in err
    assert "cut.cues.json: partial" in err
    (corpus / "broken.cues.json").unlink()
    assert run(capsys, str(corpus))[0] == 1
    (corpus / "cut.cues.json").write_text("{")
    assert run(capsys, str(corpus))[0] == 1
    assert run(capsys, str(corpus / "cut.cues.json"))[0] == 2


def test_a_copy_of_a_video_is_not_counted_again(
    capsys: pytest.CaptureFixture[str], corpus: Path
) -> None:
    first, copy = corpus / "first.cues.json", corpus / "zz copy.cues.json"
    shutil.copy(first, copy)
    code, out, err = run(capsys, str(corpus), "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert (document["videos"], document["pieces"]) == (2, 4)
    assert document["copies"] == [{"file": str(copy), "of": str(first)}]
    told = run(capsys, str(corpus))[2]
    assert told == f"{copy}: not counted, it is of the same video as {first}\n"


def test_a_copy_for_browsers_is_no_video_of_a_corpus(
    capsys: pytest.CaptureFixture[str], corpus: Path, tmp_path: Path
) -> None:
    clip = clips.write_clip(tmp_path / "first.mkv", clips.moving_square(5))
    write_proxy(clip, video.probe(clip), corpus / "first.proxy.mp4")
    code, out, err = run(capsys, str(corpus), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["videos"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "There is no 'nowhere'"),
        (["https://example.org/a.mp4"], "is an address. Download it first"),
        (["."], "holds no video"),
        ([".", "--threshold", "2"], "must lie in [0, 1]"),
        ([".", "--per", "0"], "more than 0 s"),
    ],
)
def test_a_mistake_is_one_sentence(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.weights
def test_videos_are_perceived_once_and_by_their_cues_where_they_have_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips.write_clip(tmp_path / "square.mp4", clips.moving_square(20))
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "cache"))
    code, out, _ = run(capsys, str(tmp_path), "--json", "--quiet")
    assert (code, json.loads(out)["distinct"], json.loads(out)["pieces"]) == (0, 0, 1)
    assert len(list((tmp_path / "cache" / "tracks").glob("*.json"))) == 1
    (tmp_path / "square.cues.json").write_text(FIRST.to_json())
    assert json.loads(run(capsys, str(tmp_path), "--json")[1])["distinct"] == 2
    assert json.loads(run(capsys, str(tmp_path), "--json", "--force")[1])["distinct"] == 0


@pytest.mark.weights
def test_the_sample_has_three_actions(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, str(sample.compose()), "--json", "--quiet")
    document = json.loads(out)
    assert code == 0
    assert {"walk", "jumping jack"} <= {action["label"] for action in document["actions"]}
