"""How ``inspect`` hands over what it made: a file, a server, or a drawing in the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from reasoning.cli._seeing import Seen
    from reasoning.cli._showing import ShownPage
    from reasoning.tools.review import Review

__all__ = ["MAX_EASY_BYTES", "draw", "serve", "write"]

MAX_EASY_BYTES = 50_000_000
"""Of a page; a laptop takes some seconds to open more."""


def draw(seen: Seen, calibrated: Mapping[str, float], json: bool) -> None:
    """The lanes in the terminal, or as JSON, with the review that lies beside the cues.

    Raises:
        BadInput: that is no review, or one of another video.
    """
    from rich.console import Console

    from reasoning.tools import review
    from reasoning.viewer.terminal import drawing

    said = review.of(seen.review, seen.timeline.video)
    if said is not None and (count := sum(map(len, said.aside(seen.timeline).values()))):
        tell(review.aside_words(seen.review.name, count), err=True)
    if json:
        _emit(seen, None, calibrated, said)
        return
    Console(highlight=False).print(drawing(seen.timeline, calibrated=calibrated, review=said))


def write(
    seen: Seen, shown: ShownPage, embed: bool, open_page: bool, json: bool, quiet: bool
) -> None:
    """The page as ``NAME.html``, or as ``NAME.timeline.html`` where that is the page of an answer;
    its size is told, and what to do where it is large."""
    from reasoning.cli._showing import embedded
    from reasoning.viewer.page import holds_answer, write_page

    page = seen.stem.with_name(f"{seen.stem.name}.html")
    if holds_answer(page):
        if not quiet:
            tell(f"{page} holds the answer to a question and is left as it is.", err=True)
        page = page.with_suffix(".timeline.html")
    extras, video = shown.extras, shown.path
    if embed and shown.video is not None:
        extras, video = replace(extras, embedded=embedded(shown.video)), None
    write_page(page, seen.timeline, video=video, extras=extras)
    size = page.stat().st_size
    if json:
        _emit(seen, page, extras.calibrated, extras.review)
    else:
        tell(page if quiet else f"Wrote {page} ({_megabytes(size)})")
    if size > MAX_EASY_BYTES and not quiet:
        tell(_large(size, sum(1 for _ in seen.timeline.cues()), embed), err=True)
    if open_page and not (json or quiet) and _interactive():
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def serve(
    seen: Seen, shown: ShownPage, host: str, port: int, open_page: bool, json: bool, quiet: bool
) -> None:
    """The page over HTTP, until Ctrl-C."""
    from reasoning.viewer.serving import page_server

    server = page_server(
        seen.timeline, shown.path, shown.extras, seen.review, seen.stem.name, host, port
    )
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


def _emit(
    seen: Seen, page: Path | None, calibrated: Mapping[str, float], review: Review | None
) -> None:
    from reasoning.viewer.document import document

    output.emit(document(seen.timeline, page, seen.video, calibrated, review))


def _large(size: int, cues: int, embedded: bool) -> str:
    parts = ["--from and --to for a part of the time", "--only for one kind of cue"]
    if embedded:
        parts.insert(0, "leave out --embed-video")
    return (
        f"The page has {_megabytes(size)} for {output.counted(cues, 'cue')}, and browsers take "
        f"long to open more than {_megabytes(MAX_EASY_BYTES)}. Smaller pages: {', '.join(parts)}."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 9_950_000 else f"{size / 1e6:.0f} MB"


def _interactive() -> bool:
    """Whether a person sits here who has a screen for a browser."""
    screen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and sys.stdout.isatty()
