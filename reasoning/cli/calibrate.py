"""``cuelight calibrate``: a recognizer's scores become probabilities, by cues somebody labelled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perception.errors import BadInput
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from fusion.calibration import Bin
    from perception.fetching.manifest import ReliabilityBin
    from reasoning.tools.calibration import Fitted
    from reasoning.tools.fitting import Fits

_BAR_CHARS = 30


def command(
    cues: Annotated[
        list[Path] | None,
        typer.Argument(help="NAME.cues.json files; a NAME.review.json beside one is read."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="CSV with start_s, end_s, label and, where needed, kind and video."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Only this kind of cue, e.g. action; otherwise every kind.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="temperature (softmax scores), isotonic (others) or identity; otherwise the first "
            "for kinds with alternatives, the second for the rest."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure, and keep nothing.")] = False,
    known: Annotated[
        bool, typer.Option("--list", help="Show the calibrations that are in use, and fit nothing.")
    ] = False,
    unwanted: Annotated[
        str | None,
        typer.Option(
            "--forget", help="Remove your calibrations of a recognizer, e.g. screen_text."
        ),
    ] = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Fit a recognizer's confidence to cues of which somebody knows whether they are right.

    Labels come from a CSV that tells everything that happens (--labels), or from the verdicts in a
    NAME.review.json. What is fitted is kept in CUELIGHT_HOME for the recognizer's checkpoint, goes
    before what ships with Cuelight, and is used by ask and fuse from then on. A fit that is further
    from the truth than the scores themselves is told and not kept.
    """
    from dataclasses import asdict

    from reasoning.tools.calibration import forget, keep
    from reasoning.tools.fitting import fit_all
    from reasoning.tools.review import aside_words

    if known:
        _list_known(json)
        return
    if unwanted is not None:
        gone = [str(path) for path in forget(unwanted)]
        if json:
            output.emit({"removed": gone})
        else:
            tell(f"Removed {', '.join(gone)}")
        return
    if not cues:
        raise BadInput("Give one or more NAME.cues.json, or --list to see what is in use.")
    fits = fit_all(cues, labels, kind, method)
    better = [] if dry_run else [each for each in fits.fitted if each.is_better]
    kept = [str(keep(each)) for each in better]
    for each in fits.gone.items():
        tell(aside_words(*each), err=True)
    if json:
        made = [asdict(each) for each in fits.fitted]
        output.emit({"fitted": made, "too_few": fits.too_few, "gone": fits.gone, "files": kept})
        return
    _tell_fits(fits)
    if kept and not quiet:
        tell(f"\nWrote {', '.join(kept)}")


def _tell_fits(fits: Fits) -> None:
    from reasoning.tools.fitting import LEAST_CUES

    for fitted in fits.fitted:
        _tell(fitted)
        if not fitted.is_better:
            tell("  Not kept, the scores were nearer to the truth: more labelled cues are needed.")
    for name, count in fits.too_few.items():
        tell(
            f"{name}: not fitted, {count} cues are labelled and {LEAST_CUES} are needed.", err=True
        )


def _tell(fitted: Fitted) -> None:
    made = fitted.calibration
    how = {"temperature": f" {made.temperature:g}", "isotonic": f" ({len(made.points)} points)"}
    tell(f"{fitted.recognizer}: {made.method}{how.get(made.method, '')}, {fitted.measured_on}")
    tell(f"  calibration error {fitted.ece_before:.3f} before, {fitted.ece:.3f} after")
    _tell_diagram(fitted.reliability)


def _tell_diagram(bars: Sequence[Bin | ReliabilityBin]) -> None:
    """The share that is right as a bar, and where it should end as a mark."""
    tell("  confidence  right      n")
    for bar in bars:
        length, mark = (round(share * _BAR_CHARS) for share in (bar.accuracy, bar.confidence))
        drawn = "█" * length + " " * (_BAR_CHARS - length)
        drawn = f"{drawn[:mark]}│{drawn[mark:]}"
        tell(f"  {bar.confidence:10.2f}  {bar.accuracy:5.2f}  {bar.n:5}  {drawn}")


def _list_known(json: bool) -> None:
    from dataclasses import asdict

    from perception import weights
    from reasoning.tools.calibration import all_kept

    shipped = {
        name: each.calibration
        for name, each in weights.checkpoints().items()
        if each.calibration is not None
    }
    own = all_kept()
    if json:
        output.emit(
            {
                "shipped": {name: asdict(each) for name, each in shipped.items()},
                "own": [asdict(each) for each in own],
            }
        )
        return
    for name, measured in shipped.items():
        tell(f"{name}: {measured.method}, calibration error {measured.ece:.3f}")
        tell(f"  measured on {measured.measured_on}")
        _tell_diagram(measured.reliability)
    for fitted in own:
        _tell(fitted)
    if not own:
        tell("None of your own: cuelight calibrate fits them.")
