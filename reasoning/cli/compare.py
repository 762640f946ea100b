"""``cuelight compare``: two runs, question by question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

_RUN = "Records of cuelight ablate, or a table of outcomes."


def command(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help=_RUN)],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help=_RUN)],
    conditions: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="A condition of each; all that both have if not given."),
    ] = None,
    out: output.Out = output.HERE,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Tell what RUN_B has over RUN_A: differences with intervals and tests, grounding gained and
    reasoning lost in each, ViMU's four tasks, flips, stamps.

    Questions are paired by their ids; those that only one run has are left out. Runs of one model
    each are compared though the models differ.
    """
    from reasoning.reports.comparison import compare
    from reasoning.reports.page import file_name, write
    from reasoning.reports.sources import load

    with output.working("Comparing", quiet):
        names = (run_a.stem, run_b.stem)
        made = compare(load(run_a), load(run_b), names, conditions)
        files = write(made, out / f"{file_name(f'{run_b.stem}_against_{run_a.stem}')}.report")
    if json:
        words = {section.name: list(section.words) for section in made.sections}
        output.emit({"files": [str(each) for each in files], "words": words})
        return
    for section in made.sections:
        if section.name in ("differences", "trade_off"):
            for line in section.words[1:]:
                tell(line)
    if not quiet:
        tell(f"Wrote {files[0]}, {files[1]} and the tables in {files[-1].parent}")
