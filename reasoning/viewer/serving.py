"""The server of one timeline's page: which contents it has, and how a review is written."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from perception.cue import CueTimeline
from perception.errors import BadInput
from perception.whole import write_whole
from reasoning.tools import review
from reasoning.viewer.extras import Extras
from reasoning.viewer.page import page
from reasoning.viewer.playable import KINDS
from reasoning.viewer.server import LOOPBACK, Content, PageServer

__all__ = ["page_server"]

_PAGE = "text/html; charset=utf-8"


def page_server(
    timeline: CueTimeline,
    video: Path | None,
    extras: Extras,
    review_file: Path,
    name: str,
    host: str = LOOPBACK,
    port: int = 0,
) -> PageServer:
    """A server that has the page as ``NAME.html``, the video under its own name, and nothing else.

    Args:
        video: the file that the page plays.
        extras: of the page; where corrections go is added.
        review_file: where corrections are written, checked and whole or not at all. Each time the
            page is opened it shows what the file holds then.
        host, port: see ``PageServer``.

    Raises:
        BadInput: ``host`` is not loopback, or the port is taken.
    """
    saving = threading.Lock()

    def save(text: str, tag: str | None) -> str | None:
        found = review.parse(text, "What the page sent")
        review.check_video(found, timeline.video, "What the page sent")
        review.corrected(timeline, found)
        with saving:
            if tag is not None and tag != _tag(review_file):
                return None
            write_whole(review_file, found.to_json().encode())
            return _tag(review_file)

    def html() -> bytes:
        tag = _tag(review_file)
        current = review.read(review_file) if review_file.is_file() else None
        shown = replace(
            extras,
            save_url=server.review_url,
            review_tag=tag,
            review_name=review_file.name,
            review=current,
        )
        url = None if video is None else f"./{quote(video.name, safe='')}"
        return page(timeline, video=url, extras=shown).encode("utf-8", "replace")

    first = f"{name}.html"
    if video is not None and video.name in (first, "review"):
        raise BadInput(f"A video called {video.name!r} cannot be served; give it another name.")
    server = PageServer({}, first, save, host, port)
    server.contents[first] = Content(_PAGE, make=html)
    if video is not None:
        kind = KINDS.get(video.suffix.lower(), "application/octet-stream")
        server.contents[video.name] = Content(kind, path=video)
    return server


def _tag(path: Path) -> str:
    """An entity tag (RFC 9110 section 8.8.3) of what a file holds; of none where there is none."""
    content = path.read_bytes() if path.is_file() else b""
    return f'"{hashlib.sha256(content).hexdigest()}"'
