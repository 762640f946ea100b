"""``cuelight export``: the cues of a video as a file for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perception.errors import BadInput, UnknownName
from reasoning.cli import _formats as formats
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.cue import CueTimeline
    from perception.format import Format

_TOLD_START_S = 0.001


def command(
    cues: Annotated[Path, typer.Argument(help="A NAME.cues.json, as cuelight perceive writes it.")],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="webvtt, srt, elan, textgrid, labelstudio, via, csv, parquet, rerun, fiftyone; "
            "else told by the end of --out.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file, or a folder for NAME with the format's end."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only this kind or track. Repeatable.")
    ] = None,
    player_clock: formats.PlayerClock = False,
    set: formats.SetOption = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Write the cues as subtitles, annotations or a table that other tools open.

    What the format cannot carry is told. docs/formats.md describes each.
    """
    from perception.cue import CueTimeline
    from perception.format import shifted
    from perception.whole import write_whole

    name, path = _target(cues, to, out)
    format = formats.build_format(name, set or ())
    timeline = _only(CueTimeline.read(cues), only or ())
    start_s = timeline.video.start_s
    if player_clock:
        timeline = shifted(timeline, start_s)
    path = path or (out or output.HERE) / f"{formats.stem_of(cues)}{format.suffixes[0]}"
    if path.exists() and path.samefile(cues):
        raise BadInput(f"{str(path)!r} is the file that holds the cues; name another with --out.")
    write_whole(path, format.write(timeline))
    lost = _lost(format, timeline)
    count = sum(1 for _ in timeline.cues())
    if json:
        output.emit({"file": str(path), "format": name, "cues": count, "lost": lost})
        return
    tell(path if quiet else f"Wrote {output.counted(count, 'cue')} to {path}")
    if quiet:
        return
    if lost:
        tell(f"{name} does not carry: {', '.join(lost)}.", err=True)
    if abs(start_s) >= _TOLD_START_S and not player_clock:
        tell(
            f"The video starts at {start_s:g} s on the clock of players that do not subtract it; "
            f"--player-clock adds it.",
            err=True,
        )


def _target(cues: Path, to: str | None, out: Path | None) -> tuple[str, Path | None]:
    """The format, and the file where ``--out`` names one."""
    from perception.format import by_name, by_suffix

    is_folder = out is None or out.is_dir() or not out.suffix
    if to is not None:
        return by_name(to), None if is_folder else out
    if out is None or is_folder:
        raise BadInput(
            f"Say the format: cuelight export {str(cues)!r} --to webvtt (or --out NAME.vtt)."
        )
    return by_suffix(out), out


def _only(timeline: CueTimeline, only: list[str] | tuple[str, ...]) -> CueTimeline:
    from dataclasses import replace

    known = {name for track in timeline.tracks for name in (track.id, track.kind)}
    for name in only:
        if name not in known:
            raise UnknownName("track", name, known)
    tracks = tuple(
        track for track in timeline.tracks if not only or {track.id, track.kind} & {*only}
    )
    return replace(timeline, tracks=tracks)


def _lost(format: Format, timeline: CueTimeline) -> list[str]:
    """Of what the format cannot carry, what most timelines have; rarities are in the docs."""
    absent = {
        "attributes": all(not cue.attributes for _, cue in timeline.cues()),
        "which track a cue is of": len(timeline.tracks) < 2,
        "cues without text": all(cue.text for _, cue in timeline.cues()),
        "tracks without cues": all(track.cues for track in timeline.tracks),
        "null characters": all("\0" not in cue.text for _, cue in timeline.cues()),
        "carriage returns": all("\r" not in cue.text for _, cue in timeline.cues()),
        "control characters other than line breaks and tabs": all(
            cue.text.isprintable() or "\n" in cue.text for _, cue in timeline.cues()
        ),
        "spans shorter than 1 ms": all(
            cue.span.duration_s >= _TOLD_START_S for _, cue in timeline.cues()
        ),
    }
    return [each for each in format.cannot_carry if not absent.get(each, False)]
