"""``cuelight ask``: a question about a video, the answer, and the cues that it rests on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perception.errors import CuelightError
from reasoning.cli import _choosing as choosing
from reasoning.cli import _output as output
from reasoning.cli._agreeing import agree
from reasoning.cli._answered import document, tell_all
from reasoning.cli._fetching import fetching
from reasoning.cli._folders import check_folder

if TYPE_CHECKING:
    from fusion.question import Question
    from perception.cue import CueTimeline
    from perception.perceive import Perception
    from reasoning.ask import Asked, Confirm
    from reasoning.config import Config
    from reasoning.egress import Egress
    from reasoning.videollm import VideoLLM

CONTEXT_S = 2.0
"""Perceived before and after the part that is asked about: one window of the action recognizer, so
that an action under way at an end is seen whole. Fusion drops what lies outside again."""


def command(
    video: Annotated[
        str, typer.Argument(help="A video or audio file; the word sample = the sample clip.")
    ],
    question: Annotated[str, typer.Argument(help="What you want to know about it.")],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="A choice; give two or more and the model picks one."),
    ] = None,
    start: output.From = None,
    end: output.To = None,
    model: choosing.Model = None,
    base_url: choosing.BaseUrl = None,
    trust_remote_code: choosing.TrustRemoteCode = False,
    policy: output.PolicyNames = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="In how many calls: direct, verified, describe_then_reason."),
    ] = None,
    cues: Annotated[
        bool, typer.Option("--cues/--no-cues", help="Whether the model is given the cues.")
    ] = True,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Agree to send pictures to another machine.")
    ] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="Send nothing that is estimated to cost more dollars.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the request as it would go out and its tokens; ask nobody."
        ),
    ] = False,
    out: output.Out = output.HERE,
    only: output.Only = None,
    force: output.Force = False,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Answer a question about a video, and show the cues that the answer rests on.

    Leaves NAME.cues.json, NAME.traces.npz and NAME.html, the timeline page, in the --out folder.
    Exit code 1 when a track is partial or failed, or when the model gave no answer.
    """
    from fusion.question import Question
    from perception.perceive import part_of
    from reasoning.cli._perceiving import perceive_video, save_perception
    from reasoning.config import build_videollm, load

    chosen = [
        *choosing.model_settings(model, base_url, trust_remote_code),
        *(set or ()),
        *output.policy_settings(policy),
        *([] if strategy is None else [f"strategy.name={dumps(strategy)}"]),
    ]
    settings = load(config, chosen)
    if not dry_run:
        check_folder(out)
    asked = Question(question, tuple(option or ()), output.span_of(start, end))
    llm = build_videollm(settings, drafts_only=dry_run)
    path = output.video_path(video, quiet)
    perception = perceive_video(
        path, settings, only or (), asked.span, force, quiet, context_s=CONTEXT_S
    )
    if asked.span is not None:
        asked = replace(asked, span=part_of(perception.timeline.video, asked.span))
    task = _Task(asked, path, perception.timeline, settings, cues, quiet)
    if dry_run:
        with contextlib.closing(llm):
            return _drafted(task, llm, json)
    stem = output.output_stem(out, path, output.span_of(start, end))
    files = [*save_perception(perception, stem), stem.with_name(f"{stem.name}.html")]

    def confirm(sent: Egress) -> bool:
        agree(sent, yes, max_cost, quiet)
        return True

    with contextlib.closing(llm), _telling_of(files[:-1]):
        result = task.asked_of(llm, confirm)
    _write_page(files[-1], perception, task, result)
    if json:
        output.emit(document(result, perception, files))
    else:
        tell_all(result, perception, files, quiet)
    return int(perception.is_partial or result.answer is None)


@contextlib.contextmanager
def _telling_of(files: Sequence[Path]) -> Iterator[None]:
    """Errors of the block also tell which files were written before it."""
    try:
        yield
    except CuelightError as error:
        error.add_note(f"What was perceived is kept: {', '.join(map(str, files))}")
        raise


@dataclass(frozen=True, slots=True)
class _Task:
    """What is asked, about what, and how."""

    question: Question
    path: Path
    timeline: CueTimeline
    settings: Config
    with_cues: bool
    quiet: bool

    def asked_of(self, llm: VideoLLM, confirm: Confirm) -> Asked:
        """By the strategy that the settings name."""
        from perception import weights
        from reasoning.sampling import sample_frames
        from reasoning.strategy import Task
        from reasoning.tools.assemble import assemble
        from reasoning.videollm import VideoFile

        path, timeline, settings = self.path, self.timeline, self.settings
        with fetching(self.quiet) as on_fetch:
            weights.fetch(llm.weights, on_fetch)
        with output.working("thinking", self.quiet):
            task = Task(
                self.question,
                timeline,
                llm,
                sample=lambda part: sample_frames(path, timeline.video, llm.sampling, part),
                fusion=settings.fusion,
                tools=assemble(settings.tools, llm),
                answer=settings.answer,
                with_cues=self.with_cues,
                video=lambda part: VideoFile(path, part),
                confirm=confirm,
            )
            return settings.strategy.build()(task)


def _drafted(task: _Task, llm: VideoLLM, json: bool) -> int:
    """Print what would be asked; 1 when it does not fit."""
    from reasoning.cli import _drafting

    def ask(uncalled: VideoLLM) -> Asked:
        return task.asked_of(uncalled, lambda _: False)

    drafted = _drafting.document(llm, _drafting.first_request(ask, llm))
    if json:
        output.emit(drafted)
    else:
        _drafting.show(drafted, task.settings.strategy.name)
    return int(not drafted["fits"])


def _write_page(page: Path, perception: Perception, task: _Task, result: Asked) -> None:
    from reasoning.cli._showing import calibrated, extras, shown_video
    from reasoning.viewer.page import write_page

    timeline = perception.timeline
    shown = shown_video(task.path, timeline, page.with_suffix(""), None, task.quiet)
    made = extras(timeline, task.path, perception.traces, shown)
    write_page(
        page,
        timeline,
        video=shown.path,
        question=result.question,
        prompt=result.cues,
        answer=result.reply,
        extras=replace(made, calibrated=calibrated(timeline, task.settings)),
    )
