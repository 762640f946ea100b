"""The loaders of multiple-choice benchmarks on small files in the exact published format, the
scoring of choices, and the strict reading of a judge's reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perception.errors import BadInput
from reasoning.answer import Answer, Unscored, Verdict
from reasoning.benchmark import Judging
from reasoning.benchmarks import intentqa, social_iq2
from reasoning.scoring import judging

COLUMNS = "video_id,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4,action,lemma"
INTENT = (
    f"{COLUMNS},lemma_id\n"
    "13,853,640,360,how did he stay up,4,1,CH,jump,nod,push,play,balance,left,leave,130\n"
    "70,1110,640,360,what is next,1,6,TN,bow,set up,dance,bow,hand it over,walk,walk,159\n"
)
SOCIAL = {
    "qid": "-35_q1_0",
    "q": "How does he feel?",
    "vid_name": "-35",
    "ts": "0.00-60.019000",
    "answer_idx": 2,
    "a0": "Glad.",
    "a1": "Sad.",
    "a2": "Confused.",
    "a3": "Angry.",
}


def intent(tmp_path: Path, text: str = INTENT, **options: object) -> intentqa.Benchmark:
    (tmp_path / "val.csv").write_text(text)
    return intentqa.build(intentqa.Options(str(tmp_path), **options))  # type: ignore[arg-type]


def social(tmp_path: Path, row: dict[str, object], **options: object) -> social_iq2.Benchmark:
    (tmp_path / "qa_val.json").write_text(json.dumps(row) + "\n\n")
    return social_iq2.build(social_iq2.Options(str(tmp_path), **options))  # type: ignore[arg-type]


def test_intentqa_as_published(tmp_path: Path) -> None:
    first, second = intent(tmp_path).items()
    assert first.question.id == "intentqa/val/13-1"
    assert first.question.options == ("jump", "nod", "push", "play", "balance")
    assert (first.right, first.reference, first.category) == ((4,), "balance", "CH")
    assert second.category == "TP&TN"
    assert second.question.options == ("bow", "set up", "dance", "hand it over")
    assert second.right == (1,)


def test_social_iq_as_published(tmp_path: Path) -> None:
    (item,) = social(tmp_path, SOCIAL).items()
    assert item.question.options == ("Glad.", "Sad.", "Confused.", "Angry.")
    assert (item.right, item.reference, item.video) == ((2,), "Confused.", "-35.mp4")
    assert item.details == {"start_s": 0.0, "end_s": 60.019}


def test_two_questions_of_one_published_id_are_two(tmp_path: Path) -> None:
    benchmark = social(tmp_path, SOCIAL)
    path = tmp_path / "qa_val.json"
    path.write_text(path.read_text() + json.dumps({**SOCIAL, "q": "Why?"}) + "\n")
    ids = [item.question.id for item in benchmark.items()]
    assert ids == ["social_iq2/val/-35_q1_0", "social_iq2/val/-35_q1_0-2"]


def test_a_choice_is_right_wrong_or_none(tmp_path: Path) -> None:
    benchmark = social(tmp_path, SOCIAL)
    (item,) = benchmark.items()
    verdicts = [
        benchmark.score(item, Answer("", "m", False, option=option)) for option in (2, 0, None)
    ]
    assert [getattr(v, "score", None) for v in verdicts] == [1.0, 0.0, None]
    assert isinstance(verdicts[2], Unscored)
    assert isinstance(verdicts[1], Verdict)
    assert verdicts[1].reason == "'Glad.', where 'Confused.' is right."


def test_the_test_file_has_no_answers(tmp_path: Path) -> None:
    blind = {name: value for name, value in SOCIAL.items() if name != "answer_idx"}
    benchmark = social(tmp_path, blind)
    (item,) = benchmark.items()
    assert isinstance(benchmark.score(item, Answer("", "m", False, option=1)), Unscored)
    with pytest.raises(BadInput, match="no right answer"):
        social(tmp_path, blind, open=True).items()


def test_openly_asked_the_right_choice_is_the_reference(tmp_path: Path) -> None:
    benchmark = social(tmp_path, SOCIAL, open=True)
    (item,) = benchmark.items()
    assert item.question.options == ()
    asked = benchmark.score(item, Answer("He is puzzled.", "m", False))
    assert isinstance(asked, Judging)
    assert '"He is puzzled."\nReference Answer:\n"Confused."' in asked.question


def test_a_seed_shuffles_the_same_way_every_time(tmp_path: Path) -> None:
    orders = set()
    for seed in range(12):
        items = intent(tmp_path, shuffle_seed=seed).items()
        assert items == intent(tmp_path, shuffle_seed=seed).items()
        for item in items:
            assert item.question.options[item.right[0]] == item.reference
        orders.add(items[0].question.options)
    assert len(orders) > 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (INTENT.replace(",4,1,CH", ",5,1,CH"), "val.csv, line 2: answer must be a number from 0"),
        (INTENT.replace(",TN,", ",XX,"), "line 3: type must be one of CW, CH, TP, TN, not 'XX'"),
        (INTENT.replace("qid,", "id,", 1), "lacks the column qid; it has video_id,"),
        (INTENT.replace(",nod,", ",,"), "line 2: a1 must be words"),
        (INTENT + "99,1,1\n", "line 4: it has 3 cells, and line 1 names 16"),
    ],
)
def test_faults_of_the_table_are_told_by_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words.replace("(", "\\(")):
        intent(tmp_path, text).items()


def test_what_is_missing_is_told_with_its_source(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="JoseponLee/IntentQA"):
        intentqa.build(intentqa.Options(str(tmp_path))).items()
    benchmark = intent(tmp_path)
    assert [fault.path for fault in benchmark.check()] == ["videos/13.mp4", "videos/70.mp4"]
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "13.webm").write_bytes(b"x")
    assert [fault.path for fault in benchmark.check()] == ["videos/70.mp4"]
    assert benchmark.video(benchmark.items()[0]) == tmp_path / "videos" / "13.webm"


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("TRUE.", 1.0),
        ("True - because both say that he climbs.", 1.0),
        ("**FALSE**\nThe reference is a rope.", 0.0),
        ('{"correct": true, "explanation": "same"}', 1.0),
        ('Sure! Here it is: {"correct": false, "explanation": "it is {not}"} Bye.', 0.0),
        ("I think it is not FALSE", None),
        ("", None),
        ("TRUE or FALSE?", None),
        ("True. It would be false to say otherwise.", None),
        ('{"correct": "true"}', None),
        ('{"correct": true} {"correct": false}', None),
        ("Truely different", None),
    ],
)
def test_a_judges_reply_is_clear_or_unscored(reply: str, score: float | None) -> None:
    verdict = judging.read_verdict(reply, "judge")
    assert getattr(verdict, "score", None) == score
    assert verdict.raw == reply
