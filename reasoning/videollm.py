"""The VideoLLM protocol: ``answer(request) -> Answer | Failure``.

The same request gives the same answer cold, warm and in any order. A request is counted before it
is sent, pictures included: ``reasoning.ask`` calls no model with a prompt that cannot fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from perception.cue import Span
from perception.errors import BadInput
from perception.recognizer import Frame
from reasoning.answer import Answer, Failure
from reasoning.egress import Egress

__all__ = [
    "FrameSampling",
    "Frames",
    "Part",
    "Request",
    "Text",
    "TokenCount",
    "VideoFile",
    "VideoLLM",
]


@dataclass(frozen=True, slots=True)
class FrameSampling:
    """How a model wants the video (MimeQA, Appendix C.2 for the papers' models).

    Args:
        rate_hz: frames a second; thinned out uniformly when there are more than ``max_frames``.
        max_frames: at most so many.
        max_side_px: frames are scaled down so that no side is longer; 0 = as they are.
        uniform: ``max_frames`` spread evenly over the video, however long it is; ``rate_hz`` then
            counts for nothing. A clip that has fewer frames gives all that it has.
    """

    rate_hz: float
    max_frames: int
    max_side_px: int = 0
    uniform: bool = False

    def __post_init__(self) -> None:
        if not (0 < self.rate_hz < math.inf and self.max_frames >= 1 and self.max_side_px >= 0):
            raise BadInput(
                f"A model takes at least one frame at a positive rate, no side shorter than 0, not "
                f"{self.max_frames} frames at {self.rate_hz:g} Hz with {self.max_side_px} pixels."
            )


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the prompt. Halves of surrogate pairs, which no model reads, become U+FFFD."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _readable(self.text))


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """The sampled frames, in order of time; times are the video's presentation times."""

    frames: tuple[Frame, ...]


Part = Text | Frames


@dataclass(frozen=True, slots=True)
class VideoFile:
    """The file that the frames were sampled from, for families that are handed the file itself.

    Args:
        path: of the file.
        part: that the frames cover, on the presentation clock; None = all of it.
    """

    path: Path
    part: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Everything that a model is told.

    Args:
        parts: in the order in which the model reads them.
        options: choices to decide between, mended as ``Text``; empty for a free answer.
        prior_parts: the same prompt without the cues and the frames, by which a model that scores
            options by likelihood corrects for options that are common anyway; may be empty.
        max_new_tokens: limit of the free answer (128 in MimeQA's Appendix C.2).
        temperature: 0 = greedy.
        seed: for sampling, where temperature is above 0.
        video: where the frames come from; None = the frames are all that there is.
        sound: whether a model that hears may hear the video.
        schema: JSON schema of a free answer, for models that can be held to one; None = words.
    """

    parts: tuple[Part, ...]
    options: tuple[str, ...] = ()
    prior_parts: tuple[Part, ...] = ()
    max_new_tokens: int = 128
    temperature: float = 0.0
    seed: int = 0
    video: VideoFile | None = None
    sound: bool = False
    schema: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(map(_readable, self.options)))

    def prompt(self) -> str:
        """The words of all parts, as they are stored with the answer."""
        return _words(self.parts)


def _readable(text: str) -> str:
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)


def _words(parts: Sequence[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The length of a prompt in a model's tokens, pictures and the chat template included.

    Args:
        tokens: how many.
        estimated: True where they come from a documented formula, as an upper bound, and not from
            the model's own tokenizer.
    """

    tokens: int
    estimated: bool = False


class VideoLLM(Protocol):
    """A model family at work; built by its plug-in file's ``build(options)``."""

    @property
    def name(self) -> str:
        """Model name for people and records."""

    @property
    def weights(self) -> tuple[str, ...]:
        """Manifest names of the checkpoints that it loads, to be fetched beforehand."""

    @property
    def sampling(self) -> FrameSampling | None:
        """The frames that it wants, None when it takes no pixels (``sees_video`` is then false)."""

    @property
    def native_video(self) -> bool:
        """Whether the family itself tells the model when each frame is shown, as it was trained
        to; False = the prompt has to list the times (``Wording.FRAMES``)."""

    @property
    def context_tokens(self) -> int | None:
        """Tokens that prompt and answer may take together, None where that is not known. May load
        the model."""

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text``; an estimate where the model's tokenizer is not to be had."""

    def count(self, request: Request) -> TokenCount:
        """Tokens of the whole prompt. Nothing leaves this machine for it: where only a server
        elsewhere could count, a documented formula gives an upper bound, marked *estimated*."""

    def egress(self, request: Request) -> Egress | None:
        """What ``answer`` would send to another machine; None when nothing leaves this one."""

    def draft(self, request: Request) -> dict[str, Any]:
        """What ``answer`` would send or feed to the model, as JSON values: messages or text in the
        model's own form, and ``reasoning.outgoing.stands_for`` in place of pictures. No call is
        made, and nothing is loaded beyond what counting needs."""

    def answer(self, request: Request) -> Answer | Failure:
        """Answer; raises only for a mistake of the user (``UserError``).

        The answer's ``request`` is ``reasoning.outgoing.record`` of what went out. An answer that
        the token limit cut off is not ``complete``; a refusal and an empty reply are a ``Failure``.
        """

    def close(self) -> None:
        """Free the model; called once."""
