"""``cuelight benchmark``: which benchmarks there are, and whether a folder holds one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from reasoning.benchmark import Benchmark, Fault

HELP = "List the benchmarks, and check whether a folder holds one as published."

_FOLDER = "reasoning.benchmarks"
_SHOWN = 10
"""Missing files are named up to so many."""


def list_(json: output.Json = False, quiet: output.Quiet = False) -> None:
    """List the benchmarks: where each is to be had, and what its folder must hold."""
    from perception import plugins

    known = [_about(name) for name in plugins.names(_FOLDER)]
    if json:
        output.emit(known)
        return
    for each in known:
        tell(each["name"] if quiet else f"{each['name']}: {each['about']}")
        if quiet:
            continue
        tell(f"  from:   {each['source']}")
        tell(f"  folder: {each['layout']}")
    if not quiet:
        tell("None of them ships with Cuelight. A folder is checked with: cuelight benchmark check")


def check(
    name: Annotated[str, typer.Argument(help="A benchmark, e.g. mimeqa.")],
    place: Annotated[
        str | None, typer.Argument(help="Its folder, or for csv_questions the table.")
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", help="One of its options, e.g. split=test. Repeatable."),
    ] = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Check that a folder holds a benchmark as published, and count its questions.

    Exit code 1 when files are missing, 2 when one cannot be read.
    """
    from perception.errors import BadInput

    about = _about(name)
    benchmark = _built(name, place, set or ())
    try:
        faults = benchmark.check()
        counts = _counts(benchmark, faults)
    except BadInput as error:
        error.add_note(f"{name} needs: {about['layout']}")
        error.add_note(f"It is to be had here: {about['source']}")
        raise
    if json:
        output.emit({**counts, "name": name, "missing": [asdict(fault) for fault in faults]})
    else:
        _show(counts, faults, about, quiet)
    return int(bool(faults))


commands = {"list": list_, "check": check}


def _about(name: str) -> dict[str, str]:
    from perception import plugins

    module = plugins.load(_FOLDER, name)
    first = (module.__doc__ or "").strip().split("\n\n")[0]
    return {
        "name": name,
        "about": " ".join(first.split()),
        "source": str(getattr(module, "SOURCE", "")),
        "layout": str(getattr(module, "LAYOUT", "")),
    }


def _built(name: str, place: str | None, settings: Sequence[str]) -> Benchmark:
    from perception import plugins
    from reasoning.config import overridden, plugin_options

    chosen: dict[str, Any] = overridden({}, settings)
    plugin = plugins.take(_FOLDER, name)
    if place is not None:
        names = [each.name for each in fields(plugin.Options)]
        chosen["folder" if "folder" in names else "table"] = place
    options = plugin_options(_FOLDER, {name: chosen}, "benchmarks")
    benchmark: Benchmark = plugins.build(_FOLDER, name, options)
    return benchmark


def _counts(benchmark: Benchmark, faults: Sequence[Fault]) -> dict[str, Any]:
    """Questions and videos; none where the files of questions themselves are missing."""
    from perception.errors import BadInput

    try:
        items = benchmark.items()
    except BadInput:
        if not faults:
            raise
        return {"questions": 0, "videos": 0, "videos_found": 0, "categories": {}}
    videos = {item.video: benchmark.video(item) for item in items if item.video}
    return {
        "questions": len(items),
        "videos": len(videos),
        "videos_found": sum(path is not None for path in videos.values()),
        "categories": dict(Counter(str(item.category) for item in items)),
    }


def _show(
    counts: dict[str, Any], faults: Sequence[Fault], about: dict[str, str], quiet: bool
) -> None:
    if not quiet:
        tell(f"{counts['questions']} questions about {counts['videos']} videos")
        for category, count in counts["categories"].items():
            tell(f"  {count:5} {category or '(no category)'}")
        tell(f"{counts['videos_found']} of {counts['videos']} videos are there")
    for fault in faults[:_SHOWN]:
        tell(f"missing: {Path(fault.path)}", err=True)
    if len(faults) > _SHOWN:
        tell(f"missing: {len(faults) - _SHOWN} more", err=True)
    if faults:
        for why in dict.fromkeys(fault.what for fault in faults):
            tell(why, err=True)
        tell(f"{about['name']} needs: {about['layout']}", err=True)
    if faults and counts["questions"]:
        tell("Conditions that show no video can be run without.", err=True)
