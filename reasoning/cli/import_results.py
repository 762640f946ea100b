"""``cuelight import-results``: what another tool found becomes part of a study."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from reasoning.cli import _output as output
from reasoning.cli._terminal import tell


def command(
    table: Annotated[
        Path,
        typer.Argument(help="CSV with the columns question, answer, verdict; docs/studies.md."),
    ],
    records: Annotated[Path, typer.Option(help="The study's records; made where there are none.")],
    condition: Annotated[str, typer.Option(help="Under which condition.")] = "imported",
    model: Annotated[str, typer.Option(help="Which model answered.")] = "imported",
    study: Annotated[
        str | None,
        typer.Option(help="A study: categories and references are its benchmark's."),
    ] = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Put the results of another tool on record, for the same tables and tests.

    Rows are paired with recorded answers to the same questions, whose videos and categories they
    take. The same table twice changes nothing.
    """
    from reasoning.records import Records
    from reasoning.results.importing import keep_rows, recorded_items, rows_of
    from reasoning.study import load

    items = load(study).benchmark.items() if study is not None else recorded_items(records)
    rows = rows_of(table, condition, model, items, all_known=study is not None)
    with contextlib.closing(Records(records)) as store:
        count = keep_rows(store, rows)
    if json:
        output.emit({"records": str(records), "rows": count})
    elif not quiet:
        tell(f"On record in {records}: {output.counted(count, 'result')}")
