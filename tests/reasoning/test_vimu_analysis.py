"""ViMU's table and analyses, on outcomes whose figures are worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perception.errors import BadInput
from reasoning.benchmarks.vimu import analysis
from reasoning.benchmarks.vimu import table as vimu_table
from reasoning.benchmarks.vimu.selection import ErrorKind, set_score
from reasoning.benchmarks.vimu.table import Row, TaskScore
from reasoning.results.outcomes import Outcome, Outcomes, State
from reasoning.statistics import Accuracy, Interval


def outcome(task: str, video: str, model: str, state: State, score: float | None, **details: Any):  # type: ignore[no-untyped-def]
    return Outcome(
        f"vimu/{task}/{video}", video, task, "", "all", model, 0, state, score, details=details
    )


def picked(
    task: str, video: str, gold: str, selected: str | None, model: str = "m", options: str = "ABC"
) -> Outcome:
    told = {"gold": list(gold), "options": list(options)}
    if selected is None:
        return outcome(task, video, model, State.UNSCORED, None, **told)
    score = set_score(list(selected), list(gold))
    return outcome(task, video, model, State.SCORED, score, selected=list(selected), **told)


def graded(video: str, raw: int | None, model: str = "m", stated: int | None = None) -> Outcome:
    if raw is None:
        return outcome("OE", video, model, State.UNSCORED, None)
    told = raw if stated is None else stated
    return outcome("OE", video, model, State.SCORED, max(0, raw) / 9, raw=raw, stated=told)


def failed(task: str, video: str, gold: str = "", model: str = "m") -> Outcome:
    return outcome(task, video, model, State.FAILED, None, gold=list(gold), options=list("ABC"))


def test_the_averages_of_a_published_row() -> None:
    """Ministral-8B in the paper's table: SSU-Avg 21.16, All-Avg 34.79."""
    given = {"OE": 48.25, "EG": 48.60, "RM": 31.87, "SV": 10.45}
    ours = Accuracy(0.5, 4, 4, Interval(0, 1), 1)
    row = Row("Ministral-8B", {task: TaskScore(x, ours, 0, 0) for task, x in given.items()})
    assert row.average(("RM", "SV"), official=True) == pytest.approx(21.16)
    assert row.average(official=True) == pytest.approx(34.79, abs=0.005)
    assert row.average(official=False) == 50
    part = Row("m", {"OE": row.tasks["OE"]})
    assert part.average(official=True) is None


def test_both_percentages_and_what_failed_stand_apart() -> None:
    rows = (
        graded("1", 9),
        graded("2", 0),
        failed("OE", "3"),
        picked("EG", "1", "AB", "A"),
        picked("EG", "2", "A", None),
        failed("EG", "3", "A"),
        failed("EG", "4", "A"),
    )
    (row,) = vimu_table.table(Outcomes(rows))
    # (9 + 0 - 1) / 3 = 2.667 points; (2.667 + 6) / 15
    assert row.tasks["OE"].official == pytest.approx(57.78, abs=0.005)
    assert row.percentage("OE", official=False) == pytest.approx(50)
    assert (row.tasks["OE"].failed, row.tasks["OE"].unscored) == (1, 0)
    assert row.tasks["EG"].official == pytest.approx(12.5)
    assert row.percentage("EG", official=False) == pytest.approx(50)
    assert (row.tasks["EG"].failed, row.tasks["EG"].unscored) == (2, 1)
    assert "RM" not in row.tasks


def test_the_published_open_score_is_over_videos_judged_for_all() -> None:
    rows = (graded("1", 9, "a"), graded("2", 3, "a"), graded("1", 3, "b"), graded("2", None, "b"))
    first, second = vimu_table.table(Outcomes(rows))
    assert (first.system, second.system) == ("a", "b")
    assert first.tasks["OE"].official == 100
    assert second.tasks["OE"].official == pytest.approx(60)
    assert first.percentage("OE", official=False) == pytest.approx(100 * (9 + 3) / 18)


def test_the_published_open_score_takes_the_total_that_the_judge_wrote() -> None:
    rows = Outcomes((graded("1", 9, stated=6), graded("2", -2), graded("3", 3)))
    (row,) = vimu_table.table(rows)
    assert row.tasks["OE"].official == pytest.approx(100 * ((6 - 2 + 3) / 3 + 6) / 15)
    told = vimu_table.open_ended(rows)
    assert told is not None
    assert (told.n, told.contradicted) == (3, 1)
    assert told.mean_raw == pytest.approx(10 / 3)
    assert (told.success, told.perfect, told.worthless) == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    assert vimu_table.open_ended(Outcomes(())) is None


def test_errors_of_evidence_grounding() -> None:
    rows = Outcomes(
        (
            picked("EG", "1", "AB", "AB"),
            picked("EG", "2", "AB", "A"),
            picked("EG", "3", "A", "AC"),
            picked("EG", "4", "AB", "C"),
            picked("EG", "5", "A", None),
        )
    )
    told = analysis.evidence(rows)
    assert told is not None
    assert (told.n, told.exact) == (4, 0.25)
    assert told.kinds == dict.fromkeys(ErrorKind, 1)
    assert (told.selected, told.gold) == (1.5, 1.75)
    assert told.conservatism == -0.25


def test_option_bias() -> None:
    rows = Outcomes((picked("RM", "1", "B", "A"), picked("RM", "2", "AB", "A")))
    a, b, c = analysis.option_bias(rows, "RM")
    assert (a.option, a.selected, a.gold, a.affinity) == ("A", 1.0, 0.5, 0.5)
    assert (b.affinity, c.affinity) == (-1.0, 0.0)
    assert analysis.option_bias(rows, "SV") == ()


def both(video: str, model: str, rm: str, sv: str) -> list[Outcome]:
    return [picked("RM", video, "A", rm, model), picked("SV", video, "B", sv, model)]


def test_error_profiles_tell_families_apart() -> None:
    """Two systems that err alike and one that errs otherwise: one component holds it all."""
    rows = [*both("1", "x1", "A", "A"), *both("1", "x2", "A", "A"), *both("1", "y", "B", "B")]
    told = analysis.error_profiles(Outcomes(tuple(rows)))
    assert told.systems == ("x1", "x2", "y")
    column = told.features.index("SV B missed")
    assert told.values[:, column].tolist() == [1, 1, 0]
    assert "SV A missed" not in told.features
    assert told.explained == pytest.approx((1, 0))
    x1, x2, y = told.components[:, 0]
    assert x1 == pytest.approx(x2)
    # They differ in 4 features by 1: A missed and B added in RM, A added and B missed in SV.
    assert abs(x1 - y) == pytest.approx(np.sqrt(4))
    with pytest.raises(BadInput, match="two systems or more; there are 1"):
        analysis.error_profiles(Outcomes(tuple(both("1", "x", "A", "B"))))


def test_geometry_is_kept_by_right_selections_and_bent_by_others() -> None:
    right = [*both("1", "m", "A", "B"), *both("2", "m", "A", "B")]
    assert analysis.geometry_distance(Outcomes(tuple(right))) == 0
    # Gold relates RM A and SV B fully; B and B are selected: 2 of 15 pairs differ by 1.
    bent = [*both("1", "m", "B", "B"), *both("2", "m", "B", "B")]
    assert analysis.geometry_distance(Outcomes(tuple(bent))) == pytest.approx(np.sqrt(2 / 15))
    assert analysis.geometry_distance(Outcomes((picked("RM", "1", "A", "A"),))) is None
