"""Studies: files, conditions, and what a run asks, records and tells."""

from __future__ import annotations

import contextlib
import csv
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import BadInput, CuelightError, UnknownName
from perception.shipped import shipped
from reasoning.judge import Judge, benchmark_of, judge_all, pending
from reasoning.outgoing import frame_times
from reasoning.records import Records
from reasoning.reports import outcome_tables, sources
from reasoning.results.exporting import COLUMNS, export
from reasoning.results.from_records import outcomes
from reasoning.results.importing import import_table
from reasoning.results.outcomes import Outcomes, State
from reasoning.scoring import judge_agreement
from reasoning.studies.alone import alone
from reasoning.studies.conditions import conditions_of
from reasoning.studies.plan import plan_of
from reasoning.studies.run import Run
from reasoning.studies.stamp import stamp
from reasoning.study import Study, load
from reasoning.videollm import Request
from reasoning.videollms import scripted
from tests.perception import clips
from tests.reasoning.http_server import closed_address

KINDS = ("action", "screen_text", "speech")

QUESTIONS = """video,id,question,reference,option_a,option_b,answer,category
one.mp4,g,What does he hold?,,a rope,a cup,A,Grounding the Imagined
one.mp4,i,Why does he pull?,,to win,to rest,A,Intention
two.mp4,t,What is first?,,he waves,he bows,B,Temporal
"""

SECTIONS = """
recognizers: {action: {}, speech: {}}
benchmark: csv_questions
benchmarks:
  csv_questions: {table: "{here}/questions.csv"}
videollm: scripted
videollms:
  scripted: {default: "A"}
"""


def written(
    folder: Path, conditions: str, sections: str = SECTIONS, questions: str = QUESTIONS
) -> Path:
    (folder / "questions.csv").write_text(questions)
    for number, name in enumerate(("one.mp4", "two.mp4")):
        if not (folder / name).exists():
            clips.write_clip(folder / name, clips.moving_square(5 + number))
    (folder / "study.yaml").write_text(f"{sections}\n{conditions}\n")
    return folder / "study.yaml"


def timeline_of(path: Path, status: Status = Status.COMPLETE) -> CueTimeline:
    info = VideoInfo(path.name, path.stem * 4, 0.0, 10.0, 64, 48, 25.0)
    actions = tuple(
        Cue(f"action-{at}", Span(at, at + 1.0), f"does {path.stem} {at}", 0.9) for at in range(3)
    )
    failed = status is Status.FAILED
    return CueTimeline(
        info,
        (
            CueTrack(
                "action",
                "action",
                Source("action"),
                () if failed else actions,
                status=status,
                notes=("The network is damaged.",) if failed else (),
            ),
            CueTrack(
                "speech", "speech", Source("speech"), (Cue("s-1", Span(0, 2), "heave ho", 0.8),)
            ),
        ),
    )


class Watched:
    """Perceives by ``timeline_of`` and remembers what for."""

    def __init__(self, status: Status = Status.COMPLETE) -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self._status = status

    def __call__(self, path: Path, settings: Any, kinds: Sequence[str]) -> CueTimeline:
        self.calls.append((path.name, tuple(kinds)))
        return timeline_of(path, self._status)


Made = tuple[Run, scripted.Scripted, Watched]


def made(
    folder: Path,
    conditions: str,
    sections: str = SECTIONS,
    questions: str = QUESTIONS,
    **changes: Any,
) -> Made:
    study = load(written(folder, conditions, sections, questions))
    llm = scripted.build(study.arms[0].settings.videollms["scripted"])
    watched = changes.pop("watched", None) or Watched()
    records = Records(folder / "r.sqlite")
    run = Run(study, records, llm, watched, **changes)
    records.stamp(stamp(study, run.model))
    return run, llm, watched


def prompts(llm: scripted.Scripted, question: str) -> list[str]:
    return [each.prompt() for each in llm.requests if question in each.prompt()]


def names(study: Study) -> list[str]:
    return [arm.name for arm in study.arms]


def states(table: Outcomes) -> list[tuple[str, str, State]]:
    return [(row.condition, row.question.partition("/")[2], row.state) for row in table.rows]


# ------------------------------------------------------------------------------------ the file


@pytest.mark.parametrize(
    "name", sorted(p.stem for p in (shipped("configs") / "studies").glob("*.yaml"))
)
def test_shipped_studies_are_complete(name: str) -> None:
    study = load(name)
    assert study.name == name
    assert study.about
    assert study.baseline in names(study)
    assert len(study.arms) > 1


def test_a_grid_is_multiplied_out() -> None:
    found = conditions_of(None, {"cues": ["none", "each", "all_but_one", "all"]}, KINDS)
    assert [condition.kinds(KINDS) for condition in found] == [
        (),
        ("action",),
        ("screen_text",),
        ("speech",),
        ("screen_text", "speech"),
        ("action", "speech"),
        ("action", "screen_text"),
        KINDS,
    ]
    found = conditions_of(
        [{"name": "first", "cues": "none"}],
        {"notice": ["short", "none"], "thresholds": [{"action": 0.5}, {"action": 0.75}]},
        KINDS,
    )
    assert [each.name for each in found] == [
        "first",
        "notice short, action 0.5",
        "notice short, action 0.75",
        "notice none, action 0.5",
        "notice none, action 0.75",
    ]


def test_conditions_change_what_they_say_and_nothing_else(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "conditions:\n  - {name: plain}\n  - {name: other, window_s: 10, thresholds: {action: 0.9},"
        " notice: short, cue_placement: before_video, policies: [hedged], without: [speech],"
        " set: {recognizers.action.rate_hz: 20}}",
    )
    plain, other = load(path).arms
    assert plain.kinds == ("action", "speech")
    assert other.kinds == ("action",)
    assert other.settings.recognizers["action"].window_s == 10
    assert other.settings.recognizers["action"].rate_hz == 20
    assert other.settings.fusion.thresholds["action"] == 0.9
    assert other.settings.fusion.render.notice == "short"
    assert other.settings.fusion.policies == ("hedged",)
    assert other.settings.answer.cue_placement == "before_video"
    assert replace(
        other.settings,
        recognizers=plain.settings.recognizers,
        fusion=plain.settings.fusion,
        answer=plain.settings.answer,
    ) == plain.settings  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ("", "no condition"),
        ("conditions: [{name: a, cue: none}]", "cues"),
        ("conditions: [{name: a, cues: [smell]}]", "smell"),
        ("conditions: [{name: a}, {name: a, cues: none}]", "its own name"),
        ("conditions: [{name: a, control: mixed}]", "shuffled"),
        ("conditions: [{name: a, cues: none, control: shuffled}]", "has none"),
        ("conditions: [{name: a}]\nbaseline: b", "baseline"),
        ("conditions: [{name: a}]\nrepeats: 0", "from 1"),
        ("conditions: [{name: a}]\ncolour: red", "colour"),
        (
            "conditions: [{name: b, cues: [speach]}]",
            "The condition 'b': There is no cue kind 'speach'. Did you mean 'speech'?",
        ),
        ("conditions: [{name: a, set: {videollm: gemini}}]", "--model"),
        ("conditions: [{name: a, set: {fusion.budget: 3}}]", "budget_tokens"),
        ("grid: {cues: none}", "list of values"),
        (f"grid: {{seed: {list(range(200))}, window_s: {list(range(1, 52))}}}", "10200 conditions"),
        ("conditions: [{name: a, cues: none, strategy: verified}]", "verified"),
    ],
)
def test_mistakes_in_a_study_are_told(tmp_path: Path, conditions: str, words: str) -> None:
    with pytest.raises((BadInput, UnknownName), match=words):
        load(written(tmp_path, conditions))


@pytest.mark.parametrize("name", ["../up", "C:up", "a\\b", "..", "", "a\nb"])
def test_a_study_is_not_called_by_a_path(tmp_path: Path, name: str) -> None:
    study = written(tmp_path, "conditions: [{name: a, cues: none}]")
    with pytest.raises(BadInput, match="its files are called so"):
        load(study, [f"name={json.dumps(name)}"])


def test_a_place_in_braces_must_be_known(tmp_path: Path) -> None:
    sections = SECTIONS.replace("{here}", "{there}")
    with pytest.raises(UnknownName, match="here"):
        load(written(tmp_path, "conditions: [{name: a}]", sections))
    with pytest.raises(UnknownName, match="first_study"):
        load("first_studdy")


# ------------------------------------------------------------------------------------- the run


def test_every_question_is_asked_under_every_condition(tmp_path: Path) -> None:
    run, llm, watched = made(
        tmp_path,
        "conditions: [{name: none, cues: none}, {name: all}, {name: speech, cues: speech}]",
    )
    end = run()
    assert (end.done, end.total, end.asked) == (9, 9, 9)
    assert watched.calls == [("one.mp4", ("action", "speech")), ("two.mp4", ("action", "speech"))]
    table = outcomes(run.records)
    assert table.conditions == ("none", "all", "speech")
    assert [row.score for row in table.under("all").rows] == [1.0, 1.0, 0.0]
    without, everything, speech = prompts(llm, "Why does he pull?")
    assert "does one" not in without
    assert "heave ho" not in without
    assert "does one 0" in everything
    assert "heave ho" in everything
    assert "does one" not in speech
    assert "heave ho" in speech
    assert [cue.kind for cue in table.under("speech").rows[0].cues] == ["speech"]


def test_a_second_run_asks_and_perceives_nothing(tmp_path: Path) -> None:
    conditions = "conditions: [{name: none, cues: none}, {name: all}]"
    first, _, _ = made(tmp_path, conditions)
    first()
    table = outcomes(first.records)
    again, llm, watched = made(tmp_path, conditions)
    assert again().asked == 0
    assert not llm.requests
    assert not watched.calls
    assert outcomes(again.records) == table


def test_conditions_that_come_to_the_same_request_share_the_answer(tmp_path: Path) -> None:
    run, _llm, _ = made(
        tmp_path, "conditions: [{name: a, cues: none}, {name: b, cues: none, notice: short}]"
    )
    assert run().asked == 3
    assert len(outcomes(run.records).rows) == 6


def test_workers_ask_at_once_and_nothing_twice(tmp_path: Path) -> None:
    conditions = (
        "repeats: 2\nconditions: [{name: a, cues: none}, {name: b, cues: none, notice: short}, "
        "{name: all}]"
    )
    (tmp_path / "one").mkdir()
    alone, _, _ = made(tmp_path / "one", conditions)
    alone()
    run, llm, watched = made(tmp_path, conditions)
    together = threading.Barrier(2)

    def slow(request: Request) -> Any:
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.5)
        return scripted.Scripted.answer(llm, request)

    run.model = replace(run.model, llm=_Slow(llm, slow))
    end = run(workers=4)
    assert (end.done, end.asked, len(llm.requests)) == (18, 12, 12)
    assert len(watched.calls) == 2
    assert outcomes(run.records).rows == outcomes(alone.records).rows


class _Slow:
    def __init__(self, llm: scripted.Scripted, answer: Callable[[Request], Any]) -> None:
        self._llm, self.answer = llm, answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._llm, name)


def test_an_error_ends_all_workers(tmp_path: Path) -> None:
    sections = SECTIONS.replace('{default: "A"}', "{rules: []}")
    run, llm, _ = made(tmp_path, "repeats: 9\nconditions: [{name: a, cues: none}]", sections)
    with pytest.raises(CuelightError, match="same command"):
        run(workers=3)
    assert len(llm.requests) < 27


def test_repeats_have_seeds_of_their_own(tmp_path: Path) -> None:
    run, llm, _ = made(tmp_path, "repeats: 3\nconditions: [{name: a, cues: none}]")
    run()
    assert sorted(request.seed for request in llm.requests) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert {row.repeat for row in outcomes(run.records).rows} == {0, 1, 2}


def test_the_oracle_tells_the_other_questions_of_its_video(tmp_path: Path) -> None:
    run, llm, watched = made(
        tmp_path, "conditions: [{name: a, cues: none}, {name: o, cues: none, oracle: true}]"
    )
    run()
    assert not watched.calls or all(not kinds for _, kinds in watched.calls)
    told = [("a rope" in each) for each in prompts(llm, "Why does he pull?")]
    assert told == [False, True]
    assert all("hold? a rope" not in each for each in prompts(llm, "What is first?"))
    assert len(prompts(llm, "Question: What does he hold?")) == 1
    (cue,) = next(row for row in outcomes(run.records).under("o").rows if "/i" in row.question).cues
    assert cue.kind == "grounding"


def test_gold_cues_take_the_place_of_the_recognizers_of_their_kinds(tmp_path: Path) -> None:
    """The file is made as a user makes it, from subtitles that a person wrote."""
    (tmp_path / "gold").mkdir()
    for stem in ("one", "two"):
        cues, subtitles = tmp_path / f"{stem}.cues.json", tmp_path / f"{stem}.srt"
        cues.write_text(timeline_of(tmp_path / f"{stem}.mp4").to_json())
        subtitles.write_text(f"1\n00:00:01,000 --> 00:00:02,000\nclimbs {stem} ladders\n")
        into = ["--cues", cues, "--kind", "action", "--out", tmp_path / "gold"]
        done = cuelight("import-cues", subtitles, *into)
        assert done.exit_code == 0, done.output
    run, llm, _ = made(
        tmp_path, 'conditions: [{name: found}, {name: gold, gold: "{here}/gold", notice: none}]'
    )
    run()
    found, gold = prompts(llm, "Why does he pull?")
    assert "does one 0" in found
    assert "ladders" not in found
    assert "climbs one ladders" in gold
    assert "does one" not in gold
    assert "heave ho" in gold
    told = next(row for row in outcomes(run.records).under("gold").rows if "/i" in row.question)
    assert [cue.text for cue in told.cues if cue.kind == "action"] == ["climbs one ladders"]
    mine, other = (tmp_path / "gold" / f"{stem}.imported.cues.json" for stem in ("one", "two"))
    mine.write_text(other.read_text())
    assert [todo.item.video for todo in run.todo() if not todo.key] == 2 * ["one.mp4"]
    with pytest.raises(BadInput, match=r"are of another video \('two.mp4'\)"):
        run()
    mine.write_text(timeline_of(tmp_path / "one.mp4").to_json())
    with pytest.raises(BadInput, match=r"no track that a person made.*'action' \(recognizer\)"):
        run.todo()
    other.unlink()
    with pytest.raises(BadInput, match=r"1 of 2 files of gold cues are missing"):
        run.todo()


def test_an_oracle_needs_grounding_questions(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "categories: [Temporal]\nconditions: [{name: o, oracle: true}]")
    run()
    path = written(tmp_path, "conditions: [{name: o, oracle: true}]")
    (tmp_path / "questions.csv").write_text(QUESTIONS.replace("Grounding the Imagined", "Other"))
    study = load(path)
    with pytest.raises(BadInput, match="Grounding"):
        Run(study, run.records, run.model.llm, Watched()).todo()


def test_a_failure_is_asked_again_and_never_counted(tmp_path: Path) -> None:
    broken = SECTIONS.replace(
        '{default: "A"}', '{default: "A", rules: [{pattern: "Why", failure: refused}]}'
    )
    conditions = "conditions: [{name: a, cues: none}]"
    run, _, _ = made(tmp_path, conditions, broken)
    end = run()
    assert (end.done, end.failed) == (2, 1)
    assert ("a", "i", State.FAILED) in states(outcomes(run.records))
    mended, _llm, _ = made(tmp_path, conditions)
    assert mended.todo()
    mended()
    table = outcomes(mended.records)
    assert State.FAILED not in {row.state for row in table.rows if row.model == "scripted"}


def test_a_model_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    sections = SECTIONS.replace('{default: "A"}', "{rules: []}")
    run, llm, _ = made(tmp_path, "repeats: 4\nconditions: [{name: a, cues: none}]", sections)
    with pytest.raises(CuelightError, match=r"9 calls in a row got no answer.*same command"):
        run()
    assert len(llm.requests) == 9, "five calls or more, and all three questions"


def test_a_question_that_the_server_rejects_holds_up_no_other(tmp_path: Path) -> None:
    rule = '{default: "A", rules: [{pattern: "hold", failure: rejected}]}'
    sections = SECTIONS.replace('{default: "A"}', rule)
    run, _, _ = made(tmp_path, "repeats: 20\nconditions: [{name: a, cues: none}]", sections)
    end = run()
    assert (end.done, end.failed) == (40, 20)


def test_a_server_that_rejects_everything_ends_the_run(tmp_path: Path) -> None:
    rule = '{rules: [{pattern: "", failure: rejected}]}'
    sections = SECTIONS.replace('{default: "A"}', rule)
    run, llm, _ = made(tmp_path, "repeats: 4\nconditions: [{name: a, cues: none}]", sections)
    with pytest.raises(CuelightError, match="same command"):
        run()
    assert len(llm.requests) == 9


def test_a_video_that_cannot_be_read_holds_up_no_other(tmp_path: Path) -> None:
    sections = SECTIONS.replace('{default: "A"}', '{default: "A", frame_rate_hz: 1.0}')
    path = written(tmp_path, "conditions: [{name: seen, cues: none}, {name: all}]", sections)
    (tmp_path / "one.mp4").write_bytes(b"no video " * 300)
    ran = cuelight("ablate", path, "--records", tmp_path / "r.sqlite", "--quiet")
    assert ran.exit_code == 1, ran.output
    rows = outcomes(Records(tmp_path / "r.sqlite")).under("seen").rows
    assert [(row.video, row.state) for row in rows] == [
        ("one.mp4", State.FAILED),
        ("one.mp4", State.FAILED),
        ("two.mp4", State.SCORED),
    ]
    assert "one.mp4' is not a video or audio file that can be read" in rows[0].reason


def test_nobody_is_asked_about_what_lies_behind_the_end(tmp_path: Path) -> None:
    head = "video,id,question,reference,start,end\n"
    questions = f"{head}one.mp4,in,What?,a rope,9,12\none.mp4,out,What?,a rope,500,600\n"
    run, llm, _ = made(tmp_path, "conditions: [{name: all}]", questions=questions)
    run()
    assert len(llm.requests) == 1
    inside, behind = outcomes(run.records).rows
    assert (inside.state, behind.state) == (State.UNSCORED, State.FAILED)
    assert "500 s to 600 s, and 'one.mp4' ends at 10.00 s" in behind.reason


def test_cues_that_could_not_be_had_are_no_condition_without_cues(tmp_path: Path) -> None:
    conditions = "conditions: [{name: no, cues: none}, {name: all}, {name: speech, cues: speech}]"
    run, _, _ = made(tmp_path, conditions, watched=Watched(Status.FAILED))
    run()
    table = outcomes(run.records)
    assert {row.state for row in table.under("all").rows} == {State.FAILED}
    assert "damaged" in table.under("all").rows[0].reason
    assert {row.state for row in table.under("speech").rows} == {State.SCORED}
    mended, _llm, _ = made(tmp_path, conditions)
    assert mended().asked == 3
    assert {row.state for row in outcomes(mended.records).rows} == {State.SCORED}


@pytest.mark.parametrize(
    ("control", "check"),
    [
        ("shuffled", lambda text: "does one 1" in text),
        ("foreign", lambda text: "does two 0" in text and "does one" not in text),
        ("empty", lambda text: "unreliable" in text and "does one" not in text),
        ("filler", lambda text: "takes up room" in text or "this line is here" in text),
    ],
)
def test_controls_take_the_place_of_the_truth(
    tmp_path: Path, control: str, check: Callable[[str], bool]
) -> None:
    run, llm, _ = made(
        tmp_path, f"conditions: [{{name: all}}, {{name: c, control: {control}, seed: 3}}]"
    )
    run()
    truth, other = prompts(llm, "Why does he pull?")
    assert truth != other
    assert check(other)


def test_a_condition_without_video_shows_no_pictures(tmp_path: Path) -> None:
    sections = SECTIONS.replace('{default: "A"}', '{default: "A", frame_rate_hz: 1.0}')
    run, llm, _ = made(tmp_path, "conditions: [{name: blind, cues: none, video: false}]", sections)
    for name in ("one.mp4", "two.mp4"):
        (tmp_path / name).unlink()
    run()
    assert len(llm.requests) == 3
    assert not outcomes(run.records).where(lambda row: row.state is not State.SCORED).rows


def test_only_conditions_with_video_show_pictures(tmp_path: Path) -> None:
    sections = SECTIONS.replace('{default: "A"}', '{default: "A", frame_rate_hz: 10.0}')
    conditions = "conditions: [{name: seen, cues: none}, {name: blind, cues: none, video: false}]"
    run, llm, _ = made(tmp_path, conditions, sections)
    run()
    shown = [bool(frame_times(request)) for request in llm.requests]
    assert shown == [True, False] * 3


@pytest.mark.parametrize(
    ("condition", "rate_hz"), [("{name: all}", 0.0), ("{name: seen, cues: none}", 1.0)]
)
def test_nobody_is_asked_about_a_missing_video(
    tmp_path: Path, condition: str, rate_hz: float
) -> None:
    sections = SECTIONS.replace('{default: "A"}', f'{{default: "A", frame_rate_hz: {rate_hz}}}')
    run, llm, _ = made(tmp_path, f"conditions: [{condition}]", sections)
    (tmp_path / "two.mp4").unlink()
    with pytest.raises(BadInput, match=r"1 of 2 videos are missing, e.g. 'two\.mp4'"):
        run()
    assert not llm.requests


def test_a_condition_that_changed_leaves_the_table(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: a, cues: none}, {name: b}]")
    run()
    changed, llm, _ = made(
        tmp_path, "conditions: [{name: a, cues: none}, {name: b, notice: short}]", limit=1
    )
    changed()
    table = outcomes(changed.records)
    assert len(table.under("a").rows) == 3
    assert len(table.under("b").rows) == 2, "one question of each video, under the new b only"
    assert len(llm.requests) == 2


def test_a_judge_finds_the_benchmark_beside_the_study_and_only_its_conditions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, llm, _ = made(tmp_path, "conditions: [{name: a, cues: none}, {name: b}]")
    (tmp_path / "questions.csv").write_text("video,question,reference\none.mp4,Why?,To win.\n")
    Run(load(tmp_path / "study.yaml"), run.records, llm, Watched())()
    monkeypatch.chdir(tmp_path.parent)
    benchmark = benchmark_of(run.records)
    assert [item.reference for item in benchmark.items()] == ["To win."]
    assert [each.condition for each in pending(run.records, benchmark, "judge")] == ["a", "b"]
    written(tmp_path, "conditions: [{name: a, cues: none}]")
    run.records.stamp(stamp(load(tmp_path / "study.yaml"), run.model))
    assert [each.condition for each in pending(run.records, benchmark, "judge")] == ["a"]
    assert len(judge_agreement.judged(run.records)) == 1


def test_questions_and_repeats_that_are_gone_leave_the_table(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "repeats: 2\nconditions: [{name: a, cues: none}]")
    run()
    fewer, llm, _ = made(tmp_path, "categories: [Temporal]\nconditions: [{name: a, cues: none}]")
    fewer()
    assert [(row.question, row.repeat) for row in outcomes(fewer.records).rows] == [
        ("questions/t", 0)
    ]
    assert not llm.requests, "and what stays is not asked again"
    back, llm, _ = made(tmp_path, "repeats: 2\nconditions: [{name: a, cues: none}]")
    back()
    assert len(outcomes(back.records).rows) == 6
    assert not llm.requests


def test_the_plan_counts_what_is_to_come(tmp_path: Path) -> None:
    conditions = "conditions: [{name: a, cues: none}, {name: b}]"
    run, llm, _watched = made(tmp_path, conditions, limit=1)
    plan = plan_of(run.todo()[:2], llm)
    assert [(each.name, each.questions, each.calls) for each in plan.conditions] == [
        ("a", 1, 1),
        ("b", 1, 1),
    ]
    assert plan.conditions[1].prompt_tokens >= plan.conditions[0].prompt_tokens + 1000
    assert plan.egress is None
    assert not llm.requests


# --------------------------------------------------------------------------- in and out of tables


def test_the_plan_is_never_less_than_what_is_sent(tmp_path: Path) -> None:
    """Whole videos among short parts, long questions among short ones."""
    head = "video,id,question,reference,start,end\n"
    rows = [f"one.mp4,s{n},{'Why? ' * n},x,0,0.1\n" for n in range(1, 20)]
    rows += [f"two.mp4,w{n},Who?,x,,\n" for n in range(5)]
    sections = SECTIONS.replace('{default: "A"}', '{default: "A", frame_rate_hz: 20.0}')
    run, llm, _ = made(
        tmp_path, "conditions: [{name: a, cues: none}]", sections, head + "".join(rows)
    )
    planned = plan_of(run.todo(), llm)
    run()
    sent = sum(llm.count(request).tokens for request in llm.requests)
    assert sent <= planned.conditions[0].prompt_tokens <= 1.5 * sent


def test_exports_hold_what_was_asked_and_answered(tmp_path: Path) -> None:
    run, _llm, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    assert export(run.records, tmp_path / "t.jsonl") == 3
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [tuple(row) for row in rows] == [COLUMNS] * 3
    assert [row["score"] for row in rows] == [1.0, 1.0, 0.0]
    assert "does one 0" in json.dumps(rows[0]["request"])
    export(run.records, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        flat = list(csv.DictReader(file))
    assert [row["answer"] for row in flat] == [row["answer"] for row in rows]
    assert json.loads(flat[0]["cues"]) == rows[0]["cues"]
    with pytest.raises(UnknownName, match="parquet"):
        export(run.records, tmp_path / "t.xlsx")


def test_no_cell_of_an_exported_table_is_a_formula(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: =HYPERLINK(1), cues: none}]")
    run()
    export(run.records, tmp_path / "out.csv")
    assert "\n'=HYPERLINK(1)," in (tmp_path / "out.csv").read_text()
    assert {row["condition"] for _, row in outcome_tables.read(tmp_path / "out.csv")} == {
        "=HYPERLINK(1)"
    }


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra studies")
    run, _, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    export(run.records, tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert [row["score"] for row in table] == [1.0, 1.0, 0.0]
    assert "does one 0" in table[0]["request"]


def test_results_of_other_tools_are_paired_with_ours(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    theirs = tmp_path / "theirs.csv"
    theirs.write_text(
        "question,answer,verdict\nquestions/g,a cup,wrong\nwhy does he PULL?,to win,TRUE\n"
        "questions/t,,\n"
    )
    items = run.study.benchmark.items()
    for _ in range(2):
        assert import_table(run.records, theirs, "theirs", "scripted", items) == 3
    table = outcomes(run.records)
    assert table.conditions == ("all", "theirs")
    assert [(row.state, row.score) for row in table.under("theirs").rows] == [
        (State.SCORED, 0.0),
        (State.SCORED, 1.0),
        (State.FAILED, None),
    ]
    assert table.under("theirs").rows[1].category == "Intention"
    assert len(table.pairs("all", "theirs")) == 2


def test_imported_results_take_video_and_category_from_what_is_recorded(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    theirs = tmp_path / "theirs.csv"
    theirs.write_text("question,verdict\ng,wrong\nWhy does he pull?,right\nquite another,right\n")
    into = ("import-results", theirs, "--records", tmp_path / "r.sqlite", "--condition", "theirs")
    assert cuelight(*into).exit_code == 0
    rows = outcomes(run.records).under("theirs").rows
    assert [(row.question, row.video, row.category) for row in rows] == [
        ("questions/g", "one.mp4", "Grounding the Imagined"),
        ("questions/i", "one.mp4", "Intention"),
        ("quite another", "", ""),
    ]


def test_imported_results_replace_none_of_the_studys_own(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    before = outcomes(run.records)
    (tmp_path / "t.csv").write_text("question,verdict\nquestions/g,wrong\n")
    into = ("import-results", tmp_path / "t.csv", "--records", tmp_path / "r.sqlite")
    done = cuelight(*into, "--condition", "all", "--model", run.model.llm.name)
    assert done.exit_code == 2
    assert "line 2: the study has answers of 'scripted' under 'all' of its own" in done.output
    assert outcomes(run.records) == before
    assert cuelight(*into, "--condition", "all", "--model", "another").exit_code == 0


def test_answers_are_scored_again_when_the_key_changes(tmp_path: Path) -> None:
    run, llm, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    assert [row.score for row in outcomes(run.records).rows] == [1.0, 1.0, 0.0]
    run.records.close()
    corrected = QUESTIONS.replace("a cup,A,Grounding", "a cup,B,Grounding")
    again, llm, _ = made(tmp_path, "conditions: [{name: all}]", questions=corrected)
    again()
    assert not llm.requests, "the answers stand"
    rows = outcomes(again.records).rows
    assert [row.score for row in rows] == [0.0, 1.0, 0.0]
    assert (rows[0].reference, rows[0].reason) == ("a cup", "'a rope', where 'a cup' is right.")


def test_a_judges_verdict_falls_with_the_reference_that_it_was_held_against(tmp_path: Path) -> None:
    questions = "video,id,question,reference\none.mp4,o,What does he hold?,a rope\n"
    run, _, _ = made(tmp_path, "conditions: [{name: all}]", questions=questions)
    run()
    (cell,) = run.records.cells()
    says_right = '{"correct": true, "explanation": "The same."}'
    judge = Judge(scripted.Scripted(scripted.Options(default=says_right)))
    (todo,) = pending(run.records, run.study.benchmark, judge.name)
    judge_all(run.records, run.study.benchmark, judge, [todo], lambda done: None)
    assert outcomes(run.records).rows[0].score == 1.0
    run.records.close()
    changed = questions.replace("a rope", "a wall")
    again, llm, _ = made(tmp_path, "conditions: [{name: all}]", questions=changed)
    again()
    assert not llm.requests
    assert outcomes(again.records).rows[0].state is State.UNSCORED
    assert len(pending(again.records, again.study.benchmark, judge.name)) == 1
    assert again.records.cells()[0][3] == cell[3]


def test_one_judges_verdicts_leave_choices_and_imported_results_in(tmp_path: Path) -> None:
    questions = f"{QUESTIONS}one.mp4,o,What is it?,a rope,,,,Temporal\n"
    run, _, _ = made(tmp_path, "conditions: [{name: all}]", questions=questions)
    run()
    for name, correct in (("kind", "true"), ("strict", "false")):
        reply = f'{{"correct": {correct}, "explanation": ""}}'
        judge = Judge(scripted.Scripted(scripted.Options(default=reply)), name)
        todo = pending(run.records, run.study.benchmark, name)
        judge_all(run.records, run.study.benchmark, judge, todo, lambda done: None)
    (tmp_path / "t.csv").write_text("question,verdict\nquestions/g,wrong\n")
    import_table(run.records, tmp_path / "t.csv", "theirs", "m", run.study.benchmark.items())
    for name, score in (("kind", 1.0), ("strict", 0.0)):
        rows = outcomes(run.records, name).rows
        found = {(row.condition, row.question.partition("/")[2]): row.score for row in rows}
        choices = {("all", "g"): 1.0, ("all", "i"): 1.0, ("all", "t"): 0.0}
        assert found == {("theirs", "g"): 0.0, **choices, ("all", "o"): score}


def test_questions_of_the_same_words_are_imported_one_beside_the_other(tmp_path: Path) -> None:
    twins = f"{QUESTIONS}two.mp4,h,What does he hold?,,a rope,a cup,B,Temporal\n"
    run, _, _ = made(tmp_path, "conditions: [{name: all}]", questions=twins)
    run()
    for name in ("g", "h"):
        (tmp_path / "t.csv").write_text(f"question,verdict\nquestions/{name},wrong\n")
        import_table(run.records, tmp_path / "t.csv", "theirs", "m", run.study.benchmark.items())
    rows = outcomes(run.records).under("theirs").rows
    assert sorted(row.question for row in rows) == ["questions/g", "questions/h"]


@pytest.mark.parametrize("called", ["What does he hold?", "g"])
def test_what_was_imported_before_the_study_is_not_counted_twice(
    tmp_path: Path, called: str
) -> None:
    (tmp_path / "theirs.csv").write_text(f"question,verdict\n{called},wrong\n")
    into = ("import-results", tmp_path / "theirs.csv", "--records", tmp_path / "r.sqlite")
    assert cuelight(*into).exit_code == 0
    run, _, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    assert cuelight(*into).exit_code == 0
    (row,) = outcomes(run.records).under("imported").rows
    assert (row.question, row.video) == ("questions/g", "one.mp4")


def test_an_imported_row_about_another_video_is_refused(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: all}]")
    run()
    (tmp_path / "t.csv").write_text("question,verdict,video\ng,wrong,other.mp4\n")
    done = cuelight("import-results", tmp_path / "t.csv", "--records", tmp_path / "r.sqlite")
    assert done.exit_code == 2
    assert "about 'one.mp4', and the row says 'other.mp4'" in done.output


def test_conditions_that_share_an_answer_are_held_to_their_own_key(tmp_path: Path) -> None:
    corrected = QUESTIONS.replace("a cup,A,Grounding", "a cup,B,Grounding")
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "questions.csv").write_text(corrected)
    other = 'benchmark: {table: "{here}/o/questions.csv", videos: "{here}"}'
    conditions = f"conditions: [{{name: a, cues: none}}, {{name: b, cues: none, {other}}}]"
    for _ in range(2):
        run, _, _ = made(tmp_path, conditions)
        run()
        table = outcomes(run.records)
        assert [row.score for row in table.under("a").rows] == [1.0, 1.0, 0.0]
        assert [row.score for row in table.under("b").rows] == [0.0, 1.0, 0.0]
        run.records.close()


def test_what_a_server_rejects_again_holds_up_no_new_question(tmp_path: Path) -> None:
    head = "video,id,question,option_a,option_b,answer\n"
    bad = "".join(f"one.mp4,b{n},Why {n}?,x,y,A\n" for n in range(6))
    good = "two.mp4,g,Who?,x,y,A\n"
    rule = '{default: "A", rules: [{pattern: "Why", failure: rejected}]}'
    sections = SECTIONS.replace('{default: "A"}', rule)
    conditions = "conditions: [{name: a, cues: none}]"
    first, _, _ = made(tmp_path, conditions, sections, f"{head}{good}{bad}")
    assert first().failed == 6
    more = f"{head}{good}{bad}two.mp4,n,Who now?,x,y,A\n"
    again, _, _ = made(tmp_path, conditions, sections, more)
    again()
    assert ("a", "n", State.SCORED) in states(outcomes(again.records))


def test_categories_are_chosen_by_any_of_their_names(tmp_path: Path) -> None:
    table = QUESTIONS.replace("B,Temporal", "B,Perspective Taking")
    conditions = "categories: [theory of MIND]\nconditions: [{name: a, cues: none}]"
    run, llm, _ = made(tmp_path, conditions, questions=table)
    run()
    assert len(llm.requests) == 1


def test_words_of_two_questions_name_neither(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: all}]")
    first, *others = run.study.benchmark.items()
    twin = replace(first, question=replace(first.question, id="twin"))
    (tmp_path / "t.csv").write_text(f"question,verdict\n{first.question.text},right\n")
    with pytest.raises(BadInput, match="only their ids"):
        import_table(run.records, tmp_path / "t.csv", "c", "m", [first, twin, *others])


def test_a_broken_table_makes_no_records(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("question,verdict\nq,perhaps\n")
    result = cuelight("import-results", tmp_path / "t.csv", "--records", tmp_path / "new.sqlite")
    assert result.exit_code == 2
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("question,answer\nq,a\n", "verdict"),
        ("question,answer,verdict\nq,a,perhaps\n", "perhaps"),
        ("question,answer,verdict\nq,a,right\nq,b,wrong\n", "twice"),
        ("question,answer,verdict,repeat\nq,a,right,x\n", "repeat"),
        ("question,answer,verdict\nq,a,right\nr,a, b,right\n", "line 3: it has 4 cells.*quotes"),
        ("question,answer,verdict,category\nq,a,right\n", "line 2: it has 3 cells.*4 columns"),
        ('question,answer,verdict\n"q\nr",a,right\ns,a\n', "line 4: it has 2 cells"),
        ("question,verdict,verdict\nq,right,wrong\n", "line 1: it names verdict twice"),
        ("question,answer,verdict\n\n", "no row below line 1"),
        ("question,answer,verdict\n,a,right\n", "line 2: question"),
    ],
)
def test_a_broken_table_puts_nothing_on_record(tmp_path: Path, rows: str, words: str) -> None:
    (tmp_path / "t.csv").write_text(rows)
    records = Records(tmp_path / "r.sqlite")
    with pytest.raises(BadInput, match=words):
        import_table(records, tmp_path / "t.csv", "c", "m")
    assert not records.cells()


def test_imported_results_need_names(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("question,verdict\nq,right\n")
    into = ("import-results", tmp_path / "t.csv", "--records", tmp_path / "new.sqlite")
    for option in ("--condition", "--model"):
        done = cuelight(*into, option, " ")
        assert done.exit_code == 2
        assert f"The {option[2:]} of the imported results has no name" in done.output
    assert not (tmp_path / "new.sqlite").exists()


# --------------------------------------------------------------------------------- the commands


def cuelight(*arguments: object) -> Any:
    from reasoning.cli import _app

    return CliRunner().invoke(_app, list(map(str, arguments)))


def test_ablate_prints_the_plan_then_the_table(tmp_path: Path) -> None:
    path = written(
        tmp_path, "conditions: [{name: a, cues: none}, {name: o, cues: none, oracle: true}]"
    )
    records = tmp_path / "made.sqlite"
    shared = ("ablate", path, "--records", records)
    planned = cuelight(*shared, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert "6 calls" in planned.stdout
    assert not records.exists()
    ran = cuelight(*shared)
    assert ran.exit_code == 0, ran.output
    assert "66.7%" in ran.stdout
    assert "3 of 3" in ran.stdout
    table = json.loads(cuelight(*shared, "--json", "--quiet").stdout)
    assert len(table["outcomes"]) == 6
    out = tmp_path / "t.jsonl"
    assert cuelight("export-study", records, out).exit_code == 0
    assert len(out.read_text().splitlines()) == 6


def test_a_report_tells_that_a_study_was_not_asked_to_its_end(tmp_path: Path) -> None:
    run, _, _ = made(tmp_path, "conditions: [{name: a, cues: none}, {name: all}]")
    cells = run.todo()
    run(cells[:2])
    (note,) = sources.load(tmp_path / "r.sqlite").notes
    assert note.startswith("not asked to the end: a 1 of 3, all 1 of 3 answers")
    run(cells[::2])
    (note,) = sources.load(tmp_path / "r.sqlite").notes
    assert note.startswith("not asked to the end: all 1 of 3 answers")
    run(cells)
    (tmp_path / "t.csv").write_text("question,verdict\nquestions/g,wrong\n")
    import_table(run.records, tmp_path / "t.csv", "theirs", "m", run.study.benchmark.items())
    assert not sources.load(tmp_path / "r.sqlite").notes


def test_records_are_of_one_study(tmp_path: Path) -> None:
    path = written(tmp_path, "conditions: [{name: a, cues: none}]")
    (tmp_path / "other.yaml").write_text(path.read_text())
    records = ("--records", tmp_path / "r.sqlite", "--quiet")
    assert cuelight("ablate", path, *records).exit_code == 0
    done = cuelight("ablate", tmp_path / "other.yaml", *records)
    assert done.exit_code == 2
    assert "holds the study study; give 'other' another file" in done.output
    (tmp_path / "other.yaml").write_text(f"name: study\n{path.read_text()}")
    assert cuelight("ablate", tmp_path / "other.yaml", *records).exit_code == 0


def test_a_second_run_at_once_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "conditions: [{name: a, cues: none}]")
    records = tmp_path / "r.sqlite"
    study = load(path)
    llm = scripted.build(study.arms[0].settings.videollms["scripted"])
    model = Run(study, Records(records), llm, Watched()).model
    with alone(records, model.revision):
        done = cuelight("ablate", path, "--records", records)
        assert done.exit_code == 2
        assert "Another run asks scripted for" in done.output
        assert cuelight("ablate", path, "--records", records, "--dry-run").exit_code == 0
    assert cuelight("ablate", path, "--records", records).exit_code == 0
    assert not list(tmp_path.glob("*.lock")), "nothing is left of it"


def test_ablate_tells_that_a_server_is_asked_again(tmp_path: Path) -> None:
    server = "videollm: openai_compatible\nvideollms: {openai_compatible: {retry: {tries: 2, "
    sections = SECTIONS[: SECTIONS.index("videollm:")] + server + "first_pause_s: 0.01}}}\n"
    path = written(tmp_path, "conditions: [{name: a, cues: none, video: false}]", sections)
    asked = ("ablate", path, "--records", tmp_path / "r.sqlite", "--base-url", closed_address())
    told = [
        line
        for line in cuelight(*asked, "--model", "x").stderr.splitlines()
        if "trying again in" in line
    ]
    assert len(told) == 1, "once in ten seconds, however many calls fail"
    assert told[0].endswith("(try 2 of 2).")
    assert "trying again" not in cuelight(*asked, "--model", "x", "--quiet").stderr


def test_commands_tell_mistakes_in_a_sentence(tmp_path: Path) -> None:
    done = cuelight("ablate", "nothing_like_it")
    assert done.exit_code == 2
    assert "first_study" in done.output
    done = cuelight("export-study", tmp_path / "none.sqlite", tmp_path / "t.csv")
    assert done.exit_code == 2
    done = cuelight("import-results", tmp_path / "none.csv", "--records", tmp_path / "r.sqlite")
    assert done.exit_code == 2
    assert "none.csv" in done.output
