"""``cuelight inspect``: the timeline as an HTML page, served or not, or in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perception.errors import BadInput
from reasoning.cli import _inspect_options as options
from reasoning.cli import _output as output

STUDY_SUFFIXES = (".sqlite", ".sqlite3", ".db")


def command(
    source: options.Source,
    out: options.Out = None,
    text: options.Text = False,
    open_page: options.Open = True,
    question: options.Questions = None,
    policy: options.Policies = None,
    study: options.Study = None,
    video: options.Video = None,
    embed_video: options.EmbedVideo = False,
    proxy: options.Proxy = None,
    serve: options.Serve = False,
    host: options.Host = "127.0.0.1",
    port: options.Port = 0,
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
    cache. Where NAME.html is the page of an answer, the new one is NAME.timeline.html. What a
    person corrects on the page is NAME.review.json, which cuelight calibrate reads; it is shown
    again where it lies beside the cues.
    Exit code 1 when one of its tracks is partial or failed.
    """
    from reasoning.cli import _presenting as presenting
    from reasoning.cli import _seeing as seeing
    from reasoning.cli._showing import calibrated, shown_page
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
        seeing.perceived(source, settings, out, only or (), span, force, quiet, save=not text)
        if perceives
        else seeing.from_cues(Path(source), out, only or (), span)
    )
    if text:
        presenting.draw(seen, calibrated(seen.timeline, settings), json)
        return int(seen.is_partial)
    seeing.look_for_video(seen, source, embed_video, quiet)
    shown = shown_page(seen, settings, question or (), policy or (), study, proxy, quiet)
    if serve:
        presenting.serve(seen, shown, host, port, open_page, json, quiet)
    else:
        presenting.write(seen, shown, embed_video, open_page, json, quiet)
    return int(seen.is_partial)


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
    from reasoning.cli._studied import video_of

    return video_of(Path(source), video), Path(source)


def _refuse(path: Path, given: Mapping[str, Any]) -> None:
    """Options that say how to perceive are no use for what is perceived already."""
    for option, value in given.items():
        if value:
            raise BadInput(
                f"{option} says how a video is perceived, and {str(path)!r} holds cues already; "
                f"leave it out, or give the video."
            )
