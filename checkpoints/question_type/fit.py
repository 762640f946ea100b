"""Fit and measure the classifier of question types.

``python checkpoints/question_type/fit.py fit --intentqa val.csv`` writes ``weights.json`` from
``questions.yaml`` and nine tenths of IntentQA's questions, by video.
``python checkpoints/question_type/fit.py measure [--intentqa val.csv] [--social-iq qa_val.json]``
tells how often the weights are right about questions that they never saw.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from fusion.question import Question, QuestionType
from perception.cue import Span
from reasoning.tools.question_type import (
    LEAST_PROBABILITY,
    features,
    probabilities,
)

HERE = Path(__file__).resolve().parent
SEED = 6
PER_TEMPLATE = 8
"""Times that a template is filled in, at most."""

LOCAL = {
    QuestionType.GROUNDING_THE_IMAGINED,
    QuestionType.TEMPORAL,
    QuestionType.AFFECT_RECOGNITION,
    QuestionType.INTENTION,
}
"""Asked about a part of the video (MimeQA, section 3.2)."""

INTENTQA = {
    "CW": QuestionType.INTENTION,
    "CH": QuestionType.INTENTION,
    "TN": QuestionType.TEMPORAL,
    "TP": QuestionType.TEMPORAL,
}
"""IntentQA's *causal why*, *causal how*, *temporal next* and *temporal previous*."""

PENALTY, STEPS, RATE = 0.002, 600, 2.0
LEAST_WEIGHT = 0.08
"""Features whose weights are all smaller are left out of the file."""


@dataclass(frozen=True)
class Example:
    """A question with its type."""

    question: Question
    type: QuestionType


def own_questions() -> list[Example]:
    """``questions.yaml`` filled in; local questions half of the time about a part."""
    document = yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))
    slots, dice = document.pop("slots"), random.Random(SEED)
    examples = []
    for name, templates in document.items():
        type = QuestionType(name)
        for template in templates:
            texts = {_filled(template, slots, dice) for _ in range(PER_TEMPLATE)}
            for text in sorted(texts):
                part = Span(1, 2) if type in LOCAL and dice.random() < 0.5 else None
                examples.append(Example(Question(text, span=part), type))
    return examples


def _filled(template: str, slots: dict[str, list[str]], dice: random.Random) -> str:
    text = re.sub(r"\{(\w+)\}", lambda slot: dice.choice(slots[slot[1]]), template)
    return text[0].upper() + text[1:]


def intentqa(path: Path, held_out: bool) -> list[Example]:
    """IntentQA's questions, by its types; a tenth of the videos is held out."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Example(Question(row["question"]), INTENTQA[row["type"]])
        for row in rows
        if held_out == (hashlib.sha256(row["video_id"].encode()).digest()[0] % 10 == 0)
    ]


def social_iq(path: Path) -> list[Example]:
    """The hundred questions of Social-IQ 2.0 whose types stand in ``social_iq2_types.csv``."""
    with (HERE / "social_iq2_types.csv").open(encoding="utf-8", newline="") as file:
        types = {row["qid"]: QuestionType(row["type"]) for row in csv.DictReader(file)}
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [Example(Question(row["q"]), types[row["qid"]]) for row in rows if row["qid"] in types]


def paper() -> list[Example]:
    """The questions that MimeQA's text tells."""
    rows = yaml.safe_load((HERE / "paper_questions.yaml").read_text(encoding="utf-8"))
    return [Example(Question(row["question"]), QuestionType(row["type"])) for row in rows]


def fit(examples: Sequence[Example]) -> dict[str, object]:
    """Multinomial logistic regression, every type of the same weight, by gradient descent."""
    types = list(QuestionType)
    found = [features(each.question) for each in examples]
    counts = Counter(feature for each in found for feature in each)
    names = sorted(feature for feature, count in counts.items() if count > 1)
    column = {feature: at for at, feature in enumerate(names)}
    x = np.zeros((len(examples), len(names) + 1))
    x[:, -1] = 1
    for row, each in enumerate(found):
        x[row, [column[feature] for feature in each if feature in column]] = 1
    y = np.array([types.index(each.type) for each in examples])
    share = 1 / (len(types) * np.bincount(y, minlength=len(types)))[y]
    weights = np.zeros((len(names) + 1, len(types)))
    penalty = np.full((len(names) + 1, 1), PENALTY)
    penalty[-1] = 0
    for _ in range(STEPS):
        logits = x @ weights
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(y)), y] -= 1
        weights -= RATE * (x.T @ (p * share[:, None]) + penalty * weights)
    kept = {
        feature: [round(float(each), 2) for each in weights[at]]
        for feature, at in column.items()
        if np.abs(weights[at]).max() >= LEAST_WEIGHT
    }
    bias = [round(float(each), 2) for each in weights[-1]]
    return {"types": [type.value for type in types], "bias": bias, "weights": kept}


def measure(name: str, examples: Sequence[Example]) -> None:
    """Print how many are right, how many are told at all, and of those how many are right."""
    right = told = told_right = 0
    confusion: Counter[str] = Counter()
    for each in examples:
        chances = probabilities(each.question)
        best = max(chances, key=chances.__getitem__)
        right += best is each.type
        if chances[best] >= LEAST_PROBABILITY:
            told += 1
            told_right += best is each.type
        if best is not each.type:
            confusion[f"{each.type.value} taken for {best.value}"] += 1
    print(
        f"{name}: {right} of {len(examples)} right ({right / len(examples):.0%}); "
        f"{told} told (at {LEAST_PROBABILITY:.0%} or more), {told_right} of them right"
    )
    for words, count in confusion.most_common(5):
        print(f"    {count} × {words}")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["fit", "measure"])
    parser.add_argument("--intentqa", type=Path, help="IntentQA's val.csv")
    parser.add_argument("--social-iq", type=Path, help="Social-IQ 2.0's qa_val.json")
    args = parser.parse_args()
    if args.command == "fit":
        examples = own_questions()
        if args.intentqa:
            examples += intentqa(args.intentqa, held_out=False)
        lines = json.dumps(fit(examples), ensure_ascii=False).replace('], "', '],\n"')
        (HERE / "weights.json").write_text(lines + "\n", encoding="utf-8")
        print(f"fitted to {len(examples)} questions")
        return
    measure("MimeQA's text", paper())
    if args.intentqa:
        measure("IntentQA, videos held out", intentqa(args.intentqa, held_out=True))
    if args.social_iq:
        measure("Social-IQ 2.0, labelled by us", social_iq(args.social_iq))


if __name__ == "__main__":
    main()
