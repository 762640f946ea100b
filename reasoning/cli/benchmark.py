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

Said = dict[str, str]
"""A benchmark's ``name``, ``about``, ``source`` and ``layout``."""

_FOLDER = "reasoning.benchmarks"
_SHOWN = 10
"""Missing files are named up to so many."""

_NOTHING: dict[str, Any] = {"questions": 0, "videos": 0, "videos_found": 0, "categories": {}}


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

    Exit code 1 when a file is missing or not as published, 2 when there is no such benchmark,
    option or folder.
    """
    from perception.errors import BadInput

    about = _about(name)
    benchmark = _built(name, place, set or (), about)
    faults: Sequence[Fault] = ()
    counts, broken = _NOTHING, ""
    try:
        faults = benchmark.check()
        counts = _counts(benchmark, faults)
    except BadInput as error:
        broken = str(error)
    if json:
        missing = [asdict(fault) for fault in faults]
        output.emit({**counts, "name": name, "missing": missing, "broken": broken})
    else:
        _show(counts, faults, broken, about, quiet)
    return int(bool(faults or broken))


commands = {"list": list_, "check": check}


def _about(name: str) -> Said:
    from perception import plugins

    module = plugins.load(_FOLDER, name)
    first = (module.__doc__ or "").strip().split("\n\n")[0]
    return {
        "name": name,
        "about": " ".join(first.split()),
        "source": str(getattr(module, "SOURCE", "")),
        "layout": str(getattr(module, "LAYOUT", "")),
    }


def _built(name: str, place: str | None, settings: Sequence[str], about: Said) -> Benchmark:
    from perception import plugins
    from reasoning.config import overridden, plugin_options

    chosen: dict[str, Any] = overridden({}, settings)
    names = [each.name for each in fields(plugins.take(_FOLDER, name).Options)]
    key = "folder" if "folder" in names else "table"
    if place is not None:
        chosen[key] = place
    options = plugin_options(_FOLDER, {name: chosen}, "benchmarks")
    _check_place(Path(getattr(options[name], key, ".")).expanduser(), key == "folder", about)
    benchmark: Benchmark = plugins.build(_FOLDER, name, options)
    return benchmark


def _check_place(place: Path, is_folder: bool, about: Said) -> None:
    """See that there is a folder, or the table of a benchmark that is one."""
    from perception.errors import BadInput

    if place.is_dir() if is_folder else place.is_file():
        return
    wanted = "folder" if is_folder else "CSV file"
    found = f"There is no {wanted} {str(place)!r}."
    if place.exists():
        found = f"{str(place)!r} is a {'file' if is_folder else 'folder'}, not a {wanted}."
    if tables := sorted(each.name for each in place.glob("*.csv")):
        found += f" It holds {', '.join(tables)}."
    error = BadInput(f"{found} Name it: cuelight benchmark check {about['name']} PLACE.")
    error.add_note(f"{about['name']} needs: {about['layout']}")
    error.add_note(about["source"])
    raise error


def _counts(benchmark: Benchmark, faults: Sequence[Fault]) -> dict[str, Any]:
    """Questions and videos; none where the files of questions themselves are missing."""
    from perception.errors import BadInput

    try:
        items = benchmark.items()
    except BadInput:
        if not faults:
            raise
        return _NOTHING
    videos = {item.video: benchmark.video(item) for item in items if item.video}
    return {
        "questions": len(items),
        "videos": len(videos),
        "videos_found": sum(path is not None for path in videos.values()),
        "categories": dict(Counter(str(item.category) for item in items)),
    }


def _show(
    counts: dict[str, Any], faults: Sequence[Fault], broken: str, about: Said, quiet: bool
) -> None:
    if not (quiet or broken):
        questions = output.counted(counts["questions"], "question")
        tell(f"{questions} about {output.counted(counts['videos'], 'video')}")
        for category, count in counts["categories"].items():
            tell(f"  {count:5} {category or '(no category)'}")
        tell(f"{counts['videos_found']} of {counts['videos']} videos are there")
    told = [f"missing: {Path(fault.path)}" for fault in faults[:_SHOWN]]
    told += [f"missing: {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
    told += [broken] if broken else []
    why = [fault.what for fault in faults]
    told += [each for each in dict.fromkeys(why or [about["source"]]) if each not in broken]
    if not (faults or broken):
        return
    told.append(f"{about['name']} needs: {about['layout']}")
    if faults and counts["questions"]:
        told.append("Conditions that show no video can be run without.")
    for line in told:
        tell(line, err=True)
