"""``cuelight fuse``: the cue block that a model would be given, and what was left out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perception.errors import BadInput
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from fusion.selection import CuePrompt, KeptCue

_SHOWN_CHARS = 100


def command(
    cues: Annotated[Path, typer.Argument(help="A NAME.cues.json, as cuelight perceive writes it.")],
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
    """Print the block of cues for a question, and why the other cues were left out."""
    from fusion.controls import Control, fuse_control
    from fusion.fuse import fuse
    from perception.cue import CueTimeline
    from reasoning.config import load
    from reasoning.tools.assemble import assemble
    from reasoning.tools.vocabulary import vocabulary

    settings = load(config, [*(set or ()), *output.policy_settings(policy)])
    asked = _question(words, question, type, start, end)
    timeline, tools = CueTimeline.read(cues), assemble(settings.tools)
    if control is None:
        prompt = fuse(timeline, asked, settings.fusion, tools)
    else:
        prompt = fuse_control(
            Control(control, seed),
            timeline,
            asked,
            settings.fusion,
            tools,
            other=CueTimeline.read(foreign) if foreign else None,
            vocabulary=vocabulary(timeline),
        )
    if json:
        output.emit(asdict(prompt))
        return
    tell(prompt.text or "No cue was kept: the model would be told nothing.")
    if explain:
        _explain(prompt)
    if not quiet:
        _tell_left_out(prompt)


def _question(
    words: str | None, named: str | None, type: str | None, start: str | None, end: str | None
) -> Any:
    from fusion.question import Question, QuestionType
    from perception.errors import UnknownName

    if (words is None) == (named is None):
        raise BadInput('Give one question: as the second argument, or as --question "…".')
    kinds = {each.value.casefold(): each for each in QuestionType}
    if type is not None and type.casefold() not in kinds:
        raise UnknownName("question type", type, [each.value for each in QuestionType])
    known = kinds[type.casefold()] if type is not None else None
    return Question(words or named or "", span=output.span_of(start, end), type=known)


def _explain(prompt: CuePrompt) -> None:
    """A line for each kept cue: its value and what it is the product of."""
    tell("\nvalue = probability × relevance × novelty")
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


def _named(kind: str, words: str) -> str:
    from fusion.quoting import plain

    return f"{plain(kind, _SHOWN_CHARS)} {plain(words, _SHOWN_CHARS)!r}"
