"""``cuelight train posec3d``: an action network for a user's own labels."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perception.errors import BadInput, StorageError, UserError
from perception.workers import Progress
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.skeleton.training.plan import Plan, Settings

HELP = "Train networks on labels of your own. Needs the extra train."

_EMBEDDED = "posec3d_mimed"


def posec3d(
    data: Annotated[
        Path, typer.Argument(help="A CSV of labelled spans, or a folder with such a labels.csv.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the network, its labels and card.")
    ] = Path("posec3d"),
    init: Annotated[
        str,
        typer.Option(
            help="Weights to begin with: posec3d_mimed (the embedded ones), an .onnx or a "
            "checkpoint.pth of yours or its folder, a .pth of mmaction2, or none."
        ),
    ] = _EMBEDDED,
    arch: Annotated[
        str,
        typer.Option(help="slim (0.3 million parameters) or full (SlowOnly-R50); else as --init."),
    ] = "",
    traces: Annotated[
        Path | None, typer.Option(help="Folder with the NAME.traces.npz; else beside the CSV.")
    ] = None,
    minutes: Annotated[
        float,
        typer.Option(
            help="How long to train; preparing before and measuring after take their own time."
        ),
    ] = 15.0,
    window: Annotated[
        float, typer.Option(help="Seconds that the network will look at a time.")
    ] = 2.0,
    no_none: Annotated[
        bool, typer.Option("--no-none", help="No class for what is no action.")
    ] = False,
    none_share: Annotated[float, typer.Option(help='Share of "none" among the examples.')] = 0.15,
    least_clips: Annotated[
        int, typer.Option(help="Labels with fewer spans to train on are an error.")
    ] = 5,
    allow_leaks: Annotated[
        bool,
        typer.Option("--allow-leaks", help="Let subjects or videos be in two parts of the split."),
    ] = False,
    batch: Annotated[int, typer.Option(help="Examples a step.")] = 32,
    learning_rate: Annotated[
        float, typer.Option(help="Peak; 0 = 0.003 from nothing, 0.001 from other weights.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the split, the examples and new weights.")] = 0,
    threads: Annotated[int, typer.Option(help="Of torch; 0 = one a core.")] = 0,
    device: Annotated[str, typer.Option(help="cpu or cuda; auto = cuda where there is one.")] = (
        "auto"
    ),
    backend: Annotated[
        str,
        typer.Option(
            help="torch, or mmaction2 for its Runner; auto = mmaction2 where it is installed."
        ),
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be trained on what.")
    ] = False,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Train PoseC3D on labelled spans of perceived videos.

    First perceive: cuelight perceive *.mp4 --only action --out DATA

    Then write DATA/labels.csv, one span a line: video,person,start_s,end_s,label

    More columns, if you like: split, subject, phrase. See docs/training.md.

    A killed training goes on with the same command.
    """
    from perception.skeleton.training.plan import Settings

    settings = Settings(
        init=init,
        arch=arch,
        traces=traces,
        window_s=window,
        with_none=not no_none,
        none_share=none_share,
        minutes=minutes,
        batch=batch,
        learning_rate=learning_rate,
        least_clips=least_clips,
        allow_leaks=allow_leaks,
        seed=seed,
        threads=threads,
        device=device,
        backend=_backend(backend),
    )
    if dry_run:
        return _tell_plan(_planned(data, settings), out, json)
    return _train(data, settings, out, json, quiet)


def _backend(name: str) -> str:
    """What ``auto`` means here."""
    if name != "auto":
        return name
    from perception.skeleton.openmmlab import stack

    try:
        stack.check("mmaction2's Runner")
    except UserError:
        return "torch"
    return "mmaction2"


def _planned(data: Path, settings: Settings) -> Plan:
    from perception.skeleton.training import require_torch
    from perception.skeleton.training.architecture import ARCHITECTURES, SLIM
    from perception.skeleton.training.plan import NOTHING, prepare

    if settings.init in (_EMBEDDED, NOTHING):
        return prepare(data, settings, ARCHITECTURES[settings.arch or SLIM.name])
    require_torch("Reading the weights to begin with")
    from perception.skeleton.training.trainer import initial

    return prepare(data, settings, initial(settings)[0])


def _tell_plan(plan: Plan, out: Path, json: bool) -> int:
    if json:
        output.emit(plan.document())
        return 0
    for line in plan.table():
        tell(line)
    for notice in plan.notices:
        tell(notice)
    if not plan.split.leaks:
        how = "were chosen" if plan.split.chosen else "are the labels' own"
        tell(f"The parts {how}; no subject and no video is in two.")
    network = f"the {plan.architecture.name} network, which begins with {plan.settings.init}"
    tell(f"Would train {network}, for {plan.settings.minutes:g} minutes, into {out}.")
    return 0


def _train(data: Path, settings: Settings, out: Path, json: bool, quiet: bool) -> int:
    from perception.skeleton.training import require_torch

    require_torch()
    from perception.skeleton.training.card import interval, use
    from perception.skeleton.training.plan import prepare
    from perception.skeleton.training.trainer import FILES, Hearer, initial, train

    settings = _on_this_machine(settings)
    architecture, start = initial(settings)
    plan = prepare(data, settings, architecture)
    if not quiet and not json:
        for line in (*plan.table(), *plan.notices):
            tell(line, err=True)
    with output.progress(quiet) as on_progress, _log(out, quiet) as log:

        def progress(stage: str, done: float, total: float) -> None:
            if on_progress is not None:
                on_progress(Progress(stage, done, total))

        try:
            document = train(plan, start, out, Hearer(log, progress))
        except KeyboardInterrupt:
            tell("The training so far is kept; the same command goes on with it.", err=True)
            raise
    files = [str(out / name) for name in FILES]
    if json:
        output.emit({**document, "files": files})
        return 0
    if held_out := document["held_out"]:
        accuracy = held_out["accuracy"]
        tell(
            f"Held out: {accuracy['top1']:.1%} of {held_out['spans']} spans right "
            f"({interval(accuracy)}); calibration error {held_out['calibration']['error']:.3f}."
        )
    tell(f"Wrote {', '.join(files)}")
    tell(f"Use it: {use(plan, shlex.quote(str(out)) + '/')}")
    return 0


def _on_this_machine(settings: Settings) -> Settings:
    """The settings with the device and the number of threads that this machine has."""
    from dataclasses import replace

    import torch

    from perception.limits import usable_threads

    here = torch.cuda.is_available()
    device = ("cuda" if here else "cpu") if settings.device == "auto" else settings.device
    if device not in ("cpu", "cuda") or (device == "cuda" and not here):
        reason = "torch sees no such device here" if device == "cuda" else "there is no such device"
        raise BadInput(f"--device takes auto, cpu or cuda, not {settings.device!r}: {reason}.")
    threads = usable_threads(settings.threads or os.cpu_count() or 1)
    return replace(settings, device=device, threads=threads)


@contextlib.contextmanager
def _log(out: Path, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Writes lines to ``OUT/train.log``, after those that are there, and to stderr unless quiet."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = (out / "train.log").open("a", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"Cannot write into {str(out)!r}: {error.strerror}.") from None
    with file:

        def log(line: str) -> None:
            print(line, file=file, flush=True)
            if not quiet:
                tell(line, err=True)

        yield log


commands = {"posec3d": posec3d}
