"""``cuelight inspect``: the timeline as an HTML page, served or not, or in the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perception.errors import BadInput, UnknownName
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.cue import CueTimeline, Span
    from perception.recognizer import Traces
    from reasoning.cli._showing import Shown
    from reasoning.config import Config
    from reasoning.viewer.page import Extras

CUES_SUFFIX = ".cues.json"
STUDY_SUFFIXES = (".sqlite", ".sqlite3", ".db")


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="VIDEO|CUES.json|STUDY.sqlite",
            help="A video (the word sample = the sample clip), a NAME.cues.json, or the records of "
            "a study.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the files that are written; without it here, or beside a .cues.json.",
        ),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Draw the lanes in the terminal; no page is written.")
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
    question: Annotated[
        list[str] | None,
        typer.Option(help="Show the cue block that a model would get for it. Repeatable."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A way to make the block, e.g. routed+hedged; each is a choice."),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(help="Records of a study: its answers about the video."),
    ] = None,
    video: Annotated[
        str | None, typer.Option(help="Which video of the study; its name there, or a file.")
    ] = None,
    embed_video: Annotated[
        bool, typer.Option("--embed-video", help="Put the video into the page: a single file.")
    ] = False,
    proxy: Annotated[
        bool | None,
        typer.Option(
            "--proxy/--no-proxy",
            help="Play an H.264 copy, NAME.proxy.mp4; by default where browsers need one.",
            show_default=False,
        ),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve the page on this machine, and save reviews to disk."),
    ] = False,
    host: Annotated[
        str, typer.Option(help="Loopback address to serve at.", show_default=True)
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 = any that is free.")] = 0,
    only: output.Only = None,
    start: output.From = None,
    end: output.To = None,
    force: output.Force = False,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Show what was perceived, told and answered: a page NAME.html with the video and its lanes.

    A video is perceived first, as --config, --set and --force say; finished tracks come from the
    cache. What a person corrects on the page is NAME.review.json, which cuelight calibrate reads;
    it is shown again where it lies beside the cues.
    Exit code 1 when one of its tracks is partial or failed.
    """
    from reasoning.config import load

    source, study = _place(source, study, video)
    span = output.span_of(start, end)
    _check(
        text, question, policy, {"--study": study, "--serve": serve, "--embed-video": embed_video}
    )
    perceives = Path(source).suffix.lower() != ".json"
    if not perceives:
        unused = {"--force": force} | ({} if question else {"--config": config, "--set": set})
        _refuse(Path(source), unused)
    settings = load(config, set or ())
    seen = (
        _perceived(source, settings, out or output.HERE, only or (), span, force, quiet, not text)
        if perceives
        else _from_cues(Path(source), out or Path(source).parent, only or (), span)
    )
    if text:
        _tell(seen.timeline, None, json, quiet)
        return int(seen.is_partial)
    if embed_video and seen.video is None:
        raise BadInput(
            f"--embed-video: no file {Path(seen.timeline.video.name).name!r} lies beside "
            f"{source!r}; put it there, or give the video in place of its cues."
        )
    made = _extras(seen, settings, question or (), policy or (), study, proxy, quiet)
    if serve:
        _serve(seen, made, host, port, open_page, json, quiet)
        return int(seen.is_partial)
    page = _write(seen, made, embed_video)
    _tell(seen.timeline, page, json, quiet)
    if open_page and not (json or quiet) and _interactive():
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return int(seen.is_partial)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was perceived of a video, and where its files go.

    Args:
        stem: of the page and of a copy of the video.
        video: the file, None where it is not there.
        traces: or the file that may hold them.
        review: where corrections are.
    """

    timeline: CueTimeline
    stem: Path
    video: Path | None
    traces: Traces | Path
    review: Path
    is_partial: bool = False


def _check(text: bool, question: Any, policy: Any, paged: Mapping[str, Any]) -> None:
    """Options that need each other, or that suit no drawing in the terminal."""
    if policy and not question:
        raise BadInput("--policy says how the block for a question is made; give --question too.")
    if paged["--serve"] and paged["--embed-video"]:
        raise BadInput("--serve gives the video beside the page; leave out --embed-video.")
    for option, value in {"--question": question, **paged}.items():
        if text and value:
            raise BadInput(f"{option} is for the page, and --text writes none; leave one out.")


def _place(source: str, study: Path | None, video: str | None) -> tuple[str, Path | None]:
    """The video or cues to show, and the study's records."""
    if Path(source).suffix.lower() not in STUDY_SUFFIXES:
        if video is not None:
            raise BadInput("--video names a video of a study; give the records in place of a file.")
        return source, study
    from reasoning.cli._showing import video_of

    return video_of(Path(source), video), Path(source)


def _perceived(
    source: str,
    settings: Config,
    out: Path,
    only: Sequence[str],
    span: Span | None,
    force: bool,
    quiet: bool,
    save: bool,
) -> _Seen:
    from reasoning.cli._perceiving import perceive_video, save_perception
    from reasoning.tools.labelled import review_path

    video = output.video_path(source, quiet)
    perception = perceive_video(video, settings, only, span, force, quiet)
    stem = output.output_stem(out, video, span)
    if save:
        save_perception(perception, stem)
    cues = stem.with_name(f"{stem.name}{CUES_SUFFIX}")
    return _Seen(
        perception.timeline,
        stem,
        video,
        perception.traces,
        review_path(cues),
        perception.is_partial,
    )


def _from_cues(path: Path, out: Path, only: Sequence[str], span: Span | None) -> _Seen:
    from reasoning.tools.labelled import review_path

    timeline = _read(path, only, span)
    name = path.name.removesuffix(CUES_SUFFIX).removesuffix(".json") or path.name
    drawn = path.with_name(f"{name}.traces.npz")
    return _Seen(timeline, out / name, _beside(path, timeline), drawn, review_path(path))


def _extras(
    seen: _Seen,
    settings: Config,
    questions: Sequence[str],
    policies: Sequence[str],
    study: Path | None,
    proxy: bool | None,
    quiet: bool,
) -> tuple[Extras, Shown | None]:
    from reasoning.cli import _showing as showing
    from reasoning.tools import review

    shown = None
    if seen.video is not None:
        shown = showing.shown_video(seen.video, seen.timeline, seen.stem, proxy, quiet)
    extras = replace(
        showing.extras(seen.timeline, seen.video, seen.traces, shown),
        blocks=showing.blocks(seen.timeline, questions, policies, settings),
        calibrated=showing.calibrated(seen.timeline, settings),
        study=None if study is None else showing.study_of(study, seen.timeline),
        review=review.of(seen.review, seen.timeline.video),
        review_name=seen.review.name,
    )
    return extras, shown


def _write(seen: _Seen, made: tuple[Extras, Shown | None], embed: bool) -> Path:
    from reasoning.cli._showing import embedded
    from reasoning.viewer.page import write_page

    extras, shown = made
    page = seen.stem.with_name(f"{seen.stem.name}.html")
    video = None if shown is None else shown.path
    if embed and shown is not None:
        extras, video = replace(extras, embedded=embedded(shown)), None
    write_page(page, seen.timeline, video=video, extras=extras)
    return page


def _serve(
    seen: _Seen,
    made: tuple[Extras, Shown | None],
    host: str,
    port: int,
    open_page: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Until Ctrl-C."""
    from reasoning.viewer.serving import page_server

    extras, shown = made
    video = None if shown is None else shown.path
    server = page_server(seen.timeline, video, extras, seen.review, seen.stem.name, host, port)
    if json:
        output.emit({"url": server.url, "review": str(seen.review)})
    else:
        tell(server.url if quiet else f"Serving at {server.url} until Ctrl-C")
    sys.stdout.flush()
    if open_page and not (json or quiet) and _interactive():
        import webbrowser

        webbrowser.open(server.url)
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


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


def _tell(timeline: CueTimeline, page: Path | None, json: bool, quiet: bool) -> None:
    if json:
        from reasoning.viewer.document import document

        output.emit(document(timeline, page))
    elif page is None:
        from rich.console import Console

        from reasoning.viewer.terminal import drawing

        Console(highlight=False).print(drawing(timeline))
    else:
        tell(page if quiet else f"Wrote {page}")


def _interactive() -> bool:
    """Whether a person sits here who has a screen for a browser."""
    screen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and sys.stdout.isatty()
