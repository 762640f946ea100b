"""Records become outcomes: which answer each cell of a study has, and what was said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusion.question import Question
from perception.errors import BadInput, UnknownName
from reasoning.answer import Answer, Failure, Unscored, Verdict
from reasoning.benchmark import Item
from reasoning.records import Records
from reasoning.results.outcomes import InjectedCue, Outcome, Outcomes, State

__all__ = ["JUDGE", "UNJUDGED", "PlannedCell", "current_cells", "item_of", "outcomes"]

PlannedCell = tuple[str, str, int, str, dict[str, Any]]
"""``(condition, question, repeat, key, facts)``, see ``Records.cells``."""

JUDGE = "imported"
"""Judge of what is imported, in the records."""

UNJUDGED = "Nobody has judged this answer yet (cuelight judge answers)."


def outcomes(records: Records, judge: str | None = None) -> Outcomes:
    """The table of a study, in its order.

    Cells of conditions that the study no longer has, or has changed since, are left out; so are
    cells that were not reached yet.

    Args:
        judge: whose verdicts on open answers count; None = those of all: right where most say so,
            unscored where as many say otherwise. Choices and imported results need no judge.

    Raises:
        UnknownName: nobody of that name has judged.
        BadInput: the records hold no study yet.
    """
    if judge is not None and judge not in (known := records.judges()):
        raise UnknownName("judge", judge, known)
    cells = current_cells(records)
    if not cells:
        raise BadInput(f"{str(records.path)!r} holds no answered question yet.")
    scorers = {JUDGE, *(str(stamp.get("benchmark", "")) for stamp in records.stamps())}
    judges = [name for name in records.judges() if judge in (None, name) or name in scorers]
    rows = [_outcome(each, records, judges) for each in cells]
    return Outcomes(tuple(row for row in rows if row is not None))


def current_cells(records: Records) -> list[PlannedCell]:
    """The planned cells that the study's last run still has, and imported ones, in order."""
    stamps = records.stamps()
    conditions: Mapping[str, str] = stamps[-1].get("conditions", {}) if stamps else {}
    cells = [
        each
        for each in records.cells()
        if not conditions or "arm" not in each[4] or conditions.get(each[0]) == each[4]["arm"]
    ]
    return sorted(cells, key=lambda each: (each[4].get("model", ""), each[4].get("order", [])))


def item_of(question: str, facts: Mapping[str, Any]) -> Item:
    """A cell's question as far as the records know it: without which options are right."""
    options = tuple(facts.get("options", ()))
    return Item(
        Question(facts["question"], options, id=question),
        facts.get("video", ""),
        facts.get("reference", ""),
        category=facts.get("category", ""),
        level=facts.get("level", ""),
        details=facts.get("details", {}),
    )


def _outcome(cell: PlannedCell, records: Records, judges: Sequence[str]) -> Outcome | None:
    condition, question, repeat, key, facts = cell
    reply: Answer | Failure | None = records.answer(key) or records.failure(key)
    if reply is None:
        return None
    verdict = None
    if isinstance(reply, Answer):
        truth = str(facts.get("truth", ""))
        said = [records.verdict(key, judge, truth) for judge in judges]
        verdict = _together([each for each in said if each is not None])
    state, score, reason = _state(reply, verdict)
    details = {**facts.get("details", {}), **_details(verdict)}
    return Outcome(
        question=question,
        video=facts.get("video", ""),
        category=facts.get("category", ""),
        level=facts.get("level", ""),
        condition=condition,
        model=facts.get("model", ""),
        repeat=repeat,
        state=state,
        score=score,
        answer=reply.text if isinstance(reply, Answer) else "",
        reference=facts.get("reference", ""),
        reason=reason,
        cues=tuple(InjectedCue(**each) for each in facts.get("cues", ())),
        details=details,
        key=key,
    )


def _details(verdict: Verdict | Unscored | None) -> Mapping[str, Any]:
    return verdict.details if isinstance(verdict, Verdict) else {}


def _state(
    reply: Answer | Failure, verdict: Verdict | Unscored | None
) -> tuple[State, float | None, str]:
    if isinstance(reply, Failure):
        return State.FAILED, None, f"{reply.kind}: {reply.reason}"
    if verdict is None:
        return State.UNSCORED, None, UNJUDGED
    if isinstance(verdict, Unscored):
        return State.UNSCORED, None, verdict.reason
    return State.SCORED, verdict.score, verdict.reason


def _mean(verdicts: Sequence[Verdict]) -> Mapping[str, float]:
    """The counts that all verdicts have, in the mean."""
    first, *others = (each.details for each in verdicts)
    return {
        name: sum([value, *(each[name] for each in others)]) / len(verdicts)
        for name, value in first.items()
        if isinstance(value, int | float) and all(name in each for each in others)
    }


def _together(said: Sequence[Verdict | Unscored]) -> Verdict | Unscored | None:
    """One verdict of several: what most say of right and wrong, the mean of parts."""
    verdicts = [each for each in said if isinstance(each, Verdict)]
    if not verdicts:
        return said[0] if said else None
    if len(verdicts) == 1:
        return verdicts[0]
    scores = [each.score for each in verdicts]
    mean = sum(scores) / len(scores)
    names = ", ".join(each.judge for each in verdicts)
    if not set(scores) <= {0.0, 1.0}:
        return Verdict(mean, f"The mean of {names}.", names, _mean(verdicts))
    if mean == 0.5:
        return Unscored(f"{names} disagree.", names)
    score = float(mean > 0.5)
    agreeing = next(each for each in verdicts if each.score == score)
    return Verdict(score, agreeing.reason, names, agreeing.details)
