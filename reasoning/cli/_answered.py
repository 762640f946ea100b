"""An answer as ``ask`` prints it: a JSON document, or words and the cues that it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perception.cue import Status
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from fusion.selection import KeptCue
    from perception.perceive import Perception
    from reasoning.ask import Asked

__all__ = ["document", "tell_all"]


def document(result: Asked, perception: Perception, files: Sequence[Path]) -> dict[str, Any]:
    """All of it as JSON values; ``files`` were written."""
    reply = asdict(result.reply)
    return {
        "question": result.question.text,
        "options": list(result.question.options),
        "answer" if result.answer else "failure": reply,
        "rests_on": [_kept(item) for item in result.rests_on],
        "prompt": result.request.prompt(),
        "notices": list(perception.notices),
        "was_given_cues": bool(result.cues.text),
        "steps": [
            {"purpose": step.purpose, "prompt": step.request.prompt(), "reply": asdict(step.reply)}
            for step in result.steps
        ],
        "tracks": {track.id: track.status for track in perception.timeline.tracks},
        "files": [str(file) for file in files],
    }


def _kept(item: KeptCue) -> dict[str, Any]:
    return {
        "id": item.cue.id,
        "kind": item.kind,
        "start_s": item.cue.span.start_s,
        "end_s": item.cue.span.end_s,
        "text": item.cue.text,
        "score": item.cue.confidence,
        "probability": item.probability if item.calibrated else None,
    }


def _by_kind(result: Asked) -> str:
    """How many cues of each kind were left out: ``3 of 3 speech``."""
    selection = result.cues.selection
    dropped = Counter(each.kind for each in selection.dropped)
    kept = Counter(each.kind for each in selection.kept for _ in each.ids)
    return ", ".join(
        f"{count} of {count + kept[kind]} {kind.replace('_', ' ')}"
        for kind, count in dropped.items()
    )


def tell_all(result: Asked, perception: Perception, files: Sequence[Path], quiet: bool) -> None:
    """The answer on stdout; unless ``quiet`` what it rests on, what was perceived, and ``files``,
    which were written."""
    _tell_reply(result, quiet)
    if quiet:
        return
    if result.steps:
        calls = Counter(step.purpose for step in result.steps)
        made = ", ".join(f"{count} × {purpose}" for purpose, count in calls.items())
        tell(f"(Before the answer the model was asked: {made}.)")
    if result.cues.text:
        tell(f"\n{result.cues.text}")
        _tell_what_was_read(result)
    left_out = len(result.cues.selection.dropped)
    if left_out:
        were = "was" if left_out == 1 else "were"
        kinds = _by_kind(result)
        tell(f"({output.counted(left_out, 'cue')} {were} left out, {kinds}; the page says why.)")
    for track in perception.timeline.tracks:
        state = "" if track.status is Status.COMPLETE else f"{track.status.replace('_', ' ')}. "
        if state or track.notes:
            tell(f"{track.kind}: {state}{' '.join(track.notes)}")
    for notice in perception.notices:
        tell(notice)
    tell(f"\nWrote {', '.join(map(str, files))}")


def _tell_what_was_read(result: Asked) -> None:
    """Where a model read only some lines of the block: which."""
    read = result.rests_on
    if len(read) < len(result.cues.selection.kept):
        words = "; ".join(item.cue.text for item in read) or "none"
        tell(f"(Of these it read, for its choice: {words}.)")


def _tell_reply(result: Asked, quiet: bool) -> None:
    if result.failure is not None:
        tell(f"No answer ({result.failure.kind}): {result.failure.reason}", err=True)
    if result.answer is not None:
        tell(result.answer.text)
        if not result.answer.complete:
            limit = result.request.max_new_tokens
            tell(f"(Cut off at the limit of {limit} tokens, answer.max_new_tokens.)", err=quiet)
        for score in result.answer.option_scores:
            tell(f"  {score.probability:4.0%}  {score.text}")
        if not result.answer.sees_video:
            tell(_blind(result, result.answer.model), err=quiet)


def _blind(result: Asked, model: str) -> str:
    """What an answer is worth whose model saw no pictures."""
    if not result.cues.text:
        return f"\n{model} saw no pictures and was given no cues: this is a guess."
    return f"\n{model} answered from words alone: it was given the cues below and saw no pictures."
