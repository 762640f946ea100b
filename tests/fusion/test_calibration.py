from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.calibration import (
    METHODS,
    Bin,
    Calibration,
    Labelled,
    cross_validated,
    expected_calibration_error,
    fit,
    reliability,
)
from perception.errors import BadInput, UnknownName


def test_a_temperature_by_hand() -> None:
    """0.5, 0.3 and the rest 0.2, squared: 0.25 of 0.25 + 0.09 + 0.04."""
    assert Calibration("temperature", 0.5)(0.5, (0.3,)) == pytest.approx(0.25 / 0.38)
    assert Calibration("temperature", 1.0)(0.7, (0.2,)) == pytest.approx(0.7)


def test_without_other_labels_a_score_stands_against_the_rest() -> None:
    """Two labels: the logit is divided by T; ln(0.9 / 0.1) / 2."""
    logit = math.log(9) / 2
    expected = 1 / (1 + math.exp(-logit))
    assert Calibration("temperature", 2.0)(0.9) == pytest.approx(expected)


def test_the_temperature_that_made_the_scores_is_found() -> None:
    """Scores of 0.9 and 0.6 that hold true with the probabilities of T = 2."""
    truth = Calibration("temperature", 2.0)
    labelled = []
    for score in (0.9, 0.6, 0.98):
        right = round(1000 * truth(score))
        labelled += [Labelled(score, (), n < right) for n in range(1000)]
    assert fit("temperature", labelled).temperature == pytest.approx(2.0, abs=0.02)


def test_isotonic_by_hand() -> None:
    """Pools: 0.2 (wrong), 0.4 and 0.5 (right, wrong), 0.8 (right)."""
    labelled = [
        Labelled(0.2, (), False),
        Labelled(0.4, (), True),
        Labelled(0.5, (), False),
        Labelled(0.8, (), True),
    ]
    fitted = fit("isotonic", labelled)
    assert fitted.points == ((0.2, 0.0), (0.4, 0.5), (0.5, 0.5), (0.8, 1.0))
    assert [fitted(score) for score in (0.0, 0.2, 0.3, 0.45, 0.65, 0.9)] == pytest.approx(
        [0.0, 0.0, 0.25, 0.5, 0.75, 1.0]
    )


def test_a_reliability_diagram_and_its_error_by_hand() -> None:
    probabilities, truth = [0.95, 0.93, 0.91, 0.55], [True, True, False, False]
    assert reliability(probabilities, truth) == (
        Bin(1, 0.55, 0.0),
        Bin(3, pytest.approx(0.93), pytest.approx(2 / 3)),
    )
    # In fifteenths 0.91 and 0.93 share a bin (13.65, 13.95), 0.95 is above (14.25).
    error = (0.55 + abs(0.92 * 2 - 1) + abs(0.95 - 1)) / 4
    assert expected_calibration_error(probabilities, truth) == pytest.approx(error)


def test_held_out_means_held_out() -> None:
    """By a map fitted with it, isotonic gets each right; without it, none."""
    labelled = [Labelled(0.1, (), True), Labelled(0.9, (), False)]
    assert cross_validated("isotonic", labelled, folds=2) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Calibration("temprature"), "Did you mean 'temperature'"),
        (lambda: Calibration("temperature", 0.0), "above 0"),
        (lambda: Calibration("isotonic"), "has points"),
        (lambda: Calibration("isotonic", points=((0.5, 0.6), (0.7, 0.5))), "rise"),
        (lambda: Calibration("isotonic", points=((0.5, 1.5),)), "rise"),
        (lambda: fit("isotonic", []), "there are none"),
    ],
)
def test_mistakes_are_sentences(made: object, said: str) -> None:
    with pytest.raises((BadInput, UnknownName), match=said):
        made()  # type: ignore[operator]


LABELLED = st.lists(
    st.builds(
        lambda score, share, right: Labelled(score, ((1 - score) * share,), right),
        st.floats(0, 1),
        st.floats(0, 1),
        st.booleans(),
    ),
    min_size=5,
    max_size=30,
)


@given(LABELLED, st.sampled_from(METHODS), st.floats(0, 1), st.floats(0, 1))
def test_a_map_never_falls_and_stays_in_its_bounds(
    labelled: list[Labelled], method: str, one: float, two: float
) -> None:
    fitted = fit(method, labelled)
    low, high = fitted(min(one, two)), fitted(max(one, two))
    assert 0 <= low <= high + 1e-12 <= 1 + 1e-9
    assert all(0 <= each <= 1 for each in cross_validated(method, labelled))
