"""One question to one model: the prompt is built, counted, sent, and comes back with what it rests
on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fusion.question import Question
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.errors import BadInput, WeightsError
from perception.recognizer import Frame
from reasoning import prompt
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.egress import Egress
from reasoning.outgoing import frame_times, record
from reasoning.prompt import CuePlacement, Wording, Words
from reasoning.read_cues import read_ids
from reasoning.videollm import Request, TokenCount, VideoFile, VideoLLM

__all__ = ["AnswerOptions", "Asked", "Confirm", "Step", "ask", "fitted", "request_for", "send"]

MAX_TEMPERATURE = 2.0
"""What OpenAI's chat completions take."""

MAX_SEED = 2**32
"""llama.cpp's seeds have 32 bits."""

Confirm = Callable[[Egress], bool]
"""Asked before anything is sent to another machine; False stops the call."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How a model is asked, whichever it is."""

    max_new_tokens: int = 128
    """Limit of a free answer (MimeQA, Appendix C.2)."""
    temperature: float = 0.0
    """0 = greedy."""
    seed: int = 0
    """For sampling, where the temperature is above 0."""
    cue_placement: CuePlacement = CuePlacement.BEFORE_QUESTION
    """Where the cue block stands."""
    sound: bool = False
    """Whether a model that hears the video's sound may; False = it is taken out before it goes."""

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1 or not 0 <= self.temperature <= MAX_TEMPERATURE:
            raise BadInput(
                f"An answer has at least one token and a temperature from 0 to "
                f"{MAX_TEMPERATURE:g}, not {self.max_new_tokens} and {self.temperature:g}."
            )
        if not 0 <= self.seed < MAX_SEED:
            raise BadInput(f"A seed is a number from 0 to {MAX_SEED - 1}, not {self.seed}.")


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call that was made on the way to an answer.

    Args:
        purpose: in a word, e.g. ``"check"``.
        request: what the model was told.
        reply: what came back.
    """

    purpose: str
    request: Request
    reply: Answer | Failure


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question with its reply.

    Args:
        question: as asked.
        cues: the block that stood in the prompt, with what was kept and dropped.
        request: what the model was told.
        reply: what came back.
        steps: the calls before it, of a strategy that makes several.
    """

    question: Question
    cues: CuePrompt
    request: Request
    reply: Answer | Failure
    steps: tuple[Step, ...] = ()

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
        ids = read_ids(self.cues, self.reply)
        return kept if ids is None else tuple(item for item in kept if item.cue.id in ids)


def ask(
    question: Question,
    cues: CuePrompt | None,
    model: VideoLLM,
    frames: Sequence[Frame] = (),
    duration_s: float = 0.0,
    options: AnswerOptions | None = None,
    *,
    video: VideoFile | None = None,
    wording: Wording | Words | None = None,
    confirm: Confirm | None = None,
) -> Asked:
    """Ask ``model`` about a video. A prompt that cannot fit is *too long* and calls nothing.

    Args:
        question: with or without options.
        cues: what fusion made; None = without cues.
        model: built by a family's ``build``.
        frames: sampled as ``model.sampling`` says; left out for a model without pixels.
        duration_s: of the video.
        options: limits, and where the cues stand; None = the defaults.
        video: where the frames come from, for a family that is handed the file.
        wording: None = by what the model gets; or the words of a benchmark.
        confirm: asked before anything leaves this machine. Without it nothing does.

    Raises:
        BadInput: the call would leave this machine and ``confirm`` is missing or says no.
        UserError: a mistake that the model's family names, e.g. a missing key or extra.
    """
    request = request_for(
        question, cues, model, frames, duration_s, options, video=video, wording=wording
    )
    return send(question, cues, request, model, confirm)


def send(
    question: Question,
    cues: CuePrompt | None,
    request: Request,
    model: VideoLLM,
    confirm: Confirm | None = None,
) -> Asked:
    """``ask`` with a request that is made already, by ``request_for`` or from it."""
    cues = cues or CuePrompt("", Selection())
    if (count := _overrun(model, request)) is not None:
        return Asked(question, cues, request, _too_long(model, request, count))
    sent = model.egress(request)
    if sent is not None and (confirm is None or not confirm(sent)):
        raise BadInput(f"{sent.sentence()} Nothing was sent; agree to it first (--yes).")
    return Asked(question, cues, request, model.answer(request))


def request_for(
    question: Question,
    cues: CuePrompt | None,
    model: VideoLLM,
    frames: Sequence[Frame] = (),
    duration_s: float = 0.0,
    options: AnswerOptions | None = None,
    *,
    video: VideoFile | None = None,
    wording: Wording | Words | None = None,
) -> Request:
    """What ``ask`` would send; nothing is sent. Arguments as there."""
    options = options or AnswerOptions()
    if model.sampling is None:
        frames = ()
    if wording is None and frames and model.native_video:
        wording = Wording.VIDEO
    parts = prompt.build(question, cues, frames, duration_s, wording, options.cue_placement)
    return Request(
        parts=parts,
        options=question.options,
        prior_parts=prompt.build(
            question, wording=wording if isinstance(wording, Words) else Wording.CUES
        ),
        max_new_tokens=options.max_new_tokens,
        temperature=options.temperature,
        seed=options.seed,
        video=video if frames else None,
        sound=options.sound,
        schema=wording.schema if isinstance(wording, Words) else None,
    )


def fitted(
    fuse_within: Callable[[int], CuePrompt],
    question: Question,
    model: VideoLLM,
    frames: Sequence[Frame] = (),
    duration_s: float = 0.0,
    options: AnswerOptions | None = None,
    *,
    budget_tokens: int,
    video: VideoFile | None = None,
    wording: Wording | Words | None = None,
) -> CuePrompt:
    """The cues that fit beside the frames, the question and the answer in the model's context.

    The block is counted in its place in the whole prompt, so that what its placement costs (the
    chat template's marks around a video that is cut in pieces) is paid for too.

    Args:
        fuse_within: fusion with a budget in tokens; what it trims is in ``dropped``.
        budget_tokens: the most that the block may take where there is room.
        question, model, frames, duration_s, options, video, wording: as for ``ask``.
    """
    room = model.context_tokens
    budget = budget_tokens
    while True:
        cues = fuse_within(budget)
        if room is None or not cues.text:
            return cues
        request = request_for(
            question, cues, model, frames, duration_s, options, video=video, wording=wording
        )
        over = model.count(request).tokens + request.max_new_tokens - room
        if over <= 0:
            return cues
        budget = max(0, min(budget, model.count_tokens(cues.text)) - over)


def _overrun(model: VideoLLM, request: Request) -> TokenCount | None:
    """The count of a prompt that leaves no room for the answer. None when it fits, or when the
    model does not load, which its answer will say."""
    try:
        room = model.context_tokens
        if room is None:
            return None
        count = model.count(request)
    except WeightsError:
        return None
    return count if count.tokens + request.max_new_tokens > room else None


def _too_long(model: VideoLLM, request: Request, count: TokenCount) -> Failure:
    frames = len(frame_times(request))
    about = "about " if count.estimated else ""
    fewer = f"fewer than {frames} frames (max_frames), smaller ones, " if frames else ""
    reason = (
        f"The prompt has {about}{count.tokens} tokens and the answer may have "
        f"{request.max_new_tokens}; the context of {model.name} holds {model.context_tokens}. "
        f"Nothing was sent. Take {fewer}a smaller fusion.budget_tokens, or a shorter part of the "
        f"video (--from, --to)."
    )
    return Failure(FailureKind.TOO_LONG, reason, model.name, request=record(request, count))
