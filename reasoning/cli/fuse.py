"""``cuelight fuse``: the cue block that a model would be given, and what was left out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fusion.question import Question, QuestionType
from fusion.selection import Control
from perception.cue import CueTimeline
from perception.errors import BadInput, UnknownName
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from fusion.options import FusionOptions
    from fusion.policy import Tools
    from fusion.selection import CuePrompt, KeptCue
    from reasoning.config import Config

_SHOWN_CHARS = 100

_NEAR = 0.75
"""Share of the budget from which on another count may leave out cues: a model was seen to count
1.22 times the estimate (``fusion.budget``)."""


def command(
    cues: Annotated[
        str,
        typer.Argument(
            help="A NAME.cues.json, as cuelight perceive writes it; the word sample = the cues of "
            "the sample clip."
        ),
    ],
    words: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="The question that the block is for.")
    ] = None,
    question: Annotated[str | None, typer.Option("--question", help="The same, by name.")] = None,
    type: Annotated[
        str | None,
        typer.Option(help="Its type, e.g. 'Theory of Mind'; otherwise told from its words."),
    ] = None,
    policy: output.PolicyNames = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each cue is worth, and why.")
    ] = False,
    control: Annotated[
        str | None,
        typer.Option(
            help="Put a negative control in place of the truth: shuffled, shifted, foreign, drawn, "
            "empty, filler."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the control.")] = 0,
    foreign: Annotated[
        Path | None, typer.Option(help="Another video's NAME.cues.json, for --control foreign.")
    ] = None,
    start: output.From = None,
    end: output.To = None,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Print the block of cues for a question, and why the other cues were left out.

    No model is loaded: tokens are estimated, and cuelight ask, which counts with the model's own
    tokenizer, may leave out more.
    """
    from reasoning.config import load
    from reasoning.tools.assemble import assemble

    settings = load(config, [*(set or ()), *output.policy_settings(policy)])
    asked = _question(words, question, type, start, end)
    timeline, tools = _timeline(cues, settings, quiet), assemble(settings.tools)
    corrupted = None if control is None else Control(control, seed)
    other = CueTimeline.read(foreign) if foreign else None
    prompt = _fused(timeline, asked, settings.fusion, tools, corrupted, other)
    if json:
        output.emit(_document(prompt, asked, settings.fusion, tools))
        return
    tell(prompt.text or "No cue was kept: the model would be told nothing.")
    if explain:
        _explain(prompt, asked, tools)
    if not quiet:
        _tell_left_out(prompt)
        _tell_count(prompt, settings.fusion, tools, always=explain)


def _timeline(cues: str, settings: Config, quiet: bool) -> CueTimeline:
    """The file's, or what is perceived of the sample clip."""
    if cues != output.SAMPLE or Path(cues).is_file():
        return CueTimeline.read(Path(cues))
    from reasoning.cli._perceiving import perceive_video

    sample = output.video_path(cues, quiet)
    return perceive_video(sample, settings, (), span=None, force=False, quiet=quiet).timeline


def _fused(
    timeline: CueTimeline,
    question: Question,
    options: FusionOptions,
    tools: Tools,
    control: Control | None,
    other: CueTimeline | None,
) -> CuePrompt:
    from fusion.controls import fuse_control
    from fusion.fuse import fuse
    from reasoning.tools.vocabulary import vocabulary

    if control is None:
        return fuse(timeline, question, options, tools)
    return fuse_control(
        control,
        timeline,
        question,
        options,
        tools,
        other=other,
        vocabulary=vocabulary(timeline),
    )


def _question(
    words: str | None, named: str | None, type: str | None, start: str | None, end: str | None
) -> Question:
    if (words is None) == (named is None):
        raise BadInput('Give one question: as the second argument, or as --question "…".')
    kinds = {each.value.casefold(): each for each in QuestionType}
    if type is not None and type.casefold() not in kinds:
        raise UnknownName("question type", type, [each.value for each in QuestionType])
    known = kinds[type.casefold()] if type is not None else None
    return Question(words or named or "", span=output.span_of(start, end), type=known)


def _told_type(question: Question, tools: Tools) -> tuple[QuestionType | None, str | None]:
    """The type that policies take the question to have, and what told it: given, words, None."""
    if question.type is not None:
        return question.type, "given"
    told = tools.question_type(question) if tools.question_type else None
    return told, None if told is None else "words"


def _document(
    prompt: CuePrompt, question: Question, options: FusionOptions, tools: Tools
) -> dict[str, Any]:
    type, told_by = _told_type(question, tools)
    return {
        "question": {**asdict(question), "type": type, "type_told_by": told_by},
        "policies": list(options.policies),
        "tokens": {
            "count": tools.count_tokens(prompt.text),
            "budget": options.budget_tokens,
            "estimated": True,
        },
        **asdict(prompt),
    }


def _explain(prompt: CuePrompt, question: Question, tools: Tools) -> None:
    """The type of the question; for each kept cue its value and what it is the product of."""
    type, told_by = _told_type(question, tools)
    how = "as given" if told_by == "given" else "told from its words; --type sets another"
    tell(
        f"\nquestion type: {type} ({how})" if type else "\nquestion type: unknown; --type sets one"
    )
    tell("value = probability × relevance × novelty")
    for item in prompt.selection.kept:
        tell(f"{_worth(item)}  {_named(item.kind, item.words)}{_folded(item.merged_ids)}")


def _worth(item: KeptCue) -> str:
    raw = "" if item.calibrated else " (uncalibrated)"
    return (
        f"{item.value:.3f} = {item.probability:.3f}{raw} × {item.relevance:.3f} × "
        f"{item.novelty:.3f}"
    )


def _folded(ids: Sequence[str]) -> str:
    return f" (with {', '.join(ids)})" if ids else ""


def _tell_left_out(prompt: CuePrompt) -> None:
    for dropped in prompt.selection.dropped:
        tell(f"left out: {_named(dropped.kind, dropped.cue.text)}: {dropped.reason}", err=True)


def _tell_count(prompt: CuePrompt, options: FusionOptions, tools: Tools, always: bool) -> None:
    """That the count is an estimate: where it may matter, or ``always``."""
    count, budget = tools.count_tokens(prompt.text), options.budget_tokens
    left_out = any("into the budget" in item.reason for item in prompt.selection.dropped)
    if always or left_out or count > _NEAR * budget:
        tell(
            f"about {count} of {budget} tokens, estimated from letters; a model's own count may "
            "leave out more (cuelight ask)",
            err=True,
        )


def _named(kind: str, words: str) -> str:
    from fusion.quoting import plain

    return f"{plain(kind, _SHOWN_CHARS)} {plain(words, _SHOWN_CHARS)!r}"
