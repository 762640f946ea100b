"""MimeQA's split: what counts as text is decided by a person, proposed by the track."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import BadInput
from perception.text.review import Row, read_review, updated, verdicts_of, write_review
from perception.text.split import has_text, seen_texts, split_by_text

Seen = tuple[str, float, float, bool]


def track(*seen: Seen, status: Status = Status.COMPLETE) -> CueTrack:
    cues = tuple(
        Cue(f"t{number}", Span(start, end), text, 0.9, {"watermark": watermark})
        for number, (text, start, end, watermark) in enumerate(seen)
    )
    return CueTrack("screen_text", "screen_text", Source("screen_text"), cues, status=status)


def video(name: str) -> VideoInfo:
    return VideoInfo(name, name.encode().hex().ljust(64, "0"), 0.0, 60.0, 640, 360, 25.0)


LOGO = ("MIME TV", 0.0, 60.0, True)
BANNER = ("Free Theatre", 3.0, 9.0, False)


@pytest.mark.parametrize(
    ("texts", "verdicts", "expected"),
    [
        ((), {}, False),
        ((LOGO,), {}, False),
        ((LOGO, BANNER), {}, True),
        ((LOGO, BANNER), {"Free Theatre": False}, False),
        ((LOGO, BANNER), {"free theatre!": False}, False),
        ((LOGO,), {"MIME TV": True}, True),
        ((), {"": True}, True),
        ((BANNER,), {"": False}, False),
        ((), {"written by hand": True}, True),
        ((BANNER,), {"something else": False}, True),
    ],
)
def test_a_video_has_text_when_one_counts(
    texts: tuple[Seen, ...], verdicts: dict[str, bool], expected: bool
) -> None:
    assert has_text(track(*texts), verdicts) is expected


@pytest.mark.parametrize("status", [Status.PARTIAL, Status.FAILED])
def test_nothing_found_in_half_a_video_is_no_answer(status: Status) -> None:
    assert has_text(track(status=status)) is None
    assert has_text(track(BANNER, status=status)) is True
    assert has_text(track(status=status), {"": False}) is False


def test_appearances_and_misreadings_of_one_text_are_one() -> None:
    again = ("FREE THEATRF", 20.0, 22.0, False)
    banner, logo = sorted(seen_texts(track(BANNER, LOGO, again)), key=lambda seen: seen.text)
    assert banner.text == "Free Theatre"
    assert banner.spans == (Span(3, 9), Span(20, 22))
    assert (banner.is_proposed, logo.is_proposed) == (True, False)


def test_a_corpus_falls_into_three_parts() -> None:
    videos = [
        (video("banner.mp4"), track(BANNER)),
        (video("logo.mp4"), track(LOGO)),
        (video("half.mp4"), track(status=Status.PARTIAL)),
        (video("empty.mp4"), track(status=Status.NO_SIGNAL)),
    ]
    split = split_by_text(videos)
    assert split.with_text == ("banner.mp4",)
    assert split.without_text == ("logo.mp4", "empty.mp4")
    assert split.undecided == ("half.mp4",)
    assert split.unreviewed == ("banner.mp4", "logo.mp4")
    said = {video("banner.mp4").sha256: {"Free Theatre": True}}
    assert split_by_text(videos, said).unreviewed == ("logo.mp4",)


def test_verdicts_survive_another_run_and_other_videos_stay(tmp_path: Path) -> None:
    path = tmp_path / "review.csv"
    first, other = (video("first.mp4"), track(LOGO, BANNER)), (video("other.mp4"), track(BANNER))
    rows = updated(read_review(path), [first, other])
    assert [(row.text, row.meaningful) for row in rows] == [
        ("MIME TV", None),
        ("Free Theatre", None),
        ("Free Theatre", None),
    ]
    write_review(path, rows)

    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [each["proposed"] for each in cells] == ["no", "yes", "yes"]
    cells[1]["meaningful"], cells[1]["note"] = " No ", "a sponsor"
    cells.append({"sha256": first[0].sha256, "text": "chalked on the wall", "meaningful": "yes"})
    table = io.StringIO()
    writer = csv.DictWriter(table, list(cells[0]), delimiter=";")
    writer.writeheader()
    writer.writerows(cells)
    path.write_text(table.getvalue(), encoding="utf-8")

    misread = track(("FREE THEATRF", 3.0, 9.0, False))
    rows = updated(read_review(path), [(first[0], misread)])
    write_review(path, rows)
    rows = read_review(path)
    assert [(row.text, row.meaningful, row.note) for row in rows] == [
        ("FREE THEATRF", False, "a sponsor"),
        ("chalked on the wall", True, ""),
        ("Free Theatre", None, ""),
    ]
    said = verdicts_of(rows)
    assert split_by_text([(first[0], misread)], said).with_text == ("first.mp4",)
    assert rows[2].sha256 == other[0].sha256


def test_a_video_without_text_has_a_row_to_say_otherwise(tmp_path: Path) -> None:
    path, silent = tmp_path / "review.csv", (video("silent.mp4"), track())
    [row] = updated((), [silent])
    write_review(path, [Row(row.sha256, row.text, True, "a placard, too small to read", row.told)])
    again = updated(read_review(path), [silent])
    assert [(each.text, each.meaningful) for each in again] == [("", True)]
    assert split_by_text([silent], verdicts_of(again)).with_text == ("silent.mp4",)


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=30)


@given(
    st.lists(
        st.tuples(
            words.map(lambda text: " ".join(text.split())), st.sampled_from([True, False, None])
        ),
        max_size=5,
        unique_by=lambda row: row[0],
    )
)
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, bool | None]]
) -> None:
    path = tmp_path_factory.mktemp("review") / "review.csv"
    write_review(path, [Row("ab" * 32, text, verdict) for text, verdict in said])
    assert [(row.text, row.meaningful) for row in read_review(path)] == said


def test_a_text_of_any_length_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "review.csv"
    write_review(path, [Row("ab" * 32, "a, b" * 50_000, True)])
    assert read_review(path)[0].text == "a, b" * 50_000


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+49 30 1234", "-5 %", "مرحبا", "出口"])
def test_no_text_is_a_formula_to_a_spreadsheet(tmp_path: Path, text: str) -> None:
    path = tmp_path / "review.csv"
    write_review(path, [Row("ab" * 32, text)])
    with path.open(encoding="utf-8-sig", newline="") as file:
        [cells] = csv.DictReader(file)
    assert cells["text"] == f'"{text}"'
    assert read_review(path)[0].text == text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "meaningful,text,sha256\nperhaps,A,1\n",
            r"line 2: meaningful is yes, no or empty, not 'p",
        ),
        ("text,sha256\nA,1\n", "lacks the column 'meaningful'; it has text, sha256"),
        ("", "lacks the column 'meaningful'; it has none"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, table: str, message: str) -> None:
    path = tmp_path / "review.csv"
    path.write_text(table)
    with pytest.raises(BadInput, match=message):
        read_review(path)
