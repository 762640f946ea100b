"""The assignment problem: who goes with whom so that the sum of values is greatest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["best_pairs"]


def best_pairs(values: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pairs (row, column), each row and column at most once, as many as there can be, whose values
    sum to the maximum.

    The Hungarian method (Kuhn 1955) as shortest augmenting paths with potentials, O(rows² ·
    columns). For a handful of people that is done in less time than SciPy's ``optimize`` takes to
    import (0.4 s), which nothing else here needs.

    Args:
        values: [rows, columns], finite.
    """
    rows, columns = values.shape
    if rows > columns:
        return sorted((row, column) for column, row in best_pairs(values.T))
    costs = np.pad(-values, ((1, 0), (1, 0)))
    by_row, by_column = np.zeros(rows + 1), np.zeros(columns + 1)
    row_of = np.zeros(columns + 1, dtype=int)
    for row in range(1, rows + 1):
        _assign(row, costs, by_row, by_column, row_of)
    return sorted((int(row_of[c]) - 1, c - 1) for c in range(1, columns + 1) if row_of[c])


def _assign(
    row: int,
    costs: npt.NDArray[np.float64],
    by_row: npt.NDArray[np.float64],
    by_column: npt.NDArray[np.float64],
    row_of: npt.NDArray[np.int_],
) -> None:
    """Give ``row`` a column, moving other rows along the shortest augmenting path; indices start
    at 1, column 0 stands for the row that has none yet."""
    slack = np.full(len(by_column), np.inf)
    before = np.zeros(len(by_column), dtype=int)
    done = np.zeros(len(by_column), dtype=bool)
    row_of[0], column = row, 0
    while row_of[column]:
        done[column] = True
        here = row_of[column]
        reduced = costs[here] - by_row[here] - by_column
        shorter = ~done & (reduced < slack)
        slack[shorter], before[shorter] = reduced[shorter], column
        nearest = int(np.where(done, np.inf, slack).argmin())
        step = slack[nearest]
        by_row[row_of[done]] += step
        by_column[done] -= step
        slack[~done] -= step
        column = nearest
    while column:
        row_of[column] = row_of[before[column]]
        column = int(before[column])
