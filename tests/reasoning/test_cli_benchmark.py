"""``cuelight benchmark``: what is told of a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perception.errors import BadInput
from reasoning.benchmarks import csv_questions
from reasoning.cli import main
from tests.reasoning.test_choices import INTENT


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["benchmark", *arguments])
    return int(end.value.code or 0)


def test_every_benchmark_tells_where_it_is_to_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--json") == 0
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert {"csv_questions", "intentqa", "mimeqa", "social_iq2", "vimu"} <= set(listed)
    assert all(each["source"] and each["layout"] and each["about"] for each in listed.values())
    assert run("list") == 0
    assert "LIQIIIII/ViMU" in capsys.readouterr().out


def test_a_whole_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "val.csv").write_text(INTENT)
    (tmp_path / "videos").mkdir()
    for name in ("13.mp4", "70.webm"):
        (tmp_path / "videos" / name).touch()
    assert run("check", "intentqa", str(tmp_path)) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "2 questions about 2 videos",
        "      1 CH",
        "      1 TP&TN",
        "2 of 2 videos are there",
    ]
    assert told.err == ""


def test_missing_videos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test.csv").write_text(INTENT)
    assert run("check", "intentqa", str(tmp_path), "--set", "split=test", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["questions"], told["videos_found"]) == (2, 0)
    assert [fault["path"] for fault in told["missing"]] == ["videos/13.mp4", "videos/70.mp4"]
    assert run("check", "intentqa", str(tmp_path), "--set", "split=test") == 1
    told = capsys.readouterr().err
    assert "missing: videos/13.mp4" in told
    assert "NExT-QA" in told
    assert "can be run without" in told


def test_a_folder_without_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "mimeqa", str(tmp_path)) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "There is no file" in told.err
    assert "mimeqa needs: annotation_final.csv" in told.err
    assert told.err.count("Hugging Face") == 1


def test_a_table_that_is_not_as_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "val.csv").write_text(INTENT.replace(",TN,", ",XX,"))
    assert run("check", "intentqa", str(tmp_path)) == 1
    told = capsys.readouterr().err
    assert "val.csv, line 3: type must be one of CW, CH, TP, TN, not 'XX'" in told
    assert told.count("https://github.com/JoseponLee/IntentQA") == 1
    assert run("check", "intentqa", str(tmp_path), "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["missing"]) == (0, [])
    assert "line 3" in found["broken"]


def test_a_folder_without_any_file_of_vimu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", "vimu", str(tmp_path), "--set", "tasks=[OE]") == 1
    told = capsys.readouterr()
    assert "missing: metadata/vimu_oe.jsonl" in told.err
    assert "vimu_eg" not in told.err.split("needs:")[0]
    assert told.out.startswith("0 questions")
    assert "can be run without" not in told.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mimeq", "x"), "Did you mean 'mimeqa'"),
        (("mimeqa", "x", "--set", "colour=red"), "colour"),
        (("csv_questions", "none.csv"), "a CSV file with the columns"),
        (("mimeqa", "nowhere"), "There is no folder 'nowhere'"),
        (("mimeqa", __file__), "is a file, not a folder"),
    ],
)
def test_mistakes(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", *arguments) == 2
    assert said in capsys.readouterr().err


def test_a_folder_in_the_place_of_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.csv").touch()
    assert run("check", "csv_questions", str(tmp_path)) == 2
    assert "is a folder, not a CSV file. It holds mine.csv." in capsys.readouterr().err
    benchmark = csv_questions.build(csv_questions.Options(table=str(tmp_path)))
    with pytest.raises(BadInput, match="is a folder, where a file is wanted"):
        benchmark.items()
