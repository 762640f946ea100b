"""The assignment against trying every permutation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.skeleton.assignment import best_pairs


def best_sum(values: np.ndarray) -> float:
    if values.shape[0] > values.shape[1]:
        values = values.T
    rows, columns = values.shape
    return max(
        sum(values[row, column] for row, column in enumerate(order))
        for order in itertools.permutations(range(columns), rows)
    )


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**31), st.booleans())
def test_no_permutation_is_better(rows: int, columns: int, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = (rows, columns)
    values = rng.integers(0, 3, shape).astype(float) if ties else rng.normal(size=shape)
    pairs = best_pairs(values)
    assert len(pairs) == min(shape)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert sum(values[pair] for pair in pairs) == pytest.approx(best_sum(values))


def test_the_greedy_choice_is_not_taken_when_the_rest_pays_for_it() -> None:
    """9 + 1 = 10 is less than 8 + 7 = 15."""
    assert best_pairs(np.array([[9.0, 8.0], [7.0, 1.0]])) == [(0, 1), (1, 0)]


def test_more_tracks_than_poses_and_the_other_way_round() -> None:
    values = np.array([[1.0], [3.0], [2.0]])
    assert best_pairs(values) == [(1, 0)]
    assert best_pairs(values.T) == [(0, 1)]
