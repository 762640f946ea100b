"""One question to one model: the prompt is built, sent, and comes back with what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fusion.question import Question
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.errors import BadInput
from perception.recognizer import Frame
from reasoning import prompt
from reasoning.answer import Answer, Failure
from reasoning.egress import Egress
from reasoning.prompt import Wording
from reasoning.videollm import Request, VideoLLM

__all__ = ["Asked", "Confirm", "ask", "request_for"]

Confirm = Callable[[Egress], bool]
"""Asked before anything is sent to another machine; False stops the call."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question with its reply.

    Args:
        question: as asked.
        cues: the block that stood in the prompt, with what was kept and dropped.
        request: what the model was told.
        reply: what came back.
    """

    question: Question
    cues: CuePrompt
    request: Request
    reply: Answer | Failure

    @property
    def answer(self) -> Answer | None:
        """The answer, None when there is none."""
        return self.reply if isinstance(self.reply, Answer) else None

    @property
    def failure(self) -> Failure | None:
        """Why there is no answer, None when there is one."""
        return self.reply if isinstance(self.reply, Failure) else None

    @property
    def rests_on(self) -> tuple[KeptCue, ...]:
        """The cues that the model read, in the order of the prompt: all of the block, unless the
        model says (``scored_prompt``) that it read only some lines of it."""
        kept = self.cues.selection.kept
        read = self.reply.request.get("scored_prompt")
        if read is None:
            return kept
        shown, lines = set(str(read).split("\n")), self.cues.text.split("\n")
        ids = {id for number, id in self.cues.lines if lines[number] in shown}
        return tuple(item for item in kept if item.cue.id in ids)


def ask(
    question: Question,
    cues: CuePrompt | None,
    model: VideoLLM,
    frames: Sequence[Frame] = (),
    duration_s: float = 0.0,
    *,
    max_new_tokens: int = 128,
    temperature: float = 0.0,
    seed: int = 0,
    wording: Wording | None = None,
    confirm: Confirm | None = None,
) -> Asked:
    """Ask ``model`` about a video.

    Args:
        question: with or without options.
        cues: what fusion made; None = without cues.
        model: built by a family's ``build``.
        frames: sampled as ``model.sampling`` says; left out for a model without pixels.
        duration_s: of the video.
        max_new_tokens, temperature, seed: of a free answer.
        wording: None = by what the model gets.
        confirm: asked before anything leaves this machine. Without it nothing does.

    Raises:
        BadInput: the call would leave this machine and ``confirm`` is missing or says no.
        UserError: a mistake that the model's family names, e.g. a missing key or extra.
    """
    cues = cues or CuePrompt("", Selection())
    request = request_for(
        question,
        cues,
        model,
        frames,
        duration_s,
        max_new_tokens=max_new_tokens,
        temperature=temperature,
        seed=seed,
        wording=wording,
    )
    sent = model.egress(request)
    if sent is not None and (confirm is None or not confirm(sent)):
        raise BadInput(f"{sent.sentence()} Nothing was sent; agree to it first (--yes).")
    return Asked(question, cues, request, model.answer(request))


def request_for(
    question: Question,
    cues: CuePrompt,
    model: VideoLLM,
    frames: Sequence[Frame] = (),
    duration_s: float = 0.0,
    *,
    max_new_tokens: int = 128,
    temperature: float = 0.0,
    seed: int = 0,
    wording: Wording | None = None,
) -> Request:
    """What ``ask`` would send; nothing is sent. Arguments as there."""
    if model.sampling is None:
        frames = ()
    return Request(
        parts=prompt.build(question, cues.text, frames, duration_s, wording),
        options=question.options,
        prior_parts=prompt.build(question, wording=Wording.CUES),
        max_new_tokens=max_new_tokens,
        temperature=temperature,
        seed=seed,
    )
