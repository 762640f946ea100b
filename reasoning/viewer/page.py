"""One self-contained HTML file: the video, its cue lanes, and what a model was told and answered.

The page asks for nothing but the video file, which it names by a relative path. Whatever came from
the video or from a model is escaped, and a content security policy allows no script but the page's
own.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from fusion.question import Question
from fusion.render import clock
from fusion.selection import CuePrompt
from perception.cue import CueTimeline
from perception.whole import write_whole
from reasoning.answer import Answer, Failure
from reasoning.read_cues import read_ids
from reasoning.viewer import assets
from reasoning.viewer.data import data
from reasoning.viewer.extras import Extras
from reasoning.viewer.given import Block, State, block_words, states
from reasoning.viewer.origins import origins
from reasoning.viewer.view import CueView, View, view

__all__ = ["holds_answer", "page", "video_url", "write_page"]

_ANSWER_MARK = '<meta name="cuelight" content="answer">'
"""In the head of a page that shows a question or an answer."""
_MARKED_CHARS = 1000
"""The mark stands before all that a video or a person says."""

_CHIPS = 12
"""Cues of the prompt that are listed beside the answer before the rest is folded away."""
_LEFT_OUT = 500
"""Rows of a table of cues that were left out; all are on the timeline."""
_IN_TABLE = 2000
"""Rows of the table of all cues, about 0.6 MB of page; all are on the timeline."""


def page(
    timeline: CueTimeline,
    *,
    video: str | None = None,
    question: Question | None = None,
    prompt: CuePrompt | None = None,
    answer: Answer | Failure | None = None,
    extras: Extras | None = None,
) -> str:
    """The HTML of the page; the same arguments give the same text.

    Args:
        timeline: what is drawn.
        video: address of the video file as seen from the page (``video_url``); None = no player.
        question: what was asked.
        prompt: the block of cues that the model was given; cues that fusion dropped are greyed.
        answer: what the model said.
        extras: what else is known.

    Raises:
        BadInput: the traces are ill-shaped.
    """
    extras = extras or Extras()
    read = read_ids(prompt, answer) if prompt and isinstance(answer, Answer) else None
    blocks = list(extras.blocks)
    if prompt is not None:
        words = question.text if question else ""
        blocks.insert(0, Block(prompt, words, is_told=answer is not None))
    became = [states(block.prompt, read if block.prompt is prompt else None) for block in blocks]
    shown = view(timeline, extras.calibrated)
    is_playable = video is not None or extras.embedded is not None
    script = assets.script()
    return assets.template().render(
        timeline=timeline,
        video=video,
        is_playable=is_playable,
        question=question,
        prompt=prompt,
        answer=answer,
        failed=isinstance(answer, Failure),
        mark=Markup(_ANSWER_MARK if question or answer else ""),  # noqa: S704 - our own
        lanes=shown.lanes,
        table=shown.by_time[:_IN_TABLE],
        count=len(shown.cues),
        states=became[0] if became else {},
        chips=_CHIPS,
        left_out=_LEFT_OUT,
        is_read_known=read is not None,
        **_given(shown, became[0] if became else {}),
        origins=[origins(track) for track in timeline.tracks],
        blocks=[
            block_words(block, shown, read if block.prompt is prompt else None) for block in blocks
        ],
        request=_request(answer),
        facts=_facts(timeline),
        study=extras.study is not None,
        data=_script_json(data(timeline, shown, became, extras) | {"video": is_playable}),
        embedded=_embedded(extras),
        style=Markup(assets.style()),  # noqa: S704 - the product's own file
        script=Markup(script),  # noqa: S704 - the product's own files
        digest=assets.digest(script),
        saves=bool(extras.save_url),
    )


def write_page(
    path: Path,
    timeline: CueTimeline,
    *,
    video: Path | None = None,
    question: Question | None = None,
    prompt: CuePrompt | None = None,
    answer: Answer | Failure | None = None,
    extras: Extras | None = None,
) -> None:
    """Write the page to ``path``, whole or not at all, linked to the file ``video``.

    Raises:
        StorageError: the folder cannot be written.
        BadInput: as ``page``.
    """
    url = None if video is None else video_url(video, path.parent)
    html = page(timeline, video=url, question=question, prompt=prompt, answer=answer, extras=extras)
    write_whole(path, html.encode("utf-8", "replace"))


def holds_answer(path: Path) -> bool:
    """Whether a page lies there that shows a question or an answer."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return _ANSWER_MARK in file.read(_MARKED_CHARS)
    except OSError:
        return False


def video_url(video: Path, folder: Path) -> str:
    """The relative URL of ``video`` for a page in ``folder``; absolute where no relative path leads
    from one to the other (two drives). Every character that a URL gives a meaning is escaped."""
    try:
        relative = os.path.relpath(video.resolve(), folder.resolve())
    except ValueError:
        return video.resolve().as_uri()
    return "/".join([".", *(quote(os.fsencode(part), safe="") for part in Path(relative).parts)])


def _given(shown: View, became: Mapping[str, State]) -> dict[str, list[CueView]]:
    """The cues in the prompt: all, those that the model read, and those that it did not."""
    named = [(each, became.get(each.cue.id, State()).name) for each in shown.by_time]
    return {
        "given": [each for each, name in named if name in ("kept", "unread")],
        "read": [each for each, name in named if name == "kept"],
        "unread": [each for each, name in named if name == "unread"],
    }


def _script_json(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - holds no character with a meaning in HTML


def _embedded(extras: Extras) -> tuple[str, str] | None:
    if extras.embedded is None:
        return None
    kind, content = extras.embedded
    return kind, base64.b64encode(content).decode("ascii")


def _request(answer: Answer | Failure | None) -> str:
    if answer is None or not answer.request:
        return ""
    return json.dumps(dict(answer.request), ensure_ascii=False, indent=2, default=str)


def _facts(timeline: CueTimeline) -> list[str]:
    info = timeline.video
    facts = [f"{clock(info.duration_s)} long"]
    if info.has_video:
        facts += [f"{info.width} × {info.height}", f"{info.rate_hz:.4g} frames/s"]
    facts.append("with sound" if info.has_audio else "no sound")
    if info.start_s:
        facts.append(f"its clock starts at {info.start_s:.3f} s")
    if info.sha256:
        facts.append(f"sha256 {info.sha256[:12]}")
    return facts
