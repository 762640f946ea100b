"""Judging recorded answers, and how far judges agree with people."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from perception.errors import BadInput, CuelightError, UnknownName
from reasoning.answer import Answer, FailureKind, Unscored, Verdict
from reasoning.benchmark import Judging
from reasoning.benchmarks import csv_questions
from reasoning.cli import main
from reasoning.config import load
from reasoning.judge import Judge, benchmark_of, judge_all, open_answers, pending, refuse_small
from reasoning.records import Call, Records
from reasoning.results.from_records import outcomes
from reasoning.scoring import judge_agreement
from reasoning.videollms.scripted import Options, Rule, Scripted
from tests.reasoning.chat_server import says, serving

REFERENCES = {"q1": "A rope.", "q2": "A wall.", "q3": "A dog."}


def study(
    tmp_path: Path, answers: Sequence[str] = ("A rope", "A box", "A cat"), conditions: int = 1
) -> Path:
    """Records as a study leaves them: open questions, each answered under each condition."""
    path = tmp_path / "study.sqlite"
    records = Records(path)
    records.stamp({"study": "s", "benchmark": "csv_questions", "file": {}})
    for number, text in enumerate(answers):
        id = f"q{number + 1}"
        reference = REFERENCES.get(id, "A tree.")
        call = Call(id, f"v{number}", "", text, "m", {})
        records.keep(call, Answer(text, "m", True), 0.1)
        for condition in range(conditions):
            facts = {
                "order": [condition, number, 0],
                "model": "m",
                "video": f"v{number}.mp4",
                "category": "GI",
                "question": f"What is it ({id})?",
                "reference": reference,
                "options": [],
                "details": {},
            }
            records.plan(f"c{condition}", id, 0, call, facts)
    records.close()
    return path


def scripted(*rules: tuple[str, str], default: str | None = None, name: str = "judge-1") -> Judge:
    made = tuple(Rule(pattern, reply) for pattern, reply in rules)
    return Judge(Scripted(Options(made, default, name)))


def judged(path: Path, judge: Judge) -> int:
    records = Records(path)
    benchmark = benchmark_of(records)
    todo = pending(records, benchmark, judge.name)
    try:
        return judge_all(records, benchmark, judge, todo, lambda done: None)
    finally:
        records.close()


def verdicts(path: Path, judge: str) -> list[float | None]:
    records = Records(path)
    try:
        rows = outcomes(records, judge).rows
    finally:
        records.close()
    return [row.score for row in rows]


def test_answers_are_judged_from_the_records_alone(tmp_path: Path) -> None:
    path = study(tmp_path, conditions=2)
    judge = scripted(("A box", "FALSE."), ("A cat", "I think it is not FALSE"), default="TRUE.")
    assert judged(path, judge) == 1
    assert verdicts(path, "judge-1") == [1.0, 0.0, None] * 2
    llm = judge.llm
    assert isinstance(llm, Scripted)
    # Two conditions share each answer; it is judged once.
    assert len(llm.requests) == 3
    assert llm.requests[0].schema is not None
    assert "What is it (q1)?" in llm.requests[0].prompt()


def test_what_was_judged_is_not_asked_again_but_what_failed_is(tmp_path: Path) -> None:
    path = study(tmp_path)
    first = scripted(("A rope", "TRUE"), ("A box", "well"))
    assert judged(path, first) == 2
    again = scripted(default="FALSE")
    assert judged(path, again) == 0
    assert isinstance(again.llm, Scripted)
    assert ["A cat" in request.prompt() for request in again.llm.requests] == [True]
    assert verdicts(path, "judge-1") == [1.0, None, 0.0]


def test_an_unclear_reply_is_asked_again_where_one_says_so(tmp_path: Path) -> None:
    path = study(tmp_path)
    assert judged(path, scripted(("A rope", "TRUE"), default="well")) == 2
    records = Records(path)
    benchmark, judge = benchmark_of(records), scripted(default="FALSE")
    assert pending(records, benchmark, judge.name) == []
    todo = pending(records, benchmark, judge.name, again=True)
    assert [each.answer.text for each in todo] == ["A box", "A cat"]
    assert judge_all(records, benchmark, judge, todo, lambda done: None) == 0
    records.close()
    assert verdicts(path, "judge-1") == [1.0, 0.0, 0.0]


def test_answers_that_a_judges_server_rejects_hold_up_no_other(tmp_path: Path) -> None:
    names = [f"a{n}" for n in range(6)]
    rules = tuple(Rule(name, "", FailureKind.REJECTED) for name in names[:5])
    path = study(tmp_path, names)
    judge = Judge(Scripted(Options(rules, "TRUE", "judge-1")))
    with pytest.raises(CuelightError, match="5 answers in a row"):
        judged(path, judge)
    assert judged(path, judge) == 5
    assert verdicts(path, "judge-1") == [None] * 5 + [1.0]


def test_a_judge_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    records = Records(path)
    records.stamp({"study": "s", "benchmark": "csv_questions"})
    for number in range(7):
        call = Call(f"q{number}", "", "", "", "m", {})
        records.keep(call, Answer("x", "m", True), 0.1)
        facts = {"question": "Q?", "reference": "R", "options": [], "order": [0, number, 0]}
        records.plan("c", f"q{number}", 0, call, facts)
    records.close()
    gone = scripted()
    with pytest.raises(CuelightError, match="5 answers in a row could not be judged"):
        judged(path, gone)
    assert isinstance(gone.llm, Scripted)
    assert len(gone.llm.requests) == 5


def test_a_refusal_of_the_judge_is_no_verdict(tmp_path: Path) -> None:
    rule = Rule("", "no", FailureKind.REFUSED)
    judge = Judge(Scripted(Options((rule,))))
    benchmark = csv_questions.build(csv_questions.Options())
    records = Records(study(tmp_path))
    (first, *_) = open_answers(records, benchmark)
    records.close()
    verdict = judge(benchmark, first.item, first.asked)
    assert isinstance(verdict, Unscored)
    assert "refused" in verdict.reason


def test_majority_of_three_judges_and_a_tie_of_two(tmp_path: Path) -> None:
    path = study(tmp_path)
    judged(path, scripted(("A box", "FALSE"), default="TRUE", name="one"))
    judged(path, scripted(default="TRUE", name="two"))
    records = Records(path)
    assert [row.score for row in outcomes(records).rows] == [1.0, None, 1.0]
    records.close()
    judged(path, scripted(("A rope", "FALSE"), ("A box", "FALSE"), default="TRUE", name="three"))
    records = Records(path)
    assert [row.score for row in outcomes(records).rows] == [1.0, 0.0, 1.0]
    assert [row.score for row in outcomes(records, "three").rows] == [0.0, 0.0, 1.0]
    records.close()


def test_points_of_two_judges_are_meant(tmp_path: Path) -> None:
    records = Records(study(tmp_path))
    key: Any = records.cells()[0][3]
    records.judge(key, "one", Verdict(5 / 9, "", "one", {"task": "OE", "raw": 5}))
    records.judge(key, "two", Verdict(0.0, "", "two", {"task": "OE", "raw": -2}))
    row = outcomes(records).rows[0]
    assert row.score == pytest.approx(2.5 / 9)
    assert row.details == {"raw": 1.5}
    records.close()


def test_the_embedded_default_is_refused_as_a_judge() -> None:
    with pytest.raises(BadInput, match=r"135 million parameters.*--model gpt-4o"):
        refuse_small(load())
    refuse_small(load(overrides=["videollm=scripted"]))


def test_nothing_is_sent_elsewhere_unasked(tmp_path: Path) -> None:
    from reasoning.videollms.openai_compatible import OpenAICompatible
    from reasoning.videollms.openai_compatible import Options as Server

    pytest.importorskip("openai")
    judge = Judge(OpenAICompatible(Server()))
    benchmark = csv_questions.build(csv_questions.Options())
    asked = Judging("Judge.", "Is it?", {})
    records = Records(study(tmp_path))
    (first, *_) = open_answers(records, benchmark)
    records.close()
    with pytest.raises(BadInput, match=r"api\.openai\.com.*Nothing was sent"):
        judge(benchmark, first.item, asked)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["judge", *arguments])
    return int(end.value.code or 0)


def test_the_command_judges_with_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("openai")
    path = study(tmp_path)
    right = {"correct": True, "explanation": "So."}
    replies = [says(json.dumps(each)) for each in (right, {**right, "correct": False})]
    with serving(*replies, says("maybe")) as served:
        options = ("--base-url", served.url, "-m", "tiny", "--json", "-q")
        assert run("answers", str(path), "--dry-run", *options) == 0
        assert json.loads(capsys.readouterr().out) == {"judge": "tiny", "to_judge": 3}
        assert run("answers", str(path), *options) == 1
        assert json.loads(capsys.readouterr().out) == {"judge": "tiny", "judged": 2, "unclear": 1}
        assert run("answers", str(path), *options) == 0
    assert verdicts(path, "tiny") == [1.0, 0.0, None]
    schema = served.bodies[0]["response_format"]["json_schema"]["schema"]
    assert "correct" in schema["properties"]


def test_the_command_refuses_the_embedded_model_and_missing_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("answers", str(study(tmp_path))) == 2
    assert "135 million parameters" in capsys.readouterr().err
    assert run("answers", str(tmp_path / "none.sqlite"), "-m", "gpt-4o") == 2
    assert "cuelight ablate makes them" in capsys.readouterr().err


def table(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_agreement_that_the_paper_reports(tmp_path: Path) -> None:
    """92.0 % of 352 are 324; Wilson's interval by hand: centre (p + z²/2n) / (1 + z²/n) = 0.9159,
    half width 0.0285."""
    rows = ["right,right"] * 250 + ["wrong,wrong"] * 74 + ["right,wrong"] * 8
    rows += ["wrong,right"] * 20
    path = table(tmp_path / "human.csv", "human,judge\n" + "\n".join(rows) + "\n")
    (pair,) = judge_agreement.together(judge_agreement.read(path)).pairs
    assert (pair.share.n, round(pair.share.value, 4)) == (352, 0.9205)
    assert pair.share.interval.low == pytest.approx(0.8875, abs=0.0005)
    assert pair.share.interval.high == pytest.approx(0.9444, abs=0.0005)
    assert (pair.only_first, pair.only_second) == (8, 20)
    # Chance: (258 * 270 + 94 * 82) / 352² = 0.6244
    assert pair.kappa.coefficient == pytest.approx((0.9205 - 0.6244) / (1 - 0.6244), abs=0.0005)


def test_several_people_and_judges_with_gaps(tmp_path: Path) -> None:
    path = table(
        tmp_path / "human.csv",
        "video,human,human_2,judge_a,judge_b\nv1,1,yes,TRUE,1\nv1,0,,FALSE,1\nv2,,no,False,0\n",
    )
    found = judge_agreement.together(judge_agreement.read(path))
    named = {(pair.first, pair.second): pair for pair in found.pairs}
    assert named["human", "human_2"].share.n == 1
    assert named["human", "judge_b"].share.value == 0.5
    assert named["judge_a", "judge_b"].share.clusters == 2
    # Judges: coincidences 1-1: 2, 0-0: 2, 1-0: 2 of 6; alpha = 1 - 5 * 2 / (36 - 9 - 9)
    assert found.alpha_judges == pytest.approx(1 - 5 * 2 / 18)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("human,judge\nmaybe,1\n", "line 2: human must be one of true"),
        ("human\n1\n", "a column judge; it has human"),
        ("human,judge\n", "holds no row"),
        ("human,judge\n1,\n,1\n", "No answer is rated by two of human, judge"),
    ],
)
def test_tables_that_cannot_be_compared(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        judge_agreement.together(judge_agreement.read(table(tmp_path / "t.csv", text)))


def test_a_sample_is_drawn_filled_in_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, sheet = study(tmp_path, conditions=2), tmp_path / "human.csv"  # that share the answers
    judged(path, scripted(("A box", "FALSE"), default="TRUE"))
    assert run("sample", str(path), "-o", str(sheet), "--count", "9") == 0
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    assert {"question", "condition", "asked", "reference", "answer", "human"} <= set(rows[0])
    assert run("sample", str(path), "-o", str(sheet)) == 2
    for row in rows:
        row["human"] = "wrong" if row["answer"] == "A cat" else "right"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    capsys.readouterr()
    assert run("agreement", str(sheet), "--records", str(path), "--json") == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert (pair["second"], pair["share"]["n"]) == ("judge-1", 3)
    assert pair["share"]["value"] == pytest.approx(1 / 3)
    assert run("agreement", str(sheet), "--records", str(path)) == 0
    assert "92.0 % of 352" in capsys.readouterr().out


def test_judges_are_compared_without_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = study(tmp_path, conditions=2)
    judged(path, scripted(("A box", "FALSE"), default="TRUE", name="one"))
    assert run("agreement", "--records", str(path)) == 2
    assert "rated by two of one" in capsys.readouterr().err
    judged(path, scripted(("A rope", "well"), default="TRUE", name="two"))
    assert run("agreement", "--records", str(path), "--json") == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert (pair["first"], pair["second"]) == ("one", "two")
    assert (pair["share"]["n"], pair["share"]["value"], pair["only_second"]) == (2, 0.5, 1)
    records = Records(path)
    records.judge(records.cells()[0][3], "csv_questions", Verdict(0.5, "", "csv_questions"))
    assert {name for rated in judge_agreement.judged(records) for name in rated.judges} == {
        "one",
        "two",
    }
    records.close()
    assert run("agreement") == 2
    assert "--records of a study, or both" in capsys.readouterr().err


def test_rows_that_the_records_do_not_hold(tmp_path: Path) -> None:
    path = study(tmp_path, conditions=1)
    judged(path, scripted(default="TRUE"))
    records = Records(path)
    other = table(tmp_path / "t.csv", "question,human\nq9,1\n")
    with pytest.raises(BadInput, match="line 2: question 'q9' is not in the records"):
        judge_agreement.read(other, records)
    own = table(tmp_path / "t.csv", "question,human\nq1,1\n")
    (rated,) = judge_agreement.read(own, records)
    assert rated.judges == {"judge-1": True}
    with pytest.raises(UnknownName, match="judge-1"):
        judge_agreement.read(own, records, "judge-2")
    records.close()


def test_points_are_no_right_or_wrong(tmp_path: Path) -> None:
    records = Records(study(tmp_path))
    key: Any = records.cells()[0][3]
    records.judge(key, "rubric", Verdict(0.5, "", "rubric"))
    own = table(tmp_path / "t.csv", "question,human\nq1,1\n")
    with pytest.raises(BadInput, match="gives points"):
        judge_agreement.read(own, records)
    records.close()
