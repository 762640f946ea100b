"""Spans over rows."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from perception.rows import rows

SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair)))
)


def test_each_goes_into_the_first_row_that_is_free() -> None:
    items = [(0, 4, "a"), (1, 2, "b"), (1, 5, "c"), (2, 3, "d"), (4, 6, "e"), (9, 9, "f")]
    assert [[item[2] for item in row] for row in rows(items)] == [
        ["a", "e", "f"],
        ["b", "d"],
        ["c"],
    ]
    assert rows([(3, 4, "late"), (0, 1, "early")]) == [[(0, 1, "early"), (3, 4, "late")]]
    assert rows([]) == []


@given(SPANS)
def test_no_row_has_overlaps_and_no_row_is_spare(
    spans: list[tuple[int, int]],
) -> None:
    made = rows([(*span, n) for n, span in enumerate(spans)])
    assert sorted(item[2] for row in made for item in row) == list(range(len(spans)))
    for row in made:
        assert all(one[1] <= other[0] for one, other in pairwise(row))
    # Half-open intervals that lie over one instant; an empty one takes a row of its own there.
    most = max(
        (
            sum(a <= start < b for a, b in spans) + sum(a == b == start for a, b in spans)
            for start, _ in spans
        ),
        default=0,
    )
    assert len(made) <= most
