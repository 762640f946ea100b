import re

import numpy as np
import pytest

from fusion.question import Question
from fusion.render import RenderOptions, render
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.cue import Cue, Span
from perception.errors import BadInput
from perception.recognizer import Frame
from reasoning.prompt import CuePlacement, Wording, build, clock, letter, question_words
from reasoning.videollm import Frames, Request, Text

APPENDIX_C5_VIDEO = """\
You are an expert in mime performance understanding and question answering.
Typically, the mime would use exaggerated gestures or pretend objects to convey a message.
Answer the question in one sentence using the video, with brief explanations.
Do not describe the frames just answer the question, and say nothing else.
If the mime is using imaginary objects, describe the objects as if they were real.
Question: What is the mime pulling?"""

APPENDIX_C5_FRAMES = """\
You are an expert in mime performance understanding and question answering.
Typically, the mime would use exaggerated gestures or pretend objects to convey a message.
The video lasts for 01 min:05.50 sec, and 2 frames are uniformly sampled from it.
These frames are located at 00 min:00.00 sec, 00 min:01.00 sec. \
Answer the question in one sentence using the video, with brief explanations.
Do not describe the frames just answer the question.
If the mime is using imaginary objects, describe the objects as if they were real.
Question: What is the mime pulling?"""

QUESTION = Question("What is the mime pulling?")
CUES = CuePrompt("CUES", Selection())
FRAMES = tuple(Frame(time_s, np.zeros((4, 4, 3), np.uint8)) for time_s in (0.0, 1.0))


def words(*args: object, **kwargs: object) -> str:
    return Request(build(*args, **kwargs)).prompt()  # type: ignore[arg-type]


def test_the_wording_for_native_video_is_the_papers() -> None:
    assert words(QUESTION, wording=Wording.VIDEO) == APPENDIX_C5_VIDEO


def test_the_wording_for_frames_is_the_papers_with_their_times() -> None:
    assert words(QUESTION, frames=FRAMES, duration_s=65.5) == APPENDIX_C5_FRAMES


def test_a_model_without_pixels_is_told_that_it_gets_cues_and_not_the_video() -> None:
    said = words(QUESTION, CUES)
    assert "not the video" in said
    assert "from the cues" in said
    assert "sampled" not in said


def test_parts_stand_in_the_order_instruction_frames_cues_question() -> None:
    parts = build(QUESTION, CUES, FRAMES, 2.0)
    assert [type(part) for part in parts] == [Text, Frames, Text, Text]
    assert parts[1].frames == FRAMES  # type: ignore[union-attr]
    assert parts[2:] == (Text("CUES"), Text("Question: What is the mime pulling?"))


def block(*starts_s: float, order: str = "time") -> CuePrompt:
    kept = tuple(
        KeptCue(f"kind{number}", Cue(f"c{number}", Span(start_s, start_s + 1), f"t{number}", 1), 1)
        for number, start_s in enumerate(starts_s)
    )
    return render(Selection(kept), RenderOptions(order=order, notice="none"))


def layout(cues: CuePrompt, placement: CuePlacement, *times_s: float) -> list[object]:
    frames = tuple(Frame(time_s, FRAMES[0].rgb) for time_s in times_s)
    return [
        part.text if isinstance(part, Text) else [frame.time_s for frame in part.frames]
        for part in build(QUESTION, cues, frames, 9.0, Wording.VIDEO, placement)
    ][1:-1]


def test_the_block_can_stand_before_the_video() -> None:
    assert layout(CUES, CuePlacement.BEFORE_VIDEO, 0, 1) == ["CUES", [0, 1]]
    assert layout(CUES, CuePlacement.BEFORE_QUESTION, 0, 1) == [[0, 1], "CUES"]


def test_interleaved_cues_stand_before_the_first_frame_that_is_shown_when_they_begin() -> None:
    cues = block(1.0, 1.2, 2.5, 7.0)
    heading, *lines = cues.text.split("\n")
    assert layout(cues, CuePlacement.INTERLEAVED, 0, 1, 2, 3) == [
        heading,
        [0],
        lines[0],
        [1],
        lines[1],
        [2],
        lines[2],
        [3],
        lines[3],
    ]


def test_interleaved_cues_that_begin_between_the_same_frames_stand_together() -> None:
    cues = block(0.0, 0.2, 0.4)
    heading, first, second, third = cues.text.split("\n")
    assert layout(cues, CuePlacement.INTERLEAVED, 0, 1, 2) == [
        heading,
        first,
        [0],
        f"{second}\n{third}",
        [1, 2],
    ]


def test_without_frames_interleaved_cues_are_one_block() -> None:
    cues = block(1.0, 2.0)
    assert layout(cues, CuePlacement.INTERLEAVED) == [cues.text]


def test_cues_grouped_by_kind_are_not_interleaved() -> None:
    with pytest.raises(BadInput, match="order to time"):
        layout(block(1.0, 2.0, order="kind"), CuePlacement.INTERLEAVED, 0, 1)


def test_without_cues_there_is_no_empty_part() -> None:
    assert len(build(QUESTION)) == 2


def test_options_are_lettered_in_their_order() -> None:
    question = Question("Who walks?", ("the man", "the woman", "nobody"))
    assert question_words(question) == (
        "Question: Who walks?\nOptions:\nA. the man\nB. the woman\nC. nobody"
    )


def test_a_span_opens_the_question_as_in_mimeqa() -> None:
    question = Question("what happens?", span=Span(4.7, 65.804))
    assert question_words(question) == (
        "Question: From timestamp 00 min:04.70 sec to 01 min:05.80 sec, what happens?"
    )


@pytest.mark.parametrize(
    ("time_s", "expected"),
    [
        (0.0, "00 min:00.00 sec"),
        (9.999, "00 min:10.00 sec"),
        (59.996, "01 min:00.00 sec"),
        (119.994, "01 min:59.99 sec"),
        (3725.25, "62 min:05.25 sec"),
    ],
)
def test_times_are_written_as_in_mimeqa(time_s: float, expected: str) -> None:
    assert clock(time_s) == expected


def test_letters_go_on_after_z() -> None:
    assert [letter(index) for index in (0, 25, 26, 51, 52)] == ["A", "Z", "AA", "AZ", "BA"]


def test_every_frame_time_of_the_prompt_is_a_frame_that_is_sent() -> None:
    frames = tuple(Frame(time_s, FRAMES[0].rgb) for time_s in (0.033, 12.5, 61.0))
    instruction = build(QUESTION, frames=frames, duration_s=70)[0]
    assert isinstance(instruction, Text)
    line = next(line for line in instruction.text.splitlines() if "located" in line)
    assert re.findall(r"(\d+) min:([\d.]+) sec", line) == [
        ("00", "00.03"),
        ("00", "12.50"),
        ("01", "01.00"),
    ]
