"""A CSV of labelled spans: who does what from when to when, in which video.

One line a span. ``video`` or ``traces`` says where the poses are, ``person`` whose (may stay empty
where there is only one), ``start_s`` and ``end_s`` when in seconds, ``label`` what is done.
``split``, ``subject`` and ``phrase`` are optional. Every fault is found before anything is trained,
and told with its line.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.cue import Span
from perception.errors import BadInput
from perception.spreadsheet import Sheet
from perception.text_file import read_text

__all__ = ["PARTS", "Faults", "LabelledSpan", "SpanFile", "read_spans"]

REQUIRED = ("start_s", "end_s", "label")
OPTIONAL = ("traces", "video", "person", "split", "subject", "phrase")

PARTS = ("train", "calibration", "test")
_PART_OF = {"val": "calibration", "valid": "calibration", "validation": "calibration"}
_PART_OF |= {name: name for name in PARTS} | {"training": "train", "dev": "calibration"}

LEAST_S = 0.2
"""A shorter span holds three poses: no movement can be seen in it."""

SHOWN_FAULTS = 20

ALIKE = 0.8
"""A column's name that is so close to a known one's (difflib's ratio) is a slip of the pen:
``subjekt`` (0.86), ``splits`` (0.91); ``session`` is not ``person`` (0.62)."""


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """One line.

    Args:
        line: its number in the file, from 1.
        traces: the poses' file.
        person: id of the person; None = the only one.
        span: when.
        label: what is done, spaces squeezed.
        part: of ``PARTS``; empty = not given.
        subject: who acts, over all videos; empty = not given.
        phrase: the label in a sentence; empty = not given.
    """

    line: int
    traces: Path
    person: int | None
    span: Span
    label: str
    part: str = ""
    subject: str = ""
    phrase: str = ""


@dataclass(frozen=True)
class SpanFile:
    """What the file says.

    Args:
        path: the file.
        spans: in the order of its lines.
        unused: columns that mean nothing here.
    """

    path: Path
    spans: tuple[LabelledSpan, ...]
    unused: tuple[str, ...] = ()


class Faults:
    """Collects what is wrong, to tell it all at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: list[tuple[int, str]] = []

    def add(self, line: int, what: str) -> None:
        """Something is wrong in a line."""
        self._found.append((line, what))

    def check(self) -> None:
        """Go on only when nothing was wrong.

        Raises:
            BadInput: tells the faults, the first ``SHOWN_FAULTS`` of them with their lines.
        """
        if not self._found:
            return
        found = sorted(self._found)
        count = "1 fault" if len(found) == 1 else f"{len(found)} faults"
        lines = [f"  line {line}: {what}" for line, what in found[:SHOWN_FAULTS]]
        if len(found) > SHOWN_FAULTS:
            lines.append(f"  and {len(found) - SHOWN_FAULTS} more")
        raise BadInput("\n".join([f"{str(self._path)!r} has {count}:", *lines]))


def read_spans(path: Path, traces: Path | None = None) -> SpanFile:
    """Read the file.

    Args:
        path: the CSV; commas, semicolons or tabs.
        traces: folder where the poses of its videos are looked for first; the CSV's own is next.

    Raises:
        BadInput: it cannot be read, lacks a column, or has faults; tells all of them.
    """
    text = read_text(path, "labels file")
    if not text.strip():
        raise BadInput(f"{str(path)!r} is empty; its first line names the columns: {_columns()}.")
    sheet = Sheet(text, strict=True)
    faults = Faults(path)
    try:
        rows = [(line, cells) for line, cells in sheet if any(c.strip() for c in cells)]
    except BadInput as error:
        raise BadInput(f"{str(path)!r}, {error}") from None
    names = [cell.strip().lower() for cell in rows[0][1]]
    _check_columns(path, names)
    folders = [folder for folder in (traces, path.parent) if folder is not None]
    spans = list(_spans(sheet, names, rows[1:], folders, faults))
    faults.check()
    if not spans:
        raise BadInput(f"{str(path)!r} has a line of columns and no spans.")
    for clash, line in _clashes(spans):
        faults.add(line, clash)
    faults.check()
    unused = tuple(name for name in names if name not in (*REQUIRED, *OPTIONAL))
    return SpanFile(path, tuple(spans), unused)


def _columns() -> str:
    return "video,person,start_s,end_s,label[,split][,subject][,phrase]"


def _check_columns(path: Path, names: Sequence[str]) -> None:
    missing = [name for name in REQUIRED if name not in names]
    if "video" not in names and "traces" not in names:
        missing.insert(0, "video")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(f"{str(path)!r} has the column {twice[0]!r} twice.")
    if missing:
        near = difflib.get_close_matches(missing[0], names, n=1)
        hint = f" Is {near[0]!r} meant?" if near else ""
        raise BadInput(
            f"{str(path)!r} lacks the column {missing[0]!r}; it has {', '.join(names)}.{hint} "
            f"Columns are {_columns()}; traces may stand in place of video."
        )
    free = [name for name in OPTIONAL if name not in names]
    for name in names:
        near = difflib.get_close_matches(name, free, n=1, cutoff=ALIKE)
        if name not in (*REQUIRED, *OPTIONAL) and near:
            raise BadInput(
                f"{str(path)!r} has the column {name!r}, which is not known. Is {near[0]!r} meant? "
                f"Columns are {_columns()}; give a column of your own another name."
            )


def _spans(
    sheet: Sheet,
    names: Sequence[str],
    rows: Sequence[tuple[int, list[str]]],
    folders: Sequence[Path],
    faults: Faults,
) -> Iterator[LabelledSpan]:
    for line, cells in rows:
        if len(cells) > len(names):
            faults.add(line, f"{len(cells)} cells under {len(names)} columns; quote commas")
            continue
        row = dict(zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=True))
        row = {name: " ".join(cell.split()) for name, cell in row.items()}
        row |= {name: sheet.point(row[name]) for name in ("start_s", "end_s")}
        try:
            yield _span(line, row, folders)
        except BadInput as fault:
            faults.add(line, str(fault))


def _span(line: int, row: Mapping[str, str], folders: Sequence[Path]) -> LabelledSpan:
    start_s, end_s = _seconds(row, "start_s"), _seconds(row, "end_s")
    if end_s <= start_s:
        raise BadInput(f"end_s {end_s:g} is not after start_s {start_s:g}")
    if end_s - start_s < LEAST_S:
        raise BadInput(f"a span of {end_s - start_s:.2f} s is shorter than {LEAST_S} s")
    if not row["label"]:
        raise BadInput("the label is empty")
    person = row.get("person", "")
    if person and not (person.isascii() and person.isdigit()):
        raise BadInput(f"person {person!r} is no number of a person, as the cues have them")
    part = row.get("split", "").lower()
    if part and part not in _PART_OF:
        raise BadInput(f"split {part!r} is none of {', '.join(PARTS)}")
    return LabelledSpan(
        line,
        _traces(row.get("traces", ""), row.get("video", ""), folders),
        int(person) if person else None,
        Span(start_s, end_s),
        row["label"],
        _PART_OF.get(part, ""),
        row.get("subject", ""),
        row.get("phrase", ""),
    )


def _seconds(row: Mapping[str, str], name: str) -> float:
    try:
        value = float(row[name])
    except ValueError:
        raise BadInput(f"{name} {row[name]!r} is no number of seconds") from None
    if not math.isfinite(value) or value < 0:
        raise BadInput(f"{name} {row[name]} is no time in a video")
    return value


def _traces(traces: str, video: str, folders: Sequence[Path]) -> Path:
    """The poses' file of a line."""
    if not traces and not video:
        raise BadInput("neither video nor traces is given")
    name = traces or f"{Path(video).stem}.traces.npz"
    inside = Path(traces) if traces else Path(video).with_name(name)
    for folder in folders:
        for place in (folder / inside, folder / name):
            if place.is_file():
                return place.resolve()
    where = " or ".join(repr(str(folder)) for folder in folders)
    if traces:
        raise BadInput(f"there is no {traces!r} in {where}")
    raise BadInput(
        f"there is no {name} in {where}; make it with: "
        f"cuelight perceive {video} --only action --out {folders[0]}"
    )


def _clashes(spans: Sequence[LabelledSpan]) -> Iterator[tuple[str, int]]:
    """What contradicts an earlier line, and where."""
    spelling: dict[str, LabelledSpan] = {}
    phrases: dict[str, LabelledSpan] = {}
    earlier: dict[tuple[Path, int | None], list[LabelledSpan]] = {}
    for each in spans:
        first = spelling.setdefault(each.label.casefold(), each)
        if first.label != each.label:
            yield f"label {each.label!r} is spelt {first.label!r} in line {first.line}", each.line
        said = phrases.setdefault(each.label, each) if each.phrase else each
        if said.phrase != each.phrase:
            yield f"{each.label!r} has another phrase in line {said.line}", each.line
        others = earlier.setdefault((each.traces, each.person), [])
        for other in others:
            shared = min(each.span.end_s, other.span.end_s)
            shared -= max(each.span.start_s, other.span.start_s)
            if shared <= 0.5 * min(each.span.duration_s, other.span.duration_s):
                continue
            if other.label == each.label:
                yield f"{each.label!r} repeats line {other.line}", each.line
            else:
                yield (
                    (
                        f"{each.label!r} clashes with {other.label!r} in line {other.line}: "
                        f"the same person does both from {other.span.start_s:g} s"
                    ),
                    each.line,
                )
            break
        others.append(each)
    for name in ("part", "subject"):
        given = [each for each in spans if getattr(each, name)]
        lacking = [each for each in spans if not getattr(each, name)]
        if given and lacking:
            column = "split" if name == "part" else name
            yield f"{column} is empty, and line {given[0].line} has one", lacking[0].line
