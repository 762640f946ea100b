"""Results of other tools, as a table of questions, answers and verdicts, become outcomes.

Columns of the CSV: ``question`` (the id, or the words where ``--study`` tells the benchmark's) and
``verdict`` (right or wrong, true or false, yes or no, or a number from 0 to 1; empty = unscored);
``answer``, ``video``, ``category``, ``level``, ``reference``, ``condition``, ``model``, ``repeat``
may be there. An empty answer without a verdict is a failure.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perception.errors import BadInput
from reasoning import published
from reasoning.answer import Answer, Failure, FailureKind, Unscored, Verdict
from reasoning.benchmark import Item
from reasoning.records import Call, Records, call_key, digest
from reasoning.results.from_records import JUDGE, item_of

__all__ = ["import_table", "keep_rows", "recorded_items", "rows_of"]

Row = tuple[str, Call, Answer | Failure, Verdict | Unscored, dict[str, Any]]
"""Where it stands, what was asked, what came back, the verdict, and what reports want to know."""

_AFTER_OURS = 1_000_000
"""Place of imported conditions: after all of the study's own."""

_MOST_DIGITS = 9
_SOURCE = "It is the CSV file with the other tool's results."
_WORDS = {
    **dict.fromkeys(("right", "true", "yes", "correct"), 1.0),
    **dict.fromkeys(("wrong", "false", "no", "incorrect"), 0.0),
}


def import_table(
    records: Records,
    table: Path,
    condition: str,
    model: str,
    items: Sequence[Item] = (),
) -> int:
    """Put every row of ``table`` on record; the number of rows. The same table twice changes
    nothing. Arguments and errors are those of ``rows_of``; with an error nothing is put on record.
    """
    return keep_rows(records, rows_of(table, condition, model, items))


def rows_of(
    table: Path, condition: str, model: str, items: Sequence[Item] = (), *, all_known: bool = True
) -> list[Row]:
    """Read every row of ``table``.

    Args:
        condition, model: of rows that do not name their own.
        items: of the benchmark, whose category, video and reference the rows are given.
        all_known: whether a question that is none of them is a mistake.

    Raises:
        BadInput: a column is missing, there is no row, a row has too few or too many cells, a
            verdict is none, or a question is not the benchmark's.
    """
    for name, value in (("condition", condition), ("model", model)):
        if not value.strip():
            raise BadInput(
                f"The {name} of the imported results has no name, but {value!r}; give one, e.g. "
                f"--{name} theirs."
            )
    known = _known(items)
    rows = [
        _row(where, row, condition, model, known, number, all_known)
        for number, (where, row) in enumerate(
            published.table(table, ("question", "verdict"), _SOURCE, numbers=("verdict",))
        )
    ]
    if not rows:
        raise BadInput(
            f"{table.name} has no row below line 1, its head; give it a row for each answer."
        )
    seen: set[tuple[str, str, str, int]] = set()
    for where, call, _, _, facts in rows:
        cell = (facts["condition"], call.model, call.question, call.repeat)
        if cell in seen:
            raise BadInput(
                f"{where}: question {call.question!r} stands twice under {cell[0]!r} of "
                f"{call.model!r}; number its repeats in a column repeat."
            )
        seen.add(cell)
    return rows


def recorded_items(path: Path) -> list[Item]:
    """The questions that a study has on record; none where there are no records yet."""
    if not path.exists():
        return []
    with contextlib.closing(Records(path)) as records:
        own = {
            question: facts
            for _, question, _, _, facts in records.cells()
            if not facts.get("imported")
        }
    return [item_of(question, facts) for question, facts in own.items()]


def keep_rows(records: Records, rows: Sequence[Row]) -> int:
    """Put what ``rows_of`` read on record; the number of rows.

    Raises:
        BadInput: a row has the condition and the model of answers that the study itself has;
            nothing is put on record.
    """
    own = {
        (condition, str(facts.get("model", "")))
        for condition, _, _, _, facts in records.cells()
        if not facts.get("imported")
    }
    for where, call, _, _, facts in rows:
        if (facts["condition"], call.model) in own:
            raise BadInput(
                f"{where}: the study has answers of {call.model!r} under {facts['condition']!r} of "
                "its own, which these would replace. Give another name: --condition theirs, or "
                "--model for another model."
            )
    _forget_other_names(records, rows)
    for _, call, reply, verdict, facts in rows:
        key = call_key(call)
        if records.answer(key) is None and (
            isinstance(reply, Answer) or records.failure(key) is None
        ):
            records.keep(call, reply, 0.0)
        records.plan(facts["condition"], call.question, call.repeat, call, facts)
        if isinstance(reply, Answer):
            records.judge(key, JUDGE, verdict)
    return len(rows)


def _forget_other_names(records: Records, rows: Sequence[Row]) -> None:
    """Imported before the study was on record, a question was called as its table called it, by
    words or bare id: the same one under the study's name takes its place."""
    named = {
        (facts["condition"], call.model, call.repeat, name): call.question
        for _, call, _, _, facts in rows
        for name in (_folded(facts["question"]), call.question.partition("/")[2])
    }
    for condition, question, repeat, _, facts in records.cells():
        model = str(facts.get("model", ""))
        is_as_called = facts.get("imported") and facts.get("question") == question
        for name in (_folded(question), question) if is_as_called else ():
            if named.get((condition, model, repeat, name), question) != question:
                records.unplan([(condition, question, repeat)], model)


def _known(items: Sequence[Item]) -> dict[str, Item]:
    """By id, and where only one question has them by the id without its benchmark's name, and by
    words."""
    named: dict[str, list[Item]] = {}
    for item in items:
        for name in {_folded(item.question.text), item.question.id.partition("/")[2]} - {""}:
            named.setdefault(name, []).append(item)
    once = {name: own[0] for name, own in named.items() if len(own) == 1}
    return once | {item.question.id: item for item in items}


def _row(
    where: str,
    row: Mapping[str, str],
    condition: str,
    model: str,
    known: Mapping[str, Item],
    number: int,
    all_known: bool,
) -> Row:
    given = {name: value.strip() for name, value in row.items()}
    asked = published.field(where, row, "question")
    item = known.get(asked) or known.get(_folded(asked))
    if known and item is None and all_known:
        example = next(iter(known.values())).question.id
        raise BadInput(
            f"{where}: the benchmark has no question {asked!r}, or several of that name or these "
            f"words, which only their ids tell apart, e.g. {example!r}."
        )
    told = given.get("video", "")
    if item is not None and told and Path(told).stem != Path(item.video).stem:
        raise BadInput(
            f"{where}: the study asks {item.question.id!r} about {item.video!r}, and the row says "
            f"{told!r}. Give the question another name, or leave the video out."
        )
    verdict = _verdict(where, given["verdict"])
    model = given.get("model") or model
    facts = {
        "condition": given.get("condition") or condition,
        "order": [_AFTER_OURS, number, 0],
        "model": model,
        "video": item.video if item else given.get("video", ""),
        "category": str(item.category) if item else given.get("category", ""),
        "level": item.level if item else given.get("level", ""),
        "question": item.question.text if item else asked,
        "reference": item.reference if item else given.get("reference", ""),
        "imported": True,
    }
    answer = given.get("answer", "")
    call = Call(
        item.question.id if item else asked,
        "",
        "",
        digest("imported", answer, given["verdict"], facts["condition"]),
        model,
        {},
        _repeat(where, given.get("repeat", "")),
    )
    reply: Answer | Failure = Answer(answer, model, sees_video=False)
    if not answer and isinstance(verdict, Unscored):
        reply = Failure(FailureKind.UNPARSED, "The imported table has no answer.", model)
    return where, call, reply, verdict, facts


def _verdict(where: str, value: str) -> Verdict | Unscored:
    if not value:
        return Unscored("The imported table has no verdict.", JUDGE)
    score = _WORDS.get(value.casefold())
    if score is None:
        try:
            score = float(value)
        except ValueError:
            score = -1.0
    if not 0 <= score <= 1:
        raise BadInput(
            f"{where}: verdict must be one of {', '.join(_WORDS)}, a number from 0 to 1, or empty, "
            f"not {value!r}."
        )
    return Verdict(score, "Imported.", JUDGE)


def _repeat(where: str, value: str) -> int:
    if not value:
        return 0
    if not value.isdecimal() or len(value) > _MOST_DIGITS:
        raise BadInput(
            f"{where}: repeat must be a number from 0 to {'9' * _MOST_DIGITS}, not {value!r}."
        )
    return int(value)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
