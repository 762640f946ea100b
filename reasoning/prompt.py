"""MimeQA's prompts (its Appendix C.5), with the cue block before the question.

A prompt is parts in order: instruction, frames, cue block, question. The templates are the
paper's, word for word; a third wording, ours, tells a model without pixels what it really gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from fusion.question import Question
from perception.cue import Span
from perception.recognizer import Frame
from reasoning.videollm import Frames, Part, Text

__all__ = ["Wording", "build", "clock", "letter", "question_words", "without_options"]


class Wording(StrEnum):
    """Which instruction opens the prompt."""

    VIDEO = "video"
    """For models that take the video itself (Gemini, Qwen2.5-VL)."""
    FRAMES = "frames"
    """For models that are handed sampled frames (GPT-4o, LLaVA-Video)."""
    CUES = "cues"
    """For models that see no pixels."""


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
    + (
        "The video lasts for {video_time}, and {num_frames} frames are uniformly sampled from "
        "it.\n"
        "These frames are located at {frame_time}. Answer the question in one sentence using the "
        "video, with brief explanations.\n"
        "Do not describe the frames just answer the question.\n"
        "If the mime is using imaginary objects, describe the objects as if they were real."
    ),
    Wording.CUES: (
        "You are given perception cues of a video, not the video itself. "
        "Answer the question from the cues."
    ),
}

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SECONDS_PER_MINUTE = 60


def build(
    question: Question,
    cues: str = "",
    frames: Sequence[Frame] = (),
    duration_s: float = 0.0,
    wording: Wording | None = None,
) -> tuple[Part, ...]:
    """The parts of the prompt, in order.

    Args:
        question: its options are lettered, its span becomes "From timestamp … to …, ".
        cues: the cue block; empty = without cues.
        frames: what the model will see, in order of time.
        duration_s: of the video, for ``Wording.FRAMES``.
        wording: None = ``FRAMES`` with frames, ``CUES`` without.
    """
    if wording is None:
        wording = Wording.FRAMES if frames else Wording.CUES
    instruction = _INSTRUCTIONS[wording]
    if wording is Wording.FRAMES:
        instruction = instruction.format(
            video_time=clock(duration_s),
            num_frames=len(frames),
            frame_time=", ".join(clock(frame.time_s) for frame in frames),
        )
    parts: list[Part] = [Text(instruction)]
    if frames:
        parts.append(Frames(tuple(frames)))
    if cues:
        parts.append(Text(cues))
    parts.append(Text(question_words(question)))
    return tuple(parts)


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
