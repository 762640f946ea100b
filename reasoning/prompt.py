"""MimeQA's prompts (its Appendix C.5), with the cue block where the condition says.

A prompt is parts in order: instruction, frames, cue block, question. The templates are the
paper's, word for word; a third wording, ours, tells a model without pixels what it really gets.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fusion.question import Question
from fusion.selection import CuePrompt
from perception.cue import Span
from perception.errors import BadInput
from perception.recognizer import Frame
from reasoning.videollm import Frames, Part, Text

__all__ = [
    "CHOOSE",
    "CuePlacement",
    "Wording",
    "Words",
    "build",
    "clock",
    "letter",
    "opening",
    "question_words",
    "without_options",
]


class Wording(StrEnum):
    """Which instruction opens the prompt."""

    VIDEO = "video"
    """For models that take the video itself (Gemini, Qwen2.5-VL)."""
    FRAMES = "frames"
    """For models that are handed sampled frames (GPT-4o, LLaVA-Video)."""
    CUES = "cues"
    """For models that see no pixels."""


@dataclass(frozen=True, slots=True)
class Words:
    """A prompt's own words; the frames and the cue block stand between the two.

    Args:
        opening: instruction, facts of the video, whatever comes before what is seen.
        closing: the question, with its options and how to reply; empty where all of it comes first.
        schema: JSON schema of the reply; None = words.
    """

    opening: str
    closing: str
    schema: Mapping[str, Any] | None = None


class CuePlacement(StrEnum):
    """Where the cue block stands in the prompt."""

    BEFORE_QUESTION = "before_question"
    """Behind the frames: the default."""
    BEFORE_VIDEO = "before_video"
    """Between the instruction and the frames."""
    INTERLEAVED = "interleaved"
    """Its heading before the frames, and each cue before the first frame that is shown when the
    cue begins or later."""


_WHERE_FRAMES_LIE = (
    "The video lasts for {video_time}, and {num_frames} frames are uniformly sampled from it.\n"
    "These frames are located at {frame_time}. "
)

_OPENING = (
    "You are an expert in mime performance understanding and question answering.\n"
    "Typically, the mime would use exaggerated gestures or pretend objects to convey a message.\n"
)

_INSTRUCTIONS = {
    Wording.VIDEO: _OPENING
    + (
        "Answer the question in one sentence using the video, with brief explanations.\n"
        "Do not describe the frames just answer the question, and say nothing else.\n"
        "If the mime is using imaginary objects, describe the objects as if they were real."
    ),
    Wording.FRAMES: _OPENING
    + _WHERE_FRAMES_LIE
    + (
        "Answer the question in one sentence using the video, with brief explanations.\n"
        "Do not describe the frames just answer the question.\n"
        "If the mime is using imaginary objects, describe the objects as if they were real."
    ),
    Wording.CUES: (
        "You are given perception cues of a video, not the video itself. "
        "Answer the question from the cues."
    ),
}

_OF_ANY_VIDEO = {
    Wording.VIDEO: "Answer the question in one sentence using the video.",
    Wording.FRAMES: f"{_WHERE_FRAMES_LIE}Answer the question in one sentence using the video.",
    Wording.CUES: _INSTRUCTIONS[Wording.CUES],
}
"""The same without a word of mime."""

CHOOSE = "Reply with the letter of the right option and nothing else."
"""Closes the prompt of a model that is asked to choose in words."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SECONDS_PER_MINUTE = 60


def build(
    question: Question,
    cues: CuePrompt | None = None,
    frames: Sequence[Frame] = (),
    duration_s: float = 0.0,
    wording: Wording | Words | None = None,
    placement: CuePlacement = CuePlacement.BEFORE_QUESTION,
) -> tuple[Part, ...]:
    """The parts of the prompt, in order.

    Args:
        question: its options are lettered, its span becomes "From timestamp … to …, ".
        cues: the cue block; None or an empty one = without cues.
        frames: what the model will see, in order of time.
        duration_s: of the video, for ``Wording.FRAMES``.
        wording: None = ``FRAMES`` with frames, ``CUES`` without; or the words of a benchmark.
        placement: of the cue block; without frames all placements are one.

    Raises:
        BadInput: the block is grouped by kind and shall be interleaved.
    """
    if wording is None:
        wording = Wording.FRAMES if frames else Wording.CUES
    if isinstance(wording, Words):
        words = wording
    else:
        times_s = [frame.time_s for frame in frames]
        words = Words(opening(wording, times_s, duration_s), question_words(question))
    shown = _shown(cues, tuple(frames), placement)
    closing = (Text(words.closing),) if words.closing else ()
    return (Text(words.opening), *shown, *closing)


def opening(
    wording: Wording,
    frame_times_s: Sequence[float] = (),
    duration_s: float = 0.0,
    *,
    mime: bool = True,
) -> str:
    """The instruction of ``wording``, MimeQA's or one for any video; ``FRAMES`` lists the frames'
    times and the duration."""
    words = (_INSTRUCTIONS if mime else _OF_ANY_VIDEO)[wording]
    if wording is not Wording.FRAMES:
        return words
    return words.format(
        video_time=clock(duration_s),
        num_frames=len(frame_times_s),
        frame_time=", ".join(map(clock, frame_times_s)),
    )


def _shown(
    cues: CuePrompt | None, frames: tuple[Frame, ...], placement: CuePlacement
) -> Iterator[Part]:
    """The frames and the cue block."""
    video: tuple[Part, ...] = (Frames(frames),) if frames else ()
    if cues is None or not cues.text:
        yield from video
    elif placement is CuePlacement.INTERLEAVED and frames:
        yield from _interleaved(cues, frames)
    elif placement is CuePlacement.BEFORE_VIDEO:
        yield from (Text(cues.text), *video)
    else:
        yield from (*video, Text(cues.text))


def _interleaved(cues: CuePrompt, frames: tuple[Frame, ...]) -> Iterator[Part]:
    """The heading, then frames and cues in order of time; frames between two cues stay together."""
    starts = {item.cue.id: item.cue.span.start_s for item in cues.selection.kept}
    begins: dict[int, float] = {}
    for line, id in cues.lines:
        if id in starts:
            begins[line] = min(starts[id], begins.get(line, starts[id]))
    words = cues.text.split("\n")
    first, last = min(begins, default=len(words)), max(begins, default=len(words))
    if any(line not in begins for line in range(first, last)):
        raise BadInput(
            "Cues that are grouped by kind cannot be interleaved with the frames; set "
            "fusion.render.order to time, or answer.cue_placement to before_question."
        )
    before: dict[int, list[str]] = {}
    times_s = [frame.time_s for frame in frames]
    for line, start_s in sorted(begins.items(), key=lambda item: (item[1], item[0])):
        before.setdefault(bisect.bisect_left(times_s, start_s), []).append(words[line])
    if first:
        yield Text("\n".join(words[:first]))
    edges = sorted({0, *before, len(frames)})
    for start, end in zip(edges, [*edges[1:], len(frames)], strict=True):
        if start in before:
            yield Text("\n".join(before[start]))
        if start < end:
            yield Frames(frames[start:end])
    if last + 1 < len(words):
        yield Text("\n".join(words[last + 1 :]))


def question_words(question: Question) -> str:
    """``Question: …`` and, below it, the lettered options."""
    asked = f"Question: {_timestamped(question.text, question.span)}"
    return asked + _listed(question.options)


def without_options(words: str, options: Sequence[str]) -> str:
    """``question_words`` less the options that it lists."""
    return words.removesuffix(_listed(options))


def clock(time_s: float) -> str:
    """Seconds as MimeQA's evaluation writes them, ``MM min:SS.SS sec``; 65.5 is ``01 min:05.50
    sec``. Rounded to hundredths before it is split, so that no 60.00 seconds appear."""
    minutes, hundredths = divmod(round(time_s * 100), _SECONDS_PER_MINUTE * 100)
    return f"{minutes:02d} min:{hundredths / 100:05.2f} sec"


def letter(index: int) -> str:
    """A, B, …, Z, then AA, AB, … for the option at ``index`` (from 0)."""
    rest, last = divmod(index, len(_LETTERS))
    return (letter(rest - 1) if rest else "") + _LETTERS[last]


def _listed(options: Sequence[str]) -> str:
    if not options:
        return ""
    lines = [f"{letter(index)}. {option}" for index, option in enumerate(options)]
    return "\n".join(["\nOptions:", *lines])


def _timestamped(text: str, span: Span | None) -> str:
    if span is None:
        return text
    return f"From timestamp {clock(span.start_s)} to {clock(span.end_s)}, {text}"
