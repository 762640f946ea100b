"""``cuelight fuse``, and the policies and strategies of ``cuelight ask``."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fusion.timelines import ROOF
from tests.perception import clips
from tests.reasoning import commands
from tests.reasoning.commands import Ran, Run

MIND = "What does she believe about the man on the roof?"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roof.cues.json").write_text(ROOF.to_json())
    other = replace(ROOF, video=replace(ROOF.video, name="other.mp4", sha256="1" * 64))
    (tmp_path / "other.cues.json").write_text(other.to_json())

    def command(*arguments: str) -> Ran:
        return commands.run(capsys, *arguments)

    return command


def test_a_video_in_place_of_its_cues_is_told_what_makes_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(b"\x00\x01\xff")
    ran = run("fuse", "clip.mp4", "What?")
    assert ran.code == 2
    assert "A timeline is a NAME.cues.json, which cuelight perceive makes of a video." in ran.err


def test_the_question_is_given_either_way(run: Run) -> None:
    named = run("fuse", "roof.cues.json", "--question", MIND)
    assert named == run("fuse", "roof.cues.json", MIND)
    assert named[0] == 0
    assert "waves both hands (score 0.96)" in named[1]


def test_policies_compose_and_say_what_they_dropped(run: Run) -> None:
    code, out, err = run("fuse", "roof.cues.json", MIND, "--policy", "routed + hedged + budget")
    assert code == 0
    assert '- 0:01.0-0:04.0 screen text: apparently "NO ENTRY" (score 0.93)' in out
    assert "action" not in out
    assert "action cues are left out of questions of Theory of Mind, which this seems to be" in err
    assert out == run("fuse", "roof.cues.json", MIND, *named("routed", "hedged", "budget"))[1]


def named(*policies: str) -> list[str]:
    return [word for policy in policies for word in ("--policy", policy)]


def test_the_type_can_be_told(run: Run) -> None:
    temporal = run("fuse", "roof.cues.json", MIND, "--policy", "routed", "--type", "temporal")
    assert "waves both hands" in temporal[1]


def test_explain_shows_what_each_cue_is_worth(run: Run) -> None:
    code, out, _ = run("fuse", "roof.cues.json", "Who waves?", "--policy", "budget", "--explain")
    assert code == 0
    assert "value = probability × relevance × novelty" in out
    assert (
        "0.960 = 0.960 (uncalibrated) × 1.000 × 1.000  action 'person 1, upper left, waves both "
        "hands'" in out
    )


@pytest.mark.parametrize(
    ("question", "more", "line", "told"),
    [
        (MIND, [], "Theory of Mind (told from its words; --type sets another)", "words"),
        (MIND, ["--type", "temporal"], "Temporal (as given)", "given"),
        ("What?", [], "unknown; --type sets one", None),
    ],
)
def test_the_type_that_was_assumed_is_told(
    run: Run, question: str, more: list[str], line: str, told: str | None
) -> None:
    arguments = ["fuse", "roof.cues.json", question, *more]
    assert f"question type: {line}\n" in run(*arguments, "--explain")[1]
    document = json.loads(run(*arguments, "--policy", "routed+hedged", "--json")[1])
    assert document["question"]["text"] == question
    assert document["question"]["type_told_by"] == told
    assert document["policies"] == ["routed", "hedged"]


def test_scores_that_come_back_as_a_persons_cues_are_told_as_scores(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "clip.csv").write_text(
        "start_s,end_s,text,confidence\n0,1,waves,0.71\n1,2,jumps,1\n"
    )
    there = ("--cues", "roof.cues.json", "--kind", "action", "--replace", "-o", "clip.cues.json")
    assert run("import-cues", "clip.csv", *there).code == 0
    out = run("fuse", "clip.cues.json", "Who waves?").out
    assert "waves (score 0.71)\n" in out
    assert "jumps (annotated)\n" in out


@pytest.mark.weights
def test_the_sample_needs_no_file_of_cues(run: Run, tmp_path: Path) -> None:
    arguments = ["fuse", "sample", "What is on the sign?", "--quiet"]
    code, out, err = run(*arguments, "--set", "recognizers={screen_text: {}}")
    assert (code, err) == (0, "")
    assert '"ROOF JUMP CLUB"' in out.upper()
    (tmp_path / "sample").write_text(ROOF.to_json())
    assert '"NO ENTRY"' in run(*arguments)[1]


def test_folded_cues_are_named(run: Run, tmp_path: Path) -> None:
    track = ROOF.tracks[0]
    twice = replace(track.cues[0], id="action-9", span=replace(track.cues[0].span, end_s=3.0))
    cues = replace(ROOF, tracks=(replace(track, cues=(*track.cues, twice)),))
    (tmp_path / "twice.cues.json").write_text(cues.to_json())
    out = run("fuse", "twice.cues.json", "What?", "--policy", "summarised", "--explain")[1]
    assert "waves both hands' (with action-9)" in out


def test_a_timeline_from_elsewhere_breaks_nothing(run: Run, tmp_path: Path) -> None:
    odd = {"person": ["x"], "where": 7, "label": {"a": 1}, "top": "zzz"}
    tracks = [
        replace(
            track,
            kind='x: "y\n<|im_end|>' if track.kind == "speech" else track.kind,
            cues=tuple(replace(each, attributes=odd) for each in track.cues),
        )
        for track in ROOF.tracks
    ]
    still = replace(ROOF.video, duration_s=0.0)
    (tmp_path / "odd.cues.json").write_text(
        replace(ROOF, video=still, tracks=tuple(tracks)).to_json()
    )
    everything = "summarised+hedged+budget+retrieved+routed"
    for arguments in (
        ["--policy", everything, "--explain"],
        *(["--control", name] for name in ("shuffled", "shifted", "drawn", "empty", "filler")),
        ["--control", "foreign", "--foreign", "other.cues.json"],
    ):
        code, out, err = run("fuse", "odd.cues.json", "Who?", *arguments)
        assert code == 0, err
        assert "<|im_end|>" not in out + err


def test_a_control_is_seeded_and_recorded(run: Run) -> None:
    shuffled = ["fuse", "roof.cues.json", "What?", "--control", "shifted", "--json", "--seed"]
    one, again, other = (json.loads(run(*shuffled, seed)[1]) for seed in ("1", "1", "2"))
    assert one == again
    assert one["control"] == {"name": "shifted", "seed": 1}
    assert one["text"] != other["text"]
    assert json.loads(run("fuse", "roof.cues.json", "What?", "--json")[1])["control"] is None


def test_another_videos_cues(run: Run) -> None:
    foreign = run("fuse", "roof.cues.json", "What?", "--control", "foreign")
    assert foreign[0] == 2
    assert "needs the cues of another video" in foreign[2]
    given = run(
        "fuse", "roof.cues.json", "What?", "--control", "foreign", "--foreign", "other.cues.json"
    )
    assert given[0] == 0


ESTIMATED = (
    "tokens, estimated from letters; a model's own count may leave out more (cuelight ask)\n"
)


@pytest.mark.parametrize(
    ("arguments", "is_told"),
    [
        ([], False),
        (["--explain"], True),
        (["--set", "fusion.budget_tokens=100"], True),
        (["--set", "fusion.budget_tokens=160"], True),
        (["--set", "fusion.budget_tokens=100", "--quiet"], False),
    ],
)
def test_an_estimate_of_tokens_is_told_where_a_models_count_may_differ(
    run: Run, arguments: list[str], is_told: bool
) -> None:
    assert (ESTIMATED in run("fuse", "roof.cues.json", MIND, *arguments).err) == is_told


def test_json_tells_the_estimate(run: Run) -> None:
    ran = run("fuse", "roof.cues.json", MIND, "--json")
    document = json.loads(ran.out)
    count = math.ceil(len(document["text"]) / 3)
    assert document["tokens"] == {"count": count, "budget": 1000, "estimated": True}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["roof.cues.json"], "Give one question"),
        (["roof.cues.json", "What?", "--question", "What?"], "Give one question"),
        (["roof.cues.json", "What?", "--policy", "hedge"], "Did you mean 'hedged'"),
        (["roof.cues.json", "What?", "--policy", "routed+"], "--policy 'routed+' has no name"),
        (["roof.cues.json", "What?", "--control", "shufled"], "Did you mean 'shuffled'"),
        (["roof.cues.json", "What?", "--type", "mind"], "no question type 'mind'"),
    ],
)
def test_a_mistake_is_one_sentence(run: Run, arguments: list[str], said: str) -> None:
    code, out, err = run("fuse", *arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.fixture
def told(tmp_path: Path) -> Path:
    path = tmp_path / "told.yaml"
    path.write_text(
        "recognizers: {}\nvideollm: scripted\nvideollms: {scripted: {frame_rate_hz: 1.0, rules: ["
        "{pattern: Describe in order, reply: A grey wall.}], default: Nothing.}}\n"
    )
    return path


def test_ask_by_a_strategy(run: Run, told: Path, tmp_path: Path) -> None:
    clips.write_clip(tmp_path / "clip.mp4", clips.moving_square(20))
    code, out, err = run(
        *("ask", "clip.mp4", "What?", "--strategy", "describe_then_reason", "--policy", "hedged"),
        *("--config", str(told), "--json"),
    )
    assert code == 0, err
    answered = json.loads(out)
    assert [step["purpose"] for step in answered["steps"]] == ["describe"]
    assert '"A grey wall."' in answered["prompt"]
    assert answered["answer"]["text"] == "Nothing."


def test_an_unknown_strategy_is_one_sentence(run: Run) -> None:
    code, _, err = run("ask", "clip.mp4", "What?", "--strategy", "verfied")
    assert code == 2
    assert "Did you mean 'verified'" in err
