"""``cuelight inspect``: the timeline as an HTML page or in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perception.errors import BadInput, UnknownName
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.cue import CueTimeline, Span
    from reasoning.viewer.lanes import Lane

CUES_SUFFIX = ".cues.json"


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="VIDEO|CUES.json",
            help="A video (the word sample = the sample clip), or a NAME.cues.json.",
        ),
    ],
    out: output.Out = output.HERE,
    text: Annotated[
        bool, typer.Option("--text", help="Draw the lanes in the terminal; no page is written.")
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
    only: output.Only = None,
    start: output.From = None,
    end: output.To = None,
    force: output.Force = False,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Show what was perceived: a page NAME.html with the video and its cue lanes.

    A video is perceived first, as --config, --set and --force say; finished tracks come from the
    cache.
    Exit code 1 when one of its tracks is partial or failed.
    """
    path = Path(source)
    partial = False
    span = output.span_of(start, end)
    if path.suffix.lower() == ".json":
        _refuse(path, {"--config": config, "--set": set, "--force": force})
        timeline = _read(path, only or (), span)
        stem = out / (path.name.removesuffix(CUES_SUFFIX).removesuffix(".json") or path.name)
        video = _beside(path, timeline)
    else:
        from reasoning.cli._perceiving import perceive_video, save_perception
        from reasoning.config import load

        settings = load(config, set or ())
        video = output.video_path(source, quiet)
        perception = perceive_video(video, settings, only or (), span, force, quiet)
        timeline, partial = perception.timeline, perception.is_partial
        stem = output.output_stem(out, video, span)
        if not text:
            save_perception(perception, stem)
    page = None if text else _write(stem, timeline, video)
    _tell(timeline, page, json, quiet)
    if page and open_page and not (json or quiet) and _interactive():
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return int(partial)


def _refuse(path: Path, given: Mapping[str, Any]) -> None:
    """Options that say how to perceive are no use for what is perceived already."""
    for option, value in given.items():
        if value:
            raise BadInput(
                f"{option} says how a video is perceived, and {str(path)!r} holds cues already; "
                f"leave it out, or give the video."
            )


def _read(path: Path, only: Sequence[str], span: Span | None) -> CueTimeline:
    from perception.cue import CueTimeline

    timeline = CueTimeline.read(path)
    kinds = [track.kind for track in timeline.tracks]
    for name in only:
        if name not in kinds:
            raise UnknownName("track", name, kinds)
    tracks = tuple(track for track in timeline.tracks if not only or track.kind in only)
    timeline = CueTimeline(timeline.video, tracks)
    return timeline if span is None else timeline.between(span)


def _beside(cues: Path, timeline: CueTimeline) -> Path | None:
    """The video file that lies in the folder of its timeline, None where it does not."""
    name = Path(timeline.video.name).name
    video = cues.parent / name
    return video if name and os.path.isfile(video) else None  # noqa: PTH113 - any name will do


def _write(stem: Path, timeline: CueTimeline, video: Path | None) -> Path:
    from reasoning.viewer.page import write_page

    page = stem.with_name(f"{stem.name}.html")
    write_page(page, timeline, video=video)
    return page


def _tell(timeline: CueTimeline, page: Path | None, json: bool, quiet: bool) -> None:
    if json:
        output.emit(_document(timeline, page))
    elif page is None:
        from rich.console import Console

        from reasoning.viewer.terminal import drawing

        Console(highlight=False).print(drawing(timeline))
    else:
        tell(page if quiet else f"Wrote {page}")


def _document(timeline: CueTimeline, page: Path | None) -> dict[str, Any]:
    from reasoning.viewer.lanes import extent_s, lanes

    return {
        "page": None if page is None else str(page),
        "video": timeline.video.name,
        "extent_s": extent_s(timeline),
        "lanes": [_lane(lane) for lane in lanes(timeline)],
    }


def _lane(lane: Lane) -> dict[str, Any]:
    cues = sorted((cue for row in lane.rows for cue in row), key=lambda cue: (cue.span, cue.id))
    return {
        "label": lane.label,
        "track": lane.track.id,
        "kind": lane.track.kind,
        "person": lane.person,
        "status": lane.track.status,
        "notes": list(lane.track.notes),
        "cues": [
            {
                "id": cue.id,
                "start_s": cue.span.start_s,
                "end_s": cue.span.end_s,
                "text": cue.text,
                "confidence": cue.confidence,
            }
            for cue in cues
        ],
    }


def _interactive() -> bool:
    """Whether a person sits here who has a screen for a browser."""
    screen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and sys.stdout.isatty()
