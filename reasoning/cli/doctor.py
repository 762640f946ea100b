"""``cuelight doctor``: what is installed, what can run here, what to install for the rest."""

from __future__ import annotations

from dataclasses import asdict

from reasoning.cli import _output as output

_MARKS = {"ok": "[green]ok[/]", "optional": "[yellow]optional[/]", "problem": "[red]problem[/]"}


def command(
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Tell what is installed, what can run here and what to install for the rest.

    With --config also what of that config can run here: each recognizer, its weights, the model.
    Exit code 1 when something of the base, or of the config, does not work.
    """
    from reasoning.doctor import Level, examine

    findings = list(examine())
    if config or set:
        from reasoning.config import load
        from reasoning.doctor_config import examine_config

        findings += examine_config(load(config, set or ()))
    if json:
        output.emit([asdict(finding) for finding in findings])
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console(highlight=False, soft_wrap=True)
        for finding in findings:
            if quiet and finding.level is Level.OK:
                continue
            remedy = f" → {finding.remedy}" if finding.remedy else ""
            mark = _MARKS[finding.level]
            console.print(f"{mark} {escape(finding.job)}: {escape(finding.text + remedy)}")
    return int(any(finding.level is Level.PROBLEM for finding in findings))
