"""How far judges agree with people, and with each other, on right and wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput, UnknownName
from perception.spreadsheet import said
from reasoning import published, statistics
from reasoning.answer import Verdict
from reasoning.records import Records
from reasoning.results.from_records import JUDGE, current_cells
from reasoning.statistics import Accuracy, agreement
from reasoning.statistics.agreement import Agreement

__all__ = ["PAPER", "Rated", "Raters", "Together", "judged", "raters", "read", "together"]

PAPER = "MimeQA reports 92.0 % of 352 answers for GPT-4o against people (its Appendix C)."

HUMAN = "human"
"""Begins the name of each column that a person filled in: human, human_2, …"""

_JUDGE = "judge"
_PLACE = ("question", "condition", "model", "repeat", "video")
_SAID = {
    **dict.fromkeys(("true", "1", "yes", "right", "correct"), True),
    **dict.fromkeys(("false", "0", "no", "wrong", "incorrect"), False),
}


@dataclass(frozen=True, slots=True)
class Rated:
    """One answer: what each rater says of it, None where a rater says nothing."""

    video: str
    people: Mapping[str, bool | None]
    judges: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True)
class Raters:
    """Two raters on the answers that both rate.

    Args:
        first, second: their names.
        share: of equal verdicts, with its interval: clustered by video where videos are known.
        kappa: Cohen's.
        only_first, only_second: answers that only one of them finds right.
    """

    first: str
    second: str
    share: Accuracy
    kappa: Agreement
    only_first: int
    only_second: int


@dataclass(frozen=True, slots=True)
class Together:
    """All raters: each pair, and Krippendorff's alpha over people, judges, and all of them."""

    pairs: tuple[Raters, ...]
    alpha_people: float | None
    alpha_judges: float | None
    alpha: float | None


def read(path: Path, records: Records | None = None, judge: str | None = None) -> list[Rated]:
    """A table that people filled in.

    Columns ``human`` (or several that begin with it) hold right/wrong, true/false, yes/no or 1/0;
    an empty cell is no verdict. Judges are the columns that begin with ``judge``; or, with
    ``records``, all who judged there: rows are then found by ``question`` and, where the table has
    them, ``condition``, ``model`` and ``repeat``.

    Args:
        judge: only this one of the records; None = all.

    Raises:
        BadInput: a column is missing, a verdict is none, or a row is not in the records.
        UnknownName: nobody of that name has judged.
    """
    needed = ("question",) if records is not None else ()
    given = published.table(path, needed, "It is a table that a person fills in.")
    rows = [(where, {name: said(cell) for name, cell in row.items()}) for where, row in given]
    if not rows:
        raise BadInput(f"{path.name} holds no row.")
    people = [name for name in rows[0][1] if name.lower().startswith(HUMAN)]
    columns = [name for name in rows[0][1] if name.lower().startswith(_JUDGE)]
    if not people or (records is None and not columns):
        raise BadInput(
            f"{path.name} needs a column {HUMAN} and, unless --records says what judges said, a "
            f"column {_JUDGE}; it has {', '.join(rows[0][1])}."
        )
    if records is not None:
        return list(_with_records(rows, people, records, judge))
    return [
        Rated(row.get("video", ""), _verdicts(where, row, people), _verdicts(where, row, columns))
        for where, row in rows
    ]


def judged(records: Records) -> list[Rated]:
    """What the judges of a study say of each answer of the conditions that it still has, one that
    conditions share once.

    Raises:
        BadInput: a judge gives points.
    """
    answers = {cell[3]: cell[4] for cell in current_cells(records)}
    judges = _judges(records)
    return [
        Rated(
            str(facts.get("video", "")),
            {},
            _right(records, key, str(facts.get("truth", "")), judges),
        )
        for key, facts in answers.items()
    ]


def together(rated: Sequence[Rated]) -> Together:
    """How far all raters agree.

    Raises:
        BadInput: there is nobody to compare with, or no answer that two of them rate.
    """
    people = list(dict.fromkeys(name for each in rated for name in each.people))
    judges = list(dict.fromkeys(name for each in rated for name in each.judges))
    names = [*people, *judges]
    pairs = [found for pair in itertools.combinations(names, 2) if (found := raters(rated, *pair))]
    if not pairs:
        raise BadInput(
            f"No answer is rated by two of {', '.join(names)}."
            if names
            else "No answer is rated: cuelight judge answers asks a judge about a study's open "
            "answers, cuelight judge sample gives them to people."
        )

    def alpha(raters: Sequence[str]) -> float | None:
        if len(raters) < 2:
            return None
        return agreement.alpha([[_said(each, name) for name in raters] for each in rated])

    return Together(tuple(pairs), alpha(people), alpha(judges), alpha(names))


def raters(rated: Sequence[Rated], first: str, second: str) -> Raters | None:
    """Two raters; None where they have no answer in common."""
    both = [(each, _said(each, first), _said(each, second)) for each in rated]
    both = [row for row in both if None not in row[1:]]
    if not both:
        return None
    equal = [float(one == other) for _, one, other in both]
    videos = [each.video for each, *_ in both]
    share = (
        statistics.accuracy(equal, videos)
        if all(videos)
        else statistics.proportion(int(sum(equal)), len(equal))
    )
    return Raters(
        first,
        second,
        share,
        agreement.kappa([one for _, one, _ in both], [other for *_, other in both]),
        sum(one is True and other is False for _, one, other in both),
        sum(one is False and other is True for _, one, other in both),
    )


def _said(rated: Rated, name: str) -> bool | None:
    return rated.people.get(name, rated.judges.get(name))


def _verdicts(where: str, row: Mapping[str, str], names: Sequence[str]) -> dict[str, bool | None]:
    found: dict[str, bool | None] = {}
    for name in names:
        word = row[name].strip().lower()
        if word and word not in _SAID:
            raise BadInput(f"{where}: {name} must be one of {', '.join(_SAID)}, not {row[name]!r}.")
        found[name] = _SAID.get(word)
    return found


def _with_records(
    rows: Sequence[published.Row], people: Sequence[str], records: Records, judge: str | None
) -> Iterator[Rated]:
    judges = _judges(records)
    if judge is not None:
        if judge not in judges:
            raise UnknownName("judge", judge, judges)
        judges = (judge,)
    cells = records.cells()
    for where, row in rows:
        fits = [cell for cell in cells if _fits(row, cell)]
        keys = {cell[3] for cell in fits}
        if len(keys) != 1:
            told = ", ".join(f"{name} {row[name]!r}" for name in _PLACE if row.get(name))
            many = "is not in the records" if not keys else f"fits {len(keys)} answers"
            raise BadInput(f"{where}: {told} {many}; condition, model and repeat tell them apart.")
        yield Rated(
            fits[0][4].get("video", ""),
            _verdicts(where, row, people),
            _right(records, fits[0][3], str(fits[0][4].get("truth", "")), judges),
        )


def _fits(row: Mapping[str, str], cell: tuple[str, str, int, str, dict[str, object]]) -> bool:
    condition, question, repeat, _, facts = cell
    held = {
        "question": question,
        "condition": condition,
        "repeat": str(repeat),
        "model": str(facts.get("model", "")),
    }
    return all(not row.get(name) or row[name].strip() == value for name, value in held.items())


def _judges(records: Records) -> tuple[str, ...]:
    """All who judged; the benchmark's own scorer and imported results are none of them."""
    scorers = {JUDGE, *(stamp.get("benchmark") for stamp in records.stamps())}
    return tuple(name for name in records.judges() if name not in scorers)


def _right(records: Records, key: str, truth: str, judges: Sequence[str]) -> dict[str, bool]:
    """What each of ``judges`` says of an answer, as far as it is clear."""
    found = {}
    for judge in judges:
        verdict = records.verdict(key, judge, truth)
        if not isinstance(verdict, Verdict):
            continue
        if verdict.score not in (0.0, 1.0):
            raise BadInput(f"{judge} gives points ({verdict.score:g}), not right or wrong.")
        found[judge] = verdict.score == 1.0
    return found
