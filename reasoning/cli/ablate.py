"""``cuelight ablate``: run a study, or go on with it."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoning.cli import _choosing as choosing
from reasoning.cli import _output as output
from reasoning.cli._fetching import fetching
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.cue import CueTimeline
    from reasoning.config import Config
    from reasoning.records import Records
    from reasoning.results.outcomes import Outcomes
    from reasoning.studies.clock import Progress
    from reasoning.studies.plan import Plan
    from reasoning.studies.run import Run
    from reasoning.study import Study
    from reasoning.videollm import VideoLLM

_SECONDS_PER_MINUTE, _MINUTES_PER_HOUR = 60, 60
_RETRIES_TOLD_S = 10.0
"""A study of a thousand questions at a busy server is not told of each further try."""


def command(
    study: Annotated[
        str,
        typer.Argument(help="A study's YAML, or the name of one in configs/studies."),
    ],
    records: Annotated[
        Path | None,
        typer.Option(help="Where all answers are kept; NAME.sqlite in this folder if not given."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask only so many questions about each video.")
    ] = None,
    model: choosing.Model = None,
    base_url: choosing.BaseUrl = None,
    trust_remote_code: choosing.TrustRemoteCode = False,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Calls under way at once, for models on a server.")
    ] = 1,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the plan: calls, tokens, cost, what is done."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Agree to send pictures to another machine.")
    ] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="Send nothing that is estimated to cost more dollars.")
    ] = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Ask a benchmark's questions under several conditions, and print who was right where.

    Everything is recorded as soon as it is known: run the same command again to go on after a
    crash, with more questions, or with another --model beside the first. Exit code 1 when
    questions are left without an answer.
    """
    from reasoning.config import build_videollm
    from reasoning.studies.alone import alone
    from reasoning.studies.plan import plan_of
    from reasoning.studies.run import Run
    from reasoning.study import load

    chosen = [*choosing.model_settings(model, base_url, trust_remote_code), *(set or ())]
    loaded = load(study, chosen)
    _fetch(loaded.fetch, quiet)
    llm = build_videollm(loaded.arms[0].settings, drafts_only=dry_run)
    path = records or Path(f"{loaded.name}.sqlite")
    with (
        contextlib.closing(llm),
        _opened(path, dry_run) as store,
        contextlib.nullcontext() if quiet else output.telling_retries(_RETRIES_TOLD_S),
        _progress(quiet) as on_progress,
    ):
        _fetch(llm.weights, quiet)
        _check_workers(llm, workers)
        run = Run(loaded, store, llm, _perceiving(quiet), limit, on_progress)
        cells = run.todo()
        plan = plan_of(cells, llm)
        if dry_run:
            _show_plan(loaded, plan, json)
            return 0
        if plan.egress is not None:
            _agree(plan, yes, max_cost, quiet)
        with alone(path, run.model.revision):
            return _run(run, cells, workers, limit, on_progress, json, quiet)


def _run(
    run: Run,
    cells: Any,
    workers: int,
    limit: int | None,
    on_progress: Callable[[Progress], None],
    json: bool,
    quiet: bool,
) -> int:
    from reasoning.results.from_records import outcomes
    from reasoning.studies.stamp import stamp

    run.records.stamp(stamp(run.study, run.model, limit))
    end = run(cells, workers)
    on_progress(end)
    table = outcomes(run.records)
    if json:
        output.emit(_document(run, table))
    else:
        _show(run, table, end, quiet)
    return int(end.done < end.total)


@contextlib.contextmanager
def _opened(path: Path, dry_run: bool) -> Iterator[Records]:
    """The records; a dry run makes no file where there is none."""
    from reasoning.records import Records

    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / path.name if dry_run and not path.exists() else path
        with contextlib.closing(Records(made)) as store:
            yield store


def _check_workers(llm: VideoLLM, workers: int) -> None:
    from perception.errors import BadInput

    if workers > 1 and not getattr(llm, "parallel", False):
        raise BadInput(
            f"{llm.name} answers one call at a time; leave out --workers, or ask a model on a chat "
            "server (--base-url)."
        )


def _fetch(names: Sequence[str], quiet: bool) -> None:
    from perception import weights

    with fetching(quiet) as on_fetch:
        weights.fetch(names, on_fetch)


def _perceiving(quiet: bool) -> Callable[[Path, Config, Sequence[str]], CueTimeline]:
    """Perceives with one set of recognizers for all videos that are perceived alike."""
    from reasoning.cli._perceiving import Perceiver
    from reasoning.plain import plain
    from reasoning.records import digest

    kept: dict[str, Perceiver] = {}

    def perceive(path: Path, settings: Config, kinds: Sequence[str]) -> CueTimeline:
        key = digest(plain(settings.recognizers), list(kinds))
        if key not in kept:
            kept[key] = Perceiver(settings, kinds, quiet=True)
        found = kept[key].perceive(path)
        for notice in found.notices if not quiet else ():
            tell(notice, err=True)
        return found.timeline

    return perceive


def _agree(plan: Plan, yes: bool, max_cost: float | None, quiet: bool) -> None:
    from reasoning.cli._agreeing import agree

    assert plan.egress is not None
    agree(plan.egress, yes, max_cost, quiet)


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A bar on a terminal; elsewhere a line whenever another video comes."""
    if quiet:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(
        *columns, TextColumn("{task.fields[left]}"), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("starting", total=None, left="")

        def show(now: Progress) -> None:
            left = f"about {_long(now.remaining_s)} left" if now.remaining_s else ""
            bar.update(task, description=now.what, completed=now.done, total=now.total, left=left)

        yield show


class _Lines:
    """Progress for a log."""

    def __init__(self) -> None:
        self._what = ""

    def __call__(self, now: Progress) -> None:
        if now.what == self._what:
            return
        self._what = now.what
        left = f", about {_long(now.remaining_s)} left" if now.remaining_s else ""
        tell(f"{now.done} of {now.total}: {now.what}{left}", err=True)


def _long(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), _SECONDS_PER_MINUTE)
    hours, minutes = divmod(minutes, _MINUTES_PER_HOUR)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes}:{rest:02} min"


def _show_plan(study: Study, plan: Plan, json: bool) -> None:
    from reasoning.plain import plain

    if json:
        output.emit(plain(plan) | {"study": study.name, "calls": plan.calls})
        return
    tell(f"{study.name}: {study.benchmark.name}, {len(plan.conditions)} conditions")
    tell(f"{'questions':>9} {'done':>6} {'calls':>6} {'prompt':>10} {'reply':>8}  condition")
    for each in plan.conditions:
        numbers = f"{each.questions:9} {each.done:6} {each.calls:6}"
        tell(f"{numbers} {each.prompt_tokens:10} {each.reply_tokens:8}  {each.name}")
    tokens = sum(each.prompt_tokens for each in plan.conditions)
    calls, videos = output.counted(plan.calls, "call"), output.counted(plan.videos, "video")
    tell(
        f"{calls} about {videos}, at most about {tokens} tokens of prompts (estimated from some of "
        "them, with cues as long as they may be)."
    )
    if study.arms[0].settings.strategy.name != "direct":
        tell("The strategy calls more than once for an answer.")
    tell(plan.egress.sentence() if plan.egress else "Nothing would leave this machine.")
    tell("This was a dry run: nothing was perceived and nobody was asked.")


def _show(run: Run, table: Outcomes, end: Progress, quiet: bool) -> None:
    from reasoning.results.from_records import UNJUDGED
    from reasoning.results.outcomes import State

    for model in table.models:
        if len(table.models) > 1:
            tell(model)
        of_model = table.where(lambda row, model=model: row.model == model)  # type: ignore[misc]
        for name in of_model.conditions:
            tell(_line(name, of_model.under(name)))
    unscored = [row for row in table.rows if row.state is State.UNSCORED]
    waiting = sum(row.reason == UNJUDGED for row in unscored)
    if quiet:
        return
    if end.failed:
        tell(f"{end.failed} got no answer; the same command asks them again.", err=True)
    if unclear := len(unscored) - waiting:
        tell(f"{output.counted(unclear, 'answer')} could not be scored: cuelight report tells why.")
    if waiting:
        answers = output.counted(waiting, "answer")
        tell(f"{answers} to be judged: cuelight judge answers {run.records.path} --model JUDGE")
    tell(f"Recorded in {run.records.path}; cuelight report {run.records.path} makes the report.")


def _line(name: str, own: Outcomes) -> str:
    """Accuracy with its interval, answers scored of all, condition."""
    from perception.errors import MissingExtra
    from reasoning.statistics import accuracy

    counted = f"{len(own.scored.rows):5} of {len(own.rows):<5} {name}"
    scored = own.averaged().scored.rows
    if not scored:
        return f"{'-':>7} {'':18} {counted}"
    scores = [row.score or 0.0 for row in scored]
    try:
        interval = accuracy(scores, [row.video for row in scored]).interval
        between = f"[{interval.low:.1%}, {interval.high:.1%}]"
    except MissingExtra:
        between = "(no interval)"
    return f"{sum(scores) / len(scores):7.1%} {between:18} {counted}"


def _document(run: Run, table: Outcomes) -> dict[str, Any]:
    from reasoning.plain import plain

    return {
        "study": run.study.name,
        "records": str(run.records.path),
        "outcomes": [plain(row) for row in table.rows],
    }
