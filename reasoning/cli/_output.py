"""What the commands share: progress on stderr, results on stdout, times as people write them."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from perception import strict_json
from perception.cue import Span
from perception.errors import BadInput
from perception.perceive import FOREVER_S, Progress
from reasoning.cli._fetching import fetching
from reasoning.cli._terminal import is_utf8, tell

__all__ = [
    "HERE",
    "SAMPLE",
    "Config",
    "Force",
    "From",
    "Json",
    "Only",
    "Out",
    "PolicyNames",
    "Quiet",
    "Set",
    "To",
    "counted",
    "emit",
    "output_stem",
    "policy_settings",
    "progress",
    "span_of",
    "video_path",
    "working",
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the files that are written.")]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="A YAML with the settings, or the name of one that ships, e.g. all_cues; "
        "configs/default.yaml has all keys.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="One setting, e.g. recognizers.action.window_s=5. Repeatable."),
]


def _split(option: str, given: Sequence[str], separator: str) -> list[str]:
    """The names in values of which each may join several.

    Raises:
        BadInput: a name is empty.
    """
    names = [name.strip() for each in given for name in each.split(separator)]
    if not all(names):
        shown = " ".join(given)
        raise BadInput(
            f"{option} {shown!r} has no name where one belongs; give names joined by "
            f"{separator!r}, e.g. {option} {separator.join(filter(None, names)) or 'NAME'}."
        )
    return names


def _kinds(given: list[str] | None) -> list[str] | None:
    """What ``--only`` names."""
    try:
        return given and _split("--only", given, ",")
    except BadInput as mistake:
        raise typer.BadParameter(str(mistake)) from None


PolicyNames = Annotated[
    list[str] | None,
    typer.Option(
        "--policy", help="A fusion policy, e.g. routed. Repeat it or join several: routed+hedged."
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="Run only this recognizer, e.g. speech. Repeat it or join several: speech,action.",
        callback=_kinds,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Perceive again, even what is cached.")]
From = Annotated[
    str | None, typer.Option("--from", help="Start of the part to look at, e.g. 1:20 or 80.")
]
To = Annotated[str | None, typer.Option("--to", help="End of the part to look at, e.g. 1:45.")]

HERE = Path()
SAMPLE = "sample"
"""The word that stands for the sample clip in place of a path."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def emit(document: Any) -> None:
    """Print a JSON document on stdout."""
    typer.echo(strict_json.dumps(document, ascii_only=not is_utf8()))


def counted(count: int, thing: str) -> str:
    """``1 cue``, ``3 cues``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def video_path(name: str, quiet: bool, *, or_cues: bool = False) -> Path:
    """The file that ``name`` means: a path, or the sample clip for the word ``sample``.

    Args:
        or_cues: whether a file of cues will do too.

    Raises:
        BadInput: there is no such file, it is an address on the web, or it holds cues.
    """
    path = Path(name)
    if name == SAMPLE and not path.is_file():
        from perception.sample import compose
        from perception.weights import cache_folder

        with fetching(quiet) as on_fetch:
            return compose(cache_folder() / SAMPLE / f"{SAMPLE}.mp4", on_fetch)
    refuse_address(name)
    if not os.path.exists(name):  # noqa: PTH110 - False for names too long or with a null byte
        raise BadInput(
            f"There is no file {name!r}. Give the path of a video, or the word {SAMPLE!r} "
            "for the sample clip."
        )
    if not or_cues:
        _refuse_cues(path)
    return path


def _refuse_cues(path: Path) -> None:
    if not path.name.endswith(".cues.json") or path.is_dir():
        return
    raise BadInput(
        f"{str(path)!r} is a file of cues, and a video is wanted here: give the video that the "
        f"cues are of. cuelight fuse and cuelight inspect take the cues themselves."
    )


def refuse_address(name: str) -> None:
    """See that a file is meant.

    Raises:
        BadInput: it is an address on the web.
    """
    if _ADDRESS.match(name):
        raise BadInput(
            f"{name!r} is an address. Download it first, then give the path of the file."
        )


def output_stem(out: Path, path: Path, part: Span | None = None) -> Path:
    """``out``/NAME without suffix: the start of every file that a command writes about a video.

    A part of the video has its seconds in the name, so that it never replaces the whole.
    """
    if part is None:
        return out / path.stem
    end = f"{part.end_s:g}s" if part.end_s < FOREVER_S else "end"
    return out / f"{path.stem}_{part.start_s:g}-{end}"


def policy_settings(policies: Sequence[str] | None) -> list[str]:
    """``--policy`` as a setting of the config: ``routed+hedged`` is both, in this order.

    Raises:
        BadInput: a name is empty.
    """
    if policies is None:
        return []
    return [f"fusion.policies={json.dumps(_split('--policy', policies, '+'))}"]


def span_of(start: str | None, end: str | None) -> Span | None:
    """The part of the video between ``--from`` and ``--to``; None when neither is given.

    Raises:
        BadInput: not a time, or the end is not after the start.
    """
    if start is None and end is None:
        return None
    start_s = _seconds(start, "--from") if start is not None else 0.0
    end_s = _seconds(end, "--to") if end is not None else FOREVER_S
    if end is None and start_s >= FOREVER_S:
        raise BadInput(f"--from {start} is later than any video ends.")
    if end_s <= start_s:
        raise BadInput(f"--to {end} is not after --from {start or 0}.")
    return Span(start_s, end_s)


_TIME = re.compile(r"(?:(?:(\d+):)?([0-5]?\d):)?(\d+(?:\.\d*)?)")


def _seconds(text: str, option: str) -> float:
    match = _TIME.fullmatch(text.strip())
    if match is None or (match[2] is not None and float(match[3]) >= 60):
        raise BadInput(
            f"{option} takes seconds or H:MM:SS, e.g. 80, 1:20 or 1:02:03.5, not {text!r}."
        )
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return min(hours * 3600 + minutes * 60 + seconds, FOREVER_S)


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A bar with an estimate while the block perceives; None when quiet or not on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting", total=None)

        def show(step: Progress) -> None:
            bar.update(
                task, description=step.stage, completed=step.done_s, total=step.total_s or None
            )

        yield show


@contextlib.contextmanager
def working(what: str, quiet: bool) -> Iterator[None]:
    """While the block works: a spinner, if on a terminal, and what servers are asked again, and
    why; nothing when ``quiet``."""
    if quiet:
        yield
        return
    with telling_retries():
        if not sys.stderr.isatty():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield


@contextlib.contextmanager
def telling_retries(least_pause_s: float = 0.0) -> Iterator[None]:
    """While the block works, tell on stderr what servers are asked again, and why; one line in
    ``least_pause_s`` and no more."""
    log, handler = logging.getLogger("reasoning.transport"), _Teller(least_pause_s)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


class _Teller(logging.Handler):
    """Log records as lines on stderr."""

    def __init__(self, least_pause_s: float) -> None:
        super().__init__()
        self._least_pause_s, self._told_s = least_pause_s, -math.inf

    def emit(self, record: logging.LogRecord) -> None:
        if record.created - self._told_s >= self._least_pause_s:
            self._told_s = record.created
            tell(record.getMessage(), err=True)
