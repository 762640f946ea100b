"""The Strategy protocol: how a question becomes an answer, in one call to the model or several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from fusion.fuse import fuse, select
from fusion.options import FusionOptions
from fusion.policy import Tools
from fusion.question import Question
from fusion.selection import CuePrompt, KeptCue
from perception.cue import CueTimeline, Span, id_order
from perception.errors import BadInput, UnknownName
from perception.plugins import build, names, options_of
from perception.recognizer import Frame
from reasoning.ask import AnswerOptions, Asked, Confirm, fitted, request_for
from reasoning.egress import total_of
from reasoning.prompt import Words
from reasoning.videollm import Request, VideoFile, VideoLLM

__all__ = ["STRATEGIES", "Strategy", "StrategyOptions", "Task", "agreed"]

STRATEGIES = "reasoning.strategies"
"""The folder whose files are the strategies."""


def _nowhere(part: Span | None) -> None:
    """No file."""


def _in_our_words(frames: Sequence[Frame], cues: CuePrompt | None) -> None:
    """No words of its own."""


def _silent(step: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """All that a strategy works with.

    Args:
        question: what is asked.
        timeline: what was perceived.
        model: who is asked.
        sample: the frames of a part of the video (None = all of it) as ``model.sampling`` says;
            called only for a model that takes pictures.
        fusion, tools: for ``fuse``.
        answer: limits of the answer.
        with_cues: whether the model is given cues.
        fuse: makes the block; arguments as ``fusion.fuse.fuse`` has them.
        words: of a benchmark, for the prompt of the answer, by what is shown in it; None = ours.
        video: the file, for a part, for families that are handed it.
        confirm: asked once, before anything leaves this machine, for all calls together. Without it
            nothing does.
        on_step: told what is done next, in a few words.
    """

    question: Question
    timeline: CueTimeline
    model: VideoLLM
    sample: Callable[[Span | None], Sequence[Frame]]
    fusion: FusionOptions = field(default_factory=FusionOptions)
    tools: Tools = field(default_factory=Tools)
    answer: AnswerOptions = field(default_factory=AnswerOptions)
    with_cues: bool = True
    fuse: Callable[..., CuePrompt] = fuse
    words: Callable[[Sequence[Frame], CuePrompt | None], Words | None] = _in_our_words
    video: Callable[[Span | None], VideoFile | None] = _nowhere
    confirm: Confirm | None = None
    on_step: Callable[[str], None] = _silent

    @property
    def duration_s(self) -> float:
        """Of the video."""
        return self.timeline.video.duration_s

    def frames(self, part: Span | None) -> Sequence[Frame]:
        """Frames of a part; none for a model that takes no pictures."""
        return () if self.model.sampling is None else self.sample(part)

    def cues(
        self,
        frames: Sequence[Frame],
        rejected: Mapping[str, str] | None = None,
        reserved_tokens: int = 0,
    ) -> CuePrompt | None:
        """The block that fits beside the frames; None where the model is given no cues.

        Args:
            frames: of the prompt.
            rejected: as for ``fuse``.
            reserved_tokens: of the model's context, for what else stands in the prompt.
        """
        if not self.with_cues:
            return None

        def fuse_within(budget_tokens: int) -> CuePrompt:
            options = replace(self.fusion, budget_tokens=budget_tokens)
            return self.fuse(self.timeline, self.question, options, self.tools, rejected)

        longest = self.fuse(self.timeline, self.question, self.fusion, self.tools, rejected)
        room = replace(self.answer, max_new_tokens=self.answer.max_new_tokens + reserved_tokens)
        return fitted(
            fuse_within,
            self.question,
            self.model,
            frames,
            self.duration_s,
            room,
            budget_tokens=self.fusion.budget_tokens,
            video=self.video(self.question.span),
            wording=self.words(frames, longest),
        )

    def request(
        self, rejected: Mapping[str, str] | None = None, reserved_tokens: int = 0
    ) -> tuple[CuePrompt | None, Request]:
        """That of the answer, and the cues in it; arguments as for ``cues``."""
        frames = self.frames(self.question.span)
        cues = self.cues(frames, rejected, reserved_tokens)
        return cues, request_for(
            self.question,
            cues,
            self.model,
            frames,
            self.duration_s,
            self.answer,
            video=self.video(self.question.span),
            wording=self.words(frames, cues),
        )

    def worthiest(
        self, kinds: Collection[str], most: int, reason: str
    ) -> tuple[list[KeptCue], dict[str, str]]:
        """The kept cues of some kinds, worthiest first, and why (by id) the others of these kinds
        are left out."""
        kept = select(self.timeline, self.question, self.fusion, self.tools).kept
        ranked = sorted(
            (item for item in kept if item.kind in kinds),
            key=lambda item: (-item.value, item.when, id_order(item.cue.id)),
        )
        return ranked[:most], {id: reason for item in ranked[most:] for id in item.ids}

    def need_sight(self, strategy: str) -> None:
        """See that the model takes pictures.

        Raises:
            BadInput: it does not.
        """
        if self.model.sampling is None:
            raise BadInput(
                f"The strategy {strategy!r} asks the model what it sees, and {self.model.name} "
                "takes no pictures; use the strategy 'direct', or a model that sees."
            )


class Strategy(Protocol):
    """Built by its plug-in file's ``build(options)``."""

    def __call__(self, task: Task) -> Asked:
        """The answer, with the calls that led to it in ``steps``.

        Raises:
            BadInput: something would leave this machine and nobody agreed; or the strategy cannot
                do with this model.
        """


@dataclass(frozen=True, slots=True)
class StrategyOptions:
    """Which strategy, and how.

    Args:
        name: a file in ``reasoning/strategies``.
        options: by strategy, its ``Options``.
    """

    name: str = "direct"
    options: Mapping[str, Any] = options_of(STRATEGIES)

    def __post_init__(self) -> None:
        if self.name not in (known := names(STRATEGIES)):
            raise UnknownName("strategy", self.name, known)

    def build(self) -> Strategy:
        """The strategy."""
        strategy: Strategy = build(STRATEGIES, self.name, self.options)
        return strategy


def agreed(task: Task, requests: Iterable[Request]) -> Confirm:
    """Ask once for all ``requests`` together, each as long as it can get; what is returned stands
    for the agreement in each call. They are made one by one, and only the first where a model sends
    nothing anywhere.

    Raises:
        BadInput: nobody agreed.
    """
    sent = []
    for request in requests:
        leaving = task.model.egress(request)
        if leaving is None:
            break
        sent.append(leaving)
    if sent:
        total = total_of(sent)
        if task.confirm is None or not task.confirm(total):
            raise BadInput(f"{total.sentence()} Nothing was sent; agree to it first (--yes).")
    return lambda _: True
