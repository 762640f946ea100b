"""Whether models that ground a video's moments also understand the rest of it: correlations over
videos of the accuracies in two categories, as MimeQA's Table 7 and Figures 10 and 11."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from reasoning import statistics
from reasoning.reports import plots
from reasoning.reports.given import Given, Kind, Row, heading, rows, short, sorted_categories
from reasoning.reports.table import NONE, Cell, Plot, Section, Table, count
from reasoning.results.outcomes import Outcomes

__all__ = ["section"]

_FEWEST_VIDEOS = 3


def section(given: Given) -> Section | None:
    """For the baseline and the conditions without video; None where no two categories meet in
    enough videos."""
    categories = sorted_categories(given.outcomes)
    if len(categories) < 2:
        return None
    blind = [pair.without for pair in given.paired(Kind.VIDEO)]
    seeing = [pair.having for pair in given.paired(Kind.VIDEO)]
    wanted = list(dict.fromkeys([given.baseline, *seeing, *blind]))
    found = [(row, _all_pairs(row.outcomes, categories)) for row in rows(given.outcomes, wanted)]
    found = [
        (row, pairs) for row, pairs in found if any(each.r is not None for each in pairs.values())
    ]
    if not found:
        return None
    first = next((c for c in given.split.grounding if c in categories), categories[0])
    words = (
        "Pearson's r over the videos that have questions of both categories, of the share that is "
        "right in each; intervals of 95 % from the bootstrap over videos, widened to Fisher's. An "
        "interval that holds 0 is no correlation to speak of.",
        _counted(found),
    )
    plots_ = tuple(
        _heatmap(number, row, pairs, categories) for number, (row, pairs) in enumerate(found, 1)
    )
    tables = (_table_7(found, first, categories), _intervals(found))
    return Section("correlations", "Categories that go together", words, tables, plots_)


Pairs = Mapping[tuple[str, str], statistics.Correlation]


def _all_pairs(outcomes: Outcomes, categories: Sequence[str]) -> Pairs:
    sums: dict[str, dict[str, list[float]]] = {}
    for row in outcomes.scored.rows:
        sums.setdefault(row.category, {}).setdefault(row.video, []).append(row.score or 0.0)
    means = {
        category: {video: sum(s) / len(s) for video, s in by_video.items()}
        for category, by_video in sums.items()
    }
    found = {}
    for a, b in itertools.combinations(categories, 2):
        both = [video for video in means.get(a, {}) if video in means.get(b, {})]
        if len(both) < _FEWEST_VIDEOS:
            found[a, b] = statistics.Correlation(None, len(both), None)
        else:
            found[a, b] = statistics.correlation(
                [means[a][video] for video in both], [means[b][video] for video in both]
            )
    return found


def _of(pairs: Pairs, a: str, b: str) -> statistics.Correlation:
    return pairs[a, b] if (a, b) in pairs else pairs[b, a]


def _counted(found: Sequence[tuple[Row, Pairs]]) -> str:
    every = [each for _, pairs in found for each in pairs.values() if each.interval is not None]
    clear = sum(0.0 not in each.interval for each in every if each.interval is not None)
    return (
        f"Of {len(every)} intervals {clear} leave out 0; where nothing is correlated, about one in "
        f"twenty does, here {len(every) / 20:.1f}."
    )


def _r(value: float | None) -> Cell:
    return Cell(NONE) if value is None else Cell(f"{value:.3f}".replace("-", "−"), value)


def _table_7(found: Sequence[tuple[Row, Pairs]], first: str, categories: Sequence[str]) -> Table:
    others = [each for each in categories if each != first]
    body = tuple(
        (row.label, *(_r(_of(pairs, first, other).r) for other in others)) for row, pairs in found
    )
    title = f"Correlation of {first} with the other categories"
    return Table("correlations", title, (_heading(found), *map(short, others)), body)


def _intervals(found: Sequence[tuple[Row, Pairs]]) -> Table:
    body = []
    for row, pairs in found:
        for (a, b), each in pairs.items():
            if each.r is None or each.interval is None:
                told = NONE
            else:
                ends = (each.interval.low, each.interval.high)
                told = " to ".join(f"{end:.2f}".replace("-", "−") for end in ends)
            body.append((row.label, short(a), short(b), _r(each.r), told, count(each.n)))
    return Table(
        "correlation_intervals",
        "All pairs of categories",
        (_heading(found), "Category", "with", "r", "95 % interval", "Videos"),
        tuple(body),
        folded=True,
    )


def _heading(found: Sequence[tuple[Row, Pairs]]) -> str:
    return heading([row for row, _ in found])


def _heatmap(number: int, row: Row, pairs: Pairs, categories: Sequence[str]) -> Plot:
    values = [[1.0 if a == b else _of(pairs, a, b).r for b in categories] for a in categories]
    told = "; ".join(f"{short(a)} with {short(b)} {_r(each.r)}" for (a, b), each in pairs.items())
    svg = plots.heatmap(list(map(short, categories)), values)
    title = f"Correlation between categories, {row.label}"
    return Plot(f"correlations_{number}", title, svg, told)
