"""``cuelight judge``: let a model judge recorded answers, and compare judges with people."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoning.cli import _choosing as choosing
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from reasoning.config import Config
    from reasoning.judge import Judge, Open
    from reasoning.records import Records
    from reasoning.scoring.judge_agreement import Raters

HELP = "Judge recorded answers with a model, and compare judges with people."

_SURE_SAMPLE = 352
"""So many answers MimeQA's authors judged themselves."""

Store = Annotated[Path, typer.Argument(help="The records of a study (cuelight ablate).")]


def answers(
    records: Store,
    model: choosing.Model = None,
    base_url: choosing.BaseUrl = None,
    trust_remote_code: choosing.TrustRemoteCode = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge only so many.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also where this judge's reply was not clear.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Agree to send answers away.")] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="Send nothing that is estimated to cost more dollars.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell how much is to be judged; ask nobody.")
    ] = False,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Ask a judge about every open answer that it has not judged yet.

    Needs no video and no new answers. Verdicts are kept by judge: run it with another --model for a
    second opinion; reports then count the majority. Exit code 1 when verdicts are missing.
    """
    from reasoning.config import build_videollm, load
    from reasoning.judge import Judge, benchmark_of, judge_all, pending, refuse_small

    chosen = [*choosing.model_settings(model, base_url, trust_remote_code), *(set or ())]
    settings = load(config, chosen)
    refuse_small(settings)
    with contextlib.closing(_opened(records)) as store:
        benchmark = benchmark_of(store)
        llm = build_videollm(settings, drafts_only=dry_run)
        with contextlib.closing(llm):
            judge = Judge(llm, _revision(llm, settings), lambda _: True)
            todo = pending(store, benchmark, judge.name, again=again)[:limit]
            if dry_run or not todo:
                _told(json, {"judge": judge.name, "to_judge": len(todo)})
                return 0
            _agree(judge, todo, yes, max_cost, quiet)
            with output.working(f"{judge.name} judges {len(todo)} answers", quiet):
                unclear = judge_all(store, benchmark, judge, todo, _lines(len(todo), quiet))
    _told(json, {"judge": judge.name, "judged": len(todo) - unclear, "unclear": unclear})
    return int(unclear > 0)


def sample(
    records: Store,
    out: Annotated[Path, typer.Option("--out", "-o", help="The table to write.")] = Path(
        "human.csv"
    ),
    count: Annotated[int, typer.Option(min=1, help="How many answers.")] = _SURE_SAMPLE,
    seed: Annotated[int, typer.Option(help="Which ones.")] = 0,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Write a table of answers for people to fill in: right or wrong in its column "human"."""
    import csv
    import io
    import random

    from perception.errors import BadInput
    from perception.spreadsheet import inert
    from perception.whole import write_whole

    if out.exists():
        raise BadInput(f"{str(out)!r} is there already, perhaps filled in; give another --out.")
    with contextlib.closing(_opened(records)) as store:
        rows = _open_answers(store)
    drawn = random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311
    if not drawn:
        raise BadInput(f"{str(records)!r} holds no open answer.")
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, list(drawn[0]))
    table.writeheader()
    table.writerows({name: inert(str(cell)) for name, cell in row.items()} for row in drawn)
    write_whole(out, file.getvalue().encode("utf-8"))
    if json:
        output.emit({"wrote": str(out), "answers": len(drawn)})
    elif not quiet:
        tell(
            f"Wrote {len(drawn)} answers to {out}; say right or wrong in its column human, then: "
            f"cuelight judge agreement {out} --records {records}"
        )


def agreement(
    human: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV with a column human, and judge unless --records is given. Left out: how "
            "far the judges of --records agree among themselves."
        ),
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="The records of a study, for what its judges said.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Only this judge of the records.")] = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Tell how far judges agree with people, or with each other: share, interval, kappa, alpha."""
    from perception.errors import BadInput
    from reasoning.scoring.judge_agreement import PAPER, judged, read, together

    if records is None:
        if human is None:
            raise BadInput("Give a CSV that people filled in, or --records of a study, or both.")
        rated = read(human)
    else:
        with contextlib.closing(_opened(records)) as store:
            rated = judged(store) if human is None else read(human, store, judge)
    found = together(rated)
    if json:
        output.emit(asdict(found))
        return
    for pair in found.pairs:
        tell(_line(pair))
    for who, alpha in (
        ("people", found.alpha_people),
        ("judges", found.alpha_judges),
        ("all raters", found.alpha),
    ):
        if alpha is not None:
            tell(f"Krippendorff's alpha of {who}: {alpha:.3f}")
    if human is not None and not quiet:
        tell(PAPER)


commands = {"answers": answers, "sample": sample, "agreement": agreement}


def _line(pair: Raters) -> str:
    low, high = pair.share.interval.low, pair.share.interval.high
    kappa = "undefined"
    if pair.kappa.coefficient is not None and pair.kappa.interval is not None:
        between = f"[{pair.kappa.interval.low:.2f}, {pair.kappa.interval.high:.2f}]"
        kappa = f"{pair.kappa.coefficient:.2f} {between}"
    return (
        f"{pair.first} and {pair.second}: {pair.share.value:.1%} [{low:.1%}, {high:.1%}] of "
        f"{pair.share.n} alike, kappa {kappa}; right for {pair.first} only {pair.only_first}, for "
        f"{pair.second} only {pair.only_second}"
    )


def _opened(path: Path) -> Records:
    from perception.errors import BadInput
    from reasoning.records import Records

    if not path.is_file():
        raise BadInput(f"There are no records {str(path)!r}; cuelight ablate makes them.")
    return Records(path)


def _open_answers(store: Records) -> list[dict[str, Any]]:
    """A row for each open answer, in a fixed order; one that conditions share stands once."""
    from reasoning.judge import benchmark_of, open_answers

    return [
        {
            "question": each.item.question.id,
            "condition": each.condition,
            "model": each.model,
            "repeat": each.repeat,
            "asked": each.item.question.text,
            "reference": each.item.reference,
            "answer": each.answer.text,
            "human": "",
        }
        for each in {each.key: each for each in open_answers(store, benchmark_of(store))}.values()
    ]


def _agree(
    judge: Judge, todo: Sequence[Open], yes: bool, max_cost: float | None, quiet: bool
) -> None:
    """Ask once for all calls together."""
    from reasoning.cli._agreeing import agree
    from reasoning.egress import total_of

    leaving = (judge.llm.egress(judge.request(each.asked)) for each in todo)
    sent = [each for each in leaving if each is not None]
    if sent:
        agree(total_of(sent), yes, max_cost, quiet)


def _revision(llm: Any, settings: Config) -> str:
    from reasoning.studies.recorded import Model

    return Model.of(llm, settings.videollms[settings.videollm]).revision


def _lines(total: int, quiet: bool) -> Any:
    def show(done: int) -> None:
        if not quiet and (done % 25 == 0 or done == total):
            tell(f"{done} of {total} judged", err=True)

    return show


def _told(json: bool, document: dict[str, Any]) -> None:
    if json:
        output.emit(document)
    else:
        tell(", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in document.items()))
