"""One self-contained HTML file: the video, its cue lanes, and what a model was told and answered.

The page asks for nothing but the video file, which it names by a relative path. Whatever came from
the video or from a model is escaped, and a content security policy allows no script but the page's
own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from fusion.question import Question
from fusion.quoting import visible
from fusion.render import clock, span_words
from fusion.selection import CuePrompt
from perception.cue import Cue, CueTimeline, Source
from perception.whole import write_whole
from reasoning.answer import Answer, Failure
from reasoning.viewer.given import State, prompt_lines, read_ids, states
from reasoning.viewer.lanes import (
    TOP_ATTRIBUTES,
    Lane,
    alternatives,
    extent_s,
    kind_words,
    lanes,
    short_text,
    state_words,
    ticks,
)
from reasoning.viewer.origins import checkpoints, origins

__all__ = ["page", "video_url", "write_page"]

_HERE = Path(__file__).parent
_TICKS = 11
_SHOWN_ELSEWHERE = {"person", *TOP_ATTRIBUTES}
_MAX_ATTRIBUTE_CHARS = 200
_CHIPS = 12
"""Cues of the prompt that are listed beside the answer before the rest is folded away."""
_COLOURED = {"action", "screen_text", "speech"}


def page(
    timeline: CueTimeline,
    *,
    video: str | None = None,
    question: Question | None = None,
    prompt: CuePrompt | None = None,
    answer: Answer | Failure | None = None,
) -> str:
    """The HTML of the page; the same arguments give the same text.

    Args:
        timeline: what is drawn.
        video: address of the video file as seen from the page (``video_url``); None = no player.
        question: what was asked.
        prompt: the block of cues that the model was given; cues that fusion dropped are greyed.
        answer: what the model said.
    """
    style, script = _asset("page.css"), _asset("page.js")
    read = read_ids(prompt, answer)
    view = _view(timeline, states(prompt, read))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _template().render(
        timeline=timeline,
        video=video,
        question=question,
        prompt=prompt,
        answer=answer,
        failed=isinstance(answer, Failure),
        cues=view["cues"],
        lanes=view["lanes"],
        chips=_CHIPS,
        is_read_known=read is not None,
        origins=[origins(track) for track in timeline.tracks],
        lines=prompt_lines(prompt, {cue["id"]: cue["number"] for cue in view["cues"]}, read),
        ticks=[
            {"at": _percent(time_s, view["extent_s"]), "words": clock(time_s, time_s % 1 != 0)}
            for time_s in ticks(view["extent_s"], _TICKS)
        ],
        request=_request(answer),
        facts=_facts(timeline),
        data=_script_json(
            {key: view[key] for key in ("extent_s", "cues")}
            | {"start_s": timeline.video.start_s, "video": video is not None}
        ),
        style=Markup(style),  # noqa: S704 - the product's own file
        script=Markup(script),  # noqa: S704 - the product's own file
        digest=digest,
    )


def write_page(
    path: Path,
    timeline: CueTimeline,
    *,
    video: Path | None = None,
    question: Question | None = None,
    prompt: CuePrompt | None = None,
    answer: Answer | Failure | None = None,
) -> None:
    """Write the page to ``path``, whole or not at all, linked to the file ``video``.

    Raises:
        StorageError: the folder cannot be written.
    """
    url = None if video is None else video_url(video, path.parent)
    html = page(timeline, video=url, question=question, prompt=prompt, answer=answer)
    write_whole(path, html.encode("utf-8", "replace"))


def video_url(video: Path, folder: Path) -> str:
    """The relative URL of ``video`` for a page in ``folder``; absolute where no relative path leads
    from one to the other (two drives). Every character that a URL gives a meaning is escaped."""
    try:
        relative = os.path.relpath(video.resolve(), folder.resolve())
    except ValueError:
        return video.resolve().as_uri()
    return "/".join([".", *(quote(os.fsencode(part), safe="") for part in Path(relative).parts)])


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clock": clock,
        "span": span_words,
        "percent": _percent_words,
        "visible": visible,
    }
    return environment.get_template("page.html.jinja")


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _script_json(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - holds no character with a meaning in HTML


def _percent_words(probability: float) -> str:
    return f"{int(probability * 100 + 0.5)} %"


def _percent(time_s: float, extent_s: float) -> str:
    return f"{100 * time_s / extent_s:.4f}"


def _view(timeline: CueTimeline, states: dict[str, State]) -> dict[str, Any]:
    """Lanes with their rows of cue numbers, and the cues, numbered in the order of the lanes."""
    length_s = extent_s(timeline)
    cues: list[dict[str, Any]] = []
    strips = []
    for lane in lanes(timeline):
        rows = []
        for row in lane.rows:
            first = len(cues)
            cues.extend(
                _cue(number, cue, lane, states, length_s) for number, cue in enumerate(row, first)
            )
            rows.append(list(range(first, len(cues))))
        strips.append(
            {
                "label": lane.label,
                "hue": _hue(lane.track.kind),
                "rows": rows,
                "count": sum(map(len, rows)),
                "state": state_words(lane.track.status),
                "notes": lane.notes,
            }
        )
    return {"extent_s": length_s, "cues": cues, "lanes": strips}


def _hue(kind: str) -> str:
    return kind if kind in _COLOURED else "other"


def _cue(
    number: int, cue: Cue, lane: Lane, states: dict[str, State], length_s: float
) -> dict[str, Any]:
    state = states.get(cue.id, State())
    source = lane.track.source
    return {
        "number": number,
        "id": cue.id,
        "hue": _hue(lane.track.kind),
        "lane": lane.label,
        "start_s": cue.span.start_s,
        "end_s": cue.span.end_s,
        "when": span_words(cue.span),
        "left": _percent(cue.span.start_s, length_s),
        "width": _percent(cue.span.duration_s, length_s),
        "text": visible(cue.text),
        "short": short_text(cue, lane.person),
        "confidence": _percent_words(cue.confidence),
        "weight": round(cue.confidence, 3),
        "alternatives": [
            [label, _percent_words(probability)]
            for label, probability in alternatives(cue.attributes)
        ],
        "details": [
            *_attributes(cue),
            ["recognizer", f"{source.name} {source.version}".strip()],
            *_checkpoint(source),
        ],
        "state": state.name,
        "why": state.why,
    }


def _attributes(cue: Cue) -> Iterator[list[str]]:
    for name, value in cue.attributes.items():
        if name not in _SHOWN_ELSEWHERE:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = visible(text)
            if len(text) > _MAX_ATTRIBUTE_CHARS:
                text = text[: _MAX_ATTRIBUTE_CHARS - 1] + "…"
            yield [kind_words(name), text]


def _checkpoint(source: Source) -> Iterator[list[str]]:
    if source.checkpoint_sha256:
        yield ["checkpoint", " + ".join(each.text for each in checkpoints(source))]


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
