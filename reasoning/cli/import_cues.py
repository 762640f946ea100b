"""``cuelight import-cues``: what a person annotated with another tool, as cues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perception.errors import BadInput
from reasoning.cli import _formats as formats
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.cue import CueTimeline, CueTrack, Span
    from perception.format import Annotation


def command(
    file: Annotated[Path, typer.Argument(help="What the other tool wrote, e.g. NAME.eaf.")],
    video: Annotated[
        str | None, typer.Option("--video", help="The video that the file is about.")
    ] = None,
    cues: Annotated[
        Path | None,
        typer.Option(
            "--cues", help="Its NAME.cues.json; the imported track goes beside the others."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="Of the imported cues: action, speech, screen_text or another; else the name of "
            "each tier.",
        ),
    ] = None,
    tier: Annotated[
        list[str] | None, typer.Option("--tier", help="Only this tier of the file. Repeatable.")
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="In place of the tracks of that kind, not beside them."),
    ] = False,
    format: Annotated[
        str | None, typer.Option("--format", help="Where the end of the name does not tell.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file, or a folder for NAME.imported.cues.json."),
    ] = None,
    player_clock: formats.PlayerClock = False,
    set: formats.SetOption = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Make cues of subtitles, annotations or a table that another tool or a person wrote.

    The track's origin is human. Beside a recognizer's track it is called KIND-human; --replace has
    it take that place, for instance as an upper bound of what the recognizer could be worth.
    """
    from dataclasses import replace as changed

    from perception.cue import Source
    from perception.format import by_name, by_suffix, read
    from perception.human_track import about_video, added, human_tracks, of_tiers
    from perception.whole import write_whole

    timeline = _timeline(video, cues, quiet)
    name = by_name(format) if format is not None else by_suffix(file)
    said = read(formats.build_format(name, set or ()), file, name)
    said = of_tiers(about_video(said, timeline.video.name), tier or ())
    if not said:
        raise BadInput(f"{str(file)!r} holds no annotation.")
    if player_clock:
        said = tuple(changed(each, span=_earlier(each, timeline.video.start_s)) for each in said)
    source = Source(name, settings={"file": file.name, "tiers": list(tier or ())})
    tracks = human_tracks(said, timeline.video, source, kind or "")
    whole = added(timeline, tracks, replace=replace)
    path = _path(out, timeline, cues)
    write_whole(path, whole.to_json().encode())
    new = whole.tracks[len(whole.tracks) - len(tracks) :]
    _tell(path, new, json, quiet)


def _timeline(video: str | None, cues: Path | None, quiet: bool) -> CueTimeline:
    from perception.cue import CueTimeline
    from perception.video import probe

    if (video is None) == (cues is None):
        raise BadInput("Say what the file is about: --video VIDEO, or --cues NAME.cues.json.")
    if cues is not None:
        return CueTimeline.read(cues)
    path = output.video_path(str(video), quiet)
    with output.working(f"reading {path.name}", quiet):
        return CueTimeline(probe(path))


def _earlier(annotation: Annotation, start_s: float) -> Span:
    from perception.cue import Span

    span = annotation.span
    if span.end_s < start_s:
        raise BadInput(
            f"A span ends at {span.end_s:g} s, before the video starts at {start_s:g} s; leave "
            f"out --player-clock."
        )
    return Span(max(span.start_s - start_s, 0.0), span.end_s - start_s)


def _path(out: Path | None, timeline: CueTimeline, cues: Path | None) -> Path:
    if out is not None and out.name.endswith(".json") and not out.is_dir():
        return out
    stem = Path(timeline.video.name).stem if cues is None else formats.stem_of(cues)
    return (out or output.HERE) / f"{stem}.imported{formats.CUES_SUFFIX}"


def _tell(path: Path, tracks: tuple[CueTrack, ...], json: bool, quiet: bool) -> None:
    if json:
        counts = [
            {"id": t.id, "kind": t.kind, "cues": len(t.cues), "notes": list(t.notes)}
            for t in tracks
        ]
        output.emit({"file": str(path), "tracks": counts})
        return
    if not quiet:
        for track in tracks:
            tell(f"{track.id}: {output.counted(len(track.cues), 'cue')} of kind {track.kind}")
            for note in track.notes:
                tell(f"  {note}")
    tell(path if quiet else f"Wrote {path}")
