"""A user's file of person boxes: CSV, one box a line, by time (docs/formats.md).

::

    time_s,left,top,right,bottom,score
    0.000,412.5,60,520,330,0.98
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from perception.errors import BadInput, UnknownName
from perception.spreadsheet import Sheet
from perception.text_file import read_text

__all__ = ["BoxRow", "BoxesFile"]

NEEDED = ("time_s", "left", "top", "right", "bottom")
COLUMNS = (*NEEDED, "score")

_TICK_S = 1e-6
"""Times are written with so many decimals at least; within it two are the same."""


@dataclass(frozen=True, slots=True)
class BoxRow:
    """One box.

    Args:
        line: in the file, from 1.
        time_s: on the video's presentation clock.
        corners: left, top, right, bottom in pixels of the upright full-size picture.
        score: in [0, 1].
    """

    line: int
    time_s: float
    corners: tuple[float, float, float, float]
    score: float


class BoxesFile:
    """The boxes of one video.

    Args:
        name: of the file, for error messages.
        sha256: of its text.
        rows: in any order.
    """

    def __init__(self, name: str, sha256: str, rows: Sequence[BoxRow]) -> None:
        self.name, self.sha256 = name, sha256
        ordered = sorted(rows, key=attrgetter("time_s"))
        self._at = {time_s: tuple(same) for time_s, same in groupby(ordered, attrgetter("time_s"))}
        self._times_s = list(self._at)

    @classmethod
    def read(cls, path: Path) -> BoxesFile:
        """The boxes of a CSV file.

        Raises:
            BadInput: it cannot be read, or has a fault; names the line.
        """
        text = read_text(path, "boxes file")
        try:
            rows = tuple(_rows(text))
        except BadInput as error:
            raise BadInput(f"The boxes file {str(path)!r}, {str(error).rstrip('.')}.") from None
        return cls(str(path), hashlib.sha256(text.encode()).hexdigest(), rows)

    def near(self, time_s: float, within_s: float) -> tuple[BoxRow, ...]:
        """The boxes of the time that is nearest to ``time_s``, the earlier of two; none where that
        is farther than ``within_s``."""
        after = bisect_left(self._times_s, time_s)
        near = self._times_s[max(after - 1, 0) : after + 1]
        best = min(near, key=lambda each: abs(each - time_s), default=math.inf)
        return self._at[best] if abs(best - time_s) <= within_s + _TICK_S else ()


def _rows(text: str) -> Iterator[BoxRow]:
    sheet = Sheet(text, strict=True)
    rows = iter(sheet)
    header = _header(next(rows, (1, []))[1])
    for line, cells in rows:
        yield _row(line, header, [sheet.point(cell) for cell in cells])


def _header(cells: Sequence[str]) -> Sequence[str]:
    names = [cell.strip() for cell in cells]
    for name in names:
        if name not in COLUMNS:
            raise BadInput(f"line 1: {UnknownName('column', name, COLUMNS)}")
        if names.count(name) > 1:
            raise BadInput(f"line 1: the column {name!r} stands here twice.")
    for name in NEEDED:
        if name not in names:
            raise BadInput(
                f"line 1: there is no column {name!r}. The first line names the columns: "
                f"{', '.join(NEEDED)} and, if known, score."
            )
    return names


def _row(line: int, header: Sequence[str], cells: Sequence[str]) -> BoxRow:
    if len(cells) != len(header):
        raise BadInput(f"line {line}: it has {len(cells)} values, the header {len(header)}.")
    values = {"score": 1.0}
    for name, cell in zip(header, cells, strict=True):
        values[name] = _number(line, name, cell)
    corners = (values["left"], values["top"], values["right"], values["bottom"])
    if values["time_s"] < 0:
        raise BadInput(f"line {line}: time_s is {values['time_s']:g}; a video begins at 0.")
    if corners[2] <= corners[0] or corners[3] <= corners[1]:
        raise BadInput(
            f"line {line}: right and bottom must be more than left and top, not "
            f"{', '.join(format(each, 'g') for each in corners)} (left, top, right, bottom)."
        )
    if not 0 <= values["score"] <= 1:
        raise BadInput(f"line {line}: score must lie in [0, 1], not {values['score']:g}.")
    return BoxRow(line, values["time_s"], corners, values["score"])


def _number(line: int, name: str, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"line {line}: {name} must be a number, not {cell[:40]!r}.")
    return number
