"""``cuelight export-study``: a study's records as one table."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from perception.errors import BadInput
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell


def command(
    records: Annotated[Path, typer.Argument(help="The file that cuelight ablate recorded in.")],
    table: Annotated[Path, typer.Argument(help="What to write: a .parquet, .csv or .jsonl file.")],
    judge: Annotated[
        str | None, typer.Option(help="Whose verdicts count; all judges' if not given.")
    ] = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Write every answer of a study, with its request, cues, verdicts and reply, as one table."""
    from reasoning.records import Records
    from reasoning.results.exporting import export

    if not records.is_file():
        raise BadInput(f"There are no records {str(records)!r}; cuelight ablate makes them.")
    with contextlib.closing(Records(records)) as store:
        count = export(store, table, judge)
    if json:
        output.emit({"table": str(table), "rows": count})
    elif not quiet:
        tell(f"Wrote {count} rows to {table}")
