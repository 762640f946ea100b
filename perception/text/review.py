"""The table in which a person says which texts mean something: CSV, for any spreadsheet.

A row for every text of every video, and one for a video in which nothing was read. A person fills
in the column ``meaningful`` (yes or no), may write a ``note``, and may add rows of their own for
texts that were not read; an empty ``text`` speaks of the video as a whole. What a person wrote
survives: the table is written anew with every run, verdicts are found again by the video's sha256
and the text, and rows of videos that are not part of a run stay as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perception.cue import CueTrack, VideoInfo
from perception.errors import BadInput
from perception.spreadsheet import Sheet, columns_of
from perception.text.similarity import is_similar
from perception.text.split import WHOLE, Verdicts, seen_texts
from perception.text_file import read_text
from perception.whole import write_whole

__all__ = ["COLUMNS", "Row", "read_review", "updated", "verdicts_of", "write_review"]

COLUMNS = (
    "meaningful",
    "text",
    "video",
    "start_s",
    "end_s",
    "appearances",
    "confidence",
    "layer",
    "watermark",
    "proposed",
    "status",
    "note",
    "sha256",
)
_NEEDED = ("meaningful", "text", "sha256")

_YES, _NO = {"yes", "y", "true", "1"}, {"no", "n", "false", "0"}
_QUOTE = '"'


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    Args:
        sha256: of the video's bytes.
        text: what was read, ``""`` = the video as a whole.
        meaningful: what a person says, None = nothing yet.
        note: a person's.
        told: the other columns, for the person's eyes; never read back.
    """

    sha256: str
    text: str
    meaningful: bool | None = None
    note: str = ""
    told: tuple[tuple[str, str], ...] = ()


def read_review(path: Path) -> tuple[Row, ...]:
    """Read a table; none where there is no file yet.

    Raises:
        BadInput: it cannot be read, lacks a column, or ``meaningful`` is neither yes nor no; names
            the line.
    """
    if not path.exists():
        return ()
    rows = iter(Sheet(read_text(path, "review")))
    try:
        columns = columns_of(next(rows, (1, []))[1], _NEEDED)
        return tuple(
            _row(dict(zip(columns, cells, strict=False)), f"line {line}") for line, cells in rows
        )
    except BadInput as error:
        raise BadInput(f"The review {str(path)!r}: {str(error).rstrip('.')}.") from None


def write_review(path: Path, rows: Iterable[Row]) -> None:
    """Write a table, whole or not at all.

    The text stands in double quotes of its own, so that no spreadsheet takes it for a formula.

    Raises:
        StorageError: the folder cannot be written.
    """
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        said = {True: "yes", False: "no", None: ""}[row.meaningful]
        writer.writerow(
            {
                **{name: _plain(cell) for name, cell in row.told if name in COLUMNS},
                "meaningful": said,
                "text": f"{_QUOTE}{_plain(row.text)}{_QUOTE}" if row.text else "",
                "note": _plain(row.note),
                "sha256": row.sha256,
            }
        )
    write_whole(path, table.getvalue().encode("utf-8-sig"))


def updated(rows: Sequence[Row], videos: Sequence[tuple[VideoInfo, CueTrack]]) -> tuple[Row, ...]:
    """The table brought up to date with what was read in ``videos``, nothing of a person lost."""
    made: list[Row] = []
    left = list(rows)
    for video, track in videos:
        earlier = [row for row in left if row.sha256 == video.sha256]
        left = [row for row in left if row.sha256 != video.sha256]
        made += _of_video(video, track, earlier)
    return (*made, *left)


def verdicts_of(rows: Iterable[Row]) -> Mapping[str, Verdicts]:
    """sha256 of a video -> what a person says of its texts."""
    said: dict[str, dict[str, bool]] = {}
    for row in rows:
        if row.meaningful is not None:
            said.setdefault(row.sha256, {})[row.text] = row.meaningful
    return said


def _of_video(video: VideoInfo, track: CueTrack, earlier: list[Row]) -> list[Row]:
    about = (("video", video.name), ("status", str(track.status)))
    rows = []
    for seen in seen_texts(track):
        row = Row(
            video.sha256,
            seen.text,
            told=(
                *about,
                ("start_s", f"{seen.spans[0].start_s:.1f}"),
                ("end_s", f"{seen.spans[-1].end_s:.1f}"),
                ("appearances", str(len(seen.spans))),
                ("confidence", f"{seen.confidence:.2f}"),
                ("layer", seen.layer),
                ("watermark", "yes" if seen.is_watermark else "no"),
                ("proposed", "yes" if seen.is_proposed else "no"),
            ),
        )
        said = next((each for each in earlier if each.text == seen.text), None) or next(
            (each for each in earlier if each.text and is_similar(each.text, seen.text)), None
        )
        if said is not None:
            earlier.remove(said)
            row = replace(row, meaningful=said.meaningful, note=said.note)
        rows.append(row)
    whole = next((each for each in earlier if each.text == WHOLE), None)
    if not rows and whole is None:
        rows.append(Row(video.sha256, WHOLE, told=(*about, ("proposed", "no"))))
    for row in earlier:
        if row.meaningful is not None or row.note or (row is whole and not rows):
            rows.append(replace(row, told=about))
    return rows


def _row(cells: Mapping[str, str], where: str) -> Row:
    values = {name: cell.strip() for name, cell in cells.items() if name}
    said = values.get("meaningful", "").casefold()
    if said and said not in _YES | _NO:
        raise BadInput(f"{where}: meaningful is yes, no or empty, not {values['meaningful']!r}.")
    text = values.get("text", "")
    if len(text) > 1 and text[0] == text[-1] == _QUOTE:
        text = text[1:-1]
    known = {"meaningful", "text", "note", "sha256"}
    return Row(
        sha256=values.get("sha256", ""),
        text=text,
        meaningful=None if not said else said in _YES,
        note=values.get("note", ""),
        told=tuple((name, cell) for name, cell in values.items() if name not in known),
    )


def _plain(cell: str) -> str:
    """``cell`` on one line."""
    return " ".join(cell.split())
