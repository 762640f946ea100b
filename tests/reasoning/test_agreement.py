"""Agreement against published tables."""

from __future__ import annotations

import pytest

from reasoning.statistics import agreement


def test_kappa_of_a_published_table() -> None:
    """Cohen's example as Wikipedia tells it: 20 and 15 agreed, 5 and 10 not; kappa 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = agreement.kappa(first, second)
    assert found.observed == 0.7
    assert found.coefficient == pytest.approx(0.4)
    assert found.interval is not None
    assert found.coefficient in found.interval
    assert agreement.kappa(["yes"] * 3, ["yes"] * 3).coefficient is None


def test_alpha_of_krippendorffs_example() -> None:
    """Krippendorff's "Computing alpha-reliability" (2011), four observers, twelve units:
    nominal alpha 0.743."""
    rows = [
        (1, 1, None, 1),
        (2, 2, 3, 2),
        (3, 3, 3, 3),
        (3, 3, 3, 3),
        (2, 2, 2, 2),
        (1, 2, 3, 4),
        (4, 4, 4, 4),
        (1, 1, 2, 1),
        (2, 2, 2, 2),
        (None, 5, 5, 5),
        (None, None, 1, 1),
        (None, None, 3, None),
    ]
    assert agreement.alpha(rows) == pytest.approx(0.743, abs=0.0005)
    assert agreement.alpha([(1, None), (None, 2)]) is None
