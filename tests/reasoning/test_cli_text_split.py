"""``cuelight text-split``: a corpus, a table that a person edits, and the split that follows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, Status, VideoInfo
from tests.perception import clips
from tests.reasoning import commands
from tests.reasoning.commands import Ran, Run


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def command(*arguments: str) -> Ran:
        return commands.run(capsys, "text-split", *arguments, "--quiet")

    return command


def write_timeline(
    folder: Path, name: str, *texts: str, watermark: bool = False, status: Status = Status.COMPLETE
) -> None:
    cues = tuple(
        Cue(f"screen_text-{number}", Span(1, 4), text, 0.9, {"watermark": watermark})
        for number, text in enumerate(texts, start=1)
    )
    track = CueTrack("screen_text", "screen_text", Source("screen_text"), cues, status=status)
    info = VideoInfo(f"{name}.mp4", name.encode().hex().ljust(64, "0"), 0.0, 9.0, 64, 48, 10.0)
    folder.mkdir(exist_ok=True)
    timeline = CueTimeline(info, (track,))
    (folder / f"{name}.cues.json").write_text(timeline.to_json(), encoding="utf-8")


def test_a_person_edits_the_table_and_the_split_follows(run: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    write_timeline(corpus, "banner", "Free Theatre")
    write_timeline(corpus, "logo", "MIME TV", watermark=True)
    write_timeline(corpus, "silent")
    code, out, err = run("corpus", "--review", "texts.csv")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "With text: 1",
        "  banner.mp4 (not reviewed)",
        "Without text: 2",
        "  logo.mp4 (not reviewed)",
        "  silent.mp4",
        "Undecided, not read whole: 0",
        "Resting on texts that nobody has looked at: 2",
        "Wrote texts.csv",
    ]
    with (tmp_path / "texts.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["text"], row["proposed"]) for row in rows] == [
        ('"Free Theatre"', "yes"),
        ('"MIME TV"', "no"),
        ("", "no"),
    ]
    for row, verdict in zip(rows, ("no", "yes", ""), strict=True):
        row["meaningful"] = verdict
    with (tmp_path / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    code, out, _ = run("corpus", "--review", "texts.csv", "--json")
    assert code == 0
    assert json.loads(out) == {
        "with_text": ["logo.mp4"],
        "without_text": ["banner.mp4", "silent.mp4"],
        "undecided": [],
        "unreviewed": [],
        "unusable": [],
        "review": "texts.csv",
    }


def test_a_file_of_cues_is_taken_itself(run: Run, tmp_path: Path) -> None:
    write_timeline(tmp_path, "banner", "Free Theatre")
    code, out, err = run("banner.cues.json", "--review", "texts.csv")
    assert (code, err) == (0, "")
    assert out.startswith("With text: 1")


def test_what_was_corrected_on_the_page_is_read_as_corrected(run: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    said = {
        "channel": {"screen_text-1": {"watermark": True}},
        "stripes": {"screen_text-1": {"verdict": "wrong"}},
        "banner": {"screen_text-1": {"text": "Free Theatre"}},
    }
    for name, cues in said.items():
        write_timeline(corpus, name, "Free Theafre")
        review = {"schema": "cuelight.review/1", "cues": cues}
        (corpus / f"{name}.review.json").write_text(json.dumps(review))
    code, out, _ = run("corpus", "--review", "texts.csv", "--json")
    split = json.loads(out)
    assert (code, list(split["with_text"])) == (0, ["banner.mp4"])
    assert sorted(split["without_text"]) == ["channel.mp4", "stripes.mp4"]
    assert "Free Theatre" in (tmp_path / "texts.csv").read_text(encoding="utf-8-sig")
    other = {"text": "Another theatre", "start_s": 1, "end_s": 2}
    cues = {"screen_text-1": {"text": "Opera", "of": other}, "speech-1": {"verdict": "right"}}
    review = {"schema": "cuelight.review/1", "cues": cues}
    (corpus / "banner.review.json").write_text(json.dumps(review))
    code, _, err = run("corpus", "--review", "again.csv", "--json")
    assert "banner.review.json: 1 correction is of a cue that is not, or no longer, there" in err
    assert "Opera" not in (tmp_path / "again.csv").read_text(encoding="utf-8-sig")
    foreign = {"schema": "cuelight.review/1", "video": {"sha256": "ff" * 32}, "cues": {}}
    (corpus / "banner.review.json").write_text(json.dumps(foreign))
    code, _, err = run("corpus", "--review", "texts.csv")
    assert code == 2
    assert "is the review of another video" in err


def test_what_was_not_read_whole_stays_undecided(run: Run, tmp_path: Path) -> None:
    write_timeline(tmp_path / "corpus", "half", status=Status.PARTIAL)
    code, out, _ = run("corpus")
    assert code == 1
    assert "Undecided, not read whole: 1\n  half.mp4" in out


def test_videos_are_read_and_a_file_without_use_does_not_stop_the_others(
    run: Run, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    clips.write_clip(corpus / "square.mp4", clips.moving_square(10))
    (corpus / "broken.mp4").write_bytes(b"no video")
    (corpus / "notes.txt").write_text("not looked at")
    code, out, err = run("corpus", "--json")
    assert code == 2
    split = json.loads(out)
    assert split["without_text"] == ["square.mp4"]
    assert split["unusable"] == ["corpus/broken.mp4"]
    assert err.count("Error: ") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "There is no file 'nowhere'"),
        ((".",), "There is neither a video (.3gp, .avi"),
    ],
)
def test_a_corpus_that_is_none_is_one_sentence(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_table_with_a_slip_names_its_line(run: Run, tmp_path: Path) -> None:
    write_timeline(tmp_path / "corpus", "banner", "Free Theatre")
    (tmp_path / "texts.csv").write_text("meaningful,text,sha256\nmaybe,A,00\n")
    code, _, err = run("corpus", "--review", "texts.csv")
    assert code == 2
    assert "line 2: meaningful is yes, no or empty, not 'maybe'" in err
    assert (tmp_path / "texts.csv").read_text().startswith("meaningful,text,sha256\nmaybe")
