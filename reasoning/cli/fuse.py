"""``cuelight fuse``: the cue block that a model would be given, and what was left out of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

_SHOWN_CHARS = 100


def command(
    cues: Annotated[Path, typer.Argument(help="A NAME.cues.json, as cuelight perceive writes it.")],
    question: Annotated[str, typer.Argument(help="The question that the block is for.")],
    start: output.From = None,
    end: output.To = None,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Print the block of cues for a question, and why the other cues were left out."""
    from fusion.fuse import fuse
    from fusion.question import Question
    from fusion.quoting import plain
    from perception.cue import CueTimeline
    from reasoning.config import load

    settings = load(config, set or ())
    timeline = CueTimeline.read(cues)
    asked = Question(question, span=output.span_of(start, end))
    prompt = fuse(timeline, asked, settings.fusion)
    if json:
        output.emit(asdict(prompt))
        return
    tell(prompt.text or "No cue was kept: the model would be told nothing.")
    if not quiet:
        for dropped in prompt.selection.dropped:
            text = plain(dropped.cue.text, _SHOWN_CHARS)
            tell(f"left out: {dropped.kind} {text!r}: {dropped.reason}", err=True)
