"""The timeline as lanes of characters, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from fusion.quoting import visible
from fusion.render import clock, span_words
from fusion.selection import CuePrompt
from perception.cue import Cue, CueTimeline
from reasoning.tools.review import Correction, Review, corrected
from reasoning.viewer.lanes import Lane, extent_s, lanes, short_text, state_words, ticks
from reasoning.viewer.words import percent_words, score_words

__all__ = ["drawing"]

_STYLES = {"action": "blue", "screen_text": "yellow", "speech": "green"}
_OTHER_STYLE = "magenta"
_LEAST_WIDTH = 20
_CELLS_PER_TICK = 10
_VERDICTS = {"right": "✓ right", "wrong": "✗ wrong", "": ""}
_MAX_CHARS = 1000
"""A terminal is for a look; the page holds all of a longer text."""


def drawing(
    timeline: CueTimeline,
    prompt: CuePrompt | None = None,
    calibrated: Mapping[str, float] | None = None,
    review: Review | None = None,
) -> RenderableType:
    """Lanes as wide as the terminal, then every cue on a line of its own.

    Nothing of a cue's text can move the cursor or change colours. With ``prompt`` the cues that
    fusion dropped are dimmed and say why. ``calibrated`` are probabilities by cue id. With
    ``review`` cues are as a person corrected them, with the verdict.

    Raises:
        BadInput: a corrected cue would end before it starts.
    """
    verdicts = {}
    if review is not None:
        said = ((cue.id, review.about(cue)) for _, cue in timeline.cues())
        verdicts = {id: _verdict(each) for id, each in said if each is not None}
        timeline = corrected(timeline, review)
    dropped = {} if prompt is None else {d.cue.id: d.reason for d in prompt.selection.dropped}
    table = _table(timeline, dropped, calibrated or {}, verdicts)
    return Group(_Lanes(timeline, dropped), Text(), table)


def _verdict(said: Correction) -> str:
    mark = _VERDICTS[said.verdict]
    is_changed = any(each is not None for each in (said.text, said.start_s, said.end_s))
    return ", ".join(filter(None, [mark, "corrected" if is_changed else ""]))


class _Lanes:
    def __init__(self, timeline: CueTimeline, dropped: dict[str, str]) -> None:
        self._lanes = lanes(timeline)
        self._extent_s, self._dropped = extent_s(timeline), dropped

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        label = min(max([cell_len(lane.label) for lane in self._lanes] + [4]), 28) + 1
        width = max(options.max_width - label, _LEAST_WIDTH)
        yield Text(" " * label + self._axis(width), style="dim", no_wrap=True)
        for lane in self._lanes:
            head = set_cell_size(lane.label, label)
            for row in lane.rows:
                yield Text.assemble((head, "bold"), self._row(lane, row, width), no_wrap=True)
                head = " " * label
            for note in _notes(lane):
                yield Text.assemble((head, "bold"), (note, "italic"))
                head = " " * label

    def _axis(self, width: int) -> str:
        cells = [" "] * (width + 8)
        for time_s in ticks(self._extent_s, max(width // _CELLS_PER_TICK, 2)):
            at = self._column(time_s, width)
            word = "╷" + clock(time_s, time_s % 1 != 0)
            if at + len(word) <= width:
                cells[at : at + len(word)] = word
        return "".join(cells).rstrip()

    def _column(self, time_s: float, width: int) -> int:
        return min(int(time_s / self._extent_s * width), width - 1)

    def _row(self, lane: Lane, row: tuple[Cue, ...], width: int) -> Text:
        line = Text()
        colour = _STYLES.get(lane.track.kind, _OTHER_STYLE)
        for cue in row:
            first = max(self._column(cue.span.start_s, width), line.cell_len)
            cells = max(self._column(cue.span.end_s, width) - first, 1)
            if first + cells > width:
                break
            line.append(" " * (first - line.cell_len))
            text = short_text(cue, lane.person)[:_MAX_CHARS]
            if cue.id in self._dropped:
                line.append(_bar(text, cells, "╎╌"), style="dim")
            else:
                line.append(_bar(text, cells, "▌─"), style=f"black on {colour}")
        return line


def _bar(text: str, cells: int, marks: str) -> str:
    """``text`` in exactly ``cells`` cells; ``marks`` are what begins a span and what fills it."""
    if cells < 2:
        return marks[0]
    shown = text if cell_len(text) < cells else set_cell_size(text, cells - 2) + "…"
    return marks[0] + shown + marks[1] * (cells - 1 - cell_len(shown))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def _notes(lane: Lane) -> list[str]:
    state = state_words(lane.track.status)
    if state and not lane.rows:
        return [": ".join(filter(None, [state, " ".join(lane.notes)]))]
    if state and lane.notes:
        return [f"{state}: {' '.join(lane.notes)}"]
    return list(lane.notes) or ([] if lane.rows else ["nothing found"])


def _table(
    timeline: CueTimeline,
    dropped: Mapping[str, str],
    calibrated: Mapping[str, float],
    verdicts: Mapping[str, str],
) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("time", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("cue", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    if calibrated:
        table.add_column("probability", justify="right", no_wrap=True)
    if verdicts:
        table.add_column("review", no_wrap=True)
    if dropped:
        table.add_column("left out", overflow="fold")
    rows = [(cue, lane.track.kind) for lane in lanes(timeline) for row in lane.rows for cue in row]
    for cue, kind in sorted(rows, key=lambda pair: pair[0].order):
        reason = dropped.get(cue.id)
        cells = [
            Text(span_words(cue.span)),
            Text(visible(kind.replace("_", " ")), style=_STYLES.get(kind, _OTHER_STYLE)),
            Text(_cut(visible(cue.text))),
            Text(score_words(cue.confidence)),
        ]
        if calibrated:
            known = calibrated.get(cue.id)
            cells.append(Text("" if known is None else percent_words(known)))
        if verdicts:
            cells.append(Text(verdicts.get(cue.id, "")))
        if dropped:
            cells.append(Text(reason or ""))
        table.add_row(*cells, style="dim" if reason else None)
    return table
