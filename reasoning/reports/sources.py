"""What a report is made of, from a study's records or from a table of outcomes."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perception.errors import BadInput
from perception.text.review import read_review
from perception.text.split import WHOLE
from reasoning.benchmarks import mimeqa
from reasoning.records import Records
from reasoning.reports import error_sources, outcome_tables
from reasoning.reports.given import Given, Kind, Pairing
from reasoning.reports.roles import roles
from reasoning.results.outcomes import Outcomes

__all__ = ["Wishes", "load"]

_SQLITE = b"SQLite format 3\0"
_LEVELS = {str(kind): level for kind, level in mimeqa.LEVELS.items()}


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person says beside the records.

    Args:
        baseline: condition that the others are compared with; None = the study's, or the first.
        judge: whose verdicts count; None = all.
        pairs: ``KIND:WITHOUT:WITH``, and controls, beside those that the study's conditions tell.
        text_review: table of ``cuelight text-split``.
        tags: file of tagged wrong answers.
    """

    baseline: str | None = None
    judge: str | None = None
    pairs: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    text_review: Path | None = None
    tags: Path | None = None


def load(path: Path, wishes: Wishes | None = None) -> Given:
    """Read records of ``cuelight ablate``, a table of ``cuelight export-study`` (CSV, JSON lines,
    Parquet) or of ``cuelight ablate --json``, or a CSV file with ``question`` and ``verdict``.

    Raises:
        BadInput: no such file, or none of these.
        UnknownName: a judge or condition that is not there.
        MissingExtra: Parquet without pyarrow.
    """
    wishes = wishes or Wishes()
    if not path.is_file():
        raise BadInput(
            f"There is no file {str(path)!r}. A report is made of the records of cuelight ablate "
            f"(NAME.sqlite) or of a table of outcomes ({', '.join(outcome_tables.FORMATS)})."
        )
    with path.open("rb") as file:
        is_records = file.read(len(_SQLITE)) == _SQLITE
    if is_records:
        given = _of_records(path, wishes.judge)
    elif wishes.judge is not None:
        raise BadInput(f"Verdicts of one judge are in records only; {str(path)!r} is a table.")
    elif path.suffix == ".sqlite":
        raise BadInput(f"{str(path)!r} is not a file of study records (no SQLite database).")
    else:
        given = _of_table(path)
    return _wished(_completed(given), wishes)


def _of_records(path: Path, judge: str | None) -> Given:
    from reasoning.results.from_records import outcomes

    with contextlib.closing(Records(path)) as records:
        return _recorded(records, path.stem, outcomes(records, judge))


def _recorded(records: Records, name: str, table: Outcomes) -> Given:
    if not table.rows:
        raise BadInput(f"{str(records.path)!r} holds no answer yet to what its study asks.")
    stamps = tuple(records.stamps())
    last = stamps[-1] if stamps else {}
    found = roles(last, table.conditions)
    cells = records.cells()
    asked = {cell[1]: str(cell[4].get("question", "")) for cell in cells}
    imported = {(cell[0], cell[4].get("model")) for cell in cells if cell[4].get("imported")}
    own = table.where(lambda row: (row.condition, row.model) not in imported)
    baseline = str(last.get("baseline", ""))
    return Given(
        table,
        baseline if baseline in table.conditions else table.conditions[0],
        name=str(last.get("study", name)),
        about=str(last.get("about", "")),
        pairings=found.pairings,
        controls=found.controls,
        swept=found.swept,
        asked=asked,
        stamps=stamps,
        notes=_missing(own, stamps),
    )


def _missing(own: Outcomes, stamps: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A word on conditions that were not asked to their end: of the study's last run, with as many
    answers as its largest run planned for each."""
    planned = max(
        (
            each.get("cells", 0) // len(each["conditions"])
            for each in stamps
            if "conditions" in each
        ),
        default=0,
    )
    lacking = [
        f"{condition} {found} of {planned}"
        for condition in own.conditions
        for model in own.models
        if (found := _count(own, condition, model)) < planned
    ]
    if not lacking:
        return ()
    return (
        f"not asked to the end: {', '.join(lacking)} answers; conditions may have been asked "
        "different questions",
    )


def _count(own: Outcomes, condition: str, model: str) -> int:
    return len(own.where(lambda row: (row.condition, row.model) == (condition, model)).rows)


def _of_table(path: Path) -> Given:
    rows = outcome_tables.read(path)
    if "score" not in rows[0][1] and "verdict" in rows[0][1]:
        return _imported(path)
    seen: dict[tuple[str, str, str, int], str] = {}
    table = Outcomes(tuple(outcome_tables.outcome(where, row) for where, row in rows))
    for (where, _), row in zip(rows, table.rows, strict=True):
        if (first := seen.setdefault(error_sources.key_of(row), where)) is not where:
            raise BadInput(
                f"{where}: question {row.question!r} stands under {row.condition!r} of "
                f"{row.model!r} already ({first}); number its repeats in a column repeat."
            )
    asked = {str(row["question"]): str(row.get("question_text") or "") for _, row in rows}
    return Given(table, table.conditions[0], name=path.stem, asked=asked)


def _imported(path: Path) -> Given:
    """Another tool's table, as ``cuelight import-results`` takes it."""
    from reasoning.results.from_records import outcomes
    from reasoning.results.importing import import_table

    with contextlib.closing(Records(Path(":memory:"))) as records:
        import_table(records, path, path.stem, path.stem)
        return _recorded(records, path.stem, outcomes(records))


def _completed(given: Given) -> Given:
    """Levels of MimeQA's categories where none are told, a cluster for each question whose video is
    not, and what the study saw of text in the videos."""
    rows = given.outcomes.rows
    nameless = sum(not row.video for row in rows)
    outcomes = Outcomes(
        tuple(
            replace(
                row,
                level=row.level or _LEVELS.get(row.category, ""),
                video=row.video or row.question,
            )
            for row in rows
        )
    )
    notes = given.notes
    if nameless:
        notes += (
            f"{nameless} of {len(rows)} outcomes name no video: their questions are taken for "
            "independent, and intervals may be too narrow",
        )
    seen = {
        row.video: bool(row.details["has_text"])
        for row in rows
        if row.video and row.details.get("has_text") is not None
    }
    return replace(given, outcomes=outcomes, notes=notes, with_text={**seen, **given.with_text})


def _wished(given: Given, wishes: Wishes) -> Given:
    if wishes.baseline is not None:
        given = replace(given, baseline=wishes.baseline)
    if wishes.text_review is not None:
        given = replace(given, with_text=_reviewed(wishes.text_review, given.outcomes))
    if wishes.tags is not None:
        given = replace(given, tags=error_sources.read_tags(wishes.tags))
    controls = {**given.controls, **dict.fromkeys(wishes.controls, ())}
    pairings = [_pairing(words, given.outcomes.conditions) for words in wishes.pairs]
    return replace(given, pairings=(*given.pairings, *pairings), controls=controls)


def _pairing(words: str, known: Sequence[str]) -> Pairing:
    """What ``KIND:WITHOUT:WITH`` says; conditions may hold colons themselves."""
    kind, _, rest = words.partition(":")
    parts = rest.split(":")
    splits = [(":".join(parts[:n]), ":".join(parts[n:])) for n in range(1, len(parts))]
    fitting = [pair for pair in splits if set(pair) <= set(known)] or splits
    if kind not in set(Kind) or len(fitting) != 1:
        raise BadInput(
            f"--pair takes KIND:WITHOUT:WITH, KIND one of {', '.join(Kind)} and two of the "
            f"conditions {', '.join(known)}, not {words!r}."
        )
    return Pairing(Kind(kind), *fitting[0])


def _reviewed(path: Path, outcomes: Outcomes) -> dict[str, bool]:
    """Which videos hold text that means something, by the table of ``cuelight text-split``: a
    verdict on the whole video decides, then any text that counts."""
    rows = read_review(path)
    if not rows:
        raise BadInput(f"There is no table {str(path)!r}; make it with cuelight text-split.")
    sides: dict[str, bool] = {}
    decided: set[str] = set()
    for row in rows:
        told = dict(row.told)
        stem = Path(told.get("video", "")).stem
        counts = told.get("proposed") == "yes" if row.meaningful is None else row.meaningful
        unread = told.get("status") in ("partial", "failed") and row.meaningful is None
        if row.text == WHOLE and row.meaningful is not None:
            sides[stem] = row.meaningful
            decided.add(stem)
        elif stem not in decided and (counts or not unread):
            sides[stem] = sides.get(stem, False) or counts
    found = {
        video: sides[Path(video).stem]
        for video in dict.fromkeys(row.video for row in outcomes.rows)
        if Path(video).stem in sides
    }
    if not found:
        raise BadInput(
            f"{str(path)!r} tells of none of the study's videos, e.g. {outcomes.rows[0].video!r}; "
            f"it has {', '.join(list(sides)[:5])}."
        )
    return found
