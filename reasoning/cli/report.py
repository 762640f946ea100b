"""``cuelight report``: a study as tables and plots; margins; a page to tag errors on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from reasoning.reports.table import Report

HELP = "Report a study in the papers' tables, with intervals, tests and plots."
DEFAULT = "study"

Source = Annotated[
    Path,
    typer.Argument(
        metavar="RECORDS|OUTCOMES",
        help="Records of cuelight ablate, or a table of outcomes (CSV, JSONL, JSON, Parquet).",
    ),
]
Judge = Annotated[str | None, typer.Option(help="Whose verdicts count; all judges' if not given.")]
Tags = Annotated[
    Path | None, typer.Option(help="Tagged wrong answers (CSV or JSON), from cuelight report tags.")
]


def study(
    source: Source,
    out: output.Out = output.HERE,
    baseline: Annotated[
        str | None,
        typer.Option(help="Condition to compare with; the study's, or the first, if not given."),
    ] = None,
    judge: Judge = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            help="Two conditions side by side: KIND:WITHOUT:WITH, KIND one of video, title, "
            "chain_of_thought. Known for studies of Cuelight. Repeatable.",
        ),
    ] = None,
    control: Annotated[
        list[str] | None, typer.Option(help="A condition that is a negative control. Repeatable.")
    ] = None,
    text_review: Annotated[
        Path | None,
        typer.Option(help="Table of cuelight text-split, for accuracy with and without text."),
    ] = None,
    tags: Tags = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Write NAME.report.html, NAME.report.md and a CSV file for every table.

    The word study may be left out: cuelight report first_study.sqlite.
    """
    from reasoning.reports.sources import Wishes, load
    from reasoning.reports.study import report

    wishes = Wishes(
        baseline=baseline,
        judge=judge,
        pairs=tuple(pair or ()),
        controls=tuple(control or ()),
        text_review=text_review,
        tags=tags,
    )
    with output.working(f"Reporting {source.name}", quiet):
        made = report(load(source, wishes))
        files = _write(made, out / f"{source.stem}.report")
    _tell(files, made, json, quiet)


def margins(
    table: Annotated[
        Path,
        typer.Argument(help="CSV with the columns category, questions, before, after."),
    ],
    out: output.Out = output.HERE,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Tell what two conditions' numbers of right answers show, where nothing else is known."""
    from reasoning.reports import margins as told

    made = told.report(table.stem, told.read(table))
    files = _write(made, out / f"{table.stem}.report")
    if not (json or quiet):
        tell(made.markdown())
    _tell(files, made, json, quiet)


def tags(
    source: Source,
    out: output.Out = output.HERE,
    judge: Judge = None,
    tags: Tags = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Write NAME.tags.html, on which a person tags every wrong answer with its source.

    The page keeps the tags and gives them out as a file for cuelight report --tags.
    """
    from reasoning.reports.sources import Wishes, load
    from reasoning.reports.tagging import write

    page = out / f"{source.stem}.tags.html"
    count = write(load(source, Wishes(judge=judge, tags=tags)), page)
    if json:
        output.emit({"page": str(page), "wrong_answers": count})
    elif not quiet:
        tell(f"Wrote {page} with {count} wrong answers")


def _write(made: Report, stem: Path) -> tuple[Path, ...]:
    from reasoning.reports.page import write

    return write(made, stem)


def _tell(files: tuple[Path, ...], made: Report, json: bool, quiet: bool) -> None:
    if json:
        tables = {
            table.name: [
                dict(zip(table.headings(), map(str, row), strict=True)) for row in table.rows
            ]
            for table in made.tables
        }
        words = {section.name: list(section.words) for section in made.sections}
        output.emit({"files": [str(each) for each in files], "words": words, "tables": tables})
    elif not quiet:
        tell(f"Wrote {files[0]}, {files[1]} and the tables in {files[-1].parent}")


commands = {"study": study, "margins": margins, "tags": tags}
