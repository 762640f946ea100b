"""Spans that overlap, spread over rows in which none does."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["rows"]

N = TypeVar("N", int, float)
T = TypeVar("T")


def rows(items: Iterable[tuple[N, N, T]]) -> list[list[tuple[N, N, T]]]:
    """``items`` (start, end, anything) over as few rows as it takes that none overlaps another of
    its row.

    In order of start and end, and as they came where both are alike, each goes into the first row
    where nothing is in its way; one may begin where another ends. Each row is in order of time; of
    no items there are no rows.
    """
    made: list[list[tuple[N, N, T]]] = []
    taken: list[tuple[N, int]] = []
    free: list[int] = []
    for item in sorted(items, key=lambda item: item[:2]):
        while taken and taken[0][0] <= item[0]:
            heapq.heappush(free, heapq.heappop(taken)[1])
        if not free:
            free.append(len(made))
            made.append([])
        row = heapq.heappop(free)
        made[row].append(item)
        heapq.heappush(taken, (item[1], row))
    return made
