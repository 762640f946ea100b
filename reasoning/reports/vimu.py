"""ViMU's four-task table and the paper's analyses: evidence, options, error profiles, geometry."""

from __future__ import annotations

from collections.abc import Sequence

from reasoning.benchmarks.vimu import analysis, rubric
from reasoning.benchmarks.vimu import table as tasks
from reasoning.benchmarks.vimu.files import TASKS
from reasoning.benchmarks.vimu.selection import ErrorKind
from reasoning.reports import plots
from reasoning.reports.given import Given
from reasoning.reports.table import NONE, Cell, Plot, Section, Table, count, interval, percent
from reasoning.results.outcomes import Outcomes

__all__ = ["section"]


def section(given: Given) -> Section | None:
    """None where the outcomes are not ViMU's."""
    outcomes = given.outcomes
    if not set(outcomes.categories) & set(TASKS) or not any(
        "task" in row.details for row in outcomes.rows
    ):
        return None
    rows = tasks.table(outcomes)
    parts = tasks.systems(outcomes)
    failing = 100 * (rubric.FAILED_RAW - rubric.LOWEST) / (rubric.HIGHEST - rubric.LOWEST)
    words = (
        "OE is open-ended interpretation, EG evidence grounding, RM rhetoric mechanisms, SV social "
        "value signals; SSU-Avg is the mean of RM and SV, All-Avg of all four.",
        "Official is what the published code makes of these replies. It is for comparison with "
        f"published figures only: on its scale an answer without a point earns "
        f"{rubric.percentage(0):.0f} % of OE and a failed call {failing:.0f} %, and a failed call "
        "of the other tasks counts as a wrong selection. Ours leaves out what failed or has no "
        "verdict, and counts it beside.",
    )
    tables = [_four(rows, official=True), _four(rows, official=False), _ours(rows)]
    tables += [table for table in (_open(parts), _evidence(parts)) if table]
    tables += [table for task in analysis.SUBTEXT if (table := _bias(parts, task))]
    profiles = _profiles(outcomes)
    geometry = _geometry(parts)
    return Section(
        "vimu",
        "ViMU",
        words,
        (*tables, *([profiles[0]] if profiles else []), *([geometry] if geometry else [])),
        (profiles[1],) if profiles else (),
    )


def _points(value: float | None) -> Cell:
    return percent(None if value is None else value / 100, 2)


def _four(rows: Sequence[tasks.Row], *, official: bool) -> Table:
    body = tuple(
        (
            row.system,
            *(_points(row.percentage(task, official=official)) for task in TASKS),
            _points(row.average(analysis.SUBTEXT, official=official)),
            _points(row.average(official=official)),
        )
        for row in rows
    )
    name = "official" if official else "ours"
    return Table(
        f"vimu_{name}",
        f"The four tasks in per cent, {name}",
        ("Model", *TASKS, "SSU-Avg", "All-Avg"),
        body,
    )


def _ours(rows: Sequence[tasks.Row]) -> Table:
    body = []
    for row in rows:
        for task, score in row.tasks.items():
            found = score.ours
            body.append(
                (
                    row.system,
                    task,
                    percent(None if found is None else found.value, 2),
                    interval(None if found is None else found.interval),
                    count(0 if found is None else found.n),
                    count(score.failed),
                    count(score.unscored),
                )
            )
    return Table(
        "vimu_intervals",
        "Ours, with intervals clustered by video",
        ("Model", "Task", "Score", "95 % interval", "Scored", "Failed", "Unscored"),
        tuple(body),
    )


def _open(parts: dict[str, Outcomes]) -> Table | None:
    found = [(name, tasks.open_ended(part)) for name, part in parts.items()]
    body = tuple(
        (
            name,
            count(each.n),
            Cell(f"{each.mean_raw:.2f}", each.mean_raw),
            *map(percent, (each.success, each.perfect, each.worthless)),
            count(each.contradicted),
        )
        for name, each in found
        if each is not None
    )
    if not body:
        return None
    return Table(
        "vimu_open_ended",
        "Points of the open-ended answers, −6 to 9",
        (
            *("Model", "Judged", "Mean", "3 or more, %", "All 9, %", "0 or fewer, %"),
            "Totals that contradict their parts",
        ),
        body,
    )


def _evidence(parts: dict[str, Outcomes]) -> Table | None:
    found = [(name, analysis.evidence(part)) for name, part in parts.items()]
    body = tuple(
        (
            name,
            count(each.n),
            percent(each.exact),
            *(percent(each.kinds[kind] / each.n) for kind in ErrorKind if kind != ErrorKind.EXACT),
            *(_decimal(value) for value in (each.selected, each.gold, each.conservatism)),
        )
        for name, each in found
        if each is not None
    )
    if not body:
        return None
    kinds = (str(kind).capitalize() + ", %" for kind in ErrorKind if kind != ErrorKind.EXACT)
    return Table(
        "vimu_evidence",
        "Evidence grounding: what is wrong with the selections",
        ("Model", "Selections", "Exact, %", *kinds, "Selected", "Right", "Conservatism"),
        body,
        note="Conservatism is the mean number selected less the mean number right; under 0 too few "
        "are selected.",
    )


def _decimal(value: float, digits: int = 2) -> Cell:
    return Cell(f"{value:.{digits}f}".replace("-", "−"), value)


def _bias(parts: dict[str, Outcomes], task: str) -> Table | None:
    found = {name: analysis.option_bias(part, task) for name, part in parts.items()}
    options = list(dict.fromkeys(each.option for biases in found.values() for each in biases))
    if not options:
        return None
    body = []
    for name, biases in found.items():
        by_option = {each.option: each.affinity for each in biases}
        values = (by_option.get(option) for option in options)
        body.append((name, *(Cell(NONE) if v is None else _decimal(100 * v, 1) for v in values)))
    return Table(
        f"vimu_option_bias_{task}",
        f"{task}: options selected more (+) or less (−) often than they are right, in points",
        ("Model", *options),
        tuple(body),
    )


def _profiles(outcomes: Outcomes) -> tuple[Table, Plot] | None:
    if len([name for name, part in tasks.systems(outcomes).items() if _has_subtext(part)]) < 2:
        return None
    found = analysis.error_profiles(outcomes)
    body = tuple(
        (name, *(percent(float(v)) for v in values), *(_decimal(float(c)) for c in at))
        for name, values, at in zip(found.systems, found.values, found.components, strict=True)
    )
    table = Table(
        "vimu_error_profiles",
        "Error profiles: how often an option is missed or wrongly added, in per cent",
        ("Model", *found.features, "First component", "Second component"),
        body,
        folded=True,
    )
    points = [
        (name, float(x), float(y))
        for name, (x, y) in zip(found.systems, found.components, strict=True)
    ]
    first, second = (f"{100 * share:.0f} %" for share in found.explained)
    told = "; ".join(f"{name} at {x:.2f}, {y:.2f}" for name, x, y in points)
    svg = plots.scatter(points, f"First component ({first} of the variance)", f"Second ({second})")
    return table, Plot("vimu_error_profiles", "Which error profiles are alike", svg, told)


def _has_subtext(part: Outcomes) -> bool:
    return bool(tasks.selections(part, analysis.SUBTEXT))


def _geometry(parts: dict[str, Outcomes]) -> Table | None:
    found = [(name, analysis.geometry_distance(part)) for name, part in parts.items()]
    body = tuple((name, _decimal(value, 3)) for name, value in found if value is not None)
    if not body:
        return None
    title = "Distance between the classes' relations in the selections and in the labels"
    note = "The paper draws this and prints no formula; the definition is ours: root mean square."
    return Table("vimu_geometry", title, ("Model", "Distance, 0 to 1"), body, note=note)
