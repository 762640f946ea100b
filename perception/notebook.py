"""A timeline as a small piece of HTML, for notebooks: a bar for every track, and the first cues.

Everything that came from the video is escaped, and isolated from the direction of what stands
beside it. There is neither script nor style sheet, so that nothing else of the page changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from perception.cue import Cue, CueTimeline, CueTrack, Status
from perception.format import encodable

__all__ = ["MAX_BARS", "MAX_CHARS", "MAX_ROWS", "html"]

MAX_BARS = 200
"""Of each track; a notebook keeps all that it shows in its file."""

MAX_ROWS = 50
"""Cues in the table."""

MAX_CHARS = 120
"""Of a text."""

_COLOURS = {"action": "#4c78a8", "screen_text": "#e0a100", "speech": "#54a24b"}
_OTHER_COLOUR = "#b279a2"


def html(timeline: CueTimeline) -> str:
    """The HTML of a timeline; at most about 100 kB for four tracks."""
    video = timeline.video
    cues = sorted(timeline.cues(), key=lambda pair: pair[1].span)
    extent_s = max([video.duration_s, *(cue.span.end_s for _, cue in cues)]) or 1.0
    about = f"{video.duration_s:.1f} s, {video.width}×{video.height}, {len(cues)} cues"
    lanes = "".join(_lane(track, extent_s) for track in timeline.tracks)
    rows = "".join(_row(track, cue) for track, cue in cues[:MAX_ROWS])
    more = f"<p>and {len(cues) - MAX_ROWS} more</p>" if len(cues) > MAX_ROWS else ""
    return (
        f'<div style="max-width:60em"><p><b>{_shown(video.name)}</b> {about}</p>{lanes}'
        f"<details><summary>Cues</summary><table><thead><tr><th>time</th><th>kind</th><th>cue</th>"
        f"<th>confidence</th></tr></thead><tbody>{rows}</tbody></table>{more}</details></div>"
    )


def _lane(track: CueTrack, extent_s: float) -> str:
    colour = _COLOURS.get(track.kind, _OTHER_COLOUR)
    bars = "".join(_bar(cue, extent_s, colour) for cue in track.cues[:MAX_BARS])
    return (
        f'<div style="display:flex;align-items:center;margin:2px 0">'
        f'<span style="flex:0 0 12em;overflow:hidden">{_shown(track.id)}</span>'
        f'<span style="position:relative;flex:1;height:1.2em;background:#8882">{bars}</span></div>'
        f"{''.join(_notes(track))}"
    )


def _notes(track: CueTrack) -> Iterator[str]:
    words = list(track.notes)
    if track.status is not Status.COMPLETE:
        words.insert(0, f"{track.status.replace('_', ' ')}:")
    if len(track.cues) > MAX_BARS:
        words.append(f"Only the first {MAX_BARS} of {len(track.cues)} cues are drawn.")
    if words:
        yield f'<div style="margin-left:12em"><small>{_shown(" ".join(words))}</small></div>'


def _bar(cue: Cue, extent_s: float, colour: str) -> str:
    left, width = cue.span.start_s / extent_s * 100, cue.span.duration_s / extent_s * 100
    title = escape(encodable(f"{_times(cue)} {_cut(cue.text)}"))
    opacity = 0.3 + 0.7 * cue.confidence
    return (
        f'<span title="{title}" style="position:absolute;top:0;bottom:0;left:{left:.2f}%;'
        f'width:max(2px,{width:.2f}%);background:{colour};opacity:{opacity:.2f}"></span>'
    )


def _row(track: CueTrack, cue: Cue) -> str:
    cells = (_times(cue), track.kind.replace("_", " "), cue.text, f"{cue.confidence:.2f}")
    return f"<tr>{''.join(f'<td>{_shown(cell)}</td>' for cell in cells)}</tr>"


def _shown(text: str) -> str:
    return f"<bdi>{escape(encodable(_cut(text)))}</bdi>"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


def _times(cue: Cue) -> str:
    return "–".join(
        f"{int(time_s // 60)}:{time_s % 60:04.1f}" for time_s in (cue.span.start_s, cue.span.end_s)
    )
