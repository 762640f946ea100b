"""The options of ``inspect`` that no other command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "EmbedVideo",
    "Host",
    "Open",
    "Out",
    "Policies",
    "Port",
    "Proxy",
    "Questions",
    "Serve",
    "Source",
    "Study",
    "Text",
    "Video",
]

Source = Annotated[
    str,
    typer.Argument(
        metavar="VIDEO|CUES.json|STUDY.sqlite",
        help="A video (the word sample = the sample clip), a NAME.cues.json, or the records of "
        "a study.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Folder for the files that are written; without it here, or beside a .cues.json.",
    ),
]
Text = Annotated[
    bool, typer.Option("--text", help="Draw the lanes in the terminal; no page is written.")
]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")]
Questions = Annotated[
    list[str] | None,
    typer.Option(
        "--question", help="Show the cue block that a model would get for it. Repeatable."
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", help="A way to make the block, e.g. routed+hedged; each is a choice."),
]
Study = Annotated[
    Path | None,
    typer.Option("--study", help="Records of a study: its answers about the video."),
]
Video = Annotated[
    str | None,
    typer.Option("--video", help="Which video of the study; its name there, or a file."),
]
EmbedVideo = Annotated[
    bool, typer.Option("--embed-video", help="Put the video into the page: a single file.")
]
Proxy = Annotated[
    bool | None,
    typer.Option(
        "--proxy/--no-proxy",
        help="Play an H.264 copy, NAME.proxy.mp4; by default where browsers need one.",
        show_default=False,
    ),
]
Serve = Annotated[
    bool, typer.Option("--serve", help="Serve the page on this machine, and save reviews to disk.")
]
Host = Annotated[str, typer.Option("--host", help="Loopback address to serve at.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 = any that is free.")]
