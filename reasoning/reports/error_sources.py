"""Where wrong answers come from (MimeQA's Figure 6): tags that a person gave, by condition.

The tags stand in a CSV or JSON file: ``condition``, ``model``, ``question``, ``repeat`` and
``tags``, several parted by semicolons. ``tagging.py`` makes the page on which they are given.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perception.errors import BadInput
from perception.spreadsheet import said
from perception.text_file import read_text
from reasoning import published, statistics
from reasoning.reports import plots
from reasoning.reports.given import Given, heading, rows
from reasoning.reports.table import Plot, Section, Table, count, interval, percent
from reasoning.results.outcomes import Outcome, State

__all__ = ["COLUMNS", "TAGS", "Tags", "key_of", "read_tags", "section", "wrong"]

TAGS = ("imagined object", "hallucinated story", "social nuance", "language bias")
"""The sources of section 4.3: the imagined object is not seen, the story is made up, social signals
are read naively, the words of the question decide."""

COLUMNS = ("condition", "model", "question", "repeat", "tags")

Tags = Mapping[tuple[str, str, str, int], tuple[str, ...]]
_WHERE_FROM = "Make it with: cuelight report tags STUDY."


def key_of(row: Outcome) -> tuple[str, str, str, int]:
    """Under which the tags of an answer are kept."""
    return row.condition, row.model, row.question, row.repeat


def wrong(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The answers that are not wholly right."""
    return tuple(row for row in outcomes if row.state is State.SCORED and (row.score or 0.0) < 1)


def read_tags(path: Path) -> Tags:
    """The tags in a file; answers with an empty field are not looked at yet.

    Raises:
        BadInput: it lacks a column, or a repeat is no number.
    """
    found: dict[tuple[str, str, str, int], tuple[str, ...]] = {}
    for where, row in _rows(path):
        try:
            repeat = int(row["repeat"] or 0)
        except ValueError:
            raise BadInput(
                f"{where}: repeat must be a number from 0, not {row['repeat']!r}."
            ) from None
        parts = row["tags"] if isinstance(row["tags"], list) else str(row["tags"]).split(";")
        tags = tuple(dict.fromkeys(tag for part in parts if (tag := str(part).strip())))
        if tags:
            key = (str(row["condition"]), str(row["model"]), str(row["question"]), repeat)
            found[key] = tags
    return found


def _rows(path: Path) -> Sequence[tuple[str, dict[str, Any]]]:
    if path.suffix.lower() != ".json":
        table = published.table(path, COLUMNS, _WHERE_FROM)
        return [(where, {name: said(cell) for name, cell in row.items()}) for where, row in table]
    try:
        document = json.loads(read_text(path, "file of tags"))
    except ValueError as error:
        raise BadInput(f"{str(path)!r} is not JSON ({error}).") from None
    if not isinstance(document, list):
        raise BadInput(f"{str(path)!r} must hold a list of objects with {', '.join(COLUMNS)}.")
    made = []
    for number, row in enumerate(document, start=1):
        where = f"{path.name}, entry {number}"
        missing = [name for name in COLUMNS if not isinstance(row, dict) or name not in row]
        if missing:
            raise BadInput(f"{where} lacks {', '.join(missing)}.")
        made.append((where, row))
    return made


def section(given: Given) -> Section | None:
    """The distribution of tags for each model and condition; None without tags.

    Raises:
        BadInput: no tag belongs to a wrong answer of this study.
    """
    if not given.tags:
        return None
    known = {key_of(row) for row in wrong(given.outcomes.rows)}
    if not known & given.tags.keys():
        raise BadInput(
            f"None of the {len(given.tags)} tagged answers is a wrong answer of this study; were "
            "they tagged for other records?"
        )
    names = _names(given)
    body: list[tuple[object, ...]] = []
    drawn = []
    for row in rows(given.outcomes):
        every = wrong(row.outcomes.rows)
        tagged = [each for each in every if key_of(each) in given.tags]
        if not tagged:
            continue
        drawn.append((row.label, [_share(tagged, given.tags, name) for name in names]))
        for name in names:
            holds = [float(name in given.tags[key_of(each)]) for each in tagged]
            found = statistics.accuracy(
                holds, [each.video for each in tagged], [each.question for each in tagged]
            )
            body.append(
                (
                    row.label,
                    name,
                    count(int(sum(holds))),
                    percent(found.value),
                    interval(found.interval),
                    count(len(tagged)),
                    count(len(every)),
                )
            )
    table = Table(
        "error_sources",
        "Sources of errors",
        (
            heading(rows(given.outcomes)),
            "Source",
            "Answers",
            "Share, %",
            "95 % interval",
            "Tagged",
            "Wrong answers",
        ),
        tuple(body),
        note="Shares are of the wrong answers that a person tagged; one may have several tags.",
    )
    return Section(
        "error_sources", "Sources of errors", _words(given, known), (table,), _plot(names, drawn)
    )


def _words(given: Given, known: set[tuple[str, str, str, int]]) -> tuple[str, ...]:
    words = [
        f"A person tagged {len(known & given.tags.keys())} of {len(known)} wrong answers. In the "
        "drawing an answer with several tags is shared out between them."
    ]
    if strange := len(given.tags.keys() - known):
        words.append(
            f"Tagged answers that are not wrong answers of this study, left out: {strange}."
        )
    return tuple(words)


def _names(given: Given) -> tuple[str, ...]:
    counted = Counter(tag for tags in given.tags.values() for tag in tags)
    own = [tag for tag, _ in counted.most_common() if tag not in TAGS]
    return (*TAGS, *own)


def _share(tagged: Sequence[Outcome], tags: Tags, name: str) -> float:
    parts = [tags[key_of(each)] for each in tagged]
    return 100 * sum((name in part) / len(part) for part in parts) / len(parts)


def _plot(names: Sequence[str], drawn: Sequence[tuple[str, list[float]]]) -> tuple[Plot, ...]:
    if not drawn:
        return ()
    labels = [label for label, _ in drawn]
    parts = [(name, [shares[at] for _, shares in drawn]) for at, name in enumerate(names)]
    told = "; ".join(
        f"{label}: " + ", ".join(f"{n} {s:.0f} %" for n, s in zip(names, shares, strict=True))
        for label, shares in drawn
    )
    svg = plots.stacked(labels, parts, "Share of the tagged wrong answers, in per cent")
    return (Plot("error_sources", "Sources of errors", svg, told),)
