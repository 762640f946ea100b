"""Grounding against reasoning: what cues gain where a model has to see, and what they cost where it
has to think.

MimeQA (section 4.2.1) found that action labels helped *Grounding the Imagined* and hurt *Theory of
Mind* and *Social Judgment*, and guessed that literal labels mislead. Here the guess becomes
numbers: flips, the echo of cues in wrong answers, the part that confidence and correctness play,
and what a control gains that carries no information.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perception.errors import BadInput
from reasoning import statistics
from reasoning.focus import terms
from reasoning.results.outcomes import InjectedCue, Outcome, Outcomes, Pair
from reasoning.statistics import Accuracy, Difference

__all__ = [
    "Echo",
    "Effect",
    "Flips",
    "Split",
    "Trade",
    "beyond_control",
    "by_confidence",
    "by_correctness",
    "cue_echo",
    "echoed",
    "flips",
    "frontier",
    "trade",
    "trade_beyond",
    "trade_of",
]


@dataclass(frozen=True, slots=True)
class Split:
    """Which categories ask for grounding and which for reasoning; the defaults are those of
    MimeQA's section 4.2.1."""

    grounding: tuple[str, ...] = ("Grounding the Imagined",)
    reasoning: tuple[str, ...] = ("Theory of Mind", "Social Judgment")


@dataclass(frozen=True, slots=True)
class Trade:
    """What a condition gains and loses against the one without cues; a side is None where no
    question of it is scored under both."""

    condition: str
    grounding: Difference | None
    reasoning: Difference | None


@dataclass(frozen=True, slots=True)
class Flips:
    """Questions whose verdict changed: wrong to right, and right to wrong."""

    gained: tuple[Pair, ...]
    lost: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Echo:
    """How often a wrong answer repeats a cue that the reference does not hold.

    Args:
        with_cues: over the wrong answers of the model that was told the cues.
        without: over the wrong answers of the model that was not, to the same questions, held
            against the same cues: what chance and the topic alone repeat.
        repeats: the pairs whose answer with cues repeats one, with that cue.
    """

    with_cues: Accuracy | None
    without: Accuracy | None
    repeats: tuple[tuple[Pair, InjectedCue], ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """What the cues did for one group of questions."""

    name: str
    difference: Difference | None
    n: int


def _difference(pairs: Sequence[Pair], seed: int) -> Difference | None:
    if not pairs:
        return None
    return statistics.paired_difference(
        [pair.before.score or 0.0 for pair in pairs],
        [pair.after.score or 0.0 for pair in pairs],
        [pair.before.video for pair in pairs],
        seed=seed,
    )


def trade(
    outcomes: Outcomes,
    baseline: str,
    condition: str,
    split: Split | None = None,
    *,
    seed: int = 0,
) -> Trade:
    """Grounding gain and reasoning loss of ``condition`` against ``baseline``.

    Raises:
        UnknownName: the study has no such condition.
    """
    pairs = outcomes.pairs(baseline, condition)
    return trade_of(pairs, split or Split(), condition, seed=seed)


def trade_of(pairs: Sequence[Pair], split: Split, name: str, *, seed: int = 0) -> Trade:
    """The trade of these pairs, called ``name``."""

    def over(categories: tuple[str, ...]) -> Difference | None:
        return _difference([p for p in pairs if p.before.category in categories], seed)

    return Trade(name, over(split.grounding), over(split.reasoning))


def trade_beyond(
    first: Sequence[Pair], second: Sequence[Pair], split: Split, name: str, *, seed: int = 0
) -> Trade:
    """How much more ``second`` gains and loses than ``first``, over the questions in both.

    The differences are of paired changes, each in [-1, 1], so that their values lie in [-2, 2];
    ``gained`` and ``lost`` count the questions that changed for the better or worse by more.
    """
    changes = {_question(pair): _change(pair) for pair in first}
    both = [pair for pair in second if _question(pair) in changes]

    def over(categories: tuple[str, ...]) -> Difference | None:
        own = [pair for pair in both if pair.before.category in categories]
        if not own:
            return None
        return statistics.paired_difference(
            [changes[_question(pair)] for pair in own],
            [_change(pair) for pair in own],
            [pair.before.video for pair in own],
            seed=seed,
        )

    return Trade(name, over(split.grounding), over(split.reasoning))


def _question(pair: Pair) -> tuple[str, str, int]:
    return pair.before.model, pair.before.question, pair.before.repeat


def _change(pair: Pair) -> float:
    return (pair.after.score or 0.0) - (pair.before.score or 0.0)


def frontier(trades: Sequence[Trade]) -> tuple[Trade, ...]:
    """The trades that no other beats: none has at least as much grounding and as much reasoning,
    and more of one. In order of grounding; trades that lack a side are left out."""
    whole = [
        (t, t.grounding.value, t.reasoning.value)
        for t in trades
        if t.grounding is not None and t.reasoning is not None
    ]
    best = [
        (t, g)
        for t, g, r in whole
        if not any(g2 >= g and r2 >= r and (g2, r2) != (g, r) for _, g2, r2 in whole)
    ]
    return tuple(t for t, _ in sorted(best, key=lambda item: item[1]))


def flips(outcomes: Outcomes, baseline: str, condition: str) -> Flips:
    """The questions whose score rose, and those whose score fell."""
    pairs = outcomes.pairs(baseline, condition)
    changes = [(_change(pair), pair) for pair in pairs]
    return Flips(
        tuple(p for change, p in changes if change > 0),
        tuple(p for change, p in changes if change < 0),
    )


def echoed(answer: str, row: Outcome, cues: Sequence[InjectedCue]) -> InjectedCue | None:
    """The first cue that ``answer`` repeats and the reference of ``row`` does not hold.

    Content words are compared without their endings. Words that the reference has too count for
    nothing; a third of what remains of a cue's words, and at least one, must stand in the answer
    ("he vomits" repeats "nausea or vomiting condition").
    """
    said, wanted = set(terms(answer)), set(terms(row.reference))
    for cue in cues:
        own = set(terms(cue.text)) - wanted
        if own & said and 3 * len(own & said) >= len(own):
            return cue
    return None


def cue_echo(outcomes: Outcomes, baseline: str, condition: str) -> Echo:
    """How far wrong answers under ``condition`` repeat its cues, beside the same under
    ``baseline``; see ``Echo``."""
    pairs = [pair for pair in outcomes.pairs(baseline, condition) if pair.after.cues]
    wrong_with = [p for p in pairs if (p.after.score or 0.0) < 1]
    wrong_without = [p for p in pairs if (p.before.score or 0.0) < 1]
    found = [echoed(p.after.answer, p.after, p.after.cues) for p in wrong_with]
    chance = [echoed(p.before.answer, p.after, p.after.cues) for p in wrong_without]
    return Echo(
        _share(found, wrong_with),
        _share(chance, wrong_without),
        tuple((p, cue) for p, cue in zip(wrong_with, found, strict=True) if cue is not None),
    )


def _share(found: Sequence[InjectedCue | None], pairs: Sequence[Pair]) -> Accuracy | None:
    if not pairs:
        return None
    scores = [float(cue is not None) for cue in found]
    return statistics.accuracy(
        scores, [pair.after.video for pair in pairs], [pair.after.question for pair in pairs]
    )


def by_confidence(
    outcomes: Outcomes,
    baseline: str,
    condition: str,
    edges: Sequence[float] = (0.6, 0.7, 0.8, 0.9),
    *,
    seed: int = 0,
) -> tuple[Effect, ...]:
    """The difference by the mean confidence of the cues in the prompt, in groups between ``edges``.

    Raises:
        BadInput: the edges do not rise.
    """
    if list(edges) != sorted(set(edges)):
        raise BadInput(f"The edges of confidence must rise, not {list(edges)}.")
    groups = []
    for low, high in itertools.pairwise([0.0, *edges, 1.0 + 1e-9]):
        name = f"{low:.2g} to {min(high, 1.0):.2g}"
        groups.append((name, _between(low, high)))
    return _effects(outcomes, baseline, condition, groups, seed)


def _between(low: float, high: float) -> Callable[[Outcome], bool]:
    def holds(row: Outcome) -> bool:
        return low <= sum(cue.confidence for cue in row.cues) / len(row.cues) < high

    return holds


def by_correctness(
    outcomes: Outcomes, baseline: str, condition: str, *, seed: int = 0
) -> tuple[Effect, ...]:
    """The difference by whether the labelled cues in the prompt are all right, all wrong, or
    mixed; questions without a labelled cue are left out."""

    def verdicts(row: Outcome) -> set[bool]:
        return {cue.right for cue in row.cues if cue.right is not None}

    groups: list[tuple[str, Callable[[Outcome], bool]]] = [
        ("all right", lambda row: verdicts(row) == {True}),
        ("mixed", lambda row: verdicts(row) == {True, False}),
        ("all wrong", lambda row: verdicts(row) == {False}),
    ]
    return _effects(outcomes, baseline, condition, groups, seed)


def _effects(
    outcomes: Outcomes,
    baseline: str,
    condition: str,
    groups: Sequence[tuple[str, Callable[[Outcome], bool]]],
    seed: int,
) -> tuple[Effect, ...]:
    pairs = [pair for pair in outcomes.pairs(baseline, condition) if pair.after.cues]
    found = []
    for name, holds in groups:
        inside = [pair for pair in pairs if holds(pair.after)]
        found.append(Effect(name, _difference(inside, seed), len(inside)))
    return tuple(found)


def beyond_control(
    outcomes: Outcomes, control: str, condition: str, *, seed: int = 0
) -> Difference | None:
    """What ``condition`` has over a control that carries no information; a gain that the control
    shows too is no grounding. None where no question is scored under both."""
    return _difference(outcomes.pairs(control, condition), seed)
