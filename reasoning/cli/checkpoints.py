"""``cuelight checkpoints list | fetch | add | verify | path``: the weights on this disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoning.cli import _output as output
from reasoning.cli._fetching import fetching
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.weights import Checkpoint, Planned

HELP = "List, fetch and verify the weights."

_MEGABYTE = 1e6


def list_checkpoints(json: output.Json = False, quiet: output.Quiet = False) -> None:
    """List every checkpoint: task, size, licence, and whether it is here."""
    from perception import weights

    del quiet
    known = weights.checkpoints()
    if json:
        output.emit([_document(checkpoint) for checkpoint in known.values()])
        return
    wide = max(map(len, known))
    for name, checkpoint in known.items():
        here = "here" if weights.has(name) else "not here"
        when = "" if checkpoint.default else ", not used by default"
        size = f"{checkpoint.size / _MEGABYTE:.1f} MB" if checkpoint.size else "size unknown"
        tell(f"{name:{wide}}  {size:>12}  {checkpoint.task}: {here}{when}")
        tell(f"{'':{wide}}  {'':>12}  {checkpoint.licence}; {checkpoint.origin}")


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Checkpoints; all that are used by default."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be fetched, and from where.")
    ] = False,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Fetch checkpoints into the cache folder; what is there already is left alone.

    Set CUELIGHT_CACHE to choose the folder. No network is used when everything is there.
    """
    from perception import weights

    if dry_run:
        _tell_plan(weights.plan(names or None), json)
        return
    with fetching(quiet) as on_progress:
        paths = weights.fetch(names or None, on_progress)
    if json:
        output.emit([str(path) for path in paths])
    elif not quiet:
        for path in paths:
            tell(str(path))


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Checkpoints; all of them.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="A line also for each file that nothing needs by default.")
    ] = False,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Hash the files that are here and compare with the manifest; fetches nothing.

    What is missing and is not used by default is counted in one line.

    Exits with 1 when a checkpoint that was named, or that is used by default, is missing, or any
    file is damaged.
    """
    from perception import weights
    from perception.weights import State

    checked = weights.verify(names or None)
    default = {name for name, one in weights.checkpoints().items() if one.default}
    needed = set(names or default)
    spare = [
        each for each in checked if each.state is State.MISSING and each.checkpoint not in needed
    ]
    if json:
        output.emit(
            [
                {"checkpoint": each.checkpoint, "path": str(each.path), "state": each.state}
                for each in checked
            ]
        )
    else:
        for each in checked if every else (one for one in checked if one not in spare):
            if not quiet or each.state is not State.OK:
                tell(f"{each.state.value:8} {each.checkpoint}: {each.path}")
        if spare and not every and not quiet:
            others = len({each.checkpoint for each in spare})
            tell(f"Not here, and not used by default: {others} (--all lists them).")
    return int(any(each.state is not State.OK for each in checked if each not in spare))


def path(
    name: Annotated[str, typer.Argument(help="A checkpoint.")],
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Print where a checkpoint lies, or where to put it by hand; fetches nothing.

    Exits with 1 when it is not there.
    """
    from perception import weights

    place, here = weights.location(name), weights.has(name)
    if json:
        output.emit({"checkpoint": name, "path": str(place), "here": here})
    else:
        tell(str(place))
    if not here and not quiet:
        files = ", ".join(file.name for file in weights.checkpoint(name).files)
        tell(f"It is not there yet ({files}).", err=True)
    return 0 if here else 1


def add(
    files: Annotated[list[Path], typer.Argument(help="Files of checkpoints, e.g. downloads.")],
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Put files that you have into the cache folder: for a machine without internet.

    A file is known by its sha256, whatever its name; any other is refused.
    """
    from perception.fetching.by_hand import add as put

    added = [put(file) for file in files]
    if json:
        output.emit([{"checkpoint": one.name, "path": str(place)} for one, place in added])
    elif not quiet:
        for checkpoint, place in added:
            tell(f"{checkpoint.name}: {place}")


commands = {
    "list": list_checkpoints,
    "fetch": fetch,
    "add": add,
    "verify": verify,
    "path": path,
}


def _document(checkpoint: Checkpoint) -> dict[str, Any]:
    from perception import weights
    from perception.shipped import shipped

    return {
        "name": checkpoint.name,
        "task": checkpoint.task,
        "size": checkpoint.size,
        "sha256": checkpoint.sha256,
        "licence": checkpoint.licence,
        "origin": checkpoint.origin,
        "card": str(shipped("checkpoints") / Path(checkpoint.card)),
        "default": checkpoint.default,
        "path": str(weights.location(checkpoint.name)),
        "here": weights.has(checkpoint.name),
        "files": [
            {
                "name": file.name,
                "sha256": file.sha256,
                "size": file.size,
                "sources": [source.where for source in file.sources],
            }
            for file in checkpoint.files
        ],
    }


def _tell_plan(planned: tuple[Planned, ...], json: bool) -> None:
    if json:
        output.emit(
            [
                {"from": each.download.label, "size": each.download.size, "for": list(each.files)}
                for each in planned
            ]
        )
        return
    for each in planned:
        size = f"{each.download.size / _MEGABYTE:.1f} MB" if each.download.size else "size unknown"
        tell(f"{each.download.label}, {size}, for {', '.join(each.files)}")
    total = sum(each.download.size for each in planned) / _MEGABYTE
    tell(f"{total:.1f} MB in all" if planned else "Nothing to fetch.")
