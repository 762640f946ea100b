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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from fusion.question import Question
from fusion.quoting import visible
from fusion.render import clock, span_words
from fusion.selection import CuePrompt
from perception.cue import CueTimeline
from perception.recognizer import Traces
from perception.whole import write_whole
from reasoning.answer import Answer, Failure
from reasoning.read_cues import read_ids
from reasoning.tools.review import Review
from reasoning.viewer.drawn import drawn, packed_times
from reasoning.viewer.given import Block, State, prompt_lines, states
from reasoning.viewer.origins import origins
from reasoning.viewer.studied import Studied, studied
from reasoning.viewer.view import percent_words, view

__all__ = ["Extras", "page", "video_url", "write_page"]

_HERE = Path(__file__).parent
_SCRIPTS = (
    "base",
    "player",
    "lanes",
    "gestures",
    "overlay",
    "cards",
    "prompts",
    "study",
    "review",
    "main",
)
"""The files of ``js/`` in the order in which they make the page's one script."""
_CHIPS = 12
"""Cues of the prompt that are listed beside the answer before the rest is folded away."""
_LEFT_OUT = 500
"""Rows of a table of cues that were left out; all are on the timeline."""


@dataclass(frozen=True, slots=True, eq=False)
class Extras:
    """What the page shows beside the timeline and the answer, as far as it is known.

    Args:
        traces: skeletons, text boxes and the sound's outline.
        frame_times_s: float64 [n], presentation times of the video's pictures, to step by.
        blocks: blocks of cues to choose from.
        calibrated: by cue id, the probability that it is right.
        study: a study's questions about the video.
        review: a person's corrections so far.
        save_url: where the page sends corrections; empty = they are downloaded.
        review_name: of the file that is downloaded.
        player_start_s: presentation time at which the linked file's clock starts; None = the
            timeline's ``video.start_s``.
        embedded: type and bytes of a video that the page holds itself.
    """

    traces: Traces = field(default_factory=dict)
    frame_times_s: npt.NDArray[np.float64] | None = None
    blocks: Sequence[Block] = ()
    calibrated: Mapping[str, float] = field(default_factory=dict)
    study: Studied | None = None
    review: Review | None = None
    save_url: str = ""
    review_name: str = ""
    player_start_s: float | None = None
    embedded: tuple[str, bytes] | None = None


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
    style, script = _asset("page.css"), _script()
    read = read_ids(prompt, answer) if prompt and isinstance(answer, Answer) else None
    blocks = list(extras.blocks)
    if prompt is not None:
        blocks.insert(0, Block(prompt, question.text if question else ""))
    became = [states(block.prompt, read if block.prompt is prompt else None) for block in blocks]
    shown = view(timeline, became[0] if became else {}, extras.calibrated)
    numbers = {cue["id"]: cue["number"] for cue in shown["cues"]}
    is_playable = video is not None or extras.embedded is not None
    return _template().render(
        timeline=timeline,
        video=video,
        is_playable=is_playable,
        question=question,
        prompt=prompt,
        answer=answer,
        failed=isinstance(answer, Failure),
        cues=shown["cues"],
        lanes=shown["lanes"],
        chips=_CHIPS,
        left_out=_LEFT_OUT,
        is_read_known=read is not None,
        origins=[origins(track) for track in timeline.tracks],
        blocks=[
            _block(block, numbers, shown["cues"], read if block.prompt is prompt else None)
            for block in blocks
        ],
        request=_request(answer),
        facts=_facts(timeline),
        study=extras.study is not None,
        data=_script_json(_data(timeline, shown, numbers, became, extras) | {"video": is_playable}),
        embedded=_embedded(extras),
        style=Markup(style),  # noqa: S704 - the product's own file
        script=Markup(script),  # noqa: S704 - the product's own files
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
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


def video_url(video: Path, folder: Path) -> str:
    """The relative URL of ``video`` for a page in ``folder``; absolute where no relative path leads
    from one to the other (two drives). Every character that a URL gives a meaning is escaped."""
    try:
        relative = os.path.relpath(video.resolve(), folder.resolve())
    except ValueError:
        return video.resolve().as_uri()
    return "/".join([".", *(quote(os.fsencode(part), safe="") for part in Path(relative).parts)])


def _data(
    timeline: CueTimeline,
    shown: Mapping[str, Any],
    numbers: dict[str, int],
    became: Sequence[Mapping[str, State]],
    extras: Extras,
) -> dict[str, Any]:
    """What the script works with."""
    info = timeline.video
    start_s = info.start_s if extras.player_start_s is None else extras.player_start_s
    times_s = np.zeros(0) if extras.frame_times_s is None else extras.frame_times_s
    in_table = {"number", "state", "why"}
    lanes = [
        {key: value for key, value in lane.items() if key != "count"} for lane in shown["lanes"]
    ]
    cues = [
        {key: value for key, value in cue.items() if key not in in_table} for cue in shown["cues"]
    ]
    review = extras.review or Review()
    return {
        "name": visible(info.name),
        "sha256": info.sha256,
        "start_s": start_s,
        "extent_s": shown["extent_s"],
        "rate_hz": info.rate_hz,
        "width": info.width,
        "height": info.height,
        "lanes": lanes,
        "cues": cues,
        "blocks": [
            {numbers[id]: [state.name, state.why] for id, state in each.items() if id in numbers}
            for each in became
        ],
        "frames": packed_times(times_s),
        "study": None if extras.study is None else studied(extras.study, numbers),
        "review": {id: each.document() for id, each in review.cues.items()},
        "save_url": extras.save_url,
        "review_name": extras.review_name or f"{visible(Path(info.name).stem)}.review.json",
        **drawn(timeline, extras.traces, numbers),
    }


def _block(
    block: Block,
    numbers: dict[str, int],
    cues: Sequence[Mapping[str, Any]],
    read: frozenset[str] | None,
) -> dict[str, Any]:
    """A block as the template takes it."""
    dropped = [
        {
            **{key: cues[numbers[item.cue.id]][key] for key in ("number", "when", "lane", "text")},
            "confidence": item.cue.confidence,
            "why": visible(item.reason),
        }
        for item in block.prompt.selection.dropped
        if item.cue.id in numbers
    ]
    return {
        "question": visible(block.question),
        "policy": visible(block.policy),
        "lines": prompt_lines(block.prompt, numbers, read),
        "dropped": dropped,
        "is_partly_read": read is not None,
    }


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
        "percent": percent_words,
        "visible": visible,
    }
    return environment.get_template("page.html.jinja")


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """The script's files as one function, so that nothing of them is global but ``cuelight``."""
    parts = "".join(_asset(f"js/{name}.js") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


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
