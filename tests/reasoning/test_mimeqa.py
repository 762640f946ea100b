"""MimeQA and tables of one's own, on small files in the exact published format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fusion.question import QuestionType
from perception.cue import Span
from perception.errors import BadInput
from reasoning.answer import Answer, Verdict
from reasoning.benchmark import Judging, Shown
from reasoning.benchmarks import csv_questions, mimeqa
from reasoning.prompt import Words

HEAD = "file,question,reference_answer,question type,timestamp\n"
TABLE = (
    HEAD
    + '0002.webm,What does he hold?,A rope.,Grounding the Imagined,"(12.3, 20.0)"\n'
    + '0002.webm,What does she believe?,That it rains.,Perspective Taking,"(0, 5)"\n'
    + "0007.mp4,Who leads?,The tall one.,Social Judgment,\n"
)


def table(tmp_path: Path, text: str = TABLE, **options: object) -> mimeqa.Benchmark:
    (tmp_path / "annotation_final.csv").write_text(text)
    return mimeqa.build(mimeqa.Options(str(tmp_path), **options))  # type: ignore[arg-type]


def prompt(words: Words) -> str:
    return f"{words.opening}\n{words.closing}"


def test_the_table_as_published(tmp_path: Path) -> None:
    first, second, third = table(tmp_path).items()
    assert first.question.id == "mimeqa/0002-1"
    assert (first.video, first.question.span) == ("0002.mp4", Span(12.3, 20.0))
    assert (first.level, first.reference) == ("Grounding", "A rope.")
    assert second.category is QuestionType.THEORY_OF_MIND
    assert second.question.span is None
    assert (third.question.id, third.level) == ("mimeqa/0007-1", "Global-Level")


def test_grounding_is_asked_with_its_times_and_theory_of_mind_without(tmp_path: Path) -> None:
    benchmark = table(tmp_path)
    first, second, _ = benchmark.items()
    shown = Shown((0.0, 1.0), 65.5)
    assert prompt(benchmark.words(first, shown)).endswith(
        "Question: From timestamp 00 min:12.30 sec to 00 min:20.00 sec, What does he hold?"
    )
    assert prompt(benchmark.words(second, shown)).endswith("Question: What does she believe?")
    assert "2 frames are uniformly sampled" in prompt(benchmark.words(first, shown))
    native = prompt(benchmark.words(first, Shown((0.0, 1.0), 65.5, native=True)))
    assert "say nothing else" in native
    assert "sampled" not in native


def test_without_video_no_video_is_spoken_of(tmp_path: Path) -> None:
    benchmark = table(tmp_path)
    blind = prompt(benchmark.words(benchmark.items()[2], Shown()))
    assert "video" not in blind
    assert "frames" not in blind
    assert "not the video itself" in prompt(benchmark.words(benchmark.items()[2], Shown(cues=True)))


def test_titles_and_chain_of_thought_are_settings(tmp_path: Path) -> None:
    (tmp_path / "titles.json").write_text(json.dumps({"0002.webm": "Tug", "0007.mp4": "Two"}))
    benchmark = table(tmp_path, titles="titles.json", chain_of_thought=True)
    words = benchmark.words(benchmark.items()[0], Shown())
    assert words.opening.endswith('\nThe title of the video is "Tug".')
    assert words.closing.endswith("'The answer is X'.")
    (tmp_path / "titles.json").write_text(json.dumps({"0002.webm": "Tug"}))
    with pytest.raises(BadInput, match="no title for '0007'"):
        table(tmp_path, titles="titles.json").items()


def test_the_judge_is_asked_as_in_appendix_c5(tmp_path: Path) -> None:
    benchmark = table(tmp_path)
    asked = benchmark.score(benchmark.items()[0], Answer("A string.", "m", True))
    assert isinstance(asked, Judging)
    assert asked.instruction.startswith("Answer Grading Instructions:\nCarefully consider")
    assert asked.question == (
        '\nQuestion:\n"What does he hold?"\nCandidate Answer:\n"A string."\n'
        'Reference Answer:\n"A rope."\nEquivalent? (True/False, and why?):\n'
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1.mp4,Q?,A.,Grounding,\n", "line 2: question type must be one of Grounding the Imagined"),
        ('1.mp4,Q?,A.,Temporal,"12-20"\n', "line 2: timestamp must be empty or like"),
        ('1.mp4,Q?,A.,Temporal,"(20, 12)"\n', "line 2: timestamp must be empty or like"),
        ("1.mp4,Q?,,Temporal,\n", "line 2: reference_answer must be words"),
    ],
)
def test_faults_are_told_by_line(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        table(tmp_path, HEAD + line).items()


def own(tmp_path: Path, text: str, **options: object) -> csv_questions.Benchmark:
    (tmp_path / "mine.csv").write_text(text)
    chosen = csv_questions.Options(str(tmp_path / "mine.csv"), **options)  # type: ignore[arg-type]
    return csv_questions.build(chosen)


def test_a_table_of_ones_own_may_have_decimal_commas(tmp_path: Path) -> None:
    text = "video;question;reference;start;end\na.mp4;What, then?;a rope;1,25;2,5\n"
    (item,) = own(tmp_path, text).items()
    assert (item.question.text, item.question.span) == ("What, then?", Span(1.25, 2.5))


def test_a_table_that_is_no_text_further_down_is_told(tmp_path: Path) -> None:
    rows = "a.mp4,What?,a rope\n" * 2000
    benchmark = own(tmp_path, "")
    (tmp_path / "mine.csv").write_bytes(f"video,question,reference\n{rows}".encode() + b"\xff")
    with pytest.raises(BadInput, match=r"^'.*mine\.csv' cannot be read"):
        benchmark.items()


def test_a_table_of_ones_own_mixes_open_questions_and_choices(tmp_path: Path) -> None:
    text = (
        "video,question,reference,option_a,option_b,option_c,answer,category,start,end\n"
        "a.mp4,What does he hold?,a rope,,,,,Intention,1,2.5\n"
        "a.mp4,Who waves?,,him,her,nobody,b,Mine,,\n"
    )
    benchmark = own(tmp_path, text)
    first, second = benchmark.items()
    assert (first.question.span, first.question.type) == (Span(1, 2.5), QuestionType.INTENTION)
    assert second.question.options == ("him", "her", "nobody")
    assert (second.right, second.reference, second.question.type) == ((1,), "her", None)
    assert benchmark.categories == ("Intention", "Mine")
    assert isinstance(benchmark.score(first, Answer("a rope", "m", True)), Judging)
    verdict = benchmark.score(second, Answer("her", "m", True, option=1))
    assert isinstance(verdict, Verdict)
    assert verdict.score == 1
    assert [fault.path for fault in benchmark.check()] == [str(tmp_path / "a.mp4")]


def test_a_table_as_a_spreadsheet_saves_it(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "a.mp4").touch()
    text = (
        "\ufeffvideo;question;reference;category\r\n"
        "a.mp4;Why, then?;fun;grounding the IMAGINED\r\n"
        "b.mp4;Who?;him;Perspective taking\r\n"
        ";;;\r\n"
    )
    benchmark = own(tmp_path, text)
    assert benchmark.categories == ("Grounding the Imagined", "Theory of Mind")
    first, second = benchmark.items()
    assert first.question.text == "Why, then?"
    assert second.question.type is QuestionType.THEORY_OF_MIND
    assert benchmark.video(first) == tmp_path / "videos" / "a.mp4"
    assert [fault.path for fault in benchmark.check()] == [str(tmp_path / "b.mp4")]


def test_two_questions_of_one_id_are_an_error(tmp_path: Path) -> None:
    head = "video,id,question,reference\n"
    with pytest.raises(BadInput, match=r"line 4: the id 'x' is that of mine.csv, line 2"):
        own(tmp_path, f"{head}a.mp4,x,Q?,r\na.mp4,y,Q?,r\na.mp4,x,R?,r\n").items()


@pytest.mark.parametrize("mime", [True, False])
@pytest.mark.parametrize("native", [True, False])
def test_ones_own_videos_are_mime_only_where_one_says_so(
    tmp_path: Path, mime: bool, native: bool
) -> None:
    benchmark = own(tmp_path, "video,question,reference\na.mp4,Q?,r\n", mime=mime)
    (item,) = benchmark.items()
    words = benchmark.words(item, Shown((0.5, 1.0), 2.0, native))
    assert ("mime" in words.opening) is mime
    assert "Answer the question in one sentence using the video" in words.opening
    assert ("00 min:00.50 sec" in words.opening) is not native
    asked = benchmark.score(item, Answer("a", "m", True))
    assert isinstance(asked, Judging)
    assert ("mime" in asked.instruction) is mime


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a.mp4,Q?,,x,y,,c,,,", "line 2: answer must be one of A, B, not 'C'"),
        ("a.mp4,Q?,,,,,,,,", "line 2: an open question needs a reference"),
        ("a.mp4,Q?,r,x,,,a,,,", "line 2: A multiple-choice question needs at least two"),
        ("a.mp4,,r,,,,,,,", "line 2: question must be words"),
        ("a.mp4,Q?,r,,,,,,3,1", "line 2: start and end must be seconds in order"),
    ],
)
def test_faults_of_ones_own_table_are_told_by_line(tmp_path: Path, row: str, words: str) -> None:
    head = "video,question,reference,option_a,option_b,option_c,answer,category,start,end\n"
    with pytest.raises(BadInput, match=words):
        own(tmp_path, head + row + "\n").items()
