"""``cuelight report`` and ``compare``: from records and tables to files, and what they refuse."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reasoning.reports import sources
from reasoning.reports.given import Kind, Pairing
from reasoning.reports.roles import roles
from reasoning.results.exporting import export
from reasoning.results.from_records import outcomes
from reasoning.results.outcomes import Outcomes
from tests.reasoning.test_cli import run as run  # the fixture
from tests.reasoning.test_study import SECTIONS, made

pytest.importorskip("scipy", reason="needs the extra 'studies' (scipy)")
pytest.importorskip("matplotlib", reason="needs the extra 'studies' (matplotlib)")

Run = Callable[..., Any]

CONDITIONS = """
name: held
about: Does holding help?
conditions:
  - {name: none, cues: none}
  - {name: all}
  - {name: shuffled, control: shuffled}
  - {name: sure, thresholds: {action: 0.8}, policies: [routed]}
  - {name: blind, cues: none, video: false}
baseline: all
"""

MARGINS = """category,questions,before,after
all,297,50,48
Grounding the Imagined,43,1,3
Working Memory,21,3,5
Theory of Mind,23,12,8
Social Judgment,29,10,7
"""


@pytest.fixture
def records(tmp_path: Path) -> Path:
    study, _, _ = made(tmp_path, CONDITIONS, SECTIONS)
    study()
    study.records.close()
    return tmp_path / "r.sqlite"


def write_table(path: Path, verdicts: str, **columns: str) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "video", "verdict", *columns])
        for at, sign in enumerate(verdicts):
            row = ["right" if sign == "+" else "wrong", *columns.values()]
            writer.writerow([f"q{at}", f"v{at // 2}.mp4", *row])
    return path


# -------------------------------------------------------------------------------- what is read


def test_records_tell_what_the_conditions_are(records: Path) -> None:
    given = sources.load(records)
    assert (given.name, given.about, given.baseline) == ("held", "Does holding help?", "all")
    assert given.pairings == (Pairing(Kind.VIDEO, "blind", "none"),)
    assert given.controls == {"shuffled": ("all",)}
    assert given.swept == {"sure": "action ≥ 0.8, routed"}
    assert "What does he hold?" in given.asked.values()
    assert given.stamps[-1]["benchmark"] == "csv_questions"


def test_a_titled_study_is_paired() -> None:
    raw = {
        "recognizers": {"action": {}},
        "conditions": [
            {"name": "plain", "cues": "none"},
            {"name": "titled", "cues": "none", "benchmark": {"titles": "titles.json"}},
            {"name": "thinks", "cues": "none", "benchmark": {"chain_of_thought": True}},
            {"name": "both", "benchmark": {"titles": "t", "chain_of_thought": True}},
        ],
    }
    found = roles({"file": raw}, ("plain", "titled", "thinks", "both"))
    assert found.pairings == (
        Pairing(Kind.TITLE, "plain", "titled"),
        Pairing(Kind.CHAIN_OF_THOUGHT, "plain", "thinks"),
    )
    assert roles({}, ("plain",)).pairings == ()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_an_exported_table_holds_the_same_outcomes(records: Path, suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="needs the extra 'studies' (pyarrow)")
    with sources.contextlib.closing(sources.Records(records)) as store:
        expected = outcomes(store).rows
        export(store, records.with_suffix(f".{suffix}"))
    found = sources.load(records.with_suffix(f".{suffix}"))

    def bare(rows: Outcomes) -> set[str]:
        return {repr(replace(row, details={}, level="")) for row in rows.rows}

    assert bare(found.outcomes) == bare(Outcomes(expected))
    assert "What is first?" in found.asked.values()


def test_questions_without_a_video_are_taken_for_independent(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("question,verdict,category\na,right,Temporal\nb,wrong,Temporal\n")
    given = sources.load(path)
    assert [row.video for row in given.outcomes.rows] == ["a", "b"]
    assert [row.level for row in given.outcomes.rows] == ["Scene-Level"] * 2
    assert "2 of 2 outcomes name no video" in given.notes[0]


def test_a_persons_verdicts_split_the_videos(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.csv", "+-+-+-+-")
    review = tmp_path / "review.csv"
    review.write_text(
        "meaningful,text,video,proposed,status,sha256\n"
        "no,logo,v0.webm,yes,complete,0\n"
        ",banner,v1.mp4,yes,complete,1\n"
        ",,v2.mp4,no,partial,2\n"
        "no,,v3.mp4,,,3\n"
        "yes,sign,v3.mp4,yes,complete,3\n"
    )
    given = sources.load(table, sources.Wishes(text_review=review))
    assert given.with_text == {"v0.mp4": False, "v1.mp4": True, "v3.mp4": False}


# ------------------------------------------------------------------------------ the commands


def test_a_report_is_a_page_a_text_and_tables(run: Run, records: Path, tmp_path: Path) -> None:
    shown = run("report", str(records), "--out", str(tmp_path / "out"), "--json")
    assert shown.code == 0
    told = json.loads(shown.out)
    assert all(Path(each).is_file() for each in told["files"])
    assert {row["Condition"]: row["Avg"] for row in told["tables"]["accuracy"]} == {
        "none": "66.7",
        "all": "66.7",
        "shuffled": "66.7",
        "sure": "66.7",
        "blind": "66.7",
    }
    page = (tmp_path / "out" / "r.report.html").read_text(encoding="utf-8")
    assert "Does holding help?" in page
    assert (tmp_path / "out" / "r.report.tables" / "accuracy.csv").is_file()
    assert "no question changed" in (tmp_path / "out" / "r.report.md").read_text(encoding="utf-8")


def test_margins_say_that_nothing_can_be_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "before.csv").write_text(MARGINS)
    shown = run("report", "margins", str(tmp_path / "before.csv"), "--out", str(tmp_path))
    assert shown.code == 0
    assert "Clustered intervals not computable from margins" in shown.out
    assert "None of these differences can be told from noise at this size" in shown.out
    assert "p is never under 0.125" in shown.out
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in shown.out.splitlines()
        if line.startswith("| ")
    ]
    assert [(row[0], row[4], row[5], row[7]) for row in cells[1:]] == [
        ("all", "16.84", "16.16", "0.500"),
        ("Grounding the Imagined", "2.33", "6.98", "0.500"),
        ("Working Memory", "14.29", "23.81", "0.500"),
        ("Theory of Mind", "52.17", "34.78", "0.125"),
        ("Social Judgment", "34.48", "24.14", "0.250"),
    ]


def test_margins_that_cannot_be_noise_are_told_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(
        "category,questions,before,after\nsure,100,0,50\nopen,100,40,50\n"
    )
    out = run("report", "margins", str(tmp_path / "m.csv"), "--out", str(tmp_path)).out
    assert "Whatever the pairing, p is under 0.05 for sure." in out
    assert "For open it depends on the pairing" in out


def test_tags_go_round(run: Run, tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.csv", "+--+")
    shown = run("report", "tags", str(table), "--out", str(tmp_path), "--json")
    assert json.loads(shown.out) == {"page": str(tmp_path / "t.tags.html"), "wrong_answers": 2}
    tags = tmp_path / "tags.csv"
    tags.write_text(
        "condition,model,question,repeat,tags\nt,t,q1,0,language bias; too dark\nt,t,q2,0,\n"
    )
    told = json.loads(
        run("report", str(table), "--tags", str(tags), "--out", str(tmp_path), "--json").out
    )
    assert [(row["Source"], row["Answers"]) for row in told["tables"]["error_sources"]] == [
        ("imagined object", "0"),
        ("hallucinated story", "0"),
        ("social nuance", "0"),
        ("language bias", "1"),
        ("too dark", "1"),
    ]


def test_two_runs_are_paired_by_question_though_the_models_differ(run: Run, tmp_path: Path) -> None:
    first = write_table(tmp_path / "first.csv", "-" * 12, model="small")
    second = write_table(tmp_path / "second.csv", "+" * 11, model="large")
    shown = run("compare", str(first), str(second), "--out", str(tmp_path))
    assert shown.code == 0
    assert "second: second: +100.0 points" in shown.out
    assert "over 11 questions: gain" in shown.out
    text = (tmp_path / "second_against_first.report.md").read_text(encoding="utf-8")
    assert "11 questions are in both runs, 1 only in the first and 0 only in the second" in text


def scores(path: Path, categories: dict[str, tuple[str, str]]) -> Path:
    """Outcomes under ``none`` and ``cues``: a sign for each question, one question a video."""
    rows = [
        {
            "question": f"{category}-{at}",
            "video": f"v{at}.mp4",
            "category": category,
            "condition": condition,
            "score": float(sign == "+"),
        }
        for category, signs in categories.items()
        for condition, own in zip(("none", "cues"), signs, strict=True)
        for at, sign in enumerate(own)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_two_runs_tell_what_each_trades_and_the_difference(run: Run, tmp_path: Path) -> None:
    grounding, mind = "Grounding the Imagined", "Theory of Mind"
    first = scores(
        tmp_path / "old.jsonl",
        {grounding: ("----", "+---"), mind: ("++++", "+++-"), "x": ("-", "+")},
    )
    second = scores(tmp_path / "new.jsonl", {grounding: ("+---", "+++-"), mind: ("++++", "++--")})
    shown = run("compare", str(first), str(second), "--out", str(tmp_path))
    assert shown.code == 0
    text = (tmp_path / "new_against_old.report.md").read_text(encoding="utf-8")
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.partition("Grounding against reasoning")[2].splitlines()
        if line.startswith("|")
    ]
    told = {line[0]: (line[1], line[3], line[4], line[6]) for line in lines if len(line) == 7}
    assert told["new: none less old: none"] == ("+25.0", "4", "+0.0", "4")
    assert told["old: cues against none"] == ("+25.0", "4", "−25.0", "4")
    assert told["new: cues against none"] == ("+50.0", "4", "−50.0", "4")
    beyond = told["new: cues less old: cues, each against its own"]
    assert beyond == ("+25.0", "4", "−25.0", "4")
    assert "each against its own: grounding +25.0 points (" in shown.out


def test_two_runs_of_vimu_are_compared_task_by_task(run: Run, tmp_path: Path) -> None:
    def written(name: str, selected: list[str]) -> Path:
        chosen = {"task": "EG", "selected": selected, "gold": ["A", "B"]}
        score = len(selected) / 2
        rows = [
            {"question": "q", "video": "v", "category": "EG", "score": score, "details": chosen},
            {
                "question": "r",
                "video": "w",
                "category": "RM",
                "score": 1.0,
                "details": {"task": "RM"},
            },
        ]
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return tmp_path / name

    first, second = written("old.jsonl", ["A"]), written("new.jsonl", ["A", "B"])
    assert run("compare", str(first), str(second), "--out", str(tmp_path)).code == 0
    with (tmp_path / "new_against_old.report.tables" / "vimu_ours.csv").open() as file:
        told = {row["Model"]: (row["EG"], row["RM"]) for row in csv.DictReader(file)}
    assert told == {"old: answers": ("0.5", "1.0"), "new: answers": ("1.0", "1.0")}


@pytest.mark.parametrize("pair", ["video:a:b: c", "video:a:b:a: d"])
def test_conditions_whose_names_hold_colons_can_be_paired(
    run: Run, tmp_path: Path, pair: str
) -> None:
    without, having = ("a", "b: c") if pair.endswith("c") else ("a:b", "a: d")
    rows = [
        {"question": f"q{n}", "video": f"v{n}", "condition": name, "score": n % 2}
        for name in ("a", "a:b", "b: c", "a: d")
        for n in range(3)
    ]
    table = tmp_path / "t.jsonl"
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert sources.load(table, sources.Wishes(pairs=(pair,))).pairings == (
        Pairing(Kind.VIDEO, without, having),
    )
    assert run("report", str(table), "--pair", pair, "--out", str(tmp_path)).code == 0


def test_one_id_of_two_questions_is_not_paired(run: Run, tmp_path: Path) -> None:
    """The second table has lost its first row, so that all ids of rows have moved up."""

    def written(name: str, questions: list[str]) -> Path:
        rows = [
            {"question": f"q/{n}", "question_text": words, "video": f"v{n}", "score": 1.0}
            for n, words in enumerate(questions)
        ]
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return tmp_path / name

    first = written("first.jsonl", ["Who?", "What?", "Why?", "Where?"])
    moved = written("moved.jsonl", ["What?", "Why?", "Where?"])
    said = run("compare", str(first), str(moved), "--out", str(tmp_path))
    assert said.code == 2
    assert "no question in common: q/0, q/1, q/2 stand for other words in each" in said.err
    partly = written("partly.jsonl", ["Who?", "What?", "Where?", "Why?"])
    shown = run("compare", str(first), str(partly), "--out", str(tmp_path), "--json")
    assert shown.code == 0
    page = next(tmp_path.glob("*.md")).read_text(encoding="utf-8")
    assert "2 questions have the same id and other words in each run, and are left out" in page
    assert "2 questions are in both runs, 0 only in the first and 0 only in the second" in page


def test_stamps_of_two_runs_are_compared(run: Run, records: Path, tmp_path: Path) -> None:
    shown = run("compare", str(records), str(records), "--out", str(tmp_path), "--json")
    told = json.loads(shown.out)["words"]
    assert told["stamp"] == ["The stamps of both are the same."]
    assert all("no question changed" in each for each in told["differences"][1:])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "nowhere.sqlite"), "There is no file 'nowhere.sqlite'"),
        (("report", "notes.txt"), "There is no table of outcomes with the suffix '.txt'"),
        (("report", "empty.csv"), "holds no outcome"),
        (("report", "t.csv", "--baseline", "other"), "There is no condition 'other'"),
        (("report", "t.csv", "--pair", "video:a"), "--pair takes KIND:WITHOUT:WITH"),
        (("report", "t.csv", "--judge", "gpt"), "Verdicts of one judge are in records only"),
        (("report", "t.csv", "--tags", "t.csv"), "t.csv lacks the columns condition"),
        (("report", "t.csv", "--text-review", "none.csv"), "There is no table 'none.csv'"),
        (("report", "broken.jsonl"), "broken.jsonl, line 1: no JSON"),
        (("report", "score.csv"), "score.csv, line 2: score must be a number or empty, not 'x'"),
        (("report", "columns.csv"), "columns.csv, line 1: it names the column 'score' twice"),
        (("report", "huge.csv"), "huge.csv, line 2: score must be a number or empty, not 'x'"),
        (("report", "twice.csv"), "twice.csv, line 3: question 'a' stands under 'answers'"),
        (("report", "odd.jsonl"), "odd.jsonl, line 1: details must be an object, not [1]"),
        (("report", "endless.jsonl"), "endless.jsonl, line 1: repeat must be a whole number"),
        (("report", "margins", "t.csv"), "t.csv lacks the columns category"),
        (("report", "cells.csv"), "cells.csv, line 2: it has 3 cells, and line 1 names 2 columns"),
        (("report", "margins", "long.csv"), "questions must be a whole number from 0 to 999999999"),
        (("report", "margins", "m.csv"), "m.csv, line 2: of 3 questions 4 and 1 cannot be right"),
        (("compare", "t.csv", "u.csv"), "No question has a score in both runs"),
        (("compare", "t.csv", "u.csv", "--conditions", "x", "u"), "There is no condition 'x'"),
    ],
)
def test_a_mistake_is_one_sentence(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "t.csv", "+-")
    (tmp_path / "u.csv").write_text("question,verdict\nother,right\n")
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "empty.csv").write_text("question,score\n")
    (tmp_path / "broken.jsonl").write_text("{")
    (tmp_path / "score.csv").write_text("question,score\na,x\n")
    (tmp_path / "columns.csv").write_text("question,score,score\na,1,0\n")
    (tmp_path / "huge.csv").write_text(f"question,score,answer\na,x,{'a' * 200_000}\n")
    (tmp_path / "twice.csv").write_text("question,score\na,1\na,0\n")
    (tmp_path / "odd.jsonl").write_text('{"question": "a", "score": 1, "details": [1]}')
    (tmp_path / "endless.jsonl").write_text('{"question": "a", "score": 1, "repeat": 1e999}')
    (tmp_path / "m.csv").write_text("category,questions,before,after\na,3,4,1\n")
    (tmp_path / "cells.csv").write_text("question,score\na,1,He waves\n")
    (tmp_path / "long.csv").write_text(f"category,questions,before,after\na,{'9' * 5000},4,1\n")
    shown = run(*arguments)
    assert shown.code == 2
    assert message in shown.err
